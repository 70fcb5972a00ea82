/**
 * Turns items into rows: which stand alone, which are grouped as work, what is folded, and to which segment of the page
 * each belongs. Pure; the rows of a run are computed again only when the run changed.
 */

import { counted } from "../shared/phrases.js"
import { dayOf } from "./words.js"
import { isLive, isOpenPermission, openPermissions } from "./transcript.js"

/** @import { ToolKind, Turn, TurnOutcome, UpsertObject } from "../contract.js" */
/** @import { Send } from "./sends.js" */
/** @import { KnownTurn, Run, Transcript } from "./transcript.js" */

/** @template {UpsertObject["type"]} T @typedef {Extract<UpsertObject, {type: T}>} Item */

/** @typedef {(
 *   | { kind: "thinking", key: string, item: Item<"thinking">, live: boolean }
 *   | { kind: "tool", key: string, item: Item<"tool_call">, live: boolean, outcome: TurnOutcome | undefined,
 *       endedAt: string, ask: Item<"permission"> | null, inner: Row[] }
 *   | { kind: "answered", key: string, item: Item<"permission"> }
 *   | { kind: "fold", key: string, entries: WorkEntry[] }
 * )} WorkEntry */

/** @typedef {{ key: string, index: number } & (
 *   | { kind: "day", at: string }
 *   | { kind: "message", item: Item<"message">, live: boolean }
 *   | { kind: "work", entries: WorkEntry[] }
 *   | { kind: "plan", item: Item<"plan">, live: boolean }
 *   | { kind: "ask", item: Item<"permission"> }
 *   | { kind: "notice", item: Item<"notice">, live: boolean, isUndone: boolean }
 *   | { kind: "interlude", item: Item<"command_output"> | Item<"compaction"> | Item<"cleared">, live: boolean }
 *   | { kind: "end", known: KnownTurn, prompt: Item<"message"> | null, isSilent: boolean, waited: number }
 *   | { kind: "send", send: Send }
 * )} Row */

/** @typedef {{ key: number, rows: Row[] }} Segment */

/** Consecutive indexes per segment: large enough for few segments, small enough to show one quickly. */
const SEGMENT = 16

/** This many finished calls in a row become one line. */
const FOLD = 3

/** Keeps the rows of runs that did not change.
 * @returns {(transcript: Transcript, sends: Send[], today: string) => Segment[]} */
export function createSegmenter() {
  /** `gone`: its acts that were undone.
   * @typedef {{ known: KnownTurn | undefined, live: boolean, isLast: boolean, gone: string, rows: Row[] }} Kept */
  /** @type {WeakMap<Run, Kept>} */
  const kept = new WeakMap()
  /** @type {WeakMap<Run, { undo: string[], undone: string[] }>} */
  const acts = new WeakMap()

  /** The acts that the notices of a run offer to undo, and those that they say were undone. @param {Run} run */
  function actsOf(run) {
    const before = acts.get(run)
    if (before) return before
    const details = run.items.flatMap((item) => (item.type === "notice" ? (item.details ?? []) : []))
    const now = {
      undo: details.flatMap(({ undo }) => undo ?? []),
      undone: details.flatMap(({ undone }) => undone ?? []),
    }
    acts.set(run, now)
    return now
  }

  /** @param {Transcript} transcript @param {Run} run @param {boolean} isLast @param {ReadonlySet<string>} undone */
  function rowsOfRun(transcript, run, isLast, undone) {
    const known = transcript.turns.get(run.turnId)
    const live = isLive(transcript, run)
    const gone = actsOf(run)
      .undo.filter((id) => undone.has(id))
      .join()
    const before = kept.get(run)
    if (before && before.known === known && before.live === live && before.isLast === isLast && before.gone === gone)
      return before.rows
    const rows = runRows(run, known, live, { isLast, undone })
    kept.set(run, { known, live, isLast, gone, rows })
    return rows
  }

  return (transcript, sends, today) => {
    /** @type {Segment[]} */
    const segments = []
    /** @param {Row} row */
    const put = (row) => {
      const key = Math.floor(row.index / SEGMENT)
      const last = segments.at(-1)
      // Segments are in order: a row of an earlier segment goes into the last one.
      if (last && key <= last.key) last.rows.push(row)
      else segments.push({ key, rows: [row] })
    }
    let day = ""
    const last = transcript.newer || sends.length > 0 ? undefined : transcript.runs.at(-1)
    const undone = new Set(transcript.runs.flatMap((run) => actsOf(run).undone))
    for (const run of transcript.runs) {
      const first = run.items[0]
      if (first && dayOf(first.startedAt) !== day) {
        // A conversation that begins today needs no heading for the day.
        const isPlain = day === "" && dayOf(first.startedAt) === today
        day = dayOf(first.startedAt)
        if (!isPlain) put({ kind: "day", key: `day:${day}`, index: first.index, at: first.startedAt })
      }
      for (const row of rowsOfRun(transcript, run, run === last, undone)) put(row)
    }
    const end = transcript.runs.at(-1)?.items.at(-1)?.index ?? 0
    for (const send of sends) put({ kind: "send", key: `send:${send.requestId}`, index: end, send })
    return segments
  }
}

