/** One project in the sidebar: its name, folding, a new session, and its sessions. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { moodWords, urgentMoods } from "./model.js"
import { mountSessionRows } from "./session-rows.js"

/** @import { OutsideCount, Project } from "../contract.js" */
/** @import { SessionRow, SessionRowDeps } from "./session-row.js" */

/** So many of a project's sessions are shown, and those in which something happens; the others are under "Older". */
const RECENT = 12

/** A project has "Older" only if it hides more than this. */
const FEW = 2

/** @typedef {object} ProjectSection
 * @property {Project} project
 * @property {boolean} collapsed
 * @property {boolean} listed  Its sessions were received.
 * @property {boolean} filtered  Only the rows that match are here, all of them.
 * @property {OutsideCount | null} outside  How many more were made in its directory, in a terminal.
 * @property {SessionRow[]} rows */

/** @typedef {SessionRowDeps & {
 *   collapse(projectId: string, collapsed: boolean): void,
 *   newSession(projectId: string): void,
 *   outsideOf(projectId: string): void,
 *   projectMenu(projectId: string, anchor: HTMLElement, at?: { x: number, y: number }): void,
 * }} ProjectDeps */

/** @param {ProjectSection} section @param {ProjectDeps} deps */
export function mountProjectSection(section, deps) {
  const id = section.project.id
  const listId = `sessions-${id}`
  const chevron = el("span", { class: "project-chevron" }, icon("expand"))
  const name = el("span", { class: "project-name" })
  const count = el("span", { class: "project-count" })
  const states = el("span", { class: "project-states" })
  const fold = el(
    "button",
    { class: "project-fold", type: "button", "aria-controls": listId, "data-project": id, tabindex: -1 },
    chevron,
    name,
    count,
    states,
  )
  const more = el(
    "button",
    { class: "icon-button project-more", type: "button", tabindex: -1, "aria-haspopup": "menu" },
    icon("more"),
  )
  const add = el(
    "button",
    { class: "icon-button project-add", type: "button", tabindex: -1, "aria-haspopup": "dialog" },
    icon("add"),
  )
  const list = el("ul", { class: "sessions", id: listId })
  const empty = el("button", {
    class: "project-empty",
    type: "button",
    tabindex: -1,
  })
  const older = el("button", { class: "project-older", type: "button", tabindex: -1, "aria-controls": listId })
  const outside = el("button", { class: "project-empty", type: "button", tabindex: -1, "aria-haspopup": "dialog" })
  const head = el(
    "div",
    { class: "project-head", draggable: "true" },
    el("h2", { class: "project-title" }, fold),
    more,
    add,
  )
  const element = el("section", { class: "project" }, head, list, older, empty, outside)
  let showsOlder = false
  const sessions = mountSessionRows(list, deps)

  fold.addEventListener("click", () => deps.collapse(id, !section.collapsed))
  older.addEventListener("click", () => {
    showsOlder = !showsOlder
    draw()
  })
  add.addEventListener("click", () => deps.newSession(id))
  empty.addEventListener("click", () => deps.newSession(id))
  outside.addEventListener("click", () => deps.outsideOf(id))
  more.addEventListener("click", () => deps.projectMenu(id, more))
  head.addEventListener("contextmenu", (event) => {
    event.preventDefault()
    deps.projectMenu(id, more, { x: event.clientX, y: event.clientY })
  })

  function draw() {
    const { project, collapsed, listed, rows } = section
    setText(name, project.name)
    setAttribute(fold, "title", project.path)
    setAttribute(fold, "aria-expanded", String(!collapsed))
    setAttribute(element, "data-collapsed", collapsed)
    setAttribute(more, "aria-label", `Actions for ${project.name}`)
    setAttribute(add, "aria-label", `New session in ${project.name}`)
    setAttribute(add, "title", "New session")
    states.replaceChildren(...(collapsed ? statesOf(rows) : []))
    setText(count, collapsed && rows.length > 0 ? String(rows.length) : "")
    setAttribute(list, "hidden", collapsed)
    const recent = section.filtered ? rows : recentOf(rows)
    const hides = recent.length < rows.length
    const shown = showsOlder ? rows : recent
    setAttribute(older, "hidden", collapsed || !hides)
    setAttribute(older, "aria-expanded", String(showsOlder))
    setText(older, showsOlder ? "Show less" : `Older (${rows.length - recent.length})`)
    const height = String(collapsed ? 0 : Math.max(1, shown.length) + (hides ? 1 : 0))
    if (element.style.getPropertyValue("--rows") !== height) element.style.setProperty("--rows", height)
    setAttribute(element, "data-listed", listed)
    setAttribute(empty, "hidden", collapsed || !listed || rows.length > 0)
    // Those from the terminal are sessions too.
    setText(empty, section.outside === null ? "No sessions yet. Start one" : "Start a session")
    setAttribute(outside, "hidden", collapsed || !listed || section.outside === null)
    const { count: waiting = 0, due = 0 } = section.outside ?? {}
    const soon = due === 0 ? "" : `, ${due} due for deletion`
    setText(outside, `${waiting}${rows.length > 0 ? " more" : ""} from the terminal${soon}`)
    sessions.update(shown)
  }

  draw()
  return {
    element,
    /** @param {ProjectSection} next */
    update(next) {
      if (next === section) return
      section = next
      draw()
    },
    tick: sessions.tick,
  }
}

/** The rows to show first: the newest, and those that work, wait or are new. @param {SessionRow[]} rows */
function recentOf(rows) {
  const recent = rows.filter(
    ({ mood, current, editing, pinned }, at) => at < RECENT || mood !== "idle" || current || editing || pinned,
  )
  return rows.length - recent.length <= FEW ? rows : recent
}

/** How many sessions are in each state that matters. @param {SessionRow[]} rows */
const statesOf = (rows) =>
  urgentMoods.flatMap((mood) => {
    const count = rows.filter((row) => row.mood === mood).length
    return count === 0
      ? []
      : [
          el(
            "span",
            { class: "project-state", "data-mood": mood, title: `${count} ${moodWords[mood]}` },
            el("i", { class: "dot" }),
            String(count),
            el("span", { class: "visually-hidden", text: ` ${moodWords[mood]}` }),
          ),
        ]
  })
