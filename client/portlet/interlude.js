/** What the agent did that is nobody's words: the output of a command, a summary of the conversation, a cleared one. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { mountBlocks } from "./blocks.js"
import { compact } from "./words.js"

/** @import { Item, Row } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {Extract<Row, {kind: "interlude"}>} first @param {RowDeps} deps */
export function mountInterlude(first, deps) {
  return first.item.type === "command_output" ? mountOutput(first, deps) : mountBoundary(first, deps)
}

/** @param {Extract<Row, {kind: "interlude"}>} first @param {RowDeps} deps */
function mountOutput(first, deps) {
  const command = el("span")
  const text = el("div", { class: "rendered" })
  const blocks = mountBlocks(text, deps.keepPlace)
  const element = el(
    "section",
    { class: "command-output", "data-item": first.item.itemId, "aria-label": "Output of a command" },
    el("div", { class: "command-name" }, icon("command"), command),
    text,
  )
  /** @param {Extract<Row, {kind: "interlude"}>} row */
  function update({ item }) {
    if (item.type !== "command_output") return
    setText(command, item.command === "" ? "Command output" : item.command)
    blocks.update(item.blocks)
  }
  update(first)
  return { element, update }
}

/** A line across the conversation. @param {Extract<Row, {kind: "interlude"}>} first @param {RowDeps} deps */
function mountBoundary(first, deps) {
  const { itemId } = first.item
  const words = el("span")
  const toggle = el("button", { class: "boundary-toggle", type: "button", hidden: true })
  const text = el("div", { class: "boundary-summary rendered" })
  const blocks = mountBlocks(text, deps.keepPlace)
  const line = el("div", { class: "boundary-line", role: "separator" }, words, toggle)
  const element = el("section", { class: "boundary", "data-item": itemId, "aria-label": "Boundary" }, line, text)

  function show() {
    const isOpen = deps.open.get(itemId) === true
    text.hidden = !isOpen
    setText(toggle, isOpen ? "Hide summary" : "Show summary")
    setAttribute(toggle, "aria-expanded", String(isOpen))
  }
  toggle.addEventListener("click", () =>
    deps.change(element, () => {
      deps.open.set(itemId, deps.open.get(itemId) !== true)
      show()
    }),
  )
  /** @param {Extract<Row, {kind: "interlude"}>} row */
  function update({ item, live }) {
    setAttribute(element, "data-failed", item.status === "error")
    setText(words, boundaryWords(item, live))
    const hasSummary = item.type === "compaction" && item.blocks.length > 0
    toggle.hidden = !hasSummary
    if (item.type === "compaction") blocks.update(item.blocks)
    show()
  }
  update(first)
  return { element, update }
}

/** @param {Item<"command_output"> | Item<"compaction"> | Item<"cleared">} item @param {boolean} live */
export function boundaryWords(item, live) {
  if (item.type !== "compaction") return "Conversation cleared. The agent can't see anything above."
  if (item.status === "error") return item.errorMessage ?? "The conversation could not be summarised."
  if (item.status !== "complete") return live ? "Summarising the conversation…" : "The summary was not finished."
  const sizes = [item.before, item.after].filter((tokens) => tokens !== undefined).map(compact)
  return `Conversation summarised${sizes.length === 0 ? "" : ` (${sizes.join(" → ")} tokens)`}`
}