/** Only the last turn can be retried, and only what was not undone can be undone.
 * @param {Run} run @param {KnownTurn | undefined} known @param {boolean} live
 * @param {{ isLast?: boolean, undone?: ReadonlySet<string> }} [among] @returns {Row[]} */
export function runRows(run, known, live, { isLast = true, undone = new Set() } = {}) {
  const calls = new Set(run.items.flatMap((item) => (item.type === "tool_call" ? item.callId : [])))
  /** @type {Map<string, UpsertObject[]>} */
  const inner = new Map()
  const outer = run.items.filter((item) => {
    if (item.parentCallId === undefined || !calls.has(item.parentCallId)) return true
    const siblings = inner.get(item.parentCallId)
    if (siblings) siblings.push(item)
    else inner.set(item.parentCallId, [item])
    return false
  })
  const rows = itemRows(
    outer.map((item) => withoutEcho(item, known)),
    inner,
    live,
    known?.turn,
  )
  for (const row of rows) if (row.kind === "notice") row.isUndone = undone.has(row.item.details?.undo ?? "")
  if (known?.turn.outcome !== undefined && !run.late) {
    const prompt = run.items.find((item) => item.type === "message" && item.origin === "user")
    const at = endOf(rows, known.turn.endedAt ?? "")
    rows.splice(at, 0, {
      kind: "end",
      key: `end:${run.turnId}`,
      index: rows[at - 1]?.index ?? run.items.at(-1)?.index ?? 0,
      known,
      prompt: isLast && prompt?.type === "message" ? prompt : null,
      isSilent: prompt !== undefined && run.items.every((item) => item === prompt || item.type === "thinking"),
      waited: waitedFor(run.items),
    })
  }
  return rows
}

/** Where the turn's end is: before the notices of what was done with its changes later.
 * @param {Row[]} rows @param {string} endedAt */
function endOf(rows, endedAt) {
  const isLater = (/** @type {Row | undefined} */ row) => row?.kind === "notice" && row.item.startedAt > endedAt
  let at = rows.length
  while (isLater(rows[at - 1])) at -= 1
  return at
}

/** The reason of a failed turn is shown once, at its end, and not repeated by an item.
 * @param {UpsertObject} item @param {KnownTurn | undefined} known @returns {UpsertObject} */
function withoutEcho(item, known) {
  if (item.errorMessage === undefined || item.errorMessage !== known?.turn.errorMessage) return item
  const { errorMessage: _repeated, ...rest } = item
  return /** @type {UpsertObject} */ (rest)
}

/** @param {UpsertObject[]} items @param {Map<string, UpsertObject[]>} inner @param {boolean} live
 * @param {Turn | undefined} turn @returns {Row[]} */
