/** One project in the sidebar: its name, folding, a new session, and its sessions. */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { mountSessionRow } from "./session-row.js"

/** @import { Project } from "../contract.js" */
/** @import { SessionRow, SessionRowDeps } from "./session-row.js" */

/** @typedef {object} ProjectSection
 * @property {Project} project
 * @property {boolean} collapsed
 * @property {boolean} listed  Its sessions are known.
 * @property {SessionRow[]} rows */

/** @typedef {SessionRowDeps & {
 *   collapse(projectId: string, collapsed: boolean): void,
 *   newSession(projectId: string, anchor: HTMLElement): void,
 *   projectMenu(projectId: string, anchor: HTMLElement, at?: { x: number, y: number }): void,
 * }} ProjectDeps */

/** @param {ProjectSection} section @param {ProjectDeps} deps */
export function mountProjectSection(section, deps) {
  const id = section.project.id
  const listId = `sessions-${id}`
  const chevron = el("span", { class: "project-chevron" }, icon("expand"))
  const name = el("span", { class: "project-name" })
  const count = el("span", { class: "project-count" })
  const fold = el("button", { class: "project-fold", type: "button", "aria-controls": listId, "data-project": id, tabindex: -1 }, chevron, name, count)
  const more = el("button", { class: "icon-button project-more", type: "button", tabindex: -1, "aria-haspopup": "menu" }, icon("more"))
  const add = el("button", { class: "icon-button project-add", type: "button", tabindex: -1, "aria-haspopup": "menu" }, icon("add"))
  const list = el("ul", { class: "sessions", id: listId })
  const empty = el("button", { class: "project-empty", type: "button", tabindex: -1, text: "No sessions yet. Start one" })
  const head = el("div", { class: "project-head" }, el("h2", { class: "project-title" }, fold), more, add)
  const element = el("section", { class: "project" }, head, list, empty)
  /** @type {Map<string, ReturnType<typeof mountSessionRow>>} */
  const views = new Map()

  fold.addEventListener("click", () => deps.collapse(id, !section.collapsed))
  add.addEventListener("click", () => deps.newSession(id, add))
  empty.addEventListener("click", () => deps.newSession(id, empty))
  more.addEventListener("click", () => deps.projectMenu(id, more))
  head.addEventListener("contextmenu", (event) => {
    event.preventDefault()
    deps.projectMenu(id, more, { x: event.clientX, y: event.clientY })
  })

  const view = {
    element,
    /** @param {ProjectSection} next */
    update(next) {
      section = next
      const { project, collapsed, listed, rows } = next
      setText(name, project.name)
      setAttribute(fold, "title", project.path)
      setAttribute(fold, "aria-expanded", String(!collapsed))
      setAttribute(element, "data-collapsed", collapsed)
      setAttribute(more, "aria-label", `Actions for ${project.name}`)
      setAttribute(add, "aria-label", `New session in ${project.name}`)
      setAttribute(add, "title", "New session")
      const urgent = collapsed ? rows.find((row) => row.mood === "waiting")?.mood ?? rows.find((row) => row.mood !== "idle")?.mood : undefined
      setAttribute(head, "data-mood", urgent ?? null)
      setText(count, collapsed && rows.length > 0 ? String(rows.length) : "")
      setAttribute(list, "hidden", collapsed)
      const height = String(collapsed ? 0 : Math.max(1, rows.length))
      if (element.style.getPropertyValue("--rows") !== height) element.style.setProperty("--rows", height)
      setAttribute(element, "data-listed", listed)
      setAttribute(empty, "hidden", collapsed || !listed || rows.length > 0)
      keyed(list, views, rows, (row) => row.session.id, (row) => mountSessionRow(row, deps))
    },
    tick() { for (const row of views.values()) row.tick() },
  }
  view.update(section)
  return view
}
