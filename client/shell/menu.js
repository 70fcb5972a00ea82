/** A menu that opens at a button: arrows move, Enter and Space choose, Escape and a click elsewhere close, focus returns. */

import { el } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @import { IconName } from "../shared/icons.js" */

/** @typedef {object} MenuItem
 * @property {string} label
 * @property {() => void} run
 * @property {IconName | HTMLElement} [icon]
 * @property {string} [note]  A second line, such as why it can't be used.
 * @property {string} [aside]  A word at the end of the line.
 * @property {"danger" | "muted"} [kind] */

/** @typedef {{ close(): void, update(items: MenuItem[]): void }} OpenMenu */

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
  const rows = () => [...menu.querySelectorAll('[role="menuitem"]')].filter((row) => row instanceof HTMLElement)
  /** @param {number} by */
  const move = (by) => {
    const all = rows()
    const now = all.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    all[(now + by + all.length) % all.length]?.focus()
  }

  /** @param {MenuItem[]} next */
  function fill(next) {
    const focused = rows().indexOf(/** @type {HTMLElement} */ (document.activeElement))
    menu.replaceChildren(...next.map((item) => {
      const row = el("button", { class: "menu-item", role: "menuitem", tabindex: -1, type: "button", "data-kind": item.kind },
        el("span", { class: "menu-icon", "aria-hidden": "true" }, typeof item.icon === "string" ? icon(item.icon) : item.icon),
        el("span", { class: "menu-words" }, el("span", { class: "menu-label", text: item.label }), item.note && el("span", { class: "menu-note", text: item.note })),
        item.aside && el("span", { class: "menu-aside", text: item.aside }))
      row.addEventListener("click", () => { close(); item.run() })
      return row
    }))
    if (focused >= 0) rows()[Math.min(focused, rows().length - 1)]?.focus()
  }

  menu.addEventListener("keydown", (event) => {
    switch (event.key) {
      case "ArrowDown": move(1); break
      case "ArrowUp": move(-1); break
      case "Home": rows()[0]?.focus(); break
      case "End": rows().at(-1)?.focus(); break
      case "Escape": close(); break
      case "Tab": close(); return
      default: return
    }
    event.preventDefault()
    event.stopPropagation()
  })
  const { signal } = listening
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) {
      if (anchor.contains(event.target)) event.preventDefault()
      close(false)
    }
  }, { signal, capture: true })
  window.addEventListener("blur", () => close(false), { signal }) // a click into a portlet
  window.addEventListener("resize", () => close(false), { signal })

  fill(items)
  anchor.closest("dialog, body")?.append(menu)
  menu.showPopover()
  place(menu, at ?? anchor.getBoundingClientRect())
  anchor.setAttribute("aria-expanded", "true")
  rows()[0]?.focus()
  return { close, update: fill }
}

/** Puts the menu below its button, or above where there is no room, inside the window.
 * @param {HTMLElement} menu @param {DOMRect | { x: number, y: number }} at */
function place(menu, at) {
  const size = menu.getBoundingClientRect()
  const top = "bottom" in at ? at.bottom + 4 : at.y
  const above = "bottom" in at ? at.top - 4 - size.height : at.y - size.height
  const left = Math.max(8, Math.min("left" in at ? at.left : at.x, innerWidth - size.width - 8))
  menu.style.setProperty("left", `${left}px`)
  menu.style.setProperty("top", `${Math.max(8, top + size.height > innerHeight - 8 && above > 8 ? above : Math.min(top, innerHeight - size.height - 8))}px`)
}
