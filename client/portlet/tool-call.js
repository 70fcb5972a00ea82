/** A tool call: its title and state, and its content when opened. The work of a sub-agent is shown under its call. */

import { countsOf } from "../shared/counts.js"
import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { counted } from "../shared/phrases.js"
import { mountParts } from "./parts.js"
import { kindIcons } from "./kind-icons.js"
import { callTime, toolState } from "./rows.js"
import { mountLine } from "./line.js"
import { isUnanswered, mountAnswer } from "./permission.js"
import { isOpenPermission } from "./transcript.js"
import { duration } from "./words.js"

/** @import { Item, WorkEntry } from "./rows.js" */
/** @import { RowDeps, RowView } from "./row.js" */

const stateWords = {
  running: "running",
  done: "done",
  failed: "failed",
  refused: "not allowed",
  unanswered: "not answered",
  stopped: "stopped",
  ended: "ended without a result",
}

/** @type {Record<Exclude<ReturnType<typeof stateOf>, "running">, Parameters<typeof icon>[0]>} */
const stateIcons = {
  done: "check",
  failed: "close",
  refused: "close",
  unanswered: "circle",
  stopped: "stop",
  ended: "circle",
}

/** A diff with more HTML than this starts closed (characters). */
const SMALL_DIFF = 24_000

/** @param {Extract<WorkEntry, {kind: "tool"}>} first @param {RowDeps} deps */
export function mountToolCall(first, deps) {
  let entry = first
  const body = el("div", { class: "tool-body", hidden: true })
  const parts = mountParts(body, entry.item.itemId, deps)
  const inner = el("div", { class: "tool-inner" })
  /** @type {Map<string, RowView>} */
  const rows = new Map()
  const line = mountLine(entry.item.itemId, deps, startsOpen(entry), (isOpen) => {
    const wasOpen = !body.hidden
    body.hidden = !isOpen
    if (!isOpen) return
    const runs = stateOf(entry) === "running"
    // Until the user opens it, a running command shows only its last lines.
    setAttribute(body, "data-tail", runs && !deps.open.has(entry.item.itemId))
    parts.update(entry.item, runs)
    if (!wasOpen) parts.toEnd()
    keyed(
      inner,
      rows,
      entry.inner,
      (row) => row.key,
      (row) => deps.mountRow(row),
    )
    inner.hidden = entry.inner.length === 0
  })
  // A user who reads the output of a running command keeps it when the command ends.
  for (const name of ["wheel", "pointerdown", "click"])
    body.addEventListener(name, () => line.isOpen() && deps.open.set(entry.item.itemId, true), { passive: true })
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
    const isSame =
      next.item === entry.item &&
      next.live === entry.live &&
      next.outcome === entry.outcome &&
      next.ask === entry.ask &&
      next.inner.length === 0 &&
      shownState !== ""
    entry = next
    if (isSame) return
    const { item } = entry
    const now = stateOf(entry)
    setAttribute(element, "data-state", now)
    setAttribute(element, "data-kind", item.toolKind)
    if (shownKind !== item.toolKind) line.mark.replaceChildren(icon(kindIcons[item.toolKind]))
    shownKind = item.toolKind
    if (shownState !== now)
      state.replaceChildren(
        now === "running" ? el("span", { class: "spinner" }) : icon(stateIcons[now]),
        el("span", { class: "visually-hidden", text: stateWords[now] }),
      )
    shownState = now
    setText(title, item.title)
    const place = placeOf(item)
    setText(file, place)
    file.hidden = place === ""
    counts.replaceChildren(...(now === "failed" || now === "refused" ? [] : countsOf(linesOf(item))))
    const answered = answerTo(entry)
    answer.element.hidden = answered === null
    if (answered) answer.update(answered)
    setText(word, wordOf(entry, now))
    line.setPreset(startsOpen(entry))
    line.setOpens(item.parts.length > 0 || entry.inner.length > 0 || Boolean(item.errorMessage))
    if (line.isOpen()) line.apply()
  }
  update(first)
  if (line.isOpen()) line.apply()
  return {
    element,
    update,
    destroy: () => {
      parts.destroy()
      rows.forEach((row) => row.destroy?.())
    },
  }
}

/** The permission of the call, once it is answered or void. @param {Extract<WorkEntry, {kind: "tool"}>} entry */
const answerTo = ({ ask }) => (ask && !isOpenPermission(ask) ? ask : null)

/** Agents report a question that got no answer as refused. @param {Extract<WorkEntry, {kind: "tool"}>} entry */
function stateOf({ item, live, outcome, ask }) {
  const state = toolState(item, live, outcome)
  return state === "refused" && ask && isUnanswered(ask) ? "unanswered" : state
}

/** Failures, running commands, pictures and small edits start open.
 * @param {Extract<WorkEntry, {kind: "tool"}>} entry */
function startsOpen(entry) {
  const { item } = entry
  const state = stateOf(entry)
  if (state === "failed") return true
  if (state === "running" && item.toolKind === "execute") return item.parts.some(({ kind }) => kind === "terminal")
  return (
    state !== "refused" &&
    state !== "unanswered" &&
    item.parts.some(({ kind }) => kind === "diff" || kind === "image") &&
    item.parts.every((part) => part.kind === "image" || part.html.length < SMALL_DIFF)
  )
}

/** The file, unless the title already names it. @param {Item<"tool_call">} item */
function placeOf({ title, locations }) {
  const [first] = locations
  if (!first) return ""
  const name = first.path.split("/").at(-1) ?? first.path
  if (title.includes(name)) return ""
  const line = first.line === undefined ? "" : `:${first.line}`
  return `${first.path}${line}${locations.length > 1 ? ` +${locations.length - 1}` : ""}`
}

/** Lines added and removed. @param {Item<"tool_call">} item */
function linesOf({ parts }) {
  let [added, removed] = [0, 0]
  for (const part of parts) {
    if (part.kind !== "diff") continue
    added += part.added
    removed += part.removed
  }
  return { added, removed }
}

/** @param {Extract<WorkEntry, {kind: "tool"}>} entry @param {ReturnType<typeof stateOf>} state */
function wordOf(entry, state) {
  const { item, inner } = entry
  const steps = inner.reduce((sum, row) => sum + (row.kind === "work" ? row.entries.length : 1), 0)
  const took =
    state === "running"
      ? ""
      : state === "ended"
        ? "no result"
        : state === "refused" || state === "unanswered"
          ? answerTo(entry)
            ? ""
            : "not allowed"
          : duration(callTime(entry))
  const exit = item.exitCode === undefined || state === "running" ? "" : `exit ${item.exitCode}`
  return [steps > 0 ? counted(steps, "step") : "", exit, took].filter((word) => word !== "").join(" · ")
}
