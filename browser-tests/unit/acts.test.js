import assert from "node:assert/strict"
import test from "node:test"

import {
  chosenAct,
  isPossible,
  messageFrom,
  needsMessage,
  titleAndBody,
  titleOf,
  whyNothing,
} from "../../client/portlet/acts-state.js"

/** @import { ScopeKind } from "../../client/portlet/changes-state.js" */

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
  assert.equal(isPossible(preview({ paths: [path("commit")] }), []), false)
  assert.equal(isPossible(preview({ paths: [path("commit")] }), ["a.txt"]), true)
  assert.equal(isPossible(preview({}), []), true, "a merge may have no files")
  const land = { kind: "land", how: "squash" }
  assert.equal(isPossible(preview({ act: land }), []), true)
  assert.equal(isPossible(preview({ act: land, cannot: ["main is dirty"] }), []), false)
  assert.equal(isPossible(preview({ act: land, paths: [path("conflict")] }), []), false)
  const request = { kind: "pull-request", title: "", body: "" }
  assert.equal(isPossible(preview({ act: request }), []), true)
  assert.equal(isPossible(preview({ act: request, cannot: ["gh is not installed."] }), []), false)
  const discard = { kind: "discard-workspace", branch: "keep" }
  assert.equal(isPossible(preview({ act: discard, paths: [path("save")] }), []), true)
  const undo = { kind: "undo-act", undo: "1" }
  assert.equal(isPossible(preview({ act: undo }), []), true)
  assert.equal(isPossible(preview({ act: undo, paths: [path("leave")] }), []), false)
  assert.equal(isPossible(preview({ act: undo, paths: [path("leave"), path("restore")] }), []), true)
})

test("the act carries what was chosen", () => {
  const chosen = /** @type {const} */ ({ ticked: ["a"], title: "t", message: "m", how: "merge", branch: "remove" })
  assert.deepEqual(chosenAct({ kind: "undo-turn" }, { ...chosen, ticked: ["a"] }), { kind: "undo-turn", paths: ["a"] })
  assert.deepEqual(chosenAct({ kind: "land", how: "squash" }, { ...chosen, ticked: [] }), {
    kind: "land",
    how: "merge",
    message: "m",
  })
  const own = { ...chosen, ticked: ["a"] }
  const restore = /** @type {const} */ ({ kind: "restore-files", itemId: "t:user", at: "before" })
  assert.deepEqual(chosenAct(restore, own), { ...restore, paths: ["a"] })
  const request = /** @type {const} */ ({ kind: "pull-request", title: "", body: "" })
  assert.deepEqual(chosenAct(request, own), { kind: "pull-request", title: "t", body: "m" })
  const discard = /** @type {const} */ ({ kind: "discard-workspace", branch: "keep" })
  assert.deepEqual(chosenAct(discard, own), { kind: "discard-workspace", branch: "remove" })
  assert.equal(needsMessage(preview({})), true)
  assert.equal(needsMessage(preview({ act: { kind: "land", how: "merge" } })), false)
  assert.equal(needsMessage(preview({ act: { kind: "land", how: "merge" }, paths: [path("commit")] })), true)
})

test("a proposed message is a title and the rest", () => {
  assert.deepEqual(titleAndBody("Fix it"), { title: "Fix it", body: "" })
  assert.deepEqual(titleAndBody("Fix it\n\n- one\n- two"), { title: "Fix it", body: "- one\n- two" })
})

test("a message loses the fence around it", () => {
  assert.equal(messageFrom("```text\nFix it\n\nBecause.\n```"), "Fix it\n\nBecause.")
  assert.equal(messageFrom("  Fix `it`\n"), "Fix `it`")
})

test("a button says why it has nothing to do, and only if the panel can tell", () => {
  const file = { path: "a.txt", version: "1", status: "modified" }
  /** @param {ScopeKind} scope @param {object} [list] @param {object} [workspace] */
  const shown = (scope, list = {}, workspace = {}) =>
    /** @type {import("../../client/portlet/acts-state.js").Shown} */ ({
      scope,
      list: { base: "main", files: [], notes: [], ...list },
      workspace: { kind: "worktree", path: "/w", state: "ok", ...workspace },
      isMerging: false,
    })
  const all = "main has everything that this branch has."
  assert.equal(whyNothing("land", shown("branch")), all)
  assert.equal(whyNothing("pull-request", shown("branch")), all)
  assert.equal(whyNothing("commit", shown("branch")), "There is nothing to commit.")
  for (const kind of /** @type {const} */ (["land", "pull-request", "commit"])) {
    assert.equal(whyNothing(kind, shown("branch", { files: [file] })), "")
    assert.equal(whyNothing(kind, shown("branch", {}, { ahead: 1 })), "", "commits that change nothing")
    assert.equal(whyNothing(kind, shown("branch", { notes: ["Not compared: big.bin."] })), "")
    assert.equal(whyNothing(kind, shown("turn")), "")
    assert.equal(whyNothing(kind, { ...shown("branch"), list: null }), "")
  }
  assert.equal(whyNothing("commit", shown("uncommitted")), "There is nothing to commit.")
  assert.equal(whyNothing("commit", { ...shown("uncommitted"), isMerging: true }), "")
  assert.equal(whyNothing("land", shown("uncommitted")), "")
  assert.equal(whyNothing("undo-turn", shown("turn", { files: [file] })), "")
  const undone = shown("turn", { files: [file], undone: true })
  assert.equal(whyNothing("undo-turn", undone), "The files are as they were before this turn.")
})

test("the dialog of a landing names the base", () => {
  assert.equal(titleOf({ kind: "land", how: "squash" }, "main"), "Land into main")
  assert.equal(titleOf({ kind: "land", how: "squash" }, undefined), "Land")
  assert.equal(titleOf({ kind: "commit", message: "" }, "main"), "Commit")
})