function itemRows(items, inner, live, turn) {
  /** @type {Row[]} */
  const rows = []
  const calls = new Set(items.map((item) => (item.type === "tool_call" ? item.callId : undefined)))
  /** The last permission of each call. @type {Map<string | undefined, Item<"permission">>} */
  const asks = new Map(
    items.flatMap((item) =>
      item.type === "permission" && item.callId !== undefined && calls.has(item.callId) ? [[item.callId, item]] : [],
    ),
  )
  for (const item of items) {
    const ask = item.type === "tool_call" ? (asks.get(item.callId) ?? null) : null
    // While a permission is open, its card is shown instead of its call.
    if (live && ask && isOpenPermission(ask)) continue
    const row = standaloneRow(item, live)
    if (row) {
      rows.push(row)
      continue
    }
    // The call shows how its permission was answered.
    if (item.type === "permission" && asks.get(item.callId) === item) continue
    const entry = workEntry(item, inner, live, turn, ask)
    if (!entry) continue
    const last = rows.at(-1)
    if (last?.kind === "work") last.entries.push(entry)
    else rows.push({ kind: "work", key: `work:${item.itemId}`, index: item.index, entries: [entry] })
  }
  const last = rows.at(-1)
  for (const row of rows) if (row.kind === "work") row.entries = folded(row.entries, live && row === last)
  return rows
}

/** @param {UpsertObject} item @param {boolean} live @returns {Row | null} */
function standaloneRow(item, live) {
  const { itemId: key, index } = item
  switch (item.type) {
    case "message":
      return { kind: "message", key, index, item, live }
    case "plan":
      return { kind: "plan", key, index, item, live }
    case "notice":
      return { kind: "notice", key, index, item, live, isUndone: false }
    case "command_output":
    case "compaction":
    case "cleared":
      return { kind: "interlude", key, index, item, live }
    case "permission":
      return isOpenPermission(item) ? { kind: "ask", key, index, item } : null
    case "thinking":
    case "tool_call":
      return null
  }
}

/** @param {UpsertObject} item @param {Map<string, UpsertObject[]>} inner @param {boolean} live
 * @param {Turn | undefined} turn @param {Item<"permission"> | null} ask @returns {WorkEntry | null} */
function workEntry(item, inner, live, turn, ask) {
  switch (item.type) {
    case "thinking":
      return { kind: "thinking", key: item.itemId, item, live }
    case "permission":
      return { kind: "answered", key: item.itemId, item }
    case "tool_call":
      return {
        kind: "tool",
        key: item.itemId,
        item,
        live,
        outcome: turn?.outcome,
        // Nothing is sent when a call is stopped: it ended with its turn.
        endedAt:
          toolState(item, live, turn?.outcome) === "stopped"
            ? (turn?.endedAt ?? item.sourceTimestamp)
            : item.sourceTimestamp,
        ask,
        inner: itemRows(inner.get(item.callId) ?? [], inner, live, turn),
      }
    default:
      return null
  }
}

/** The keys that must be open for an item to be visible, outermost first: its folds and calls, and itself.
 * Null when the item is not in these rows.
 * @param {Row[]} rows @param {string} itemId @returns {string[] | null} */
export function keysTo(rows, itemId) {
  for (const row of rows) {
    const keys =
      row.kind === "work"
        ? keysWithin(row.entries, itemId)
        : row.key !== itemId
          ? null
          : row.kind === "interlude" // its summary
            ? [itemId]
            : []
    if (keys) return keys
  }
  return null
}

/** @param {WorkEntry[]} entries @param {string} itemId @returns {string[] | null} */
function keysWithin(entries, itemId) {
  for (const entry of entries) {
    if (entry.key === itemId || (entry.kind === "tool" && entry.ask?.itemId === itemId)) return [entry.key]
    const inner =
      entry.kind === "fold"
        ? keysWithin(entry.entries, itemId)
        : entry.kind === "tool"
          ? keysTo(entry.inner, itemId)
          : null
    if (inner) return [entry.key, ...inner]
  }
  return null
}

