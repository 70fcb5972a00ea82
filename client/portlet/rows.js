/**
 * From items to what stands on the page: which stand alone, which are one piece of work, what is folded, and in which
 * segment of the page each is. Pure; rows of a run are computed again only when the run changed.
 */

import { counted, dayOf } from "./words.js"
import { isLive, isOpenAsk } from "./transcript.js"

/** @import { ToolKind, UpsertObject } from "../contract.js" */
/** @import { Send } from "./sends.js" */
/** @import { KnownTurn, Run, Transcript } from "./transcript.js" */

/** @template {UpsertObject["type"]} T @typedef {Extract<UpsertObject, {type: T}>} Item */

/** @typedef {(
 *   | { kind: "thinking", key: string, item: Item<"thinking">, live: boolean }
 *   | { kind: "tool", key: string, item: Item<"tool_call">, live: boolean, ask: Item<"permission"> | null, inner: Row[] }
 *   | { kind: "answered", key: string, item: Item<"permission"> }
 *   | { kind: "fold", key: string, entries: WorkEntry[] }
 * )} WorkEntry */

/** @typedef {{ key: string, index: number } & (
 *   | { kind: "day", at: string }
 *   | { kind: "message", item: Item<"message">, live: boolean }
 *   | { kind: "work", entries: WorkEntry[] }
 *   | { kind: "plan", item: Item<"plan">, live: boolean }
 *   | { kind: "ask", item: Item<"permission"> }
 *   | { kind: "notice", item: Item<"notice">, live: boolean }
 *   | { kind: "end", known: KnownTurn, prompt: string | null }
 *   | { kind: "send", send: Send }
 * )} Row */

/** @typedef {{ key: number, rows: Row[] }} Segment */

/** Items of so many neighbouring indexes share a segment: enough to make few, few enough to show one quickly. */
const SEGMENT = 16

/** So many finished calls in a row become one line. */
const FOLD = 3

/** Remembers the rows of runs that did not change. @returns {(transcript: Transcript, sends: Send[], today: string) => Segment[]} */
export function createSegmenter() {
  /** @type {WeakMap<Run, { known: KnownTurn | undefined, live: boolean, rows: Row[] }>} */
  const kept = new WeakMap()

  /** @param {Transcript} transcript @param {Run} run */
  function rowsOfRun(transcript, run) {
    const known = transcript.turns.get(run.turnId)
    const live = isLive(transcript, run)
    const before = kept.get(run)
    if (before && before.known === known && before.live === live) return before.rows
    const rows = runRows(run, known, live)
    kept.set(run, { known, live, rows })
    return rows
  }

  return (transcript, sends, today) => {
    /** @type {Segment[]} */
    const segments = []
    /** @param {Row} row */
    const put = (row) => {
      const key = Math.floor(row.index / SEGMENT)
      const last = segments.at(-1)
      // Rows are in order, so a segment never opens again; what would is shown where the reading has come to.
      if (last && key <= last.key) last.rows.push(row)
      else segments.push({ key, rows: [row] })
    }
    let day = ""
    for (const run of transcript.runs) {
      const first = run.items[0]
      if (first && dayOf(first.startedAt) !== day) {
        // That a conversation is of today goes without saying.
        const isPlain = day === "" && dayOf(first.startedAt) === today
        day = dayOf(first.startedAt)
        if (!isPlain) put({ kind: "day", key: `day:${day}`, index: first.index, at: first.startedAt })
      }
      for (const row of rowsOfRun(transcript, run)) put(row)
    }
    const end = transcript.runs.at(-1)?.items.at(-1)?.index ?? 0
    for (const send of sends) put({ kind: "send", key: `send:${send.requestId}`, index: end, send })
    return segments
  }
}

