import assert from "node:assert/strict"
import { test } from "node:test"
import {
  applyFrame,
  countAfter,
  firstIndex,
  isLive,
  itemById,
  lastIndex,
  nothingYet,
  openPermissions,
  ownMessages,
  runningTurn,
} from "../../client/portlet/transcript.js"
import { isSending, isWaiting, stillUnderWay, withRefusal, withSend } from "../../client/portlet/sends.js"

const at = "2026-06-15T12:00:00.000Z"
const item = (index, more = {}) => ({
  turnId: "t1",
  sessionId: "s",
  itemId: `i${index}`,
  sourceTimestamp: at,
  emittedAt: at,
  status: "complete",
  index,
  startedAt: at,
  type: "message",
  origin: "agent",
  content: `c${index}`,
  blocks: [],
  ...more,
})
const later = "2026-01-01T00:00:07.000Z"
const turn = (turnId, more = {}) => ({ turnId, seq: 1, origin: "user", startedAt: at, ...more })
const history = (entries, more = {}) => ({
  type: "session:history",
  sessionId: "s",
  entries,
  stream: "one",
  seq: 10,
  turns: [],
  mode: "snapshot",
  older: false,
  policy: "ask",
  facts: nothingYet.facts,
  ...more,
})
const upsert = (payload, seq) => ({ type: "session:upsert", sessionId: "s", payload, seq })
const event = (payload, seq) => ({
  type: "session:turn",
  sessionId: "s",
  payload: { sessionId: "s", turnId: "t1", ...payload },
  at: later,
  seq,
})
const play = (...frames) => frames.reduce((now, frame) => applyFrame(now, frame), nothingYet)
const indexes = (now) => now.runs.flatMap((run) => run.items.map(({ index }) => index))

test("items stand by their index, whatever order they come in", () => {
  const now = play(history([item(5)]), upsert(item(7), 11), upsert(item(6), 12), upsert(item(3), 13))
  assert.deepEqual(indexes(now), [3, 5, 6, 7])
})

test("an upsert replaces its item and leaves every other object as it was", () => {
  const before = play(history([item(0, { turnId: "t0" }), item(1), item(2)]))
  const after = applyFrame(before, upsert(item(2, { content: "more" }), 11))
  assert.equal(after.runs[0], before.runs[0])
  assert.equal(after.runs[1].items[0], before.runs[1].items[0])
  assert.equal(itemById(after, "i2").content, "more")
  assert.equal(itemById(before, "i2").content, "c2")
})

const tail = (itemId, seq, more) => ({
  type: "session:tail",
  sessionId: "s",
  itemId,
  seq,
  blocksFrom: 0,
  keep: 0,
  blocks: [],
  ...more,
})

test("a tail continues the item it was last told whole, loaded or not, and no other", () => {
  const growing = (index, content) => item(index, { status: "update", content })
  const now = play(history([item(0), growing(1, "seen")]), upsert(growing(1, "on"), 11))
  const grown = applyFrame(now, tail("i1", 12, { from: 2, text: "e", blocks: ["<p>one</p>"] }), at)
  assert.deepEqual([itemById(grown, "i1").content, itemById(grown, "i1").blocks], ["one", ["<p>one</p>"]])
  assert.equal(applyFrame(grown, tail("i1", 12, { from: 3, text: "!" }), at), grown, "it was seen already")

  assert.equal(applyFrame(now, tail("i0", 12, { from: 0, text: "x" }), at), null)
  assert.equal(applyFrame(play(history([growing(1, "seen")])), tail("i1", 12, { from: 4, text: "x" }), at), null)
  const complete = applyFrame(now, upsert(item(1), 12), at)
  assert.equal(applyFrame(complete, tail("i1", 13, { from: 2, text: "x" }), at), null)

  const above = play(history([item(0)], { newer: true }), upsert(growing(9, "far "), 11))
  const still = applyFrame(above, tail("i9", 12, { from: 4, text: "away" }), at)
  assert.deepEqual([indexes(still), still.growing.get("i9").content], [[0], "far away"])
})

test("a frame that was seen already changes nothing", () => {
  const now = play(history([item(0)]))
  assert.equal(applyFrame(now, upsert(item(1), 10)), now)
  assert.equal(applyFrame(now, event({ type: "turn_complete", status: "completed" }, 9)), now)
})

