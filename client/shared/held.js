/** What a held key does: it goes on only where it began. If its first press moved the focus, what is there now got no
 * press of its own: Enter on "Allow" must not send the draft in the composer. */

import { shortcutOf } from "./keys.js"

/** Keys that are held to move the focus. */
const MOVING = /^(Arrow.*|Page.*|Home|End|Tab|[jknp])$/
const MOVING_SHORTCUTS = [
  "next-tab",
  "previous-tab",
  "move-tab-right",
  "move-tab-left",
  "next-column",
  "own-above",
  "own-below",
]

/** To be called before anything else listens for keys. @param {AbortSignal} [signal] */
export function tameHeldKeys(signal) {
  /** @type {EventTarget | null} */
  let began = null
  window.addEventListener(
    "keydown",
    (event) => {
      if (!event.repeat) return void (began = event.target)
      const name = shortcutOf(event)
      const goesOn = name === null ? event.target === began || MOVING.test(event.key) : MOVING_SHORTCUTS.includes(name)
      if (goesOn) return
      event.preventDefault()
      event.stopImmediatePropagation()
    },
    { capture: true, ...(signal && { signal }) },
  )
}
