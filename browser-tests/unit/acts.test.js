import assert from "node:assert/strict"
import test from "node:test"

import { chosenAct, isPossible, messageFrom, needsMessage } from "../../client/portlet/acts-state.js"

/** @param {object} change */
const preview = (change) =>
  /** @type {import("../../client/portlet/acts-state.js").ActPreview} */ ({
    type: "changes:preview",
    sessionId: "demo:1",
    act: { kind: "commit", message: "" },
    summary: "",
    paths: [],
    notes: [],
    cannot: [],
    canUndo: true,
    expect: "e",
    ...change,
  })

/** @param {string} what */
const path = (what) => ({ path: "a.txt", what, ticked: true })

test("an act is possible if something would happen", () => {
  assert.equal(isPossible(preview({}), []), false)
  assert.equal(isPossible(preview({}), ["a.txt"]), true)
  const land = { kind: "land", how: "squash" }
  assert.equal(isPossible(preview({ act: land }), []), true)
  assert.equal(isPossible(preview({ act: land, cannot: ["main is dirty"] }), []), false)
  assert.equal(isPossible(preview({ act: land, paths: [path("conflict")] }), []), false)
  const undo = { kind: "undo-act", undo: "1" }
  assert.equal(isPossible(preview({ act: undo }), []), true)
  assert.equal(isPossible(preview({ act: undo, paths: [path("leave")] }), []), false)
  assert.equal(isPossible(preview({ act: undo, paths: [path("leave"), path("restore")] }), []), true)
})

test("the act carries what was chosen", () => {
  const chosen = /** @type {const} */ ({ ticked: ["a"], message: "m", how: "merge" })
  assert.deepEqual(chosenAct({ kind: "undo-turn" }, { ...chosen, ticked: ["a"] }), { kind: "undo-turn", paths: ["a"] })
  assert.deepEqual(chosenAct({ kind: "land", how: "squash" }, { ...chosen, ticked: [] }), {
    kind: "land",
    how: "merge",
    message: "m",
  })
  assert.equal(needsMessage(preview({})), true)
  assert.equal(needsMessage(preview({ act: { kind: "land", how: "merge" } })), false)
  assert.equal(needsMessage(preview({ act: { kind: "land", how: "merge" }, paths: [path("commit")] })), true)
})

test("a message loses the fence around it", () => {
  assert.equal(messageFrom("```text\nFix it\n\nBecause.\n```"), "Fix it\n\nBecause.")
  assert.equal(messageFrom("  Fix `it`\n"), "Fix `it`")
})
