import assert from "node:assert/strict"
import { test } from "node:test"

import { commentWords, lastLine, movedWords, rangeOf, rangeWords } from "../../client/portlet/comments-state.js"

const lines = [
  { old: 1, new: 1, text: "a" },
  { old: 2, new: null, text: "gone" },
  { old: null, new: 2, text: "b" },
  { old: null, new: 3, text: "c" },
]

/** @param {string} id @param {string} path @returns {import("../../client/contract.js").Comment} */
const comment = (id, path) => ({ id, path, side: "new", lines: [2, 3], snippet: "b\nc", text: "Why?" })

test("lines that are chosen in either direction make a range of the new file", () => {
  const expected = { side: "new", first: 1, last: 3, snippet: "a\nb\nc" }
  assert.deepEqual(rangeOf(lines, 0, 3), expected)
  assert.deepEqual(rangeOf(lines, 3, 0), expected)
})

test("only removed lines are a range of the old file", () => {
  assert.deepEqual(rangeOf(lines, 1, 1), { side: "old", first: 2, last: 2, snippet: "gone" })
  assert.deepEqual(rangeOf(lines, 1, 2), { side: "new", first: 2, last: 2, snippet: "b" })
  assert.equal(rangeOf([], 0, 0), null)
})

test("a comment follows its lines, and says so", () => {
  assert.equal(lastLine(comment("c", "a"), []), 3)
  assert.equal(movedWords(comment("c", "a"), []), "")
  assert.equal(lastLine(comment("c", "a"), [{ id: "c", line: 7 }]), 8)
  assert.equal(movedWords(comment("c", "a"), [{ id: "c", line: 7 }]), "Moved to line 7")
  assert.equal(lastLine(comment("c", "a"), [{ id: "c" }]), null)
  assert.equal(movedWords(comment("c", "a"), [{ id: "c" }]), "The code has changed")
})

test("lines and comments are counted in words", () => {
  assert.equal(rangeWords({ side: "new", first: 2, last: 2 }), "Line 2")
  assert.equal(rangeWords({ side: "old", first: 2, last: 4 }), "Removed lines 2–4")
  assert.equal(commentWords([comment("c", "a")]), "1 comment")
  assert.equal(commentWords([comment("c", "a"), comment("d", "b")]), "2 comments in 2 files")
})
