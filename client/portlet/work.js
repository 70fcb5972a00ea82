/** A group of thoughts, tool calls and answered permissions, one line each, along a vertical rule. */

import { el, keyed, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { mountLine } from "./line.js"
import { foldTime, foldTitle } from "./rows.js"
import { mountAnswered } from "./permission.js"
import { mountThinking } from "./thinking.js"
import { mountToolCall } from "./tool-call.js"
import { duration } from "./words.js"

/** @import { Row, WorkEntry } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @typedef {{ element: HTMLElement, update(entry: WorkEntry): void, destroy?(): void }} EntryView */

/** @param {Extract<Row, {kind: "work"}>} first @param {RowDeps} deps */
export function mountWork(first, deps) {
  const element = el("div", { class: "work" })
  /** @type {Map<string, EntryView>} */
  const views = new Map()
  const update = (/** @type {Extract<Row, {kind: "work"}>} */ row) =>
    keyed(
      element,
      views,
      row.entries,
      ({ key }) => key,
      (entry) => mountEntry(entry, deps),
    )
  update(first)
  return { element, update, destroy: () => views.forEach((view) => view.destroy?.()) }
}

/** @param {WorkEntry} entry @param {RowDeps} deps @returns {EntryView} */
function mountEntry(entry, deps) {
  const view = /** @type {EntryView} */ (mountKind(entry, deps))
  view.element.classList.add("entry")
  return view
}

/** @param {WorkEntry} entry @param {RowDeps} deps */
function mountKind(entry, deps) {
  switch (entry.kind) {
    case "thinking":
      return mountThinking(entry, deps)
    case "tool":
      return mountToolCall(entry, deps)
    case "answered":
      return mountAnswered(entry)
    case "fold":
      return mountFold(entry, deps)
  }
}

/** @param {Extract<WorkEntry, {kind: "fold"}>} first @param {RowDeps} deps */
function mountFold(first, deps) {
  let fold = first
  const inner = el("div", { class: "fold-entries", hidden: true })
  /** @type {Map<string, EntryView>} */
  const views = new Map()
  const line = mountLine(fold.key, deps, false, (isOpen) => {
    inner.hidden = !isOpen
    keyed(
      inner,
      views,
      isOpen ? fold.entries : [],
      ({ key }) => key,
      (entry) => mountEntry(entry, deps),
    )
  })
  line.mark.append(icon("check"))
  const element = el("div", { class: "fold" }, line.line, inner)

  /** @param {Extract<WorkEntry, {kind: "fold"}>} next */
  function update(next) {
    fold = next
    setText(line.what, foldTitle(fold.entries))
    setText(line.end, duration(foldTime(fold.entries)))
    line.apply()
  }
  update(fold)
  return { element, update, destroy: () => views.forEach((view) => view.destroy?.()) }
}
