/** What users do with a comparison: open it, keep one of its sessions, discard the others. */

import { agentName } from "../shared/agents.js"
import { show } from "../shared/dialog.js"
import { el } from "../shared/dom.js"
import { compareTab, comparing, titleOfCompare } from "./compare-state.js"
import { sessionOf } from "./model.js"
import { closeTab, openTab } from "./tabs-state.js"

/** @import { Compare } from "../contract.js" */
/** @import { MenuItem } from "../shared/menu.js" */
/** @import { ActionsDeps, Failed } from "./actions.js" */

/** @typedef {ReturnType<typeof createCompareActions>} CompareActions */

/** @param {Pick<ActionsDeps, "shell" | "set" | "socket" | "toasts"> & { failed: Failed, openSession(id: string): void }
 *   } deps */
export function createCompareActions({ shell, set, socket, toasts, failed, openSession }) {
  /** @param {string} id */
  const open = (id) => openSession(compareTab(id))

  /** @param {Compare} compare @param {string} sessionId @param {boolean} discardOthers */
  async function keep(compare, sessionId, discardOthers) {
    await socket.request({ type: "compare:keep", compareId: compare.id, sessionId, discardOthers })
    const { branch } = sessionOf(shell().model, sessionId)?.worktree ?? { branch: "" }
    toasts.show({ text: discardOthers ? `Kept ${branch}. What you didn't keep is archived.` : `Kept ${branch}.` })
    set({ tabs: openTab(closeTab(shell().tabs, compareTab(compare.id)), sessionId) })
  }

  /** Asks what happens to the others. @param {string} sessionId */
  async function keepSession(sessionId) {
    const compare = comparing(shell().model, sessionId)
    const session = sessionOf(shell().model, sessionId)
    if (!compare || !session) return
    const others = compare.members.filter(
      (member) => member.state === "started" && member.sessionId !== sessionId,
    ).length
    const answer = await askKeep(
      agentName(session.cliType, shell().model.agents),
      session.worktree?.branch ?? "",
      others,
    )
    if (answer === null) return
    await keep(compare, sessionId, answer === "discard")
  }

  return {
    open,
    /** @param {string} sessionId */
    keep: (sessionId) => void keepSession(sessionId).catch(failed("Could not keep it")),
    /** What a session's menu offers about its comparison. @param {string} sessionId @returns {MenuItem[]} */
    items(sessionId) {
      const compare = comparing(shell().model, sessionId)
      return compare ? [{ label: "Show comparison", icon: "columns", run: () => open(compare.id) }] : []
    },
    /** For the palette. */
    commands: () =>
      [...(shell().model.compares?.values() ?? [])].map((compare) => ({
        label: `Comparison: ${titleOfCompare(compare)}`,
        icon: /** @type {const} */ ("columns"),
        run: () => open(compare.id),
      })),
  }
}

/** @param {string} agent @param {string} branch @param {number} others @returns {Promise<"keep" | "discard" | null>} */
function askKeep(agent, branch, others) {
  return new Promise((resolve) => {
    /** @type {"keep" | "discard" | null} */
    let answer = null
    const cancel = el("button", { class: "button", type: "button", text: "Cancel" })
    const too = others === 1 ? "Keep the other too" : "Keep the others too"
    const keep = el("button", { class: "button", type: "button", text: others > 0 ? too : "Keep" })
    const discard = el("button", {
      class: "button",
      "data-kind": "danger",
      type: "button",
      text: others === 1 ? "Discard the other" : `Discard the other ${others}`,
      hidden: others === 0,
    })
    const dialog = el(
      "dialog",
      {
        class: "dialog confirm",
        role: "alertdialog",
        "aria-labelledby": "keep-title",
        "aria-describedby": "keep-text",
      },
      el("h2", { id: "keep-title", text: `Keep ${agent}'s work?` }),
      el("p", {
        id: "keep-text",
        text:
          `Its work stays on the branch ${branch}, and you can continue in its session. ` +
          (others > 0
            ? (others === 1
                ? "Discarding the other archives its session and removes its worktree. Its branch stays, and "
                : "Discarding the others archives their sessions and removes their worktrees. Their branches stay, " +
                  "and ") + "everything else is kept for 30 days: Settings can bring it back."
            : ""),
      }),
      el("div", { class: "dialog-actions" }, cancel, keep, discard),
    )
    const choose = (/** @type {typeof answer} */ choice) => () => {
      answer = choice
      dialog.close()
    }
    cancel.addEventListener("click", choose(null))
    keep.addEventListener("click", choose("keep"))
    discard.addEventListener("click", choose("discard"))
    show(dialog, () => resolve(answer))
  })
}
