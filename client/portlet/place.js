/**
 * The reader's position. At the end, the view follows the end. Anywhere else, the text being read stays where it is on
 * the screen, whatever grows below, loads above or changes its height. Owns only the scroll position: every change of
 * the content goes through `change`.
 */

/** Within this distance the reader is at the end (pixels): allows for fractions of a pixel and descenders. */
const NEAR = 4

/** An element to keep in place, and its distance from the top of the view (pixels).
 * @typedef {{ element: Element, top: number }} Anchor */

/** @typedef {object} PlaceDeps
 * @property {() => Element[]} candidates  Elements that may be kept in place: those in view first, smallest first.
 * @property {() => void} onScroll  The position changed, or may have.
 * @property {() => boolean} hasEnd  Whether the end of the transcript is loaded; only that is followed. */

/** @param {HTMLElement} scroller @param {HTMLElement} content @param {PlaceDeps} deps @param {AbortSignal} signal */
export function keepPlace(scroller, content, { candidates, onScroll, hasEnd }, signal) {
  let following = true
  /** @type {Anchor[]} */
  let anchors = []
  /** The position we scrolled to ourselves; its scroll event says nothing about the reader. */
  let ownScrollTop = -1
  /** The height of the view at that time. If it has changed, the browser may have moved the view, not the reader. */
  let height = scroller.clientHeight

  const isAtEnd = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= NEAR

  /** @param {number} top */
  function scrollTo(top) {
    scroller.scrollTop = top
    ownScrollTop = scroller.scrollTop
  }

  function noteAnchors() {
    const edge = scroller.getBoundingClientRect().top
    anchors = candidates().map((element) => ({ element, top: element.getBoundingClientRect().top - edge }))
  }

  function restore() {
    height = scroller.clientHeight
    if (following && hasEnd()) return scrollTo(scroller.scrollHeight)
    const anchor = anchors.find(({ element }) => element.isConnected && element.getClientRects().length > 0)
    if (!anchor) return noteAnchors()
    const moved = anchor.element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.top
    // Scrolling by less than a pixel is impossible. The anchor keeps the exact position, so errors never add up.
    if (Math.abs(moved) >= 0.5) scrollTo(scroller.scrollTop + moved)
  }

  scroller.addEventListener(
    "scroll",
    () => {
      if (scroller.clientHeight !== height) restore()
      else if (Math.abs(scroller.scrollTop - ownScrollTop) >= 1) {
        ownScrollTop = -1
        following = isAtEnd() && hasEnd()
        noteAnchors()
      }
      onScroll()
    },
    { signal, passive: true },
  )

  // Pictures, fonts and the window change heights without a call of `change`.
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
      if (!(following && hasEnd()) && anchors.length === 0) noteAnchors()
      mutate()
      restore()
    },
    /** A change that the user asked for at `element`, which stays under the pointer, even at the end.
     * @param {Element} element @param {() => void} mutate */
    changeAt(element, mutate) {
      const top = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top
      mutate()
      following = false
      anchors = [{ element, top }]
      restore()
      following = isAtEnd() && hasEnd()
      noteAnchors()
      onScroll()
    },
    /** Goes to the end and follows it. */
    toEnd() {
      following = true
      restore()
      onScroll()
    },
    /** Brings an element into the upper third of the view, as far as there is anything to scroll.
     * @param {Element} element */
    show(element) {
      following = false
      const room = Math.max(16, (scroller.clientHeight - element.getBoundingClientRect().height) / 3)
      anchors = [{ element, top: Math.min(room, scroller.clientHeight / 3) }]
      restore()
      following = isAtEnd() && hasEnd()
      onScroll()
    },
  }
}
