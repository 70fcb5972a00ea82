/**
 * Where the reader is. At the end the view follows the end; anywhere else what is being read stays where it is on the
 * screen, whatever grows below, loads above or changes its height. Owns the scroll position and nothing else: every change
 * of what is in the view goes through `change`.
 */

/** Further from the end than this is not the end. Fractions of a pixel and a line's descender are. */
const NEAR = 4

/** What the view keeps in place: an element, and how far below the top of the view it should stand.
 * @typedef {{ element: Element, top: number }} Anchor */

/** @typedef {object} PlaceDeps
 * @property {() => Element[]} candidates  Elements that may be kept in place, those in view first, finest first.
 * @property {() => void} onScroll  The position changed, or may have.
 * @property {() => boolean} hasEnd  Whether the end of what is here is the end of it all; only that is followed. */

/** @param {HTMLElement} scroller @param {HTMLElement} content @param {PlaceDeps} deps @param {AbortSignal} signal */
export function keepPlace(scroller, content, { candidates, onScroll, hasEnd }, signal) {
  let following = true
  /** @type {Anchor[]} */
  let anchors = []
  /** What we scrolled to ourselves: the event that follows says nothing about the reader. */
  let ours = -1

  const isAtEnd = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= NEAR

  /** @param {number} top */
  function scrollTo(top) {
    scroller.scrollTop = top
    ours = scroller.scrollTop
  }

  function note() {
    const edge = scroller.getBoundingClientRect().top
    anchors = candidates().map((element) => ({ element, top: element.getBoundingClientRect().top - edge }))
  }

  function restore() {
    if (following && hasEnd()) return scrollTo(scroller.scrollHeight)
    const anchor = anchors.find(({ element }) => element.isConnected && element.getClientRects().length > 0)
    if (!anchor) return note()
    const moved = anchor.element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.top
    // Less than a pixel can't be scrolled; the wanted place is kept, so that such errors never add up.
    if (Math.abs(moved) >= 0.5) scrollTo(scroller.scrollTop + moved)
  }

  scroller.addEventListener("scroll", () => {
    if (Math.abs(scroller.scrollTop - ours) < 1) return onScroll()
    ours = -1
    following = isAtEnd() && hasEnd()
    note()
    onScroll()
  }, { signal, passive: true })

  // Pictures that arrive, fonts, a window that changes: heights that no change of ours announced.
  const sizes = new ResizeObserver(() => {
    restore()
    onScroll()
  })
  sizes.observe(scroller)
  sizes.observe(content)
  signal.addEventListener("abort", () => sizes.disconnect())

  return {
    isFollowing: () => following && hasEnd(),
    /** Changes what is in the view without moving the reader. @param {() => void} mutate */
    change(mutate) {
      if (!(following && hasEnd()) && anchors.length === 0) note()
      mutate()
      restore()
    },
    /** A change that the user asked for at `element`: it stays under the pointer, also at the end. @param {Element} element @param {() => void} mutate */
    changeAt(element, mutate) {
      const top = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top
      mutate()
      following = false
      anchors = [{ element, top }]
      restore()
      following = isAtEnd() && hasEnd()
      note()
      onScroll()
    },
    /** Goes to the end and follows it. */
    toEnd() {
      following = true
      restore()
      onScroll()
    },
    /** Brings an element into the upper third of the view. @param {Element} element */
    show(element) {
      following = false
      const room = Math.max(16, (scroller.clientHeight - element.getBoundingClientRect().height) / 3)
      anchors = [{ element, top: Math.min(room, scroller.clientHeight / 3) }]
      restore()
      onScroll()
    },
  }
}
