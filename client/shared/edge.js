/** An edge between two parts of the page: dragged, or moved with the arrow keys. */

import { setAttribute } from "./dom.js"

/** @typedef {object} Edge
 * @property {number} narrowest
 * @property {number} widest
 * @property {number} usual
 * @property {"before" | "after"} side  Where the part is whose width it sets, seen from the edge.
 * @property {(width: number) => void} show
 * @property {(width: number) => void} keep */

/** @param {unknown} width @param {Pick<Edge, "narrowest" | "widest" | "usual">} limits */
export const fitTo = (width, { narrowest, widest, usual }) =>
  typeof width === "number" && Number.isFinite(width) ? Math.round(Math.max(narrowest, Math.min(widest, width))) : usual

/** @param {HTMLElement} edge @param {unknown} start @param {Edge} how */
export function mountEdge(edge, start, how) {
  let width = fitTo(start, how)
  const sign = how.side === "before" ? 1 : -1
  /** @param {unknown} next */
  function set(next) {
    width = fitTo(next, how)
    how.show(width)
    setAttribute(edge, "aria-valuenow", width)
  }
  setAttribute(edge, "aria-valuemin", how.narrowest)
  setAttribute(edge, "aria-valuemax", how.widest)
  set(width)

  edge.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return
    event.preventDefault()
    const from = event.clientX - sign * width
    edge.setPointerCapture(event.pointerId) // or portlets would swallow the moves
    setAttribute(edge, "data-dragging", true)
    const drag = new AbortController()
    edge.addEventListener("pointermove", (move) => set(sign * (move.clientX - from)), { signal: drag.signal })
    const end = () => {
      drag.abort()
      setAttribute(edge, "data-dragging", false)
      how.keep(width)
    }
    edge.addEventListener("pointerup", end, { signal: drag.signal })
    edge.addEventListener("pointercancel", end, { signal: drag.signal })
  })
  edge.addEventListener("dblclick", () => {
    set(how.usual)
    how.keep(width)
  })
  edge.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowRight" ? 16 : event.key === "ArrowLeft" ? -16 : null
    if (by !== null) set(width + sign * by)
    else if (event.key === "Home") set(how.narrowest)
    else if (event.key === "End") set(how.widest)
    else return
    event.preventDefault()
    how.keep(width)
  })
  return { set }
}
