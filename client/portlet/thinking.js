/** A thought: its first line and duration; the full text when opened, even while it grows. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { mountBlocks } from "./blocks.js"
import { mountLine } from "./line.js"
import { between, firstLine } from "./words.js"

/** @import { WorkEntry } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {Extract<WorkEntry, {kind: "thinking"}>} first @param {RowDeps} deps */
export function mountThinking(first, deps) {
  let { item } = first
  const text = el("div", { class: "rendered thought", hidden: true })
  const blocks = mountBlocks(text, deps.keepPlace)
  const line = mountLine(item.itemId, deps, false, (isOpen) => {
    text.hidden = !isOpen
    if (isOpen) blocks.update(item.blocks)
  })
  line.mark.append(icon("think"))
  const element = el("div", { class: "thinking", "data-item": item.itemId }, line.line, text)

  /** @param {Extract<WorkEntry, {kind: "thinking"}>} entry */
  function update(entry) {
    item = entry.item
    const isUnfinished = item.status === "create" || item.status === "update"
    const grows = entry.live && isUnfinished
    setAttribute(element, "data-state", grows ? "running" : "done")
    setText(line.what, firstLine(item.content) || "Thinking")
    // The duration of a thought that was cut short is unknown: its updates carry no time.
    setText(line.end, grows ? "thinking" : isUnfinished ? "" : between(item.startedAt, item.sourceTimestamp))
    line.setOpens(item.blocks.length > 0)
    if (line.isOpen()) line.apply()
  }
  update(first)
  return { element, update }
}
