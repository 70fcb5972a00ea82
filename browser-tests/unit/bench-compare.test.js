import assert from "node:assert/strict"
import { test } from "node:test"
import { worse } from "../../bench/compare.mjs"

test("a figure that grew by more than a fifth is worse, however deep it is", () => {
  const before = { values: { ms: 10, list: { sent: 5, kept: 5 }, each: [4, 4] } }
  assert.deepEqual(worse({ values: { ms: 12, list: { sent: 5, kept: 6 }, each: [4, 4.8] } }, before), [])
  assert.deepEqual(worse({ values: { ms: 12.1, list: { sent: 5, kept: 6.1 }, each: [4, 5] } }, before), [
    "ms",
    "list.kept",
    "each.1",
  ])
})

test("where more is better, less is worse", () => {
  const row = { values: { whole: 8, memory: 50 }, more: ["whole"] }
  assert.deepEqual(worse(row, { values: { whole: 10, memory: 100 } }), ["whole"])
  assert.deepEqual(worse({ ...row, values: { whole: 10, memory: 50 } }, { values: { whole: 5, memory: 50 } }), [])
})

test("new rows, new figures, words and what is too small to measure are not compared", () => {
  assert.deepEqual(worse({ values: { ms: 10 } }, undefined), [])
  assert.deepEqual(worse({ values: { ms: 10, word: "b", none: null } }, { values: { word: "a", none: 1 } }), [])
  assert.deepEqual(worse({ values: { ms: 0.4 } }, { values: { ms: 0.1 } }), [])
})
