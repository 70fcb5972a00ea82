import assert from "node:assert/strict"
import { test } from "node:test"
import { compareTab } from "../../client/shell/compare-state.js"
import { applyFrame, emptyModel, withVisit } from "../../client/shell/model.js"
import { isNowInFront, withTabsSettled } from "../../client/shell/shell-state.js"
import { closeOthers, closeTab, openTab, previewTab } from "../../client/shell/tabs-state.js"

const at = "2026-01-01T00:00:00Z"
const session = (id, more = {}) => ({
  id,
  projectId: "p",
  title: id,
  cliType: "demo",
  archived: false,
  state: "idle",
  unread: false,
  createdAt: at,
  lastActiveAt: at,
  ...more,
})
const projects = { type: "project:list", projects: [{ id: "p", name: "p", path: "/p", addedAt: at }] }
const listing = (...sessions) => ({ type: "session:list", projectId: "p", sessions })
const after = (...frames) => frames.reduce(applyFrame, emptyModel)
const comparison = (...members) => ({
  id: "k",
  content: "hello",
  members: members.map((sessionId) => ({ state: "started", cliType: "demo", sessionId })),
})
const abc = after(projects, listing(session("a"), session("b"), session("c")))
const shellOf = (more = {}) => ({
  model: abc,
  tabs: { order: ["a", "b", "c"], active: "a" },
  room: 1,
  shown: [],
  creating: new Map(),
  member: null,
  closed: [],
  ...more,
})
/** The state after a change, from a settled one. */
function changed(before, change) {
  const settled = withTabsSettled(before, before)
  return withTabsSettled(settled, { ...settled, ...change })
}

test("a tab stays until the sessions of every project are known, and then closes if its session is gone", () => {
  const tabs = { order: ["a", "x"], active: "x" }
  const early = changed(shellOf({ model: after(projects), tabs }), {})
  assert.equal(early.tabs, tabs)
  const late = withTabsSettled(early, { ...early, model: after(projects, listing(session("a"))) })
  assert.deepEqual(late.tabs, { order: ["a"], active: "a" })
})
test("the tab of a session that is being created stays", () => {
  const tabs = { order: ["a", "creating:1"], active: "a" }
  assert.equal(changed(shellOf(), { tabs, creating: new Map([["creating:1", {}]]) }).tabs, tabs)
  assert.deepEqual(changed(shellOf(), { tabs }).tabs.order, ["a"])
})
test("the tab of a comparison stays until the comparisons are known", () => {
  const tabs = { order: ["a", compareTab("k")], active: "a" }
  assert.equal(changed(shellOf(), { tabs }).tabs, tabs)
  const none = applyFrame(abc, { type: "compare:list", compares: [] })
  assert.deepEqual(changed(shellOf(), { tabs, model: none }).tabs.order, ["a"])
})
test("without a change, tabs and model are the same objects", () => {
  const before = shellOf()
  const { tabs, model } = withTabsSettled(before, before)
  assert.deepEqual([tabs === before.tabs, model === before.model], [true, true])
})

test("a tab gets a pane when it is first in view, and loses it when it closes", () => {
  const first = changed(shellOf(), {})
  assert.deepEqual(first.shown, ["a"])
  const second = changed(first, { tabs: openTab(first.tabs, "c") })
  assert.deepEqual(second.shown, ["a", "c"])
  assert.deepEqual(changed(second, { tabs: closeTab(second.tabs, "a") }).shown, ["c"])
  const beside = { order: ["a", "b", "c"], active: "a", columns: ["a", "b"] }
  assert.deepEqual(changed(shellOf(), { tabs: beside, room: 2 }).shown, ["a", "b"])
  assert.deepEqual(changed(shellOf(), { tabs: beside, room: 1 }).shown, ["a"])
})
test("sessions that are compared have panes as long as their comparison has a tab", () => {
  const model = applyFrame(abc, { type: "compare:list", compares: [comparison("b", "c")] })
  const tabs = { order: ["a", compareTab("k")], active: compareTab("k") }
  const comparing = changed(shellOf({ model, tabs }), {})
  assert.deepEqual(comparing.shown, ["b", "c"])
  const aside = changed(comparing, { tabs: { ...tabs, active: "a" } })
  assert.deepEqual(aside.shown, ["b", "c", "a"])
  assert.deepEqual(changed(aside, { tabs: closeTab(aside.tabs, compareTab("k")) }).shown, ["a"])
})
test("a comparison opens with the session that waits for the user", () => {
  const waiting = after(projects, listing(session("a"), session("b"), session("c", { state: "waiting" })))
  const model = applyFrame(waiting, { type: "compare:list", compares: [comparison("b", "c")] })
  const before = shellOf({ model, member: "b", tabs: { order: ["a", compareTab("k")], active: "a" } })
  const opened = changed(before, { tabs: openTab(before.tabs, compareTab("k")) })
  assert.equal(opened.member, "c")
  assert.equal(changed(opened, { member: "b" }).member, "b")
})

test("closed tabs are remembered, the last one at the end, until they are open again", () => {
  const one = changed(shellOf(), { tabs: closeTab(shellOf().tabs, "b") })
  assert.deepEqual(one.closed, ["b"])
  const two = changed(one, { tabs: closeOthers(one.tabs, "c") })
  assert.deepEqual(two.closed, ["b", "a"])
  assert.deepEqual(changed(two, { tabs: openTab(two.tabs, "b") }).closed, ["a"])
})
test("a preview that was replaced, and a session that is gone, can't be reopened", () => {
  const previewing = changed(shellOf({ tabs: { order: ["a"], active: "a" } }), {
    tabs: previewTab({ order: ["a"], active: "a" }, "b"),
  })
  assert.deepEqual(changed(previewing, { tabs: previewTab(previewing.tabs, "c") }).closed, [])
  const gone = applyFrame(abc, { type: "session:deleted", sessionId: "b" })
  assert.deepEqual(changed(shellOf(), { model: gone }).closed, [])
})
test("only the last twenty closed tabs are remembered", () => {
  const ids = Array.from({ length: 25 }, (_, number) => `s${number}`)
  const before = shellOf({
    model: after(projects, listing(...ids.map((id) => session(id)))),
    tabs: { order: ids, active: "s24" },
  })
  assert.deepEqual(changed(before, { tabs: { order: [], active: null } }).closed, ids.slice(5))
})
test("a visit ends with its tab", () => {
  const model = withVisit(abc, session("x", { archived: true }))
  const before = shellOf({ model, tabs: { order: ["a", "x"], active: "x" } })
  assert.deepEqual([...changed(before, {}).model.visited.keys()], ["x"])
  const { model: left, closed } = changed(before, { tabs: closeTab(before.tabs, "x") })
  assert.deepEqual([left.visited.size, closed], [0, []])
})

test("Now is in front without a session, once there is a project", () => {
  const none = { order: ["a"], active: null }
  assert.equal(isNowInFront(shellOf({ tabs: none })), true)
  assert.equal(isNowInFront(shellOf()), false)
  assert.equal(isNowInFront(shellOf({ tabs: none, model: emptyModel })), false)
  assert.equal(isNowInFront(shellOf({ tabs: none, model: after({ type: "project:list", projects: [] }) })), false)
})
