/**
 * Gives the controls in the composer's bar whole words for as long as possible. Where they don't fit, the arrows and
 * the words of the meter give way first, then one option after the other moves behind the control for all of them.
 */

import { setAttribute } from "../shared/dom.js"

/** @param {HTMLElement} bar @param {HTMLElement} controls @param {AbortSignal} signal */
export function keepWhole(bar, controls, signal) {
  let isScheduled = false

  /** @param {boolean} isTight @param {number | null} options  How many have a control; null: all. */
  function arrange(isTight, options) {
    setAttribute(bar, "data-tight", isTight)
    setAttribute(bar, "data-options", options)
  }

  function fit() {
    // At their full width the controls push what is right of them out of the bar.
    controls.style.setProperty("flex", "none")
    const isWhole = () => bar.scrollWidth <= bar.clientWidth
    arrange(false, null)
    if (!isWhole()) arrange(true, null)
    for (let left = controls.querySelectorAll(".controls-inline > *").length; left > 0 && !isWhole(); left -= 1)
      arrange(true, left - 1)
    controls.style.removeProperty("flex")
  }

  function fitSoon() {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(() => {
      isScheduled = false
      if (!signal.aborted) fit()
    })
  }

  const sizes = new ResizeObserver(fit)
  sizes.observe(bar)
  const contents = new MutationObserver(fitSoon)
  contents.observe(bar, { subtree: true, childList: true, characterData: true, attributeFilter: ["hidden"] })
  signal.addEventListener("abort", () => {
    sizes.disconnect()
    contents.disconnect()
  })
}
