/** Acting on changes: the buttons in the panel, the dialog with the preview, and the result with its Undo. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { openActDialog } from "./act-dialog.js"
import { isPossible, messageRequest, resolveRequest, whyNothing } from "./acts-state.js"
import { isUndone } from "./changes-state.js"

/** @import { ChangeAct, ChangedFile, ChangeScope, ErrorBody, SessionState, Workspace } from "../contract.js" */
/** @import { ActDone, ActPreview } from "./acts-state.js" */
/** @import { ChangesState } from "./changes-state.js" */
/** @import { Typed } from "./typed.js" */

/** @typedef {object} ActsDeps
 * @property {(request: { type: "changes:act", act: ChangeAct, preview?: boolean, expect?: string },
 *   onFailure: (error: ErrorBody) => boolean) => void} ask  `onFailure` returns whether it showed the error
 * @property {() => { base?: string } | undefined} worktree
 * @property {(content: string) => Promise<string>} askAgent
 * @property {(content: string) => void} tellAgent
 * @property {Typed} typed  Messages that were written and not used. */

/** @param {ActsDeps & { refresh(): void }} deps */
export function mountActs(deps) {
  const undoTurn = button("Undo this turn", () => look({ kind: "undo-turn" }))
  const commit = button("Commit…", () => look({ kind: "commit", message: "" }))
  const land = button("Land…", () => look({ kind: "land", how: "squash" }))
  const abort = button("Abort merge…", () => look({ kind: "abort-merge" }))
  const request = button("Pull request…", () => look({ kind: "pull-request", title: "", body: "" }))
  const bar = el("div", { class: "panel-acts" }, undoTurn, abort, commit, land, request)
  const said = el("span", { class: "act-said" })
  const link = el("a", { class: "act-link", target: "_blank", rel: "noreferrer", text: "Open it", hidden: true })
  const undo = button("Undo", () => undoAct(undoes))
  const discard = button("Discard worktree…", () => look({ kind: "discard-workspace", branch: "keep" }))
  const status = el("div", { class: "act-status", role: "status", hidden: true }, said, link, discard, undo)
  const revert = button("Revert file", () => shown && look(revertFile(shown)))
  revert.classList.add("panel-tool")

  /** @type {ReturnType<typeof openActDialog> | null} */
  let dialog = null
  /** Undoing needs no dialog if everything can be put back. */
  let isDirect = false
  let undoes = ""
  /** What the user wants put back with a message, once they have seen it.
   * @type {((paths: string[], expect: string) => void) | null} */
  let choosing = null
  /** The file whose difference is shown. @type {{ scope: ChangeScope, file: ChangedFile } | null} */
  let shown = null
  /** What is said is why an act was refused. */
  let isRefusal = false
  /** Of the session, when that was last shown. @type {SessionState | undefined} */
  let stateSeen

  /** A refusal holds only until something changes. */
  function clearRefusal() {
    if (isRefusal) status.hidden = true
    isRefusal = false
  }

  /** @param {ChangeAct} act */
  function look(act) {
    clearRefusal()
    deps.ask({ type: "changes:act", act, preview: true }, failed)
  }

  /** @param {string} id */
  function undoAct(id) {
    isDirect = true
    look({ kind: "undo-act", undo: id })
  }

  /** @param {ChangeAct} act @param {string} expect */
  function perform(act, expect) {
    clearRefusal()
    deps.ask({ type: "changes:act", act, expect }, (error) => {
      // Files may have been committed before a landing was refused.
      if (act.kind === "land") deps.refresh()
      return failed(error)
    })
  }

  /** @param {ErrorBody} error */
  function failed(error) {
    isDirect = false
    if (dialog) dialog.failed(error)
    else {
      say(error.message)
      isRefusal = true
    }
    return dialog !== null || status.checkVisibility()
  }

  /** @param {string} text @param {string} [id] @param {string} [address] */
  function say(text, id, address) {
    undoes = id ?? ""
    isRefusal = false
    setText(said, text)
    link.hidden = !isWeb(address)
    if (isWeb(address)) link.href = address
    undo.hidden = id === undefined
    discard.hidden = true
    status.hidden = false
  }

  /** @param {ActPreview} preview */
  function previewed(preview) {
    if (isDirect && preview.paths.every(({ what }) => what !== "leave") && isPossible(preview, [])) {
      isDirect = false
      return perform(preview.act, preview.expect)
    }
    isDirect = false
    if (preview.act.kind === "start-merge") return perform(preview.act, preview.expect)
    if (dialog) return dialog.update(preview)
    const choose = preview.act.kind === "restore-files" ? choosing : null
    dialog = openActDialog(preview, {
      act: choose
        ? (act, expect) => {
            if (act.kind === "restore-files") choose(act.paths ?? [], expect)
            dialog?.close()
          }
        : perform,
      look,
      typed: deps.typed,
      base: deps.worktree()?.base,
      askForMessage: (paths) => deps.askAgent(messageRequest(paths)),
      handToAgent(paths) {
        handed = paths
        look({ kind: "start-merge" })
      },
      closed() {
        dialog = null
      },
    })
  }
  /** The conflicts that the agent gets once the merge has begun. @type {string[]} */
  let handed = []

  /** @param {ActDone} done */
  function wasDone(done) {
    dialog?.done(done.act.kind)
    say(done.summary, done.undo, done.link)
    // What landed is in the base, so the worktree may have served its purpose.
    discard.hidden = done.act.kind !== "land"
    if (done.act.kind === "start-merge" && handed.length > 0) {
      deps.tellAgent(resolveRequest(deps.worktree()?.base ?? "the base", handed))
      handed = []
    }
    deps.refresh()
  }

  return {
    /** Around what is said about the changes. @param {HTMLElement} about */
    around: (about) => el("div", { class: "panel-top" }, el("div", { class: "panel-row" }, about, bar), status),
    revert,
    undoAct,
    /** @param {string} saved */
    bringBack(saved) {
      isDirect = true
      look({ kind: "bring-back", saved })
    },
    /** Lets the user choose files that go back with an edit or a branch.
     * @param {string} itemId @param {"before" | "after"} at
     * @param {(paths: string[], expect: string) => void} onChosen */
    chooseFiles(itemId, at, onChosen) {
      choosing = onChosen
      look({ kind: "restore-files", itemId, at })
    },
    previewed,
    done: wasDone,
    /** @param {ChangesState} state @param {ChangedFile | null} file @param {Workspace | null} workspace */
    update({ scope, list }, file, workspace) {
      // One that was resolved to this side has no changes, and is still to be committed or aborted.
      const isMerging = workspace?.doing === "merge" || file?.status === "unmerged"
      bar.hidden = workspace?.state === "missing"
      shown = file === null ? null : { scope: { kind: scope }, file }
      undoTurn.hidden = scope !== "turn" || (list?.files ?? []).length === 0
      abort.hidden = !isMerging
      const base = deps.worktree()?.base
      land.hidden = base === undefined
      setText(land, `Land into ${base ?? ""}…`)
      request.hidden = base === undefined
      // Of a turn that is undone there is nothing to revert. The buttons at lines are hidden in CSS: the lines may be
      // drawn before that is known.
      revert.hidden = file === null || isUndone(list)
      for (const [kind, made] of /** @type {const} */ ([
        ["undo-turn", undoTurn],
        ["commit", commit],
        ["land", land],
        ["pull-request", request],
      ])) {
        const why = whyNothing(kind, { scope, list, workspace, isMerging })
        made.disabled = why !== ""
        setAttribute(made, "title", why)
      }
    },
    /** @param {SessionState | undefined} state */
    follow(state) {
      if (state !== stateSeen) clearRefusal()
      stateSeen = state
    },
    /** Puts a button at each block of changed lines that the server named. @param {HTMLElement} root */
    decorate(root) {
      if (!shown || (shown.file.status !== "modified" && shown.file.status !== "renamed")) return
      const { scope, file } = shown
      for (const row of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-block]"))) {
        const hunk = row.dataset["block"] ?? ""
        const revertLines = el(
          "button",
          { class: "revert-lines", type: "button", "aria-label": "Revert these lines", title: "Revert these lines" },
          icon("reload"),
        )
        revertLines.addEventListener("click", () => look({ kind: "revert-hunk", scope, path: file.path, hunk }))
        row.append(revertLines)
      }
    },
  }
}

/** @param {{ scope: ChangeScope, file: ChangedFile }} shown @returns {ChangeAct} */
const revertFile = ({ scope, file }) => ({ kind: "revert-file", scope, path: file.path })

/** @param {string | undefined} address @returns {address is string} */
const isWeb = (address) => address?.startsWith("https://") === true

/** @param {string} text @param {() => void} onClick */
function button(text, onClick) {
  const made = el("button", { class: "act-button", type: "button", text })
  made.addEventListener("click", onClick)
  return made
}
