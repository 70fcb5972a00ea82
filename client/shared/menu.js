/** A menu at a button: arrows move, Enter and Space choose, Escape and a click elsewhere close it, focus returns.
 * A long one has a field to search in. */

import { el } from "./dom.js"
import { icon } from "./icons.js"

/** @import { IconName } from "./icons.js" */

/** @typedef {object} MenuItem
 * @property {string} label
 * @property {() => void} run
 * @property {IconName | HTMLElement} [icon]
 * @property {string} [note]  A second line, such as why the item can't be used.
 * @property {string} [aside]  A word at the end of the line.
 * @property {boolean} [checked]  Makes it one of several choices.
 * @property {string} [group]  The heading above it, shown once for neighbours.
 * @property {"danger" | "muted" | "warn"} [kind] */

/** @typedef {{ close(): void, update(items: MenuItem[]): void }} OpenMenu */

/** From this many items on, the menu can be searched. */
const SEARCHED = 13

/** @param {HTMLElement} anchor @param {string} label what the menu is for @param {MenuItem[]} items
 * @param {{ at?: { x: number, y: number }, onClose?: () => void, className?: string }} [options] @returns {OpenMenu} */
export function openMenu(anchor, label, items, { at, onClose, className = "" } = {}) {
  const listening = new AbortController()
  const menu = el("div", { class: `menu ${className}`, role: "menu", "aria-label": label, popover: "manual" })
  let closed = false

  function close(focus = true) {
    if (closed) return
    closed = true
    listening.abort()
    const hadFocus = menu.contains(document.activeElement)
    menu.remove()
    anchor.setAttribute("aria-expanded", "false")
    if (focus && hadFocus) anchor.focus()
    onClose?.()
  }

  /** @returns {HTMLElement[]} */
  const rows = () => [...menu.querySelectorAll('[role^="menuitem"]')].filter((row) => row instanceof HTMLElement)
  /** @param {number} by */
  const move = (by) => {
    const all = rows()
    const now = all.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    all[(now + by + all.length) % all.length]?.focus()
  }

  const list = el("div", { class: "menu-list", role: "presentation" })
  const search =
    items.length < SEARCHED
      ? null
      : el("input", { class: "menu-search", type: "text", placeholder: "Search", "aria-label": `Search ${label}` })
  search?.addEventListener("input", () => fill(all))
  if (search) menu.append(search)
  menu.append(list)
  let all = items

  /** @param {MenuItem[]} next */
  function fill(next) {
    all = next
    const words = search?.value.trim().toLowerCase() ?? ""
    const found = next.filter((item) => `${item.label} ${item.note ?? ""}`.toLowerCase().includes(words))
    const focused = rows().indexOf(/** @type {HTMLElement} */ (document.activeElement))
    list.replaceChildren(
      ...found.flatMap((item, at) => {
        const isChoice = item.checked !== undefined
        const row = el(
          "button",
          {
            class: "menu-item",
            role: isChoice ? "menuitemradio" : "menuitem",
            "aria-checked": isChoice ? String(item.checked) : null,
            tabindex: -1,
            type: "button",
            "data-kind": item.kind,
          },
          el(
            "span",
            { class: "menu-icon", "aria-hidden": "true" },
            item.checked ? icon("check") : typeof item.icon === "string" ? icon(item.icon) : item.icon,
          ),
          el(
            "span",
            { class: "menu-words" },
            el("span", { class: "menu-label", text: item.label }),
            item.note && el("span", { class: "menu-note", text: item.note }),
          ),
          item.aside && el("span", { class: "menu-aside", text: item.aside }),
        )
        row.addEventListener("click", () => {
          close()
          item.run()
        })
        const isFirst = item.group !== undefined && item.group !== found[at - 1]?.group
        return isFirst ? [el("div", { class: "menu-group", role: "presentation", text: item.group }), row] : [row]
      }),
    )
    if (focused >= 0) rows()[Math.min(focused, rows().length - 1)]?.focus()
  }

  menu.addEventListener("keydown", (event) => {
    switch (event.key) {
      case "ArrowDown":
        move(1)
        break
      case "ArrowUp":
        move(-1)
        break
      case "Enter":
        if (event.target !== search) return
        rows()[0]?.click()
        break
      case "Home":
        if (event.target === search) return
        rows()[0]?.focus()
        break
      case "End":
        if (event.target === search) return
        rows().at(-1)?.focus()
        break
      case "Escape":
        close()
        break
      case "Tab":
        close()
        return
      default:
        return
    }
    event.preventDefault()
    event.stopPropagation()
  })
  const { signal } = listening
  document.addEventListener(
    "pointerdown",
    (event) => {
      if (event.target instanceof Node && !menu.contains(event.target)) {
        if (anchor.contains(event.target)) event.preventDefault()
        close(false)
      }
    },
    { signal, capture: true },
  )
  window.addEventListener("blur", () => close(false), { signal }) // a click into a portlet
  window.addEventListener("resize", () => close(false), { signal })

  fill(items)
  anchor.closest("dialog, body")?.append(menu)
  menu.showPopover()
  place(menu, at ?? anchor.getBoundingClientRect())
  anchor.setAttribute("aria-expanded", "true")
  const chosen = list.querySelector('[aria-checked="true"]')
  if (chosen instanceof HTMLElement) chosen.scrollIntoView({ block: "nearest" })
  if (search) search.focus()
  else (chosen instanceof HTMLElement ? chosen : rows()[0])?.focus()
  return { close, update: fill }
}

/** Puts the menu below its button, or above if there is no room, and inside the window.
 * @param {HTMLElement} menu @param {DOMRect | { x: number, y: number }} at */
function place(menu, at) {
  const size = menu.getBoundingClientRect()
  const top = "bottom" in at ? at.bottom + 4 : at.y
  const above = "bottom" in at ? at.top - 4 - size.height : at.y - size.height
  const left = Math.max(8, Math.min("left" in at ? at.left : at.x, innerWidth - size.width - 8))
  const lowest = innerHeight - size.height - 8
  menu.style.setProperty("left", `${left}px`)
  menu.style.setProperty("top", `${Math.max(8, top > lowest && above > 8 ? above : Math.min(top, lowest))}px`)
}
