/** Archiving several sessions of a project at once. */

import { agentMark } from "../shared/agents.js"
import { openDialog } from "../shared/dialog.js"
import { el } from "../shared/dom.js"
import { counted } from "../shared/phrases.js"
import { age, fullTime } from "../shared/time.js"
import { isAtWork } from "./model.js"

/** @import { Project, SessionListItem } from "../contract.js" */

/** A session that rested for so long is probably done with (milliseconds). */
const LONG = 7 * 24 * 3600_000

/** @param {Project} project @param {SessionListItem[]} sessions newest first
 * @param {{ now: number, archive(ids: string[]): void }} deps */
export function openBulkArchive(project, sessions, { now, archive }) {
  const boxes = sessions.map((session) => {
    const box = el("input", { type: "checkbox", "aria-label": session.title })
    box.disabled = isAtWork(session)
    return { session, box }
  })
  const resting = boxes.filter(({ box }) => !box.disabled)
  const long = resting.filter(({ session }) => now - Date.parse(session.lastActiveAt) > LONG)
  const all = el("button", { class: "button", type: "button", text: "Select all" })
  const old = el("button", { class: "button", type: "button", text: `Older than a week (${long.length})` })
  old.disabled = long.length === 0
  const list = el(
    "ul",
    { class: "archived" },
    ...boxes.map(({ session, box }) =>
      el(
        "li",
        { class: "archived-row" },
        el(
          "label",
          { class: "archived-open" },
          box,
          agentMark(session.cliType),
          el("span", { class: "archived-title", text: session.title }),
          isAtWork(session) && el("span", { class: "archived-note", text: "working" }),
        ),
        el("time", {
          datetime: session.lastActiveAt,
          title: fullTime(session.lastActiveAt),
          text: age(session.lastActiveAt, now),
        }),
      ),
    ),
  )
  const submit = el("button", { class: "button", "data-kind": "main", type: "button" })
  const chosen = () => resting.filter(({ box }) => box.checked).map(({ session }) => session.id)
  function show() {
    const count = chosen().length
    submit.textContent = `Archive ${counted(count, "session")}`
    submit.disabled = count === 0
    all.textContent = count === resting.length && count > 0 ? "Select none" : "Select all"
  }
  /** @param {typeof boxes} which */
  const select = (which) => {
    for (const { box } of resting) box.checked = which.some((each) => each.box === box)
    show()
  }
  all.addEventListener("click", () => select(chosen().length === resting.length ? [] : resting))
  old.addEventListener("click", () => select(long))
  list.addEventListener("change", show)
  show()
  const dialog = openDialog(
    `Archive sessions of ${project.name}`,
    [
      el("p", { class: "dialog-note", text: "Archived sessions are hidden from the sidebar. Nothing is deleted." }),
      el("div", { class: "outside-bar" }, all, old),
      list,
      el("div", { class: "dialog-actions" }, submit),
    ],
    { className: "archived-dialog" },
  )
  submit.addEventListener("click", () => {
    const ids = chosen()
    dialog.close()
    archive(ids)
  })
}
