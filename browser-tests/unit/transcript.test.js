import assert from "node:assert/strict"
import { test } from "node:test"
import { applyFrame, countAfter, firstIndex, isLive, itemById, lastIndex, nothingYet, openAsks, ownMessages, runningTurn } from "../../client/portlet/transcript.js"
import { isSending, stillUnderWay, withRefusal, withSend } from "../../client/portlet/sends.js"

const at = "2026-06-15T12:00:00.000Z"
const item = (index, more = {}) => ({ turnId: "t1", sessionId: "s", itemId: `i${index}`, sourceTimestamp: at, emittedAt: at, status: "complete", index, startedAt: at, type: "message", origin: "agent", content: `c${index}`, blocks: [], ...more })
const turn = (turnId, more = {}) => ({ turnId, seq: 1, origin: "user", startedAt: at, ...more })
const history = (entries, more = {}) => ({ type: "session:history", sessionId: "s", entries, stream: "one", seq: 10, turns: [], mode: "snapshot", older: false, policy: "ask", ...more })
const upsert = (payload, seq) => ({ type: "session:upsert", sessionId: "s", payload, seq })
const event = (payload, seq) => ({ type: "session:turn", sessionId: "s", payload: { sessionId: "s", turnId: "t1", ...payload }, seq })
const play = (...frames) => frames.reduce((now, frame) => applyFrame(now, frame, at), nothingYet)
const indexes = (now) => now.runs.flatMap((run) => run.items.map(({ index }) => index))

test("items stand by their index, whatever order they come in", () => {
  const now = play(history([item(5)]), upsert(item(7), 11), upsert(item(6), 12), upsert(item(3), 13))
  assert.deepEqual(indexes(now), [3, 5, 6, 7])
})

test("an upsert replaces its item and leaves every other object as it was", () => {
  const before = play(history([item(0, { turnId: "t0" }), item(1), item(2)]))
  const after = applyFrame(before, upsert(item(2, { content: "more" }), 11), at)
  assert.equal(after.runs[0], before.runs[0])
  assert.equal(after.runs[1].items[0], before.runs[1].items[0])
  assert.equal(itemById(after, "i2").content, "more")
  assert.equal(itemById(before, "i2").content, "c2")
})

test("a frame that was seen already changes nothing", () => {
  const now = play(history([item(0)]))
  assert.equal(applyFrame(now, upsert(item(1), 10), at), now)
  assert.equal(applyFrame(now, event({ type: "turn_complete", status: "completed" }, 9), at), now)
})

test("history since a cursor is added; a snapshot or another stream replaces", () => {
  const now = play(history([item(0), item(1)], { older: true }))
  const since = applyFrame(now, history([item(1, { content: "new" }), item(2)], { mode: "since", seq: 20 }), at)
  assert.deepEqual(indexes(since), [0, 1, 2])
  assert.equal(itemById(since, "i1").content, "new")
  assert.equal(since.older, true, "what is above was not asked about")
  assert.deepEqual(indexes(applyFrame(since, history([item(9)]), at)), [9])
  assert.deepEqual(indexes(applyFrame(since, history([item(9)], { mode: "since", stream: "two" }), at)), [9])
})

test("older pages go above, join the turn they cut, and never repeat an item", () => {
  const now = play(history([item(4), item(5)], { older: true }), { type: "session:older", sessionId: "s", entries: [item(2, { turnId: "t0" }), item(3), item(4)], turns: [turn("t0", { outcome: "completed" })], before: 4, older: false })
  assert.deepEqual(indexes(now), [2, 3, 4, 5])
  assert.deepEqual(now.runs.map(({ turnId }) => turnId), ["t0", "t1"])
  assert.deepEqual([firstIndex(now), lastIndex(now), now.older], [2, 5, false])
})

