import assert from "node:assert/strict"
import { test } from "node:test"

import { fuzzy, mentionOf, ranked, triggerAt } from "../../client/portlet/trigger.js"

const at = (text) => {
  const found = triggerAt(text, text.length)
  return found && `${found.kind} ${found.query} ${found.start}`
}

test("a command is only at the start, a mention at the start of any word", () => {
  for (const [text, expected] of [
    ["/", "command  0"],
    ["/rev", "command rev 0"],
    ["/rev now", null],
    ["a /rev", null],
    ["@", "file  0"],
    ["see @src/ma", "file src/ma 4"],
    ["(@x", "file x 1"],
    ["me@home", null],
    ["@done ", null],
    ['@"my no', "file my no 0"],
    ['@"my notes" ', null],
  ])
    assert.equal(at(text), expected, text)
})

test("a path with spaces or quotes is quoted", () => {
  assert.equal(mentionOf("src/a.rs"), "@src/a.rs")
  assert.equal(mentionOf("my notes.md"), '@"my notes.md"')
  assert.equal(mentionOf('a "b".md'), '@"a \\"b\\".md"')
})

test("a beginning beats the start of a word, and that beats scattered letters", () => {
  const names = ["arrive", "xrevx", "r-e-v", "pre-review", "review", "other"]
  assert.deepEqual(
    ranked("rev", names, (name) => name).map(({ each }) => each),
    ["review", "pre-review", "xrevx", "r-e-v"],
  )
  assert.deepEqual(fuzzy("rv", "review")?.match, [0, 2])
  assert.equal(fuzzy("z", "review"), null)
})

test("a long message is only searched near the caret", () => {
  const long = "a line of words\n".repeat(60_000)
  assert.deepEqual(triggerAt(`${long}@ab`, long.length + 3), {
    kind: "file",
    query: "ab",
    start: long.length,
    end: long.length + 3,
  })
  assert.equal(triggerAt(`/${"x".repeat(2000)}`, 2001), null)
  assert.equal(triggerAt(`a@${"x".repeat(999)}`, 1001), null)
})
