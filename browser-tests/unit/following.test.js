import assert from "node:assert/strict"
import { test } from "node:test"
import { receive, startFollowing } from "../../client/shared/following.js"
import { retryDelay } from "../../client/shared/reconnect.js"
import { applyTail } from "../../client/shared/tails.js"

const item = (content, blocks, more = {}) => ({ type: "message", itemId: "i", turnId: "t", sessionId: "s", status: "create", content, blocks, origin: "agent", index: 0, ...more })
const tail = (more) => ({ type: "session:tail", sessionId: "s", itemId: "i", seq: 9, from: 0, text: "", blocksFrom: 0, keep: 0, blocks: [], ...more })
const history = (more = {}) => ({ type: "session:history", sessionId: "s", stream: "one", seq: 5, entries: [], turns: [], mode: "snapshot", older: false, policy: "ask", ...more })
const upsert = (seq, payload) => ({ type: "session:upsert", sessionId: "s", seq, payload })

test("a tail goes on where the text was, and changes only the end of the blocks", () => {
  const whole = applyTail(item("one tw", ["<p>a</p>", "<p>one tw</p>"]), tail({ from: 6, text: "o", blocksFrom: 1, keep: 9, blocks: ["o</p>"] }))
  assert.deepEqual([whole.content, whole.blocks, whole.status], ["one two", ["<p>a</p>", "<p>one two</p>"], "update"])
})
test("a tail may add blocks, and may take text back", () => {
  const whole = applyTail(item("abc", ["<p>abc</p>"]), tail({ from: 2, text: "X\n\nY", blocksFrom: 0, keep: 5, blocks: ["X</p>", "<p>Y</p>"] }))
  assert.deepEqual([whole.content, whole.blocks], ["abX\n\nY", ["<p>abX</p>", "<p>Y</p>"]])
})
test("a tail may begin a block that was not there", () => {
  assert.deepEqual(applyTail(item("a", ["<p>a</p>"]), tail({ from: 1, text: "b", blocksFrom: 1, keep: 0, blocks: ["<p>b</p>"] })).blocks, ["<p>a</p>", "<p>b</p>"])
})
test("offsets count UTF-16 units", () => {
  assert.equal(applyTail(item("😀", ["<p>😀</p>"]), tail({ from: 2, text: "!", blocksFrom: 0, keep: 5, blocks: ["!</p>"] })).content, "😀!")
})
test("a tail beyond what we have is refused", () => {
  for (const odd of [{ from: 4 }, { blocksFrom: 2 }, { keep: 99 }]) assert.equal(applyTail(item("abc", ["<p>abc</p>"]), tail(odd)), null)
})
test("tails become whole upserts", () => {
  const opened = receive(startFollowing(), history({ entries: [item("a", ["<p>a</p>"])] })).next
  const { next, emit, reopen } = receive(opened, tail({ seq: 6, from: 1, text: "b", keep: 4, blocks: ["b</p>"] }))
  assert.deepEqual([emit.type, emit.payload.content, emit.seq, next.cursor, reopen], ["session:upsert", "ab", 6, { stream: "one", seq: 6 }, false])
  assert.equal(receive(next, tail({ seq: 7, from: 2, text: "c", keep: 5, blocks: ["c</p>"] })).emit.payload.content, "abc")
})
test("a tail that does not fit opens the session again, and until then nothing is passed on", () => {
  const opened = receive(startFollowing(), history()).next
  const { next, emit, reopen } = receive(opened, tail({ seq: 6 }))
  assert.deepEqual([emit, reopen, next.cursor], [null, true, null])
  assert.equal(receive(next, upsert(7, item("x", []))).emit, null)
  assert.equal(receive(next, history({ seq: 8 })).emit.seq, 8)
})
test("what was seen already is not passed on again", () => {
  const opened = receive(startFollowing(), history()).next
  assert.equal(receive(opened, upsert(5, item("x", []))).emit, null)
  assert.equal(receive(opened, upsert(6, item("x", []))).emit.seq, 6)
})
test("a complete item grows no more", () => {
  const opened = receive(startFollowing(), history({ entries: [item("a", [])] })).next
  const done = receive(opened, upsert(6, item("a", [], { status: "complete" }))).next
  assert.equal(receive(done, tail({ seq: 7 })).reopen, true)
})
test("history since a cursor keeps the items that were growing", () => {
  const opened = receive(startFollowing(), history({ entries: [item("a", ["<p>a</p>"])] })).next
  const again = receive({ ...opened, opening: true }, history({ mode: "since", seq: 6 })).next
  assert.equal(receive(again, tail({ seq: 7, from: 1, text: "b", keep: 4, blocks: ["b</p>"] })).emit.payload.content, "ab")
})
test("it tries again at once, after 250 ms, 500 ms, then each second, and less often when hidden", () => {
  assert.deepEqual([0, 1, 2, 3, 50].map((n) => retryDelay(n, false)), [0, 250, 500, 1000, 1000])
  assert.deepEqual([3, 50].map((n) => retryDelay(n, true)), [5000, 5000])
})
