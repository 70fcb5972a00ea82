/** A tool call: what it is, how it goes, and its content on demand. Work of a sub-agent stands under its call. */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { mountParts } from "./parts.js"
import { kindIcons } from "./kind-icons.js"
import { argumentsOf, toolState } from "./rows.js"
import { mountLine } from "./line.js"
import { mountAnswer } from "./permission.js"
import { isOpenAsk } from "./transcript.js"
import { between, counted } from "./words.js"

/** @import { Item, WorkEntry } from "./rows.js" */
/** @import { RowDeps, RowView } from "./row.js" */

const stateWords = { running: "running", done: "done", failed: "failed", refused: "not allowed", stopped: "stopped" }

/** A diff of more bytes of HTML than this is closed until asked for. */
const SMALL_DIFF = 12_000

/** @param {Extract<WorkEntry, {kind: "tool"}>} first @param {RowDeps} deps */
export function mountToolCall(first, deps) {
  let entry = first
  const body = el("div", { class: "tool-body", hidden: true })
  const parts = mountParts(body, entry.item.itemId, deps)
  const inner = el("div", { class: "tool-inner" })
  /** @type {Map<string, RowView>} */
  const rows = new Map()
  const line = mountLine(entry.item.itemId, deps, opensItself(entry), (isOpen) => {
    body.hidden = !isOpen
    if (!isOpen) return
    parts.update(entry.item, toolState(entry.item, entry.live) === "running")
    keyed(inner, rows, entry.inner, (row) => row.key, (row) => deps.mountRow(row))
    inner.hidden = entry.inner.length === 0
  })
  body.append(inner)
  const title = el("span", { class: "tool-title" })
  const file = el("code", { class: "tool-file" })
  line.what.append(title, file)
  const state = el("span", { class: "tool-state" })
  const counts = el("span", { class: "tool-counts" })
  const word = el("span", { class: "tool-word" })
  const answer = mountAnswer()
  line.end.append(counts, answer.element, state, word)
  const element = el("div", { class: "tool", "data-item": entry.item.itemId }, line.line, body)
  let shownKind = ""
  let shownState = ""

  /** @param {Extract<WorkEntry, {kind: "tool"}>} next */
  function update(next) {
    const isSame = next.item === entry.item && next.live === entry.live && next.ask === entry.ask && next.inner.length === 0 && shownState !== ""
    entry = next
    if (isSame) return
    const { item, live } = entry
    const now = toolState(item, live)
    setAttribute(element, "data-state", now)
    setAttribute(element, "data-kind", item.toolKind)
    if (shownKind !== item.toolKind) line.mark.replaceChildren(icon(kindIcons[item.toolKind]))
    shownKind = item.toolKind
    if (shownState !== now) state.replaceChildren(now === "running" ? el("span", { class: "spinner" }) : icon(now === "done" ? "check" : now === "stopped" ? "stop" : "close"), el("span", { class: "visually-hidden", text: stateWords[now] }))
    shownState = now
    setText(title, item.title)
    const place = placeOf(item)
    setText(file, place)
    file.hidden = place === ""
    counts.replaceChildren(...countsOf(item))
    const answered = answerTo(entry)
    answer.element.hidden = answered === null
    if (answered) answer.update(answered)
    setText(word, wordOf(entry, now))
    line.setPreset(opensItself(entry))
    line.setOpens(item.parts.length > 0 || entry.inner.length > 0 || Boolean(item.errorMessage) || argumentsOf(item) !== "")
    if (line.isOpen()) line.apply()
  }
  update(first)
  if (line.isOpen()) line.apply()
  return { element, update, destroy: () => { parts.destroy(); rows.forEach((row) => row.destroy?.()) } }
}

/** What was asked about the call, once that is over. @param {Extract<WorkEntry, {kind: "tool"}>} entry */
const answerTo = ({ ask }) => ask && !isOpenAsk(ask) ? ask : null

/** Failures, pictures, and edits one can take in at a glance, are open until the user closes them; not while the same is asked about in full.
 * @param {Extract<WorkEntry, {kind: "tool"}>} entry */
function opensItself({ item, live, ask }) {
  const state = toolState(item, live)
  if (state === "failed") return true
  const isAsked = live && ask !== null && isOpenAsk(ask)
  return !isAsked && state !== "refused" && item.parts.some(({ kind }) => kind === "diff" || kind === "image") && item.parts.every((part) => part.kind === "image" || part.html.length < SMALL_DIFF)
}

/** The file, where the title does not name it already. @param {Item<"tool_call">} item */
function placeOf({ title, locations }) {
  const [first] = locations
  if (!first) return ""
  const name = first.path.split("/").at(-1) ?? first.path
  if (title.includes(name)) return ""
  return `${first.path}${first.line === undefined ? "" : `:${first.line}`}${locations.length > 1 ? ` +${locations.length - 1}` : ""}`
}

/** Lines added and removed, as the renderer counted them. @param {Item<"tool_call">} item */
function countsOf({ parts }) {
  let [plus, minus] = [0, 0]
  for (const part of parts) {
    if (part.kind !== "diff") continue
    const found = /class="plus">\+(\d+)<.*?class="minus">[^\d<]*(\d+)</.exec(part.html)
    plus += Number(found?.[1] ?? 0)
    minus += Number(found?.[2] ?? 0)
  }
  return plus + minus === 0 ? [] : [el("span", { class: "plus", text: `+${plus}` }), el("span", { class: "minus", text: `−${minus}` })]
}

/** @param {Extract<WorkEntry, {kind: "tool"}>} entry @param {ReturnType<typeof toolState>} state */
function wordOf(entry, state) {
  const { item, inner } = entry
  const steps = inner.reduce((sum, row) => sum + (row.kind === "work" ? row.entries.length : 1), 0)
  const took = state === "running" ? "" : state === "refused" ? (answerTo(entry) ? "" : "not allowed") : between(item.startedAt, item.emittedAt)
  return [steps > 0 ? counted(steps, "step") : "", took].filter((word) => word !== "").join(" · ")
}
