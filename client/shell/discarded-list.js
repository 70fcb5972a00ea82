/** The setting that lists the discarded worktrees, each with a button that brings it back. */

import { confirmed } from "../shared/dialog.js"
import { el } from "../shared/dom.js"
import { fullTime } from "../shared/time.js"
import { settingsRow, wordsOf } from "./settings-row.js"

/** @import { DiscardedWorkspace } from "../contract.js" */

/** @typedef {object} DiscardedDeps
 * @property {() => Promise<DiscardedWorkspace[]>} list
 * @property {(workspace: DiscardedWorkspace) => Promise<string>} bringBack  Says what was done.
 * @property {(workspace: DiscardedWorkspace) => Promise<unknown>} forget */

/** @param {DiscardedDeps} deps */
export function mountDiscardedList(deps) {
  const rows = el("ul", { class: "settings-agents" })
  const note = el("p", { class: "settings-note", role: "status", text: "Loading…" })

  /** @param {string} [words] */
  async function show(words) {
    try {
      const all = await deps.list()
      rows.replaceChildren(...all.map(row))
      note.textContent =
        words ?? (all.length === 0 ? "None. A worktree that you discard is kept here for 30 days." : "")
    } catch (reason) {
      note.textContent = wordsOf(reason)
    }
  }

  /** @param {DiscardedWorkspace} workspace */
  function row(workspace) {
    const { title, project, branch, path, at, until } = workspace
    const back = el("button", {
      class: "button",
      type: "button",
      text: "Bring back",
      "aria-label": `Bring back ${title}`,
    })
    const forget = el("button", {
      class: "button",
      type: "button",
      "data-kind": "quiet",
      text: "Delete now…",
      "aria-label": `Delete ${title} now`,
    })
    /** @param {() => Promise<string | undefined>} act */
    const act = (act) => async () => {
      back.disabled = forget.disabled = true
      try {
        await show(await act())
      } catch (reason) {
        await show(wordsOf(reason))
      }
    }
    back.addEventListener(
      "click",
      act(() => deps.bringBack(workspace)),
    )
    forget.addEventListener(
      "click",
      act(async () => {
        const isSure = await confirmed({
          title: `Delete the worktree of “${title}”?`,
          text: "Anything uncommitted is lost for good, ignored files too. Commits that are on a branch stay.",
          action: "Delete now",
          kind: "danger",
        })
        if (isSure) await deps.forget(workspace)
        return isSure ? "Deleted." : undefined
      }),
    )
    const details = `${project} · ${branch} · discarded ${fullTime(at)}, kept until ${fullTime(until)}`
    return settingsRow({ name: title, title: path, details }, forget, back)
  }
  show()
  return { elements: [rows, note] }
}