test("facts that changed take the place of those known, and a history brings all of them", () => {
  const facts = { asks: "always", options: [], commands: [{ name: "help", description: "" }] }
  const now = play(history([item(0)], { facts }))
  const changed = applyFrame(now, { type: "session:facts", sessionId: "s", facts: { asks: "agent-decides" }, seq: 11 })
  assert.deepEqual([changed.facts, changed.seq], [{ ...facts, asks: "agent-decides" }, 11])
  assert.equal(
    applyFrame(changed, { type: "session:facts", sessionId: "s", facts: { asks: "always" }, seq: 11 }),
    changed,
  )
  const planned = { ...changed, facts: { ...changed.facts, continueAt: { at: "2026-01-01T00:00:00Z" } } }
  const withdrawn = { type: "session:facts", sessionId: "s", facts: { continueAt: null }, seq: 12 }
  assert.deepEqual(applyFrame(planned, withdrawn).facts, changed.facts)
  assert.deepEqual(applyFrame(changed, history([], { mode: "since", seq: 12, facts })).facts, facts)
})

test("history since a cursor is added; a snapshot or another stream replaces", () => {
  const now = play(history([item(0), item(1)], { older: true }))
  const since = applyFrame(now, history([item(1, { content: "new" }), item(2)], { mode: "since", seq: 20 }))
  assert.deepEqual(indexes(since), [0, 1, 2])
  assert.equal(itemById(since, "i1").content, "new")
  assert.equal(since.older, true, "history since a cursor says nothing about older items")
  assert.deepEqual(indexes(applyFrame(since, history([item(9)]))), [9])
  assert.deepEqual(indexes(applyFrame(since, history([item(9)], { mode: "since", stream: "two" }))), [9])
})

test("older pages go above, join the turn they cut, and never repeat an item", () => {
  const now = play(history([item(4), item(5)], { older: true }), {
    type: "session:older",
    sessionId: "s",
    entries: [item(2, { turnId: "t0" }), item(3), item(4)],
    turns: [turn("t0", { outcome: "completed" })],
    before: 4,
    older: false,
  })
  assert.deepEqual(indexes(now), [2, 3, 4, 5])
  assert.deepEqual(
    now.runs.map(({ turnId }) => turnId),
    ["t0", "t1"],
  )
  assert.deepEqual([firstIndex(now), lastIndex(now), now.older], [2, 5, false])
})

test("what is said while one reads far from the end is not put next to it, and comes with the pages below", () => {
  const newer = (after, entries, more) => ({
    type: "session:newer",
    sessionId: "s",
    entries,
    turns: [],
    after,
    newer: more,
  })
  const middle = play(
    history([item(4), item(5)], { older: true, newer: true }),
    upsert(item(90), 11),
    upsert(item(5, { content: "more" }), 12),
  )
  assert.deepEqual([indexes(middle), itemById(middle, "i5").content], [[4, 5], "more"])
  const back = applyFrame(middle, history([item(91)], { mode: "since", seq: 13 }))
  assert.deepEqual([indexes(back), back.newer], [[4, 5], true], "a reconnect does not change that")
  const below = applyFrame(back, newer(5, [item(5), item(6), item(7, { turnId: "t2" })], true))
  assert.deepEqual(
    [indexes(below), below.runs.map(({ turnId }) => turnId), below.newer],
    [[4, 5, 6, 7], ["t1", "t2"], true],
  )
  const almost = applyFrame(below, newer(7, [item(90)], false))
  assert.equal(almost.newer, true, "91 was said after this page was read")
  const whole = applyFrame(almost, newer(90, [item(91)], false))
  assert.deepEqual([whole.newer, indexes(applyFrame(whole, upsert(item(92), 14))).at(-1)], [false, 92])
  assert.equal(applyFrame(middle, history([item(91)])).newer, false, "opened at the end again")
})

test("what would leave a hole is not taken: it comes with its surroundings", () => {
  const now = play(history([item(4), item(5)], { older: true }))
  assert.deepEqual(indexes(applyFrame(now, upsert(item(1), 11))), [4, 5])
  assert.deepEqual(indexes(applyFrame(now, history([item(1), item(6)], { mode: "since", seq: 11 }))), [4, 5, 6])
  const page = { type: "session:older", sessionId: "s", entries: [item(0)], turns: [], before: 1, older: false }
  assert.equal(applyFrame(now, page), now, "it was requested for another first item")
})

