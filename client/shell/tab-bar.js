/**
 * The tabs, one per open session, with its agent's mark, title and state. A click or the arrow keys switch; the middle
 * button, the cross and Delete close; dragging and Shift with the arrow keys move. If there is no room for all, they
 * scroll, and a menu lists them.
 */

import { updateAgentMark } from "../shared/agents.js"
import { countsText } from "../shared/counts.js"
import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { moodWords, stateWords } from "./model.js"

/** @import { ChangeCounts } from "../contract.js" */
/** @import { Mood } from "./model.js" */

/** @typedef {object} Tab
 * @property {string} id
 * @property {string} title
 * @property {string} cliType
 * @property {string} agent  The agent's name.
 * @property {string} project  The project's name.
 * @property {Mood} mood
 * @property {ChangeCounts | null} counts
 * @property {boolean} active
 * @property {boolean} beside  In view beside the active one.
 * @property {boolean} preview  The next preview replaces it. */

/** @typedef {object} TabBarDeps
 * @property {(id: string) => void} activate  The focus stays.
 * @property {(id: string) => void} open
 * @property {(id: string) => void} keep
 * @property {(id: string, anchor: HTMLElement, at: { x: number, y: number }) => void} menu
 * @property {(id: string) => void} close
 * @property {(id: string, to: number) => void} move  `to` is an index in the order without this tab.
 * @property {(id: string, by: 1 | -1) => void} nudge
 * @property {(id: string | null) => void} dragging  Which tab is being dragged.
 * @property {(anchor: HTMLElement, tabs: Tab[]) => void} all  A menu of all tabs.
 * @property {() => void} newSession
 * @property {() => void} now  Shows Now.
 * @property {() => void} showSidebar */

/** The width of a tab whose title is not cut, and the space beside each, as in tabs.css. */
const [WIDEST, GAP] = [320, 8]

/** The pane a tab controls. @param {string} id */
export const paneId = (id) => `pane-${id}`
/** @param {string} id */
export const tabId = (id) => `tab-${id}`

