/**
 * The sidebar: search, projects with their sessions, adding a project, the state of the connection. The list is one
 * Tab stop with arrow keys inside, so that Tab need not pass a thousand sessions to reach the rest of the page.
 */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { keysOf, shortcuts } from "../shared/keys.js"
import { mountAddProject } from "./add-project.js"
import { mountProjectSection } from "./project-section.js"
import { mountMoving } from "./sidebar-moving.js"

/** @import { Status } from "../shared/socket.js" */
/** @import { AddProjectDeps } from "./add-project.js" */
/** @import { ProjectDeps, ProjectSection } from "./project-section.js" */
/** @import { MovingDeps } from "./sidebar-moving.js" */

/** @typedef {object} SidebarState
 * @property {ProjectSection[] | null} sections  Null until received from the server.
 * @property {string} filter  In words; empty for none.
 * @property {Status} status */

/** @typedef {ProjectDeps & MovingDeps & Pick<AddProjectDeps, "complete" | "places" | "recent" | "add"> & {
 *   filter(anchor: HTMLElement): void, unfilter(): void,
 *   search(): void, settings(): void, agents(anchor: HTMLElement): void, hide(): void, rename(sessionId: string): void,
 *   archive(sessionId: string): void,
 * }} SidebarDeps */

/** @type {Record<Status["connection"], string>} */
const connectionWords = { connecting: "connecting", open: "connected", lost: "offline" }