test("a late item of a turn that was left behind stands where it came, and the turn does not end twice", () => {
  const now = play(history([item(0), item(1, { turnId: "t2" })]), upsert(item(2), 11))
  assert.deepEqual(
    now.runs.map(({ turnId, late }) => [turnId, late]),
    [
      ["t1", false],
      ["t2", false],
      ["t1", true],
    ],
  )
})

test("a turn runs from its first item to its end, however it ends", () => {
  let now = play(history([]), upsert(item(0, { origin: "user" }), 11))
  assert.equal(runningTurn(now)?.turnId, "t1", "no frame about the turn itself has arrived yet")
  now = applyFrame(now, event({ type: "turn_started", modelId: "m", providerId: "p", origin: "user" }, 12))
  assert.equal(isLive(now, now.runs[0]), true)
  const stopped = applyFrame(now, event({ type: "turn_complete", status: "cancelled" }, 13))
  assert.equal(runningTurn(stopped), null)
  const { outcome, endedAt } = stopped.turns.get("t1").turn
  assert.deepEqual([outcome, endedAt], ["cancelled", later], "by the server's clock, as a later history says")
  const failed = applyFrame(
    now,
    event(
      { type: "turn_error", errorCode: "PROCESS_CRASH", errorMessage: "gone", details: { stderrTail: "oops" } },
      13,
    ),
  )
  assert.deepEqual(
    [failed.turns.get("t1").turn.errorMessage, failed.turns.get("t1").details],
    ["gone", { stderrTail: "oops" }],
  )
  const interrupted = applyFrame(
    now,
    history([], { mode: "since", seq: 30, turns: [turn("t1", { outcome: "interrupted", endedAt: at })] }),
  )
  assert.equal(runningTurn(interrupted), null, "the restarted server says how it ended")
})

test("permissions wait until they are answered, also when their turn is over", () => {
  const ask = (more) => item(1, { type: "permission", status: "create", options: [], parts: [], title: "?", ...more })
  const open = play(
    history([item(0)], { turns: [turn("t1")] }),
    upsert(ask({}), 11),
    event({ type: "turn_complete", status: "completed" }, 12),
  )
  assert.equal(openPermissions(open).length, 1)
  assert.equal(
    openPermissions(applyFrame(open, upsert(ask({ status: "complete", outcome: { by: "user" } }), 13))).length,
    0,
  )
})

test("what is new is counted from where the reader was, but for the reader's own words", () => {
  const now = play(history([item(1), item(2), item(3), item(4, { origin: "user" }), item(5)]))
  assert.equal(countAfter(now, 2), 2)
})

test("own messages come newest first, each once", () => {
  const own = (index, content) => item(index, { origin: "user", content, turnId: `t${index}` })
  assert.deepEqual(ownMessages(play(history([own(0, "a"), own(1, "b"), item(2), own(3, "a")]))), ["a", "b"])
})

test("a send is under way until the transcript has it, or it is refused", () => {
  const sends = withSend(withSend([], { requestId: "r", content: "x" }, at), { requestId: "r", content: "x" }, at)
  assert.equal(sends.length, 1)
  assert.equal(isSending(sends), true)
  assert.equal(isSending(withRefusal(sends, "r", { code: "SESSION_BUSY", message: "", retryable: true })), false)
  assert.deepEqual(stillUnderWay(sends, play(history([item(0, { origin: "user", requestId: "r" })]))), [])
  const other = play(history([item(0)]))
  assert.equal(stillUnderWay(sends, other), sends)
  const queue = { messages: [{ message: "m", content: "x", queuedAt: at, requestId: "r" }] }
  assert.deepEqual(stillUnderWay(sends, play(history([], { facts: { ...nothingYet.facts, queue } }))), [])
  const gone = { messages: [], removed: [{ message: "m", requestId: "r" }] }
  assert.deepEqual(stillUnderWay(sends, play(history([], { facts: { ...nothingYet.facts, queue: gone } }))), [])
  const waiting = withSend([], { requestId: "w", content: "x" }, at, true)
  assert.deepEqual([isSending(waiting), waiting.map(isWaiting)], [false, [true]])
})
