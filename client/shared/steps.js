/** How far a plan is: a bar per step, and the number of finished ones. */

import { el, setText } from "./dom.js"

/** @import { PlanStatus } from "../contract.js" */

/** More bars could not be told apart. */
const MOST = 12

export function mountSteps() {
  const bars = el("span", { class: "steps-bars", "aria-hidden": "true" })
  const count = el("span")
  const element = el("span", { class: "steps", hidden: true }, bars, count)
  let shown = ""
  return {
    element,
    /** @param {PlanStatus[]} plan */
    update(plan) {
      const next = plan.join(" ")
      if (next === shown) return
      shown = next
      element.hidden = plan.length === 0
      bars.replaceChildren(...(plan.length > MOST ? [] : plan).map((status) => el("i", { "data-status": status })))
      setText(count, `${plan.filter((status) => status === "completed").length} of ${plan.length}`)
    },
  }
}