/** @param {HTMLElement} root @param {SidebarDeps} deps */
export function mountSidebar(root, deps) {
  const searchKeys = keysOf(
    /** @type {import("../shared/keys.js").Shortcut} */ (shortcuts.find(({ name }) => name === "search")),
  ).join(" ")
  const search = el(
    "button",
    { class: "search-box", type: "button", "aria-haspopup": "dialog" },
    icon("search"),
    el("span", { text: "Search everything" }),
    el("kbd", { text: searchKeys }),
  )
  const filter = el(
    "button",
    {
      class: "icon-button sidebar-filter",
      type: "button",
      "aria-label": "Filter sessions",
      title: "Filter sessions",
      "aria-haspopup": "menu",
    },
    icon("filter"),
  )
  const filterWords = el("span")
  const unfilter = el(
    "button",
    { class: "icon-button", type: "button", "aria-label": "Show all sessions", title: "Show all sessions" },
    icon("close"),
  )
  const filtered = el("div", { class: "sidebar-filtered", role: "status", hidden: true }, filterWords, unfilter)
  const none = el("p", { class: "sidebar-note", text: "No session matches.", hidden: true })
  const hide = el(
    "button",
    { class: "icon-button sidebar-hide", type: "button", "aria-label": "Hide the sidebar", title: "Hide the sidebar" },
    icon("sidebar"),
  )
  const list = el("nav", { class: "project-list", "aria-label": "Projects" })
  const loading = el("p", { class: "sidebar-note", text: "Loading projects…" })
  const invite = el(
    "div",
    { class: "sidebar-empty" },
    el("p", { text: "No projects yet." }),
    el("p", { text: "A project is a directory your agents work in." }),
  )
  const adding = el("div", { class: "adding" })
  const add = el("button", { class: "sidebar-add", type: "button" }, icon("add"), el("span", { text: "Add project" }))
  const dot = el("i", { class: "dot" })
  const words = el("span")
  const connection = el("span", { class: "sidebar-connection", role: "status" }, dot, words)
  const settings = el(
    "button",
    { class: "icon-button", type: "button", "aria-label": "Settings", title: "Settings" },
    icon("settings"),
  )
  const agents = el(
    "button",
    { class: "icon-button", type: "button", "aria-label": "Agents", title: "Agents", "aria-haspopup": "menu" },
    icon("command"),
  )
  root.append(
    el("header", { class: "brand" }, el("i", { class: "brand-mark" }), el("h1", { text: "Liminal Builder" }), hide),
    el("div", { class: "sidebar-search" }, search, filter),
    filtered,
    el("div", { class: "sidebar-scroll" }, loading, invite, none, list),
    adding,
    el("footer", { class: "sidebar-foot" }, add, connection, agents, settings),
  )

  /** @type {Map<string, ReturnType<typeof mountProjectSection>>} */
  const views = new Map()
  /** @type {{ destroy(): void } | null} */
  let form = null

  function openForm() {
    if (form) return
    add.hidden = true
    form = mountAddProject(adding, {
      complete: deps.complete,
      places: deps.places,
      recent: deps.recent,
      add: deps.add,
      closed() {
        form?.destroy()
        form = null
        add.hidden = false
        add.focus()
      },
    })
  }

  search.addEventListener("click", () => deps.search())
  hide.addEventListener("click", () => deps.hide())
  filter.addEventListener("click", () => deps.filter(filter))
  unfilter.addEventListener("click", () => {
    deps.unfilter()
    filter.focus()
  })
  mountMoving(list, deps)
  add.addEventListener("click", openForm)
  settings.addEventListener("click", () => deps.settings())
  agents.addEventListener("click", () => deps.agents(agents))

  /** Every visible row, from top to bottom. @returns {HTMLElement[]} */
  const stops = () =>
    /** @type {HTMLElement[]} */ ([
      ...list.querySelectorAll(
        ".project-fold, .project:not([data-collapsed]) " +
          ":is(.session-open, :is(.project-older, .project-empty):not([hidden]))",
      ),
    ])

  /** @param {HTMLElement | undefined} stop */
  function moveTo(stop) {
    if (!stop) return
    makeStop(stop)
    stop.focus()
    stop.scrollIntoView({ block: "nearest" })
  }

  /** The one row that Tab reaches. @param {Element} stop */
  function makeStop(stop) {
    for (const other of list.querySelectorAll('[tabindex="0"]'))
      if (other !== stop) other.setAttribute("tabindex", "-1")
    stop.setAttribute("tabindex", "0")
  }

  list.addEventListener("focusin", (event) => {
    if (
      event.target instanceof Element &&
      event.target.matches(".project-fold, .session-open, .project-older, .project-empty")
    )
      makeStop(event.target)
  })
  list.addEventListener("keydown", (event) => {
    const target = event.target
    if (!(target instanceof HTMLElement) || target.matches("input") || event.altKey || event.ctrlKey || event.metaKey)
      return
    const all = stops()
    const row = target.closest(".session, .project-head")
    const here = target.matches(".icon-button")
      ? /** @type {HTMLElement} */ (row?.querySelector(".session-open, .project-fold"))
      : target
    const at = all.indexOf(here)
    const session = target.closest(".session")?.querySelector(".session-open")?.getAttribute("data-session")
    const fold = target.closest(".project")?.querySelector(".project-fold")
    const buttons = /** @type {HTMLElement[]} */ ([...(row?.querySelectorAll("button") ?? [])])
    switch (event.key) {
      case "ArrowDown":
        moveTo(all[at + 1])
        break
      case "ArrowUp":
        moveTo(all[at - 1])
        break
      case "Home":
        moveTo(all[0])
        break
      case "End":
        moveTo(all.at(-1))
        break
      case "ArrowRight":
        if (target === fold && fold.getAttribute("aria-expanded") === "false") target.click()
        else buttons[buttons.indexOf(target) + 1]?.focus()
        break
      case "ArrowLeft":
        if (target.matches(".icon-button")) buttons[buttons.indexOf(target) - 1]?.focus()
        else if (target === fold) {
          if (fold.getAttribute("aria-expanded") === "true") target.click()
        } else if (fold instanceof HTMLElement) moveTo(fold)
        break
      case "F2":
        if (session) deps.rename(session)
        else return
        break
      case "Delete":
        if (session) {
          moveTo(all[at + 1] ?? all[at - 1])
          deps.archive(session)
        } else return
        break
      default:
        return
    }
    event.preventDefault()
  })

  return {
    /** @param {SidebarState} next */
    update({ sections, status, filter: filteredBy }) {
      loading.hidden = sections !== null
      invite.hidden = sections === null || sections.length > 0 || filteredBy !== ""
      none.hidden = filteredBy === "" || sections === null || sections.length > 0
      filtered.hidden = filteredBy === ""
      setText(filterWords, filteredBy)
      setAttribute(filter, "data-active", filteredBy !== "")
      keyed(
        list,
        views,
        sections ?? [],
        (section) => section.project.id,
        (section) => mountProjectSection(section, deps),
      )
      if (!list.querySelector('[tabindex="0"]')) {
        const stop = list.querySelector('[aria-current="true"]') ?? list.querySelector(".project-fold")
        if (stop) makeStop(stop)
      }
      setAttribute(connection, "data-connection", status.connection)
      setText(words, connectionWords[status.connection])
    },
    tick() {
      for (const section of views.values()) section.tick()
    },
    addProject: openForm,
    destroy: () => root.replaceChildren(),
  }
}
