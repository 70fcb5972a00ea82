/**
 * The session's transcript after each frame. Pure: nothing here knows the DOM, and time is an argument.
 *
 * Items are ordered by `index`, never by arrival, in runs of one turn each. A frame replaces only the run it touches
 * and keeps every other object, so that views can compare by identity and a long history costs nothing per frame.
 */

import { applyTail } from "./tails.js"

/** @import { Details, FactsChange, PlanEntry, Policy, SessionFacts, Turn, UpsertObject } from "../contract.js" */
/** @import { PortletFrame } from "../shared/bridge.js" */

/** A turn and, when its failure was seen live, the details.
 * @typedef {{ turn: Turn, details: Details | null }} KnownTurn */

/** Neighbouring items of one turn. `late` marks a run after another turn had begun.
 * @typedef {{ turnId: string, late: boolean, items: UpsertObject[] }} Run */

/** @typedef {object} Transcript
 * @property {boolean} known  Whether any history has arrived yet.
 * @property {string} stream
 * @property {number} seq
 * @property {boolean} older  There is more above.
 * @property {boolean} newer  There is more below: it was opened far from its end, so new items are not adjacent.
 * @property {number} unseen  The index of the last new item that is not loaded.
 * @property {Policy} policy
 * @property {SessionFacts} facts  What the agent reports beside the conversation.
 * @property {Run[]} runs
 * @property {ReadonlyMap<string, UpsertObject>} growing  The items that tails may continue, loaded or not.
 * @property {ReadonlyMap<string, KnownTurn>} turns */

/** @typedef {Extract<PortletFrame, {
 *   type: "session:history" | "session:upsert" | "session:tail" | "session:turn" | "session:older" | "session:newer"
 *     | "session:policy" | "session:facts"
 * }>} TranscriptFrame */

/** @type {SessionFacts} */
export const noFacts = {
  asks: "always",
  options: [],
  commands: [],
  queue: { messages: [] },
  steers: "stop",
  tasks: [],
  agent: { mcp: [], controlsMcp: false },
  elsewhere: false,
}

/** @type {Transcript} */
export const nothingYet = {
  known: false,
  stream: "",
  seq: 0,
  older: false,
  newer: false,
  unseen: -1,
  policy: "ask",
  facts: noFacts,
  runs: [],
  growing: new Map(),
  turns: new Map(),
}

/** The next transcript; null if a tail does not fit, and the session must be opened again.
 * @param {Transcript} now @param {TranscriptFrame} frame @returns {Transcript | null} */
export function applyFrame(now, frame) {
  switch (frame.type) {
    case "session:history":
      return withHistory(now, frame)
    case "session:upsert":
      return frame.seq <= now.seq ? now : withGrowing(now, frame.payload, frame.seq)
    case "session:tail": {
      if (frame.seq <= now.seq) return now
      const item = now.growing.get(frame.itemId)
      const whole = item ? applyTail(item, frame) : null
      return whole && withGrowing(now, whole, frame.seq)
    }
    case "session:turn":
      return frame.seq <= now.seq ? now : { ...now, seq: frame.seq, turns: withEvent(now, frame) }
    case "session:older":
      return withOlder(now, frame)
    case "session:newer":
      return withNewer(now, frame)
    case "session:policy":
      return { ...now, policy: frame.policy }
    case "session:facts":
      return frame.seq <= now.seq ? now : { ...now, seq: frame.seq, facts: withFacts(now.facts, frame.facts) }
  }
}

/** A continuation that was withdrawn is `null` in a change, and absent among the facts.
 * @param {SessionFacts} facts @param {FactsChange} change @returns {SessionFacts} */
function withFacts(facts, change) {
  const { continueAt, ...rest } = { ...facts, ...change }
  return continueAt ? { ...rest, continueAt } : rest
}

/** @param {Transcript} now @param {Extract<TranscriptFrame, {type: "session:history"}>} frame @returns {Transcript} */
function withHistory(now, frame) {
  const { stream, seq, policy, facts } = frame
  if (frame.mode === "snapshot" || stream !== now.stream) {
    return {
      known: true,
      stream,
      seq,
      policy,
      facts,
      older: frame.older,
      newer: frame.newer ?? false,
      unseen: -1,
      runs: runsOf(frame.entries),
      growing: new Map(),
      turns: withTurns(new Map(), frame.turns),
    }
  }
  return {
    ...frame.entries.reduce(withNews, now),
    growing: new Map(),
    known: true,
    seq,
    policy,
    facts,
    turns: withTurns(now.turns, frame.turns),
  }
}

