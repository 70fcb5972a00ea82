/** Where the focus goes when the user opens this session: to a card that waits, else to the composer. */

import { waitingCard } from "./permission.js"

/** @typedef {{ focus(): void, isIdle(): boolean }} Composer */

/** @param {Composer} composer @param {AbortSignal} signal */
export function createOpening(composer, signal) {
  /** The history has not arrived yet. */
  let isAwaited = false
  // The user went elsewhere: what the history brings no longer takes the focus.
  window.addEventListener("blur", () => (isAwaited = false), { signal })

  /** A card that waits gets the focus, and its keys work at once. */
  function focus() {
    isAwaited = false
    const card = waitingCard()
    // A selection would be lost: the session stays as it was left.
    if (card === null) return document.getSelection()?.isCollapsed === false || composer.focus()
    card.dataset.opened = ""
    const inside = document.activeElement
    // What was focused in this frame stays so for a moment after the frame lost the focus, so focus it again.
    const target = inside instanceof HTMLElement && card.contains(inside) ? inside : card
    target.focus({ preventScroll: true })
  }

  return {
    /** @param {"composer" | undefined} on  The composer in any case. @param {boolean} isKnown  Its history is here. */
    begin(on, isKnown) {
      isAwaited = on !== "composer" && !isKnown
      if (on === "composer" || isAwaited) composer.focus()
      else focus()
    },
    /** The history is here. */
    known() {
      if (isAwaited && composer.isIdle()) focus()
    },
  }
}
