/** A project's sessions that were made outside, in a terminal: find one and continue it here, or keep them all. */

import { agentMark, agentName } from "../shared/agents.js"
import { el } from "../shared/dom.js"
import { age, fullTime } from "../shared/time.js"
import { openDialog } from "../shared/dialog.js"

/** @import { Agent, ErrorBody, OutsideSession, Project } from "../contract.js" */

/** @typedef {object} OutsideDeps
 * @property {() => Promise<OutsideSession[]>} list  Newest first.
 * @property {() => Promise<OutsideSession[]>} ask  What agents list that keep no files we know.
 * @property {(session: OutsideSession) => Promise<void>} adopt
 * @property {(sessions: OutsideSession[]) => Promise<void>} keep  In the background.
 * @property {(session: OutsideSession) => void} open  Once it is adopted.
 * @property {Agent[]} agents
 * @property {() => number} now */

/** What the user narrows the list to. Empty: anything.
 * @typedef {{ query: string, agent: string, branch: string, days: string }} Filter */

/** More rows than anyone scrolls through; searching finds the others. */
const MOST_ROWS = 200
const DAY = 24 * 60 * 60 * 1000

/** @param {OutsideSession} session @param {Filter} filter @param {number} now */
export const isMatch = (session, { query, agent, branch, days }, now) =>
  (agent === "" || session.cliType === agent) &&
  (branch === "" || session.branch === branch) &&
  (days === "" || now - Date.parse(session.changed) < Number(days) * DAY) &&
  query
    .toLowerCase()
    .split(/\s+/)
    .every((word) =>
      [session.title, session.said ?? "", session.branch ?? "", session.cliType].some((text) =>
        text.toLowerCase().includes(word),
      ),
    )

/** When the agent deletes it, in words. @param {string} at @param {number} now */
export function dueWords(at, now) {
  const days = Math.ceil((Date.parse(at) - now) / DAY)
  return days <= 0 ? "due for deletion" : days === 1 ? "deleted in 1 day" : `deleted in ${days} days`
}

/** The part of its directory below the project, or the whole directory of a worktree elsewhere.
 * @param {string} directory @param {string} project */
export const placeIn = (directory, project) =>
  directory === project ? "" : directory.startsWith(`${project}/`) ? directory.slice(project.length + 1) : directory