/** @param {Run} run @param {KnownTurn | undefined} known @param {boolean} live @returns {Row[]} */
export function runRows(run, known, live) {
  const calls = new Set(run.items.flatMap((item) => item.type === "tool_call" ? item.callId : []))
  /** @type {Map<string, UpsertObject[]>} */
  const inner = new Map()
  const outer = run.items.filter((item) => {
    if (item.parentCallId === undefined || !calls.has(item.parentCallId)) return true
    const siblings = inner.get(item.parentCallId)
    if (siblings) siblings.push(item)
    else inner.set(item.parentCallId, [item])
    return false
  })
  const rows = itemRows(outer.map((item) => withoutEcho(item, known)), inner, live)
  if (known?.turn.outcome !== undefined && !run.late) {
    const prompt = run.items.find((item) => item.type === "message" && item.origin === "user")
    rows.push({ kind: "end", key: `end:${run.turnId}`, index: run.items.at(-1)?.index ?? 0, known, prompt: prompt?.type === "message" ? prompt.content : null })
  }
  return rows
}

/** Why a turn failed is said once, at its end; an item that only says the same says nothing.
 * @param {UpsertObject} item @param {KnownTurn | undefined} known @returns {UpsertObject} */
function withoutEcho(item, known) {
  if (item.errorMessage === undefined || item.errorMessage !== known?.turn.errorMessage) return item
  const { errorMessage: _said, ...rest } = item
  return /** @type {UpsertObject} */ (rest)
}

/** @param {UpsertObject[]} items @param {Map<string, UpsertObject[]>} inner @param {boolean} live @returns {Row[]} */
function itemRows(items, inner, live) {
  /** @type {Row[]} */
  const rows = []
  const calls = new Set(items.map((item) => item.type === "tool_call" ? item.callId : undefined))
  /** What was last asked about each call. @type {Map<string | undefined, Item<"permission">>} */
  const asks = new Map(items.flatMap((item) => item.type === "permission" && item.callId !== undefined && calls.has(item.callId) ? [[item.callId, item]] : []))
  for (const item of items) {
    const ask = item.type === "tool_call" ? asks.get(item.callId) ?? null : null
    // A call that is nothing but a question is its card.
    if (live && ask && isOpenAsk(ask) && ask.questions?.length) continue
    const row = standing(item, live)
    if (row) {
      rows.push(row)
      continue
    }
    // How a question was answered is said by the call it was about.
    if (item.type === "permission" && asks.get(item.callId) === item) continue
    const entry = workEntry(item, inner, live, ask)
    if (!entry) continue
    const last = rows.at(-1)
    if (last?.kind === "work") last.entries.push(entry)
    else rows.push({ kind: "work", key: `work:${item.itemId}`, index: item.index, entries: [entry] })
  }
  const last = rows.at(-1)
  for (const row of rows) if (row.kind === "work") row.entries = folded(row.entries, live && row === last)
  return rows
}

/** What stands alone. @param {UpsertObject} item @param {boolean} live @returns {Row | null} */
function standing(item, live) {
  const { itemId: key, index } = item
  switch (item.type) {
    case "message": return { kind: "message", key, index, item, live }
    case "plan": return { kind: "plan", key, index, item, live }
    case "notice": return { kind: "notice", key, index, item, live }
    case "permission": return isOpenAsk(item) ? { kind: "ask", key, index, item } : null
    case "thinking": case "tool_call": return null
  }
}

/** @param {UpsertObject} item @param {Map<string, UpsertObject[]>} inner @param {boolean} live @param {Item<"permission"> | null} ask @returns {WorkEntry | null} */
function workEntry(item, inner, live, ask) {
  switch (item.type) {
    case "thinking": return { kind: "thinking", key: item.itemId, item, live }
    case "permission": return { kind: "answered", key: item.itemId, item }
    case "tool_call": return { kind: "tool", key: item.itemId, item, live, ask, inner: itemRows(inner.get(item.callId) ?? [], inner, live) }
    default: return null
  }
}

/** What must be open for an item to be seen, the outermost first: the folds and calls it stands in, and itself. Null when it is not there.
 * @param {Row[]} rows @param {string} itemId @returns {string[] | null} */
export function keysTo(rows, itemId) {
  for (const row of rows) {
    const keys = row.kind === "work" ? keysWithin(row.entries, itemId) : row.key === itemId ? [] : null
    if (keys) return keys
  }
  return null
}

