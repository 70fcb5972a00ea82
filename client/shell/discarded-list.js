/** The setting that lists the discarded worktrees, each with a button that brings it back. */

import { confirmed } from "../shared/dialog.js"
import { el } from "../shared/dom.js"
import { fullTime } from "../shared/time.js"

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
          text: "What is in no commit is lost for good, ignored files too. Commits that are on a branch stay.",
          action: "Delete now",
        })
        if (isSure) await deps.forget(workspace)
        return isSure ? "Deleted." : undefined
      }),
    )
    return el(
      "li",
      { class: "settings-agent settings-browser" },
      el(
        "div",
        { class: "settings-agent-line" },
        el("span", { class: "settings-agent-name", text: title, title: path }),
        el("span", { class: "settings-agent-state" }, forget, back),
      ),
      el("span", {
        class: "settings-agent-version settings-wraps",
        text: `${project} · ${branch} · discarded ${fullTime(at)}, kept until ${fullTime(until)}`,
      }),
    )
  }
  show()
  return { elements: [rows, note] }
}

/** @param {unknown} reason */
const wordsOf = (reason) => /** @type {{ message?: string }} */ (reason).message ?? "The server gave no reason."
