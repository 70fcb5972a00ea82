import assert from "node:assert/strict"
import { test } from "node:test"

import {
  fileRequest,
  isViewed,
  isWorthAsking,
  listWords,
  nextUnviewed,
  noChanges,
  noteWords,
  othersWords,
  partOf,
  pathAt,
  placeWords,
  scopesToTry,
  withFile,
  withList,
  withMoreContext,
  withScope,
  withSelected,
  withViewed,
} from "../../client/portlet/changes-state.js"
import { editorAddress } from "../../client/shared/reading.js"

/** @import { ChangedFile, ErrorCode, Workspace, WorkspaceState } from "../../client/contract.js" */
/** @import { ChangesList } from "../../client/portlet/changes-state.js" */

/** @param {...[path: string, version: string]} files @returns {ChangesList} */
const list = (...files) => ({
  type: "changes:list",
  sessionId: "a:b",
  scope: { kind: "uncommitted" },
  root: "/p",
  notes: [],
  files: files.map(([path, version]) => ({ path, version, status: "modified" })),
  more: 0,
})

test("an empty panel looks in the branch of a worktree, then in the turn, and goes back", () => {
  assert.deepEqual(scopesToTry(null, "uncommitted"), ["turn", "uncommitted"])
  assert.deepEqual(scopesToTry({ kind: "worktree", path: "/w", state: "ok" }, "turn"), ["branch", "turn"])
})

test("a mark falls when the file changes, and holds for one scope", () => {
  let state = withList(noChanges, list(["a", "1"], ["b", "1"]))
  const [a, b] = state.list?.files ?? []
  assert.ok(a && b)
  state = withViewed(state, a)
  assert.deepEqual([isViewed(state, a), isViewed(state, b), nextUnviewed(state)], [true, false, "b"])
  assert.equal(isViewed(state, { ...a, version: "2" }), false)
  assert.equal(isViewed(withScope(state, "turn"), a), false)
  assert.equal(isViewed(withViewed(state, a), a), false)
  assert.equal(nextUnviewed(withViewed(state, b)), null)
})

test("answers of another scope are dropped", () => {
  const state = withSelected(withList(noChanges, list(["a", "1"], ["b", "1"])), "b")
  assert.equal(pathAt(state, -1), "a")
  const other = withScope(state, "branch")
  assert.equal(withList(other, list(["a", "1"])), other)
  const file = { type: "changes:file", sessionId: "a:b", scope: { kind: "uncommitted" }, path: "b", html: "x" }
  assert.equal(withFile(other, /** @type {any} */ (file)), other)
  assert.equal(withFile(state, /** @type {any} */ (file)).file, file)
})

test("the changes are read by themselves only where there is a repository", () => {
  const asks = (/** @type {WorkspaceState} */ state, /** @type {ErrorCode | null} */ code = null) =>
    isWorthAsking(
      { ...noChanges, failure: code && { code, message: "", retryable: false } },
      { kind: "project", path: "/work", state },
    )
  assert.ok(!isWorthAsking(noChanges, null))
  assert.deepEqual([asks("ok"), asks("busy"), asks("missing"), asks("no-git")], [true, true, false, false])
  assert.deepEqual([asks("ok", "GIT_FAILED"), asks("ok", "NOT_A_REPOSITORY")], [true, false])
})

test("a file is asked for as it is listed and shown, or a part of what is here", () => {
  const plain = { split: false, ignoreWhitespace: false }
  assert.equal(fileRequest(noChanges, plain), null)
  const state = withSelected(withList(noChanges, list(["a", "1"], ["b", "2"])), "b")
  const asked = { type: "changes:file", scope: { kind: "uncommitted" }, path: "b", listed: "2" }
  assert.deepEqual(fileRequest(state, plain, { from: 0 }), asked)
  const more = withMoreContext({ ...state, file: /** @type {any} */ ({ version: "2+" }) })
  assert.deepEqual(fileRequest(more, { split: true, ignoreWhitespace: true }, { from: 200 }), {
    ...asked,
    context: 25,
    ignoreWhitespace: true,
    split: true,
    from: 200,
    version: "2+",
  })
})

