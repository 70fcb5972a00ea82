/** The agent's plan: a checklist that changes in place. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @import { PlanStatus } from "../contract.js" */
/** @import { Row } from "./rows.js" */

/** @type {Record<PlanStatus, string>} */
const words = { pending: "to do", in_progress: "in progress", completed: "done" }

/** @param {Extract<Row, {kind: "plan"}>} first */
export function mountPlan(first) {
  const count = el("span", { class: "plan-count" })
  const list = el("ul", { class: "plan-steps" })
  const element = el(
    "section",
    { class: "plan", "data-item": first.item.itemId, "aria-label": "Plan" },
    el("div", { class: "plan-head" }, el("span", { text: "Plan" }), count),
    list,
  )
  /** @type {unknown} */
  let shown = null

  /** @param {Extract<Row, {kind: "plan"}>} row */
  function update({ item, live }) {
    setAttribute(element, "data-live", live)
    if (item.entries === shown) return
    shown = item.entries
    setText(count, `${item.entries.filter(({ status }) => status === "completed").length} of ${item.entries.length}`)
    while (list.childElementCount > item.entries.length) list.lastElementChild?.remove()
    item.entries.forEach(({ text, status }, at) => {
      const step =
        list.children[at] ??
        list.appendChild(
          el(
            "li",
            {},
            el("span", { class: "plan-mark" }),
            el("span", { class: "plan-text" }),
            el("span", { class: "visually-hidden" }),
          ),
        )
      const [mark, label, said] = /** @type {[HTMLElement, HTMLElement, HTMLElement]} */ (
        /** @type {unknown} */ ([...step.children])
      )
      if (step.getAttribute("data-status") !== status)
        mark.replaceChildren(icon(status === "completed" ? "check" : "circle"))
      setAttribute(step, "data-status", status)
      setText(label, text)
      setText(said, `, ${words[status]}`)
    })
  }
  update(first)
  return { element, update }
}