/** Folds runs of finished calls and the thoughts between them. The newest work is not folded while it continues.
 * @param {WorkEntry[]} entries @param {boolean} isOngoing @returns {WorkEntry[]} */
function folded(entries, isOngoing) {
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
      out.push(
        ...run.slice(0, firstCall),
        { kind: "fold", key: `fold:${first.key}`, entries: within },
        ...run.slice(lastCall + 1),
      )
    } else out.push(...run)
    run = []
  }
  for (const entry of entries) {
    if (entry.kind === "tool" && !canFold(entry)) {
      close()
      out.push(entry)
    } else run.push(entry)
  }
  if (isOngoing) out.push(...run)
  else close()
  return out
}

/** @param {Extract<WorkEntry, {kind: "tool"}>} entry */
const canFold = ({ item, live, outcome, inner }) =>
  toolState(item, live, outcome) === "done" &&
  inner.length === 0 &&
  !item.parts.some(({ kind }) => kind === "diff" || kind === "image")

/** The state of a call. One left open by a completed turn ended without a result; by any other, it was stopped.
 * @param {Item<"tool_call">} item @param {boolean} live @param {TurnOutcome | undefined} outcome of its turn
 * @returns {"running" | "done" | "failed" | "refused" | "stopped" | "ended"} */
export function toolState(item, live, outcome) {
  if (item.refused) return "refused"
  if (item.status === "error" || item.toolOutputIsError) return "failed"
  if (item.status === "complete") return "done"
  if (live) return "running"
  return outcome === "completed" ? "ended" : "stopped"
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
  switch_mode: () => "changed mode",
  other: (count) => `used ${counted(count, "tool")}`,
}

/** The title of a fold: `Read 3 files, ran 2 commands`. @param {WorkEntry[]} entries */
export function foldTitle(entries) {
  /** @type {Map<ToolKind, number>} */
  const counts = new Map()
  for (const entry of entries)
    if (entry.kind === "tool") counts.set(entry.item.toolKind, (counts.get(entry.item.toolKind) ?? 0) + 1)
  const words = [...counts].map(([kind, count]) => done[kind](count)).join(", ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** How long the calls of a fold took together, in milliseconds. @param {WorkEntry[]} entries */
export const foldTime = (entries) =>
  entries.reduce((sum, entry) => sum + (entry.kind === "tool" ? callTime(entry) : 0), 0)

/** How long a call took, without the time in which it waited for the user, in milliseconds.
 * @param {Extract<WorkEntry, {kind: "tool"}>} entry */
export const callTime = ({ item, endedAt, ask }) =>
  Math.max(0, Date.parse(endedAt) - Date.parse(item.startedAt) - waitedFor(ask ? [ask] : []))

/** How long permissions that are closed now had waited for the user, in milliseconds. Several may wait at once.
 * @param {UpsertObject[]} items in the order of their start */
export function waitedFor(items) {
  let [waited, until] = [0, 0]
  for (const item of items) {
    if (item.type !== "permission" || isOpenPermission(item)) continue
    const [from, to] = [Math.max(until, Date.parse(item.startedAt)), Date.parse(item.emittedAt)]
    waited += Math.max(0, to - from)
    until = Math.max(until, to)
  }
  return waited
}

/** When the agent began to wait for the user, or to work: without the time in which it had waited.
 * @param {Transcript} transcript @param {{ turnId: string, startedAt: string }} running */
export function workingSince(transcript, { turnId, startedAt }) {
  const [ask] = openPermissions(transcript)
  if (ask) return ask.startedAt
  const waited = waitedFor(transcript.runs.flatMap((run) => (run.turnId === turnId ? run.items : [])))
  return waited === 0 ? startedAt : new Date(Date.parse(startedAt) + waited).toISOString()
}