/** @param {Transcript} now @param {UpsertObject} item @param {number} seq @returns {Transcript} */
function withGrowing(now, item, seq) {
  const growing = new Map(now.growing)
  if (item.status === "create" || item.status === "update") growing.set(item.itemId, item)
  else growing.delete(item.itemId)
  return { ...withNews(now, item), growing, seq }
}

/** New items go to the end; if the end is not loaded, only their existence is noted.
 * @param {Transcript} now @param {UpsertObject} item @returns {Transcript} */
function withNews(now, item) {
  // An update of an item above the loaded ones comes with its page when that is loaded.
  if (now.older && item.index < (firstIndex(now) ?? 0)) return now
  if (now.newer && item.index > lastIndex(now)) return { ...now, unseen: Math.max(now.unseen, item.index) }
  return { ...now, runs: withItem(now.runs, item) }
}

/** Ignores a page that does not end where ours begins: it would leave a gap.
 * @param {Transcript} now @param {Extract<TranscriptFrame, {type: "session:older"}>} frame @returns {Transcript} */
function withOlder(now, { entries, turns, before, older }) {
  const first = firstIndex(now)
  if (first !== null && first !== before) return now
  const above = runsOf(first === null ? entries : entries.filter(({ index }) => index < first))
  const [below, ...rest] = now.runs
  const last = above.at(-1)
  const joined =
    last && below && last.turnId === below.turnId
      ? [...above.slice(0, -1), { ...last, items: [...last.items, ...below.items] }, ...rest]
      : [...above, ...now.runs]
  return { ...now, older, runs: joined, turns: withTurns(now.turns, turns) }
}

/** @param {Transcript} now @param {Extract<TranscriptFrame, {type: "session:newer"}>} frame @returns {Transcript} */
function withNewer(now, { entries, turns, after, newer }) {
  const last = lastIndex(now)
  if (last !== after) return now
  const runs = entries.filter(({ index }) => index > last).reduce(withItem, now.runs)
  const next = { ...now, runs, turns: withTurns(now.turns, turns) }
  // An item may have arrived after the server read this page.
  return { ...next, newer: newer || now.unseen > lastIndex(next) }
}

/** @param {UpsertObject[]} items in index order @returns {Run[]} */
function runsOf(items) {
  /** @type {Run[]} */
  const runs = []
  const seen = new Set()
  for (const item of items) {
    const last = runs.at(-1)
    if (last?.turnId === item.turnId) last.items.push(item)
    else runs.push({ turnId: item.turnId, late: seen.has(item.turnId), items: [item] })
    seen.add(item.turnId)
  }
  return runs
}

/** @param {Run[]} runs @param {UpsertObject} item @returns {Run[]} */
function withItem(runs, item) {
  const at = lastNotAfter(runs, item.index, (run) => run.items[0]?.index ?? 0)
  const run = runs[at]
  if (!run) return [{ turnId: item.turnId, late: false, items: [item] }, ...runs]
  const place = lastNotAfter(run.items, item.index, ({ index }) => index)
  const replaces = run.items[place]?.index === item.index
  if (!replaces && run.turnId !== item.turnId && place === run.items.length - 1) {
    const late = runs.some(({ turnId }) => turnId === item.turnId)
    return runs.toSpliced(at + 1, 0, { turnId: item.turnId, late, items: [item] })
  }
  const items = replaces ? run.items.with(place, item) : run.items.toSpliced(place + 1, 0, item)
  return runs.with(at, { ...run, items })
}

/** The position of the last entry whose number is at most `wanted`; -1 when there is none.
 * @template T @param {T[]} list ascending @param {number} wanted @param {(entry: T) => number} numberOf */
function lastNotAfter(list, wanted, numberOf) {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numberOf(/** @type {T} */ (list[middle])) <= wanted) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** @param {ReadonlyMap<string, KnownTurn>} known @param {Turn[]} turns */
function withTurns(known, turns) {
  const next = new Map(known)
  for (const turn of turns)
    next.set(turn.turnId, { turn, details: turn.details ?? next.get(turn.turnId)?.details ?? null })
  return next
}

