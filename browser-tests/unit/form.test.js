import assert from "node:assert/strict"
import { test } from "node:test"

import { problem } from "../../client/portlet/form.js"

const text = (more) => ({ kind: "text", required: true, ...more })

test("an answer is checked by its field, and the user is told what is wrong", () => {
  assert.equal(problem(text({}), ""), "Needs an answer.")
  assert.equal(problem(text({ least: 2 }), "a"), "Must be at least 2 characters.")
  assert.equal(problem(text({ pattern: "^[a-z]+$" }), "A1"), "Must match the pattern ^[a-z]+$")
  assert.equal(problem(text({ pattern: "^[a-z]+$" }), "abc"), "")
  assert.equal(problem({ kind: "integer", required: true }, "1.5"), "Must be a whole number.")
})

test("a pattern that could take for ever is left to the agent", () => {
  assert.equal(problem(text({ pattern: "^(a+)+$" }), `${"a".repeat(45)}!`), "")
  assert.equal(problem(text({ pattern: "^a*a*a*a*a*$" }), `${"a".repeat(1999)}!`), "")
  assert.equal(problem(text({ pattern: "[" }), "anything"), "", "nor one that can't be read")
})
