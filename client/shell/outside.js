/** A project's sessions that were made outside, in a terminal: find one and continue it here, or keep them all. */

import { agentMark } from "../shared/agents.js"
import { el } from "../shared/dom.js"
import { age, fullTime } from "../shared/time.js"
import { openDialog } from "../shared/dialog.js"

/** @import { ErrorBody, OutsideSession, Project } from "../contract.js" */

/** @typedef {object} OutsideDeps
 * @property {() => Promise<OutsideSession[]>} list  Newest first.
 * @property {(sessions: OutsideSession[]) => Promise<void>} adopt
 * @property {(session: OutsideSession) => void} open  Once it is adopted.
 * @property {() => number} now */

/** More rows than anyone scrolls through; searching finds the others. */
const MOST_ROWS = 200

/** @param {OutsideSession} session @param {string} query in lower case */
export const isMatch = ({ title, branch = "", cliType }, query) =>
  query.split(/\s+/).every((word) => [title, branch, cliType].some((text) => text.toLowerCase().includes(word)))

/** @param {Project} project @param {OutsideDeps} deps */
export async function openOutside(project, deps) {
  const search = el("input", {
    type: "search",
    class: "field",
    placeholder: "Search titles, branches, agents",
    "aria-label": "Search these sessions",
    autofocus: true,
  })
  const keep = el("button", { class: "button", type: "button", text: "Keep all", disabled: true })
  const about = el("p", {
    class: "dialog-note",
    text: "Made in a terminal. Choose one to continue it here. Agents delete old transcripts; kept ones stay.",
  })
  const note = el("p", { class: "dialog-note", role: "status", text: "Loading…" })
  const problem = el("p", { class: "problem", role: "alert" })
  const list = el("ul", { class: "archived" })
  const dialog = openDialog(
    `From the terminal in ${project.name}`,
    [about, el("div", { class: "outside-bar" }, search, keep), problem, list, note],
    { className: "archived-dialog" },
  )
  /** @type {OutsideSession[]} */
  let sessions = []

  /** @param {() => Promise<void>} act */
  async function attempt(act) {
    problem.textContent = ""
    keep.disabled = true
    try {
      await act()
      dialog.close()
    } catch (reason) {
      problem.textContent = /** @type {ErrorBody} */ (reason).message
      keep.disabled = false
    }
  }

  /** @param {OutsideSession} session */
  function row(session) {
    const open = el(
      "button",
      { class: "archived-open", type: "button", title: session.title },
      agentMark(session.cliType),
      el("span", { class: "archived-title", text: session.title }),
      ...(session.branch === undefined ? [] : [el("span", { class: "outside-branch", text: session.branch })]),
    )
    open.addEventListener("click", () =>
      attempt(async () => {
        await deps.adopt([session])
        deps.open(session)
      }),
    )
    const { changed } = session
    const time = el("time", { datetime: changed, title: fullTime(changed), text: age(changed, deps.now()) })
    return el("li", { class: "archived-row" }, open, time)
  }

  function show() {
    const query = search.value.trim().toLowerCase()
    const found = sessions.filter((session) => query === "" || isMatch(session, query))
    list.replaceChildren(...found.slice(0, MOST_ROWS).map(row))
    const more = found.length - MOST_ROWS
    note.textContent =
      found.length === 0
        ? sessions.length === 0
          ? "All sessions of this directory are here."
          : "No match."
        : more > 0
          ? `${more} more: search to find them.`
          : ""
    note.hidden = note.textContent === ""
    keep.textContent = query === "" ? "Keep all" : `Keep these ${found.length}`
    keep.disabled = found.length === 0
    keep.onclick = () => attempt(() => deps.adopt(found))
  }

  search.addEventListener("input", show)
  try {
    sessions = await deps.list()
    show()
  } catch (reason) {
    note.hidden = true
    problem.textContent = /** @type {ErrorBody} */ (reason).message
  }
}