/** @param {WorkEntry[]} entries @param {string} itemId @returns {string[] | null} */
function keysWithin(entries, itemId) {
  for (const entry of entries) {
    if (entry.key === itemId || (entry.kind === "tool" && entry.ask?.itemId === itemId)) return [entry.key]
    const inner = entry.kind === "fold" ? keysWithin(entry.entries, itemId) : entry.kind === "tool" ? keysTo(entry.inner, itemId) : null
    if (inner) return [entry.key, ...inner]
  }
  return null
}

/** Folds runs of finished calls, with the thoughts between them. The newest work stays as it is while it goes on.
 * @param {WorkEntry[]} entries @param {boolean} goesOn @returns {WorkEntry[]} */
function folded(entries, goesOn) {
  /** @type {WorkEntry[]} */
  const out = []
  /** @type {WorkEntry[]} */
  let run = []
  const close = () => {
    const lastCall = run.findLastIndex(({ kind }) => kind === "tool")
    const firstCall = run.findIndex(({ kind }) => kind === "tool")
    const within = firstCall < 0 ? [] : run.slice(firstCall, lastCall + 1)
    const first = within[0]
    if (first && within.filter(({ kind }) => kind === "tool").length >= FOLD) {
      out.push(...run.slice(0, firstCall), { kind: "fold", key: `fold:${first.key}`, entries: within }, ...run.slice(lastCall + 1))
    } else out.push(...run)
    run = []
  }
  for (const entry of entries) {
    if (entry.kind === "tool" && !canFold(entry)) {
      close()
      out.push(entry)
    } else run.push(entry)
  }
  if (goesOn) out.push(...run)
  else close()
  return out
}

/** @param {Extract<WorkEntry, {kind: "tool"}>} entry */
const canFold = ({ item, live, inner }) => toolState(item, live) === "done" && inner.length === 0 && !item.parts.some(({ kind }) => kind === "diff" || kind === "image")

/** How a call is. One left open by a turn that ended was stopped.
 * @param {Item<"tool_call">} item @param {boolean} live @returns {"running" | "done" | "failed" | "refused" | "stopped"} */
export function toolState(item, live) {
  if (item.refused) return "refused"
  if (item.status === "error" || item.toolOutputIsError) return "failed"
  if (item.status === "complete") return "done"
  return live ? "running" : "stopped"
}

/** @type {Record<ToolKind, (count: number) => string>} */
const done = {
  read: (count) => `read ${counted(count, "file")}`,
  edit: (count) => `edited ${counted(count, "file")}`,
  delete: (count) => `deleted ${counted(count, "file")}`,
  move: (count) => `moved ${counted(count, "file")}`,
  search: (count) => `searched ${count === 1 ? "once" : `${count} times`}`,
  execute: (count) => `ran ${counted(count, "command")}`,
  think: (count) => `thought ${count === 1 ? "once" : `${count} times`}`,
  fetch: (count) => `fetched ${counted(count, "page")}`,
  switch_mode: () => "changed its mode",
  other: (count) => `used ${counted(count, "tool")}`,
}

/** What a fold says: `Read 3 files, ran 2 commands`. @param {WorkEntry[]} entries */
export function foldTitle(entries) {
  /** @type {Map<ToolKind, number>} */
  const counts = new Map()
  for (const entry of entries) if (entry.kind === "tool") counts.set(entry.item.toolKind, (counts.get(entry.item.toolKind) ?? 0) + 1)
  const words = [...counts].map(([kind, count]) => done[kind](count)).join(", ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** How long the calls of a fold took together, in milliseconds. @param {WorkEntry[]} entries */
export const foldTime = (entries) => entries.reduce((sum, entry) => sum + (entry.kind === "tool" ? Date.parse(entry.item.emittedAt) - Date.parse(entry.item.startedAt) : 0), 0)

/** What the call was given, for who opens one that has nothing else to show. @param {Item<"tool_call">} item */
export function argumentsOf({ toolArguments, parts }) {
  return parts.length > 0 || Object.keys(toolArguments).length === 0 ? "" : JSON.stringify(toolArguments, null, 2)
}