/** @param {Transcript} now @param {Extract<TranscriptFrame, {type: "session:turn"}>} frame */
function withEvent(now, { payload: event, seq, at }) {
  const before = now.turns.get(event.turnId)
  const began = now.runs.findLast(({ turnId }) => turnId === event.turnId)?.items[0]?.startedAt ?? at
  /** @type {Turn} */
  const turn = { ...(before?.turn ?? { turnId: event.turnId, origin: "user", startedAt: began }), seq }
  let details = before?.details ?? null
  switch (event.type) {
    case "turn_started":
      turn.origin = event.origin
      turn.startedAt = at
      if (event.modelId !== "") turn.modelId = event.modelId
      break
    case "turn_complete":
      Object.assign(
        turn,
        { endedAt: at, outcome: event.status },
        event.usage && { usage: event.usage },
        event.stopReason && { stopReason: event.stopReason },
      )
      break
    case "turn_error":
      Object.assign(turn, {
        endedAt: at,
        outcome: "failed",
        errorCode: event.errorCode,
        errorMessage: event.errorMessage,
      })
      details = event.details ?? null
  }
  return new Map(now.turns).set(event.turnId, { turn, details })
}

/** The index of the first loaded item. @param {Transcript} now @returns {number | null} */
export const firstIndex = (now) => now.runs[0]?.items[0]?.index ?? null

/** The index of the last loaded item; -1 when there is none. @param {Transcript} now @returns {number} */
export const lastIndex = (now) => now.runs.at(-1)?.items.at(-1)?.index ?? -1

/** @param {UpsertObject} item */
const isOwn = (item) => item.type === "message" && item.origin === "user"

/** How many items after an index are not by the user. @param {Transcript} now @param {number} index */
export function countAfter(now, index) {
  let count = 0
  for (let at = now.runs.length - 1; at >= 0; at -= 1) {
    const items = now.runs[at]?.items ?? []
    if ((items.at(-1)?.index ?? -1) <= index) break
    for (const item of items) if (item.index > index && !isOwn(item)) count += 1
  }
  return count
}

/** Whether the turn of a run is still running. An unknown turn at the end has only just been sent.
 * @param {Transcript} now @param {Run} run */
export function isLive(now, run) {
  const known = now.turns.get(run.turnId)
  return known ? known.turn.outcome === undefined : run === now.runs.at(-1)
}

/** The running turn, if any.
 * @param {Transcript} now @returns {{ turnId: string, startedAt: string } | null} */
export function runningTurn(now) {
  for (const { turn } of now.turns.values())
    if (turn.outcome === undefined) return { turnId: turn.turnId, startedAt: turn.startedAt }
  const last = now.runs.at(-1)
  return last && !now.turns.has(last.turnId) ? { turnId: last.turnId, startedAt: last.items[0]?.startedAt ?? "" } : null
}

/** The steps of the plan in a turn; an agent may make another plan in the same turn.
 * @param {Transcript} now @param {string} turnId @returns {PlanEntry[]} */
export function planOf(now, turnId) {
  const plan = now.runs.findLast((run) => run.turnId === turnId)?.items.findLast(({ type }) => type === "plan")
  return plan?.type === "plan" ? plan.entries : []
}

/** The error code of the last turn, if it failed. @param {Transcript} now @returns {string | undefined} */
export const lastFailure = (now) => now.turns.get(now.runs.at(-1)?.turnId ?? "")?.turn.errorCode

/** The model that answered last. @param {Transcript} now @returns {string} */
export function lastModel(now) {
  let found = ""
  for (const { turn } of now.turns.values()) if (turn.modelId) found = turn.modelId
  return found
}

/** The usage of the last turn that reported any. @param {Transcript} now */
export function lastUsage(now) {
  let found
  for (const { turn } of now.turns.values()) found = turn.usage ?? found
  return found
}

/** @param {Transcript} now @param {string} itemId @returns {UpsertObject | null} */
export function itemById(now, itemId) {
  for (const run of now.runs) for (const item of run.items) if (item.itemId === itemId) return item
  return null
}

/** The open permissions, oldest first. Some outlive the turn they belong to. @param {Transcript} now */
export const openPermissions = (now) => now.runs.flatMap(({ items }) => items.filter(isOpenPermission))

/** @param {UpsertObject} item */
export const isOpenPermission = (item) =>
  item.type === "permission" && item.outcome === undefined && item.status !== "complete" && item.status !== "error"

/** @param {Transcript} now */
export function lastOwnMessage(now) {
  for (const { items } of now.runs.toReversed()) {
    const found = items.findLast((item) => item.type === "message" && isOwn(item))
    if (found?.type === "message") return found
  }
  return undefined
}

/** The user's messages, newest first, without duplicates; about 100 at most.
 * @param {Transcript} now @returns {string[]} */
export function ownMessages(now) {
  const found = new Set()
  for (let at = now.runs.length - 1; at >= 0 && found.size < 100; at -= 1) {
    for (const item of now.runs[at]?.items.toReversed() ?? [])
      if (item.type === "message" && isOwn(item)) found.add(item.content)
  }
  return [...found]
}