/** @param {HTMLElement} root @param {TabBarDeps} deps */
export function mountTabBar(root, deps) {
  const menu = el(
    "button",
    { class: "icon-button sidebar-show", type: "button", "aria-label": "Show the sidebar", title: "Show the sidebar" },
    icon("menu"),
  )
  const list = el("div", { class: "tab-list", role: "tablist", "aria-label": "Open sessions" })
  const all = el(
    "button",
    {
      class: "icon-button tab-all",
      type: "button",
      "aria-label": "All open sessions",
      title: "All open sessions",
      "aria-haspopup": "menu",
      hidden: true,
    },
    icon("collapse"),
  )
  const add = el(
    "button",
    {
      class: "icon-button tab-add",
      type: "button",
      "aria-label": "New session",
      title: "New session",
      "aria-haspopup": "dialog",
    },
    icon("add"),
  )
  const badge = el("span", { class: "badge", hidden: true })
  const now = el(
    "button",
    { class: "tab-now", type: "button", title: "Now: what's waiting, running and done" },
    icon("now"),
    el("span", { text: "Now" }),
    badge,
  )
  now.addEventListener("click", () => deps.now())
  root.append(menu, now, list, all, add)
  /** @type {Tab[]} */
  let tabs = []
  /** @type {Map<string, ReturnType<typeof mountTab>>} */
  const views = new Map()
  /** @type {string | null} */
  let dragged = null
  let shown = ""
  let widths = ""
  let isActiveSought = false
  /** The tab that was active last: the Tab key reaches it while Now is shown. */
  let last = ""

  menu.addEventListener("click", () => deps.showSidebar())
  all.addEventListener("click", () => deps.all(all, tabs))
  add.addEventListener("click", () => deps.newSession())

  list.addEventListener(
    "wheel",
    (event) => {
      if (event.deltaX !== 0 || list.scrollWidth <= list.clientWidth) return
      event.preventDefault()
      list.scrollLeft += event.deltaY
    },
    { passive: false },
  )

  list.addEventListener("keydown", (event) => {
    const id = event.target instanceof Element ? event.target.closest(".tab")?.getAttribute("data-id") : null
    const at = tabs.findIndex((tab) => tab.id === id)
    if (!id || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : null
    /** @type {string | undefined} */
    let next = id
    if (by !== null && event.shiftKey) deps.nudge(id, by)
    else if (by !== null) deps.activate((next = tabs[(at + by + tabs.length) % tabs.length]?.id ?? id))
    else if (event.key === "Home") deps.activate((next = tabs[0]?.id ?? id))
    else if (event.key === "End") deps.activate((next = tabs.at(-1)?.id ?? id))
    else if (event.key === "Delete") {
      next = (tabs[at + 1] ?? tabs[at - 1])?.id
      deps.close(id)
    } else return
    event.preventDefault()
    if (next !== undefined) views.get(next)?.focus()
  })

  /** The index of a dragged tab in the order without it. @param {number} x */
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
      setAttribute(
        view.element,
        "data-drop",
        place === null
          ? null
          : others[place]?.id === id
            ? "before"
            : place === others.length && others.at(-1)?.id === id
              ? "after"
              : null,
      )
    }
  }

  list.addEventListener("dragstart", (event) => {
    const item = event.target instanceof Element ? event.target.closest(".tab") : null
    dragged = item?.getAttribute("data-id") ?? null
    if (dragged === null || !event.dataTransfer) return
    event.dataTransfer.effectAllowed = "move"
    event.dataTransfer.setData("text/plain", dragged)
    setAttribute(/** @type {Element} */ (item), "data-dragged", true)
    // Later: a browser may cancel a drag whose start changes what is under the pointer.
    const id = dragged
    setTimeout(() => dragged === id && deps.dragging(id))
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
    deps.dragging(null)
  })

  /** Whether all tabs have room for their titles, which may be cut now. */
  const isRoomy = () => {
    const needed = [...list.querySelectorAll(".tab-title")].reduce((sum, title) => {
      const tab = title.closest(".tab")?.getBoundingClientRect().width ?? 0
      return sum + Math.min(WIDEST, Math.ceil(tab) + title.scrollWidth - title.clientWidth) + GAP
    }, 0)
    const beside = root.getBoundingClientRect().right - add.getBoundingClientRect().right
    return needed < list.clientWidth + beside - GAP
  }
  const fits = () => {
    setAttribute(list, "data-roomy", isRoomy())
    const beyond = list.scrollWidth - list.clientWidth
    // In a narrow window only the active tab is shown.
    const isShown = (/** @type {Element} */ tab) => tab instanceof HTMLElement && tab.offsetWidth > 0
    all.hidden = beyond <= 0 && [...list.children].every(isShown)
    // Tabs that are cut fade out there.
    const at = Math.abs(list.scrollLeft)
    setAttribute(list, "data-cut", [at > 1 ? "start" : "", at < beyond - 1 ? "end" : ""].join(" ").trim() || null)
  }
  list.addEventListener("scroll", fits, { passive: true })
  const showActive = () =>
    views.get(tabs.find((tab) => tab.active)?.id ?? "")?.element.scrollIntoView({ block: "nearest", inline: "nearest" })
  // The active tab stays in view when the window becomes narrower.
  const sizes = new ResizeObserver(() => {
    fits()
    showActive()
  })
  sizes.observe(list)
  // Observed again when the tabs change: after the layout of that frame. Asking earlier would do it one more time.
  const changes = new ResizeObserver(() => {
    fits()
    if (isActiveSought) showActive()
    isActiveSought = false
  })

  return {
    /** @param {Tab[]} next @param {{ active: boolean, waiting: number }} pinned  Now's own tab. */
    update(next, pinned) {
      setAttribute(now, "aria-current", pinned.active ? "page" : null)
      badge.hidden = pinned.waiting === 0
      setText(badge, pinned.waiting === 0 ? "" : String(pinned.waiting))
      setAttribute(badge, "aria-label", `${pinned.waiting} waiting`)
      tabs = next
      keyed(
        list,
        views,
        tabs,
        (tab) => tab.id,
        (tab) => mountTab(tab, deps),
      )
      const active = tabs.find((tab) => tab.active)
      last = active?.id ?? (views.has(last) ? last : (tabs[0]?.id ?? ""))
      for (const [id, view] of views) view.reachable(id === last)
      // Also when titles arrive after a reload, because they make the tabs before it wider.
      const order = `${active?.id} ${tabs.length} ${tabs.filter((tab) => tab.title === "…").length} ${active?.title}`
      const drawn = JSON.stringify(
        tabs.map(({ id, title, mood, counts, preview }) => [id, title, mood, counts, preview]),
      )
      if (order === shown && drawn === widths) return
      isActiveSought ||= order !== shown
      shown = order
      widths = drawn
      changes.unobserve(root)
      changes.observe(root)
    },
    destroy() {
      sizes.disconnect()
      changes.disconnect()
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
  const dot = el("i", { class: "dot", "aria-hidden": "true" })
  const counts = el("span", { class: "tab-counts", "aria-hidden": "true" })
  const open = el(
    "button",
    {
      class: "tab-open",
      type: "button",
      role: "tab",
      id: tabId(id),
      "aria-controls": paneId(id),
      "aria-keyshortcuts": "Delete",
    },
    mark,
    title,
    words,
    counts,
    dot,
  )
  // For the pointer only: the keyboard has Delete, and a tablist may not contain a button.
  const close = el(
    "button",
    { class: "tab-close", type: "button", tabindex: -1, "aria-hidden": "true", title: "Close" },
    icon("close"),
  )
  const element = el("div", { class: "tab", role: "presentation", draggable: "true", "data-id": id }, open, close)

  open.addEventListener("click", () => deps.open(id))
  open.addEventListener("dblclick", () => deps.keep(id))
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault()
    deps.menu(id, open, { x: event.clientX, y: event.clientY })
  })
  close.addEventListener("click", () => deps.close(id))
  element.addEventListener("pointerdown", (event) => {
    if (event.button === 1) event.preventDefault()
  }) // no autoscroll
  element.addEventListener("mousedown", (event) => {
    if (event.button === 1) event.preventDefault()
  })
  element.addEventListener("auxclick", (event) => {
    if (event.button !== 1) return
    event.preventDefault()
    deps.close(id)
  })

  const view = {
    element,
    /** @param {Tab} next */
    update(next) {
      setText(counts, countsText(next.counts))
      setText(title, next.title)
      setAttribute(open, "title", next.project === "" ? next.title : `${next.title} (${next.project})`)
      setAttribute(dot, "title", stateWords(next.mood))
      setAttribute(element, "data-preview", next.preview)
      const spoken = [next.agent, moodWords[next.mood], next.beside ? "in view" : ""].filter((word) => word !== "")
      setText(words, `, ${spoken.join(", ")}`)
      setAttribute(element, "data-beside", next.beside)
      updateAgentMark(mark, next.cliType, next.agent)
      setAttribute(element, "data-mood", next.mood)
      setAttribute(element, "data-active", next.active)
      setAttribute(open, "aria-selected", String(next.active))
    },
    /** The Tab key reaches one tab, the arrow keys the others. @param {boolean} isReached */
    reachable: (isReached) => setAttribute(open, "tabindex", isReached ? 0 : -1),
    focus: () => open.focus(),
  }
  view.update(tab)
  return view
}
