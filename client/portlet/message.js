/** Something that was said: by the user in a bubble, by the agent as text, by the system in a line. */

import { el, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { copied } from "../shared/failure.js"
import { mountBlocks } from "./blocks.js"
import { exactTime, timeOfDay } from "./words.js"

/** @import { Row } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {Extract<Row, {kind: "message"}>} first @param {RowDeps} deps */
export function mountMessage(first, deps) {
  let { item } = first
  const text = el("div", { class: "rendered" })
  const blocks = mountBlocks(text)
  const time = el("time", { datetime: item.startedAt, text: timeOfDay(item.startedAt), title: exactTime(item.startedAt) })
  const copy = el("button", { class: "icon-button", type: "button", "aria-label": "Copy the message", title: "Copy the message" }, icon("copy"))
  const aside = el("div", { class: "message-aside" }, time, copy)
  const problem = el("p", { class: "message-problem", hidden: true })
  const element = el("article", { class: "message", "data-item": item.itemId, "data-origin": item.origin }, text, problem, aside)

  copy.addEventListener("click", async () => {
    copy.replaceChildren(icon(await copied(item.content) ? "check" : "alert"))
    copy.addEventListener("pointerleave", () => copy.replaceChildren(icon("copy")), { once: true })
  })

  /** @param {Extract<Row, {kind: "message"}>} row */
  function update(row) {
    item = row.item
    blocks.update(item.blocks)
    const grows = row.live && (item.status === "create" || item.status === "update")
    setAttribute(element, "data-grows", grows)
    setAttribute(element, "aria-busy", grows ? "true" : null)
    setAttribute(element, "aria-label", item.origin === "user" ? "You" : item.origin === "agent" ? deps.agentName() : "Note")
    element.hidden = item.blocks.length === 0 && !item.errorMessage
    problem.hidden = !item.errorMessage
    problem.textContent = item.errorMessage ?? ""
  }
  update(first)
  return { element, update }
}
