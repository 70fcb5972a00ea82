/** A message: the user's in a bubble, the agent's as text, the system's on one line. */

import { el, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { copied } from "../shared/failure.js"
import { mountBlocks } from "./blocks.js"
import { mountChips } from "./chips.js"
import { exactTime, timeOfDay } from "./words.js"

/** @import { Row } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {Extract<Row, {kind: "message"}>} first @param {RowDeps} deps */
export function mountMessage(first, deps) {
  let { item } = first
  const text = el("div", { class: "rendered" })
  const blocks = mountBlocks(text, deps.keepPlace)
  const time = el("time", {
    datetime: item.startedAt,
    text: timeOfDay(item.startedAt),
    title: exactTime(item.startedAt),
  })
  const copy = copyButton("Copy message", "copy", () => copied(item.content))
  const link = copyButton("Copy link", "link", () => deps.copyLink(item.itemId))
  const aside = el("div", { class: "message-aside" }, time, copy, link)
  if (item.origin === "user") aside.append(actButton("Edit and continue from here", "edit", () => deps.edit(item)))
  if (item.origin !== "system") aside.append(actButton("Branch from here", "branch", () => deps.branch(item.itemId)))
  const problem = el("p", { class: "message-problem", hidden: true })
  const element = el(
    "article",
    { class: "message", "data-item": item.itemId, "data-origin": item.origin },
    text,
    mountChips(item.attachments ?? [], deps),
    problem,
    aside,
  )

  /** @param {Extract<Row, {kind: "message"}>} row */
  function update(row) {
    item = row.item
    blocks.update(item.blocks)
    const grows = row.live && (item.status === "create" || item.status === "update")
    setAttribute(element, "data-grows", grows)
    setAttribute(element, "aria-busy", grows ? "true" : null)
    setAttribute(
      element,
      "aria-label",
      item.origin === "user" ? "You" : item.origin === "agent" ? deps.agentName() : "Note",
    )
    text.hidden = item.blocks.length === 0
    element.hidden = text.hidden && !item.errorMessage && !item.attachments?.length
    problem.hidden = !item.errorMessage
    problem.textContent = item.errorMessage ?? ""
  }
  update(first)
  return { element, update }
}

/** @param {string} label @param {"edit" | "branch"} sign @param {() => void} act */
function actButton(label, sign, act) {
  const button = el("button", { class: "icon-button", type: "button", "aria-label": label, title: label }, icon(sign))
  button.addEventListener("click", act)
  return button
}

/** A button that says whether it copied. @param {string} label @param {"copy" | "link"} sign
 * @param {() => Promise<boolean>} copy */
function copyButton(label, sign, copy) {
  const button = el("button", { class: "icon-button", type: "button", "aria-label": label, title: label }, icon(sign))
  button.addEventListener("click", async () => {
    button.replaceChildren(icon((await copy()) ? "check" : "alert"))
    button.addEventListener("pointerleave", () => button.replaceChildren(icon(sign)), { once: true })
  })
  return button
}
