/** The archived sessions of a project: open, restore or delete them. */

import { agentMark } from "../shared/agents.js"
import { el } from "../shared/dom.js"
import { age, fullTime } from "../shared/time.js"
import { openDialog } from "../shared/dialog.js"

/** @import { ErrorBody, Project, SessionListItem } from "../contract.js" */

/** @typedef {object} ArchivedDeps
 * @property {(projectId: string) => Promise<SessionListItem[]>} list
 * @property {(session: SessionListItem) => void} open  As it is, without restoring it.
 * @property {(sessionId: string) => Promise<void>} restore
 * @property {(session: SessionListItem) => Promise<boolean>} remove  False if the user cancelled.
 * @property {() => number} now */

/** @param {Project} project @param {ArchivedDeps} deps */
export async function openArchived(project, deps) {
  const note = el("p", { class: "dialog-note", role: "status", text: "Loading…" })
  const problem = el("p", { class: "problem", role: "alert" })
  const list = el("ul", { class: "archived" })
  const dialog = openDialog(`Archived in ${project.name}`, [note, problem, list], { className: "archived-dialog" })

  /** @param {() => Promise<boolean>} act @param {Element} row */
  async function attempt(act, row) {
    problem.textContent = ""
    try {
      if (!(await act())) return
      const next = row.nextElementSibling ?? row.previousElementSibling
      row.remove()
      ;(next?.querySelector("button") ?? dialog.querySelector("button"))?.focus()
      updateNote()
    } catch (reason) {
      problem.textContent = /** @type {ErrorBody} */ (reason).message
    }
  }
  const updateNote = () => {
    note.textContent = "No archived sessions."
    note.hidden = list.childElementCount > 0
  }

  try {
    const sessions = await deps.list(project.id)
    list.replaceChildren(
      ...sessions.map((session) => {
        const restore = el("button", {
          class: "button",
          type: "button",
          text: "Restore",
          "aria-label": `Restore ${session.title}`,
        })
        const remove = el("button", {
          class: "button",
          "data-kind": "quiet",
          type: "button",
          text: "Delete",
          "aria-label": `Delete ${session.title}`,
        })
        const open = el(
          "button",
          { class: "archived-open", type: "button", "aria-label": `Open ${session.title}`, title: session.title },
          agentMark(session.cliType),
          el("span", { class: "archived-title", text: session.title }),
        )
        const row = el(
          "li",
          { class: "archived-row" },
          open,
          el("time", {
            datetime: session.lastActiveAt,
            title: fullTime(session.lastActiveAt),
            text: age(session.lastActiveAt, deps.now()),
          }),
          remove,
          restore,
        )
        open.addEventListener("click", () => {
          dialog.close()
          deps.open(session)
        })
        restore.addEventListener("click", () =>
          attempt(async () => {
            await deps.restore(session.id)
            return true
          }, row),
        )
        remove.addEventListener("click", () => attempt(() => deps.remove(session), row))
        return row
      }),
    )
    updateNote()
  } catch (reason) {
    note.hidden = true
    problem.textContent = /** @type {ErrorBody} */ (reason).message
  }
}
