/** Updates of the page before the next paint, and never between the press and the release of a pointer: the click is
 * lost if what is under it is replaced meanwhile, and answers that grow are replaced many times a second. */

/** How long a press may hold the page (milliseconds). Clicks are shorter; while one selects text, the page goes on. */
const LONGEST = 500

/** @param {AbortSignal} [signal] */
export function createFrames(signal) {
  let heldUntil = 0
  const options = { capture: true, ...(signal && { signal }) }
  addEventListener("pointerdown", () => (heldUntil = performance.now() + LONGEST), options)
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (heldUntil = 0), options)

  const isHeld = () => performance.now() < heldUntil
  /** @param {() => void} update */
  function beforePaint(update) {
    requestAnimationFrame(() => (isHeld() ? beforePaint(update) : update()))
  }
  /** After the next paint; at once if nothing is painted. @param {() => void} update */
  const afterPaint = (update) => (document.hidden ? update() : requestAnimationFrame(() => setTimeout(update)))
  return { isHeld, beforePaint, afterPaint }
}
