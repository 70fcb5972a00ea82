import assert from "node:assert/strict"
import { test } from "node:test"
import { receive, startFollowing } from "../../client/shared/following.js"
import { retryDelay } from "../../client/shared/reconnect.js"
import { applyTail } from "../../client/portlet/tails.js"

const item = (content, blocks, more = {}) => ({
  type: "message",
  itemId: "i",
  turnId: "t",
  sessionId: "s",
  status: "create",
  content,
  blocks,
  origin: "agent",
  index: 0,
  ...more,
})
const tail = (more) => ({
  type: "session:tail",
  sessionId: "s",
  itemId: "i",
  seq: 9,
  from: 0,
  text: "",
  blocksFrom: 0,
  keep: 0,
  blocks: [],
  ...more,
})
const history = (more = {}) => ({
  type: "session:history",
  sessionId: "s",
  stream: "one",
  seq: 5,
  entries: [],
  turns: [],
  mode: "snapshot",
  older: false,
  policy: "ask",
  ...more,
})
const upsert = (seq, payload) => ({ type: "session:upsert", sessionId: "s", seq, payload })

test("a tail goes on where the text was, and changes only the end of the blocks", () => {
  const whole = applyTail(
    item("one tw", ["<p>a</p>", "<p>one tw</p>"]),
    tail({ from: 6, text: "o", blocksFrom: 1, keep: 9, blocks: ["o</p>"] }),
  )
  assert.deepEqual([whole.content, whole.blocks, whole.status], ["one two", ["<p>a</p>", "<p>one two</p>"], "update"])
})
test("a tail may add blocks, and may take text back", () => {
  const whole = applyTail(
    item("abc", ["<p>abc</p>"]),
    tail({ from: 2, text: "X\n\nY", blocksFrom: 0, keep: 5, blocks: ["X</p>", "<p>Y</p>"] }),
  )
  assert.deepEqual([whole.content, whole.blocks], ["abX\n\nY", ["<p>abX</p>", "<p>Y</p>"]])
})
test("a tail may begin a block that was not there", () => {
  assert.deepEqual(
    applyTail(item("a", ["<p>a</p>"]), tail({ from: 1, text: "b", blocksFrom: 1, keep: 0, blocks: ["<p>b</p>"] }))
      .blocks,
    ["<p>a</p>", "<p>b</p>"],
  )
})
test("offsets count UTF-16 units", () => {
  assert.equal(
    applyTail(item("😀", ["<p>😀</p>"]), tail({ from: 2, text: "!", blocksFrom: 0, keep: 5, blocks: ["!</p>"] }))
      .content,
    "😀!",
  )
})
test("a tail beyond what we have is refused", () => {
  for (const odd of [{ from: 4 }, { blocksFrom: 2 }, { keep: 99 }])
    assert.equal(applyTail(item("abc", ["<p>abc</p>"]), tail(odd)), null)
})
test("what was seen already is not passed on, and nothing before the history", () => {
  assert.equal(receive(startFollowing(), upsert(6, item("x", []))), null)
  const opened = receive(startFollowing(), history())
  assert.equal(receive(opened, upsert(5, item("x", []))), null)
  assert.deepEqual(receive(opened, tail({ seq: 6 })).cursor, { stream: "one", seq: 6 })
  assert.equal(receive({ ...opened, opening: true }, tail({ seq: 6 })), null)
})
test("it tries again at once, after 250 ms, 500 ms, then each second, and less often when hidden", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 50].map((n) => retryDelay(n, false)),
    [0, 250, 500, 1000, 1000],
  )
  assert.deepEqual(
    [3, 50].map((n) => retryDelay(n, true)),
    [5000, 5000],
  )
})