/** @param {Project} project @param {OutsideDeps} deps */
export async function openOutside(project, deps) {
  const search = el("input", {
    type: "search",
    class: "field",
    placeholder: "Search titles, first messages, branches",
    "aria-label": "Search these sessions",
    autofocus: true,
  })
  const agent = el("select", { class: "field", "aria-label": "Agent" })
  const branch = el("select", { class: "field", "aria-label": "Branch" })
  const days = el(
    "select",
    { class: "field", "aria-label": "Date" },
    ...[
      ["", "Any time"],
      ["1", "Last day"],
      ["7", "Last week"],
      ["30", "Last month"],
    ].map(([value, text]) => el("option", { value, text })),
  )
  const keep = el("button", { class: "button", type: "button", text: "Keep all", disabled: true })
  const about = el("p", {
    class: "dialog-note",
    text: "Made in a terminal. Choose one to continue it here. Agents delete old transcripts; kept ones stay.",
  })
  const due = el("p", { class: "outside-due", hidden: true })
  const note = el("p", { class: "dialog-note", role: "status", text: "Loading…" })
  const problem = el("p", { class: "problem", role: "alert" })
  const list = el("ul", { class: "archived" })
  const filters = el("div", { class: "outside-filters" }, agent, branch, days)
  const dialog = openDialog(
    `From the terminal in ${project.name}`,
    [about, due, el("div", { class: "outside-bar" }, search, keep), filters, problem, list, note],
    { className: "archived-dialog" },
  )
  /** @type {OutsideSession[]} */
  let sessions = []

  /** @param {() => Promise<void>} act @param {() => void} [done]  The dialog has given the focus back. */
  async function attempt(act, done) {
    problem.textContent = ""
    keep.disabled = true
    try {
      await act()
      if (done) dialog.addEventListener("close", done)
      dialog.close()
    } catch (reason) {
      problem.textContent = /** @type {ErrorBody} */ (reason).message
      keep.disabled = false
    }
  }

  /** @param {OutsideSession} session */
  function row(session) {
    const { changed, deletedAt } = session
    const place = placeIn(session.directory, project.path)
    const detail = (/** @type {string} */ text, /** @type {string} */ name) => el("span", { class: name, text })
    const open = el(
      "button",
      { class: "archived-open", type: "button", title: session.said ?? session.title },
      agentMark(session.cliType),
      el("span", { class: "archived-title", text: session.title }),
      ...(place === "" ? [] : [detail(place, "outside-branch")]),
      ...(session.branch === undefined ? [] : [detail(session.branch, "outside-branch")]),
      ...(deletedAt === undefined ? [] : [detail(dueWords(deletedAt, deps.now()), "outside-soon")]),
    )
    open.addEventListener("click", () =>
      attempt(
        () => deps.adopt(session),
        () => deps.open(session),
      ),
    )
    const time = el("time", { datetime: changed, title: fullTime(changed), text: age(changed, deps.now()) })
    return el("li", { class: "archived-row" }, open, time)
  }

  /** Only filters that narrow anything are offered. */
  function offerFilters() {
    choices(agent, "Any agent", [...new Set(sessions.map(({ cliType }) => cliType))], (cliType) =>
      agentName(cliType, deps.agents),
    )
    choices(branch, "Any branch", [...new Set(sessions.flatMap((session) => session.branch ?? []))].toSorted())
    filters.hidden = sessions.length < 2
  }

  function show() {
    const filter = { query: search.value.trim(), agent: agent.value, branch: branch.value, days: days.value }
    const isFiltered = Object.values(filter).some((value) => value !== "")
    const found = sessions.filter((session) => isMatch(session, filter, deps.now()))
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
    keep.textContent = isFiltered ? `Keep these ${found.length}` : "Keep all"
    keep.disabled = found.length === 0
    keep.onclick = () => attempt(() => deps.keep(found))
    showDue()
  }

  function showDue() {
    const soon = sessions.filter(({ deletedAt }) => deletedAt !== undefined)
    due.hidden = soon.length === 0
    const these = el("button", { class: "button", type: "button", text: soon.length === 1 ? "Keep it" : "Keep them" })
    these.addEventListener("click", () => attempt(() => deps.keep(soon)))
    const words = `${soon.length === 1 ? "One transcript is" : `${soon.length} transcripts are`} due for deletion soon.`
    due.replaceChildren(el("span", { text: words }), these)
  }

  for (const each of [search, agent, branch, days]) each.addEventListener("input", show)
  try {
    sessions = await deps.list()
    offerFilters()
    show()
  } catch (reason) {
    note.hidden = true
    problem.textContent = /** @type {ErrorBody} */ (reason).message
    return
  }
  // Starting an agent takes a while, so its answer comes on top of what is shown.
  const listed = await deps.ask().catch(() => [])
  if (listed.length === 0 || !dialog.open) return
  sessions = [...sessions, ...listed].toSorted((a, b) => b.changed.localeCompare(a.changed))
  offerFilters()
  show()
}

/** Fills a filter.
 * @param {HTMLSelectElement} select @param {string} any @param {string[]} values
 * @param {(value: string) => string} [name] */
function choices(select, any, values, name = (value) => value) {
  const chosen = select.value
  const option = (/** @type {string} */ value, /** @type {string} */ text) => el("option", { value, text })
  select.replaceChildren(option("", any), ...values.map((value) => option(value, name(value))))
  select.value = values.includes(chosen) ? chosen : ""
  select.hidden = values.length < 2
}
