import assert from "node:assert/strict"
import { test } from "node:test"
import { createFinder, nearest, numberOf, patternOf, stepped, textOf } from "../../client/portlet/finding.js"

const message = (index, ...blocks) => ({ type: "message", itemId: `i${index}`, index, origin: "agent", blocks })
const transcript = (...items) => ({ runs: [{ turnId: "t", late: false, items }] })
const find = (query, ...items) => createFinder()(transcript(...items), patternOf(query))

test("the text is what the page shows: without tags, with entities as characters", () => {
  assert.equal(
    textOf(message(0, "<p>a <strong>b</strong> &lt;c&gt; &amp;amp; &#x2014;&#39;</p>", "<p>d</p>")),
    "a b <c> &amp; —'\nd",
  )
  const call = {
    type: "tool_call",
    title: "Run",
    parts: [
      { kind: "image", url: "/x" },
      { kind: "text", html: "<i>y</i>" },
    ],
  }
  assert.equal(textOf(call), "Run\ny")
})
test("neither case nor white space matters, and every character stands for itself", () => {
  assert.equal(find("A  b", message(0, "<p>a\nB a <b>b</b></p>")).total, 2)
  assert.equal(find("a.b", message(0, "<p>axb a.b</p>")).total, 1)
  assert.equal(find("/[-*]$", message(0, "<p>/[-*]$</p>")).total, 1)
  assert.equal(patternOf("  "), null)
})
test("hits are counted within items, and stepping goes through all of them and around the ends", () => {
  const found = find("a", message(3, "<p>a a</p>"), message(5, "<p>b</p>"), message(8, "<p>a</p>"))
  assert.deepEqual(found.items, [
    { itemId: "i3", index: 3, count: 2 },
    { itemId: "i8", index: 8, count: 1 },
  ])
  const order = []
  let hit = nearest(found, 4)
  for (let n = 0; n < 4; n += 1) {
    order.push(numberOf(found, hit))
    hit = stepped(found, hit, 1)
  }
  assert.deepEqual(order, [3, 1, 2, 3])
  assert.deepEqual(stepped(found, nearest(found, 0), -1), { itemId: "i8", index: 8, nth: 0 })
  assert.deepEqual(nearest(found, Infinity), { itemId: "i8", index: 8, nth: 0 })
  assert.equal(nearest(find("x", message(0, "<p>a</p>")), 0), null)
})
test("an item that changed is searched again, and another query too", () => {
  const finder = createFinder()
  const before = message(0, "<p>a</p>")
  assert.equal(finder(transcript(before), patternOf("a")).total, 1)
  assert.equal(finder(transcript(before), patternOf("b")).total, 0)
  assert.equal(finder(transcript(message(0, "<p>a b</p>")), patternOf("b")).total, 1)
})