test("more lines around a change are asked for until all are here, and few again in the next file", () => {
  const first = withList(noChanges, list(["a", "1"], ["b", "1"]))
  const more = withMoreContext(first)
  const all = withMoreContext(more)
  assert.deepEqual([first.context, more.context, all.context], [3, 25, 1_000_000])
  assert.equal(withMoreContext(all).context, all.context)
  assert.deepEqual([withSelected(all, "a").context, withSelected(all, "b").context], [all.context, 3])
})

test("of many other sessions two are named, first those that named one of the files, and the rest on request", () => {
  const here = list(["a", "1"])
  const said = (/** @type {string[]} */ others, all = false) => othersWords({ ...here, others }, all)
  assert.deepEqual(said(["x", "y"]), { text: "Other sessions in this directory: “x”, “y”.", more: 0 })
  assert.equal(said(["Fix it."]).text, "Other sessions in this directory: “Fix it.”")
  const long = "Please list the sources of everything here"
  const many = said([long, "y", "z", "w"])
  assert.deepEqual(many, { text: "Other sessions in this directory: “Please list the sources of ever…”, “y”", more: 2 })
  assert.deepEqual(said([long, "y", "z"], true), {
    text: `Other sessions in this directory: “${long}”, “y”, “z”.`,
    more: 0,
  })
  const [file] = here.files
  const named = { ...here, files: [{ .../** @type {ChangedFile} */ (file), by: "z" }], others: ["x", "y", "z"] }
  assert.deepEqual(othersWords(named, false), { text: "Other sessions in this directory: “z”, “x”", more: 1 })
  for (const none of [null, { ...list(), others: ["x"] }, { ...here, undone: true, others: ["x"] }, here])
    assert.deepEqual(othersWords(none, false), { text: "", more: 0 })
})

test("the panel says where the changes are, what is not listed, and why there is no difference", () => {
  const here = { ...list(["a", "1"]), branch: "topic", base: "main" }
  /** @type {Workspace} */
  const workspace = { kind: "project", path: "/p", state: "busy", ahead: 2, doing: "merge" }
  assert.equal(placeWords(here, workspace), "topic · from main · 2 ahead · in the middle of a merge")
  assert.equal(placeWords(null, workspace), "")
  assert.equal(listWords({ ...here, more: 3, others: ["x"], notes: ["Note."] }), "3 more files are not listed. Note.")
  assert.equal(listWords(here), "")
  const failure = /** @type {const} */ ({ code: "GIT_FAILED", message: "git failed", retryable: true })
  assert.equal(noteWords(noChanges, null), "Reading the changes…")
  assert.equal(noteWords({ ...noChanges, failure }, null), "git failed")
  assert.equal(noteWords(withList(noChanges, list()), null), "Nothing has changed since the last commit.")
  assert.equal(noteWords(withList(noChanges, { ...list(), notes: ["Said below the list."] }), null), "")
  assert.equal(noteWords(withList(noChanges, here), null), "")
})

test("a line is in the last part that begins at or before it", () => {
  // 300 lines were replaced by 300: removed rows first, then the added ones.
  const parts = [
    { row: 0, old: 1, new: 1 },
    { row: 200, old: 201, new: 1 },
    { row: 400, old: 301, new: 101 },
  ]
  const file = /** @type {any} */ ({ parts })
  const at = (/** @type {"old" | "new"} */ side, /** @type {number[]} */ ...lines) =>
    lines.map((line) => partOf(file, side, line))
  assert.deepEqual(at("old", 1, 200, 201, 300), [0, 0, 1, 1])
  assert.deepEqual(at("new", 1, 100, 101, 300), [1, 1, 2, 2])
})

test("a path can't change the address of an editor", () => {
  assert.equal(editorAddress("vscode", "/a b/ü?x=1#y.rs", 7), "vscode://file/a%20b/%C3%BC%3Fx%3D1%23y.rs:7")
  assert.equal(editorAddress("idea", "/a&line=9", 7), "idea://open?file=/a%26line%3D9&line=7")
  assert.equal(editorAddress("", "/a", 1), null)
  assert.equal(editorAddress("zed", "a", 1), null)
})
