/** Discarding the worktree of a session, and bringing discarded ones back. */

import { openActDialog } from "../portlet/act-dialog.js"
import { createTyped } from "../portlet/typed.js"

/** @import { ChangeAct, DiscardedWorkspace, ErrorBody, Frame } from "../contract.js" */
/** @import { ActionsDeps } from "./actions.js" */

/** @typedef {ReturnType<typeof createDiscarding>} Discarding */

/** @param {Pick<ActionsDeps, "socket" | "toasts" | "preferences"> & { failed: import("./actions.js").Failed }} deps */
export function createDiscarding({ socket, toasts, preferences, failed }) {
  /** @param {string} sessionId @param {ChangeAct} act */
  async function preview(sessionId, act) {
    const frame = await socket.request({ type: "changes:act", sessionId, act, preview: true })
    return frame.type === "changes:preview" ? frame : unexpected(frame)
  }

  /** @param {string} sessionId @param {ChangeAct} act @param {string} expect */
  async function perform(sessionId, act, expect) {
    const frame = await socket.request({ type: "changes:act", sessionId, act, expect })
    return frame.type === "changes:done" ? frame : unexpected(frame)
  }

  /** Without a dialog: nothing can be lost by it. @param {string} sessionId @param {ChangeAct} act */
  async function performNow(sessionId, act) {
    const { expect } = await preview(sessionId, act)
    return perform(sessionId, act, expect)
  }

  /** @param {string} sessionId */
  async function open(sessionId) {
    const first = await preview(sessionId, { kind: "discard-workspace", branch: "keep" })
    const dialog = openActDialog(first, {
      act: (act, expect) =>
        void perform(sessionId, act, expect).then(
          ({ summary, undo }) => {
            dialog.close()
            toasts.show({
              text: summary,
              ...(undo !== undefined && {
                action: {
                  label: "Undo",
                  run: () =>
                    void performNow(sessionId, { kind: "undo-act", undo }).then(
                      (back) => toasts.show({ text: back.summary }),
                      failed("Could not bring the worktree back"),
                    ),
                },
              }),
            })
          },
          (/** @type {ErrorBody} */ error) => dialog.failed(error),
        ),
      look: (act) =>
        void preview(sessionId, act).then(dialog.update, (/** @type {ErrorBody} */ error) => dialog.failed(error)),
      typed: createTyped(sessionId, () => preferences),
      closed() {},
    })
  }

  return {
    /** @param {string} sessionId */
    discard: (sessionId) => void open(sessionId).catch(failed("Could not discard the worktree")),
    /** @returns {Promise<DiscardedWorkspace[]>} */
    async list() {
      const frame = await socket.request({ type: "workspace:discarded" })
      return frame.type === "workspace:discarded" ? frame.workspaces : unexpected(frame)
    },
    /** Returns what was done. @param {DiscardedWorkspace} workspace */
    bringBack: async ({ sessionId, saved }) => (await performNow(sessionId, { kind: "bring-back", saved })).summary,
    /** @param {DiscardedWorkspace} workspace */
    forget: ({ saved }) => socket.request({ type: "workspace:forget", saved }),
  }
}

/** @param {Frame} frame @returns {never} */
function unexpected(frame) {
  throw new Error(`Unexpected answer: ${frame.type}.`)
}
