/**
 * Whether the user could read everything a permission card asks about. Content longer than its box must have been
 * scrolled to its end, or shown at full length; folded content must have been opened.
 */

import { el } from "../shared/dom.js"

const BOXES = ".term, .rows, .code pre, .fields, .part[data-kind=text]"

/** @param {HTMLElement} parts @param {boolean} wasSeen  Seen when the card was on the page before.
 * @param {(isSeen: boolean) => void} onChange */
export function mountWhole(parts, wasSeen, onChange) {
  const button = el("button", { class: "button", type: "button", text: "Show all of it" })
  const element = el(
    "p",
    { class: "ask-hint", hidden: true },
    "There is more to read before you can allow this.",
    button,
  )
  /** @type {WeakSet<Element>} */
  const seen = new WeakSet()
  let isSeen = wasSeen
  const ending = new AbortController()

  function look() {
    if (isSeen) return
    // In a hidden tab nothing is laid out.
    const isShown = parts.childElementCount === 0 || parts.clientHeight > 0
    const boxes = [...parts.querySelectorAll(BOXES)]
    if (isShown) for (const box of boxes) if (!box.querySelector("details:not([open])") && isAtEnd(box)) seen.add(box)
    isSeen = isShown && boxes.every((box) => seen.has(box))
    element.hidden = isSeen || !isShown
    onChange(isSeen)
  }

  const sizes = new ResizeObserver(look)
  button.addEventListener(
    "click",
    () => {
      parts.dataset.whole = ""
      for (const fold of parts.querySelectorAll("details")) fold.open = true
      look()
    },
    { signal: ending.signal },
  )
  for (const name of ["scroll", "toggle"]) parts.addEventListener(name, look, { capture: true, signal: ending.signal })
  return {
    element,
    focus: () => button.focus(),
    isSeen: () => isSeen,
    /** Call it when the parts changed. */
    update() {
      sizes.disconnect()
      for (const box of [parts, ...parts.querySelectorAll(BOXES)]) sizes.observe(box)
      look()
    },
    destroy() {
      ending.abort()
      sizes.disconnect()
    },
  }
}

/** @param {Element} box */
const isAtEnd = (box) => box.scrollHeight - box.clientHeight - box.scrollTop <= 4
