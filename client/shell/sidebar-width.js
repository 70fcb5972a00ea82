/** The edge of the sidebar: dragged, or moved with the arrows; its place is remembered. */

import { setAttribute } from "../shared/dom.js"
import { keys, loadRecord, save } from "../shared/storage.js"

const narrowest = 200
const widest = 480
const usual = 272

/** @param {unknown} width */
export const fitWidth = (width) => typeof width === "number" && Number.isFinite(width) ? Math.round(Math.max(narrowest, Math.min(widest, width))) : usual

/** @param {HTMLElement} edge @param {HTMLElement} app @param {Storage} storage */
export function mountSidebarWidth(edge, app, storage) {
  let width = fitWidth(loadRecord(storage, keys.sidebar).width)
  /** @param {number} next */
  function set(next) {
    width = fitWidth(next)
    app.style.setProperty("--sidebar", `${width}px`)
    setAttribute(edge, "aria-valuenow", width)
  }
  const keep = () => save(storage, keys.sidebar, { ...loadRecord(storage, keys.sidebar), width })
  setAttribute(edge, "aria-valuemin", narrowest)
  setAttribute(edge, "aria-valuemax", widest)
  set(width)

  edge.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return
    event.preventDefault()
    const start = event.clientX - width
    edge.setPointerCapture(event.pointerId) // so that portlets do not swallow the moves
    setAttribute(edge, "data-dragging", true)
    const drag = new AbortController()
    edge.addEventListener("pointermove", (move) => set(move.clientX - start), { signal: drag.signal })
    const end = () => { drag.abort(); setAttribute(edge, "data-dragging", false); keep() }
    edge.addEventListener("pointerup", end, { signal: drag.signal })
    edge.addEventListener("pointercancel", end, { signal: drag.signal })
  })
  edge.addEventListener("dblclick", () => { set(usual); keep() })
  edge.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowRight" ? 16 : event.key === "ArrowLeft" ? -16 : null
    if (by !== null) set(width + by)
    else if (event.key === "Home") set(narrowest)
    else if (event.key === "End") set(widest)
    else return
    event.preventDefault()
    keep()
  })
  return { follow: () => set(fitWidth(loadRecord(storage, keys.sidebar).width)) }
}
