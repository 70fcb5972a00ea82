/**
 * The tabs. One per open session: mark of its agent, title, state. Click or arrows switch, the middle button, the cross and
 * Delete close, dragging and Shift with the arrows move. When there are more than fit they scroll, and a menu has them all.
 */

import { updateAgentMark } from "../shared/agents.js"
import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { moodWords } from "./model.js"

/** @import { Mood } from "./model.js" */

/** @typedef {object} Tab
 * @property {string} id
 * @property {string} title
 * @property {string} cliType
 * @property {string} agent  The agent's name.
 * @property {Mood} mood
 * @property {boolean} active */

/** @typedef {object} TabBarDeps
 * @property {(id: string) => void} activate
 * @property {(id: string) => void} close
 * @property {(id: string, to: number) => void} move  `to` counts in the order without it.
 * @property {(id: string, by: 1 | -1) => void} nudge
 * @property {(anchor: HTMLElement, tabs: Tab[]) => void} all  A menu of all tabs.
 * @property {(anchor: HTMLElement) => void} newSession
 * @property {() => void} showSidebar */

/** The pane a tab controls. @param {string} id */
export const paneId = (id) => `pane-${id}`
/** @param {string} id */
export const tabId = (id) => `tab-${id}`

/** @param {HTMLElement} root @param {TabBarDeps} deps */
export function mountTabBar(root, deps) {
  const menu = el("button", { class: "icon-button sidebar-show", type: "button", "aria-label": "Show the sidebar", title: "Show the sidebar" }, icon("menu"))
  const list = el("div", { class: "tab-list", role: "tablist", "aria-label": "Open sessions" })
  const all = el("button", { class: "icon-button tab-all", type: "button", "aria-label": "All open sessions", title: "All open sessions", "aria-haspopup": "menu", hidden: true }, icon("collapse"))
  const add = el("button", { class: "icon-button tab-add", type: "button", "aria-label": "New session", title: "New session", "aria-haspopup": "menu" }, icon("add"))
  root.append(menu, list, all, add)
  /** @type {Tab[]} */
  let tabs = []
  /** @type {Map<string, ReturnType<typeof mountTab>>} */
  const views = new Map()
  /** @type {string | null} */
  let dragged = null
  let shown = ""

  menu.addEventListener("click", () => deps.showSidebar())
  all.addEventListener("click", () => deps.all(all, tabs))
  add.addEventListener("click", () => deps.newSession(add))

  list.addEventListener("wheel", (event) => {
    if (event.deltaX !== 0 || list.scrollWidth <= list.clientWidth) return
    event.preventDefault()
    list.scrollLeft += event.deltaY
  }, { passive: false })

  list.addEventListener("keydown", (event) => {
    const id = event.target instanceof Element ? event.target.closest(".tab")?.getAttribute("data-id") : null
    const at = tabs.findIndex((tab) => tab.id === id)
    if (!id || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : null
    /** @type {string | undefined} */
    let next = id
    if (by !== null && event.shiftKey) deps.nudge(id, by)
    else if (by !== null) deps.activate(next = tabs[(at + by + tabs.length) % tabs.length]?.id ?? id)
    else if (event.key === "Home") deps.activate(next = tabs[0]?.id ?? id)
    else if (event.key === "End") deps.activate(next = tabs.at(-1)?.id ?? id)
    else if (event.key === "Delete") { next = (tabs[at + 1] ?? tabs[at - 1])?.id; deps.close(id) }
    else return
    event.preventDefault()
    if (next !== undefined) views.get(next)?.focus()
  })

  /** Where a dragged tab would go, counted without it. @param {number} x */
  function placeAt(x) {
    const others = tabs.filter((tab) => tab.id !== dragged)
    const at = others.findIndex((tab) => {
      const box = views.get(tab.id)?.element.getBoundingClientRect()
      return box !== undefined && x < box.left + box.width / 2
    })
    return at < 0 ? others.length : at
  }

  /** @param {number | null} place */
  function markPlace(place) {
    const others = tabs.filter((tab) => tab.id !== dragged)
    for (const [id, view] of views) {
      setAttribute(view.element, "data-drop", place === null ? null
        : others[place]?.id === id ? "before" : place === others.length && others.at(-1)?.id === id ? "after" : null)
    }
  }

  list.addEventListener("dragstart", (event) => {
    const item = event.target instanceof Element ? event.target.closest(".tab") : null
    dragged = item?.getAttribute("data-id") ?? null
    if (dragged === null || !event.dataTransfer) return
    event.dataTransfer.effectAllowed = "move"
    event.dataTransfer.setData("text/plain", dragged)
    setAttribute(/** @type {Element} */ (item), "data-dragged", true)
  })
  list.addEventListener("dragover", (event) => {
    if (dragged === null) return
    event.preventDefault()
    markPlace(placeAt(event.clientX))
  })
  list.addEventListener("drop", (event) => {
    if (dragged === null) return
    event.preventDefault()
    deps.move(dragged, placeAt(event.clientX))
  })
  list.addEventListener("dragend", () => {
    markPlace(null)
    if (dragged !== null) views.get(dragged)?.element.removeAttribute("data-dragged")
    dragged = null
  })

  const fits = () => { all.hidden = list.scrollWidth <= list.clientWidth }
  const showActive = () => views.get(tabs.find((tab) => tab.active)?.id ?? "")?.element.scrollIntoView({ block: "nearest", inline: "nearest" })
  // A window that became narrower still shows the tab in front.
  const sizes = new ResizeObserver(() => { fits(); showActive() })
  sizes.observe(list)

  return {
    /** @param {Tab[]} next */
    update(next) {
      tabs = next
      keyed(list, views, tabs, (tab) => tab.id, (tab) => mountTab(tab, deps))
      const active = tabs.find((tab) => tab.active)
      // Again when titles arrive after a reload, because the tabs before it grow with them.
      const order = `${active?.id} ${tabs.length} ${tabs.filter((tab) => tab.title === "…").length} ${active?.title}`
      if (order !== shown) showActive()
      shown = order
      fits()
    },
    destroy() {
      sizes.disconnect()
      root.replaceChildren()
    },
  }
}

/** @param {Tab} tab @param {TabBarDeps} deps */
function mountTab(tab, deps) {
  const { id } = tab
  const mark = el("span", { class: "agent-mark", "aria-hidden": "true" })
  const title = el("span", { class: "tab-title" })
  const words = el("span", { class: "visually-hidden" })
  const dot = el("i", { class: "dot" })
  const open = el("button", { class: "tab-open", type: "button", role: "tab", id: tabId(id), "aria-controls": paneId(id), "aria-keyshortcuts": "Delete" }, mark, title, words, dot)
  // For the pointer only: the keyboard has Delete, and a button may not stand inside a list of tabs.
  const close = el("button", { class: "tab-close", type: "button", tabindex: -1, "aria-hidden": "true", title: "Close" }, icon("close"))
  const element = el("div", { class: "tab", role: "presentation", draggable: "true", "data-id": id }, open, close)

  open.addEventListener("click", () => deps.activate(id))
  close.addEventListener("click", () => deps.close(id))
  element.addEventListener("pointerdown", (event) => { if (event.button === 1) event.preventDefault() }) // no autoscroll
  element.addEventListener("mousedown", (event) => { if (event.button === 1) event.preventDefault() })
  element.addEventListener("auxclick", (event) => {
    if (event.button !== 1) return
    event.preventDefault()
    deps.close(id)
  })

  const view = {
    element,
    /** @param {Tab} next */
    update(next) {
      setText(title, next.title)
      setAttribute(open, "title", next.title)
      setText(words, `, ${next.agent}${moodWords[next.mood] ? `, ${moodWords[next.mood]}` : ""}`)
      updateAgentMark(mark, next.cliType, next.agent)
      setAttribute(element, "data-mood", next.mood)
      setAttribute(element, "data-active", next.active)
      setAttribute(open, "aria-selected", String(next.active))
      setAttribute(open, "tabindex", next.active ? 0 : -1)
    },
    focus: () => open.focus(),
  }
  view.update(tab)
  return view
}
