import assert from "node:assert/strict"
import { test } from "node:test"
import { closeTab, keepTabs, moveTab, nudgeTab, openTab, replaceTab, stepTab, tabsFromStore, tabsToStore } from "../../client/shell/tabs-state.js"

const noTabs = { order: [], active: null }
const abc = { order: ["a", "b", "c"], active: "b" }

test("a session opens at the end and comes to the front", () => assert.deepEqual(openTab(abc, "d"), { order: ["a", "b", "c", "d"], active: "d" }))
test("an open session comes to the front without a second tab", () => assert.deepEqual(openTab(abc, "a"), { order: ["a", "b", "c"], active: "a" }))
test("closing the tab in front brings its right neighbour there", () => assert.deepEqual(closeTab(abc, "b"), { order: ["a", "c"], active: "c" }))
test("closing the last in the row brings its left neighbour", () => assert.deepEqual(closeTab({ ...abc, active: "c" }, "c"), { order: ["a", "b"], active: "b" }))
test("closing another leaves the one in front", () => assert.deepEqual(closeTab(abc, "a"), { order: ["b", "c"], active: "b" }))
test("closing the only tab leaves none", () => assert.deepEqual(closeTab({ order: ["a"], active: "a" }, "a"), noTabs))
test("closing what is not open changes nothing", () => assert.equal(closeTab(abc, "x"), abc))
test("tabs of sessions that are gone close", () => assert.deepEqual(keepTabs(abc, (id) => id === "a"), { order: ["a"], active: "a" }))
test("nothing to close keeps the same object", () => assert.equal(keepTabs(abc, () => true), abc))
test("a tab moves to its place", () => {
  assert.deepEqual(moveTab(abc, "c", 1).order, ["a", "c", "b"])
  assert.deepEqual(moveTab(abc, "a", 9).order, ["b", "c", "a"])
  assert.deepEqual(moveTab(abc, "a", -1).order, ["a", "b", "c"])
})
test("a tab is nudged by one place and stops at the ends", () => {
  assert.deepEqual(nudgeTab(abc, "a", 1).order, ["b", "a", "c"])
  assert.deepEqual(nudgeTab(abc, "a", -1).order, ["a", "b", "c"])
  assert.deepEqual(nudgeTab(abc, "c", 1).order, ["a", "b", "c"])
})
test("stepping goes around the ends", () => {
  assert.equal(stepTab({ ...abc, active: "c" }, 1).active, "a")
  assert.equal(stepTab({ ...abc, active: "a" }, -1).active, "c")
  assert.equal(stepTab({ ...abc, active: null }, 1).active, "a")
  assert.equal(stepTab({ ...abc, active: null }, -1).active, "c")
  assert.equal(stepTab(noTabs, 1), noTabs)
})
test("a created session takes the place of its progress", () => {
  assert.deepEqual(replaceTab({ order: ["a", "new"], active: "new" }, "new", "s"), { order: ["a", "s"], active: "s" })
  assert.deepEqual(replaceTab({ order: ["new", "s"], active: "s" }, "new", "s"), { order: ["s"], active: "s" })
})
test("stored tabs come back as they were, without those that can't", () => {
  const stored = tabsToStore({ order: ["a", "creating:1", "b"], active: "creating:1" }, (id) => !id.startsWith("creating:"))
  assert.deepEqual(stored, { openTabs: ["a", "b"], activeTab: "b", tabOrder: ["a", "b"] })
  assert.deepEqual(tabsFromStore(stored), { order: ["a", "b"], active: "b" })
})
test("odd things in the store are passed over", () => {
  assert.deepEqual(tabsFromStore({}), noTabs)
  assert.deepEqual(tabsFromStore({ openTabs: ["a", 3, "b", "a"], tabOrder: ["b", "z"], activeTab: "z" }), { order: ["b", "a"], active: "b" })
  assert.deepEqual(tabsFromStore({ openTabs: "no", tabOrder: null }), noTabs)
})