test("what is said while one reads far from the end is not put next to it, and comes with the pages below", () => {
  const newer = (after, entries, more) => ({ type: "session:newer", sessionId: "s", entries, turns: [], after, newer: more })
  const middle = play(history([item(4), item(5)], { older: true, newer: true }), upsert(item(90), 11), upsert(item(5, { content: "more" }), 12))
  assert.deepEqual([indexes(middle), itemById(middle, "i5").content], [[4, 5], "more"])
  const back = applyFrame(middle, history([item(91)], { mode: "since", seq: 13 }), at)
  assert.deepEqual([indexes(back), back.newer], [[4, 5], true], "a reconnection changes nothing about that")
  const below = applyFrame(back, newer(5, [item(5), item(6), item(7, { turnId: "t2" })], true), at)
  assert.deepEqual([indexes(below), below.runs.map(({ turnId }) => turnId), below.newer], [[4, 5, 6, 7], ["t1", "t2"], true])
  const almost = applyFrame(below, newer(7, [item(90)], false), at)
  assert.equal(almost.newer, true, "91 was said after this page was read")
  const whole = applyFrame(almost, newer(90, [item(91)], false), at)
  assert.deepEqual([whole.newer, indexes(applyFrame(whole, upsert(item(92), 14), at)).at(-1)], [false, 92])
  assert.equal(applyFrame(middle, history([item(91)]), at).newer, false, "opened at its end again")
})

test("what would leave a hole is not taken: it comes with its surroundings", () => {
  const now = play(history([item(4), item(5)], { older: true }))
  assert.deepEqual(indexes(applyFrame(now, upsert(item(1), 11), at)), [4, 5])
  assert.deepEqual(indexes(applyFrame(now, history([item(1), item(6)], { mode: "since", seq: 11 }), at)), [4, 5, 6])
  const page = { type: "session:older", sessionId: "s", entries: [item(0)], turns: [], before: 1, older: false }
  assert.equal(applyFrame(now, page, at), now, "it was asked for above another beginning")
})

test("a late item of a turn that was left behind stands where it came, and the turn does not end twice", () => {
  const now = play(history([item(0), item(1, { turnId: "t2" })]), upsert(item(2), 11))
  assert.deepEqual(now.runs.map(({ turnId, late }) => [turnId, late]), [["t1", false], ["t2", false], ["t1", true]])
})

test("a turn runs from its first item to its end, however it ends", () => {
  let now = play(history([]), upsert(item(0, { origin: "user" }), 11))
  assert.equal(runningTurn(now)?.turnId, "t1", "nothing was told of the turn yet")
  now = applyFrame(now, event({ type: "turn_started", modelId: "m", providerId: "p", origin: "user" }, 12), at)
  assert.equal(isLive(now, now.runs[0]), true)
  const stopped = applyFrame(now, event({ type: "turn_complete", status: "cancelled" }, 13), at)
  assert.equal(runningTurn(stopped), null)
  assert.equal(stopped.turns.get("t1").turn.outcome, "cancelled")
  const failed = applyFrame(now, event({ type: "turn_error", errorCode: "PROCESS_CRASH", errorMessage: "gone", details: { stderrTail: "oops" } }, 13), at)
  assert.deepEqual([failed.turns.get("t1").turn.errorMessage, failed.turns.get("t1").details], ["gone", { stderrTail: "oops" }])
  const interrupted = applyFrame(now, history([], { mode: "since", seq: 30, turns: [turn("t1", { outcome: "interrupted", endedAt: at })] }), at)
  assert.equal(runningTurn(interrupted), null, "a server that was away says how it ended")
})

test("permissions wait until they are answered, also when their turn is over", () => {
  const ask = (more) => item(1, { type: "permission", status: "create", options: [], parts: [], title: "?", ...more })
  const open = play(history([item(0)], { turns: [turn("t1")] }), upsert(ask({}), 11), event({ type: "turn_complete", status: "completed" }, 12))
  assert.equal(openAsks(open).length, 1)
  assert.equal(openAsks(applyFrame(open, upsert(ask({ status: "complete", outcome: { by: "user" } }), 13), at)).length, 0)
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
})
