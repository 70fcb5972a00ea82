/** Keeps the page above a phone's keyboard, where the browser only lays it over the page (Safari). */

/** @param {HTMLElement} root @param {VisualViewport | null} viewport @param {AbortSignal} [signal] */
export function stayAboveKeyboard(root, viewport, signal) {
  if (!viewport) return
  const fit = () => {
    // Someone who zooms in wants to see less.
    const isCovered = viewport.scale === 1 && viewport.height < innerHeight - 1
    if (isCovered) root.style.setProperty("--visible", `${viewport.height}px`)
    else root.style.removeProperty("--visible")
    if (isCovered) scrollTo(0, 0)
  }
  viewport.addEventListener("resize", fit, signal ? { signal } : {})
}
