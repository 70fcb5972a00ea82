import assert from "node:assert/strict"
import { test } from "node:test"
import {
  closeColumn,
  closeOthers,
  closeTab,
  keepTab,
  keepTabs,
  moveTab,
  nextBeside,
  nextColumn,
  nudgeTab,
  openTab,
  previewTab,
  replaceTab,
  showAlone,
  showBeside,
  stepTab,
  tabsFromStore,
  tabsInView,
  tabsToStore,
  withInView,
} from "../../client/shell/tabs-state.js"

const noTabs = { order: [], active: null }
const abc = { order: ["a", "b", "c"], active: "b" }

test("a session opens at the end and comes to the front", () =>
  assert.deepEqual(openTab(abc, "d"), { order: ["a", "b", "c", "d"], active: "d" }))
test("an open session comes to the front without a second tab", () =>
  assert.deepEqual(openTab(abc, "a"), { order: ["a", "b", "c"], active: "a" }))
test("closing the tab in front brings its right neighbour there", () =>
  assert.deepEqual(closeTab(abc, "b"), { order: ["a", "c"], active: "c" }))
test("closing the last in the row brings its left neighbour", () =>
  assert.deepEqual(closeTab({ ...abc, active: "c" }, "c"), { order: ["a", "b"], active: "b" }))
test("closing another leaves the one in front", () =>
  assert.deepEqual(closeTab(abc, "a"), { order: ["b", "c"], active: "b" }))
test("closing the only tab leaves none", () => assert.deepEqual(closeTab({ order: ["a"], active: "a" }, "a"), noTabs))
test("closing what is not open changes nothing", () => assert.equal(closeTab(abc, "x"), abc))
test("tabs of sessions that are gone close", () =>
  assert.deepEqual(
    keepTabs(abc, (id) => id === "a"),
    { order: ["a"], active: "a" },
  ))
test("nothing to close keeps the same object", () =>
  assert.equal(
    keepTabs(abc, () => true),
    abc,
  ))
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
  const stored = tabsToStore(
    { order: ["a", "creating:1", "b"], active: "creating:1" },
    (id) => !id.startsWith("creating:"),
  )
  assert.deepEqual(stored, { openTabs: ["a", "b"], activeTab: "b", tabOrder: ["a", "b"] })
  assert.deepEqual(tabsFromStore(stored), { order: ["a", "b"], active: "b" })
})
test("odd things in the store are passed over", () => {
  assert.deepEqual(tabsFromStore({}), noTabs)
  assert.deepEqual(tabsFromStore({ openTabs: ["a", 3, "b", "a"], tabOrder: ["b", "z"], activeTab: "z" }), {
    order: ["b", "a"],
    active: "b",
  })
  assert.deepEqual(tabsFromStore({ openTabs: "no", tabOrder: null }), noTabs)
})

test("the next preview takes the place of the last one, until that is kept", () => {
  const first = previewTab(abc, "d")
  assert.deepEqual(first, { order: ["a", "b", "c", "d"], active: "d", preview: "d" })
  const second = previewTab(openTab(first, "a"), "e")
  assert.deepEqual(second, { order: ["a", "b", "c", "e"], active: "e", preview: "e" })
  assert.deepEqual(previewTab(second, "b"), { ...second, active: "b" })
  assert.deepEqual(previewTab(keepTab(second, "e"), "f"), { order: [...second.order, "f"], active: "f", preview: "f" })
  assert.deepEqual(tabsFromStore(tabsToStore(second, () => true)), second)
  assert.deepEqual(closeTab(second, "e"), { order: ["a", "b", "c"], active: "c" })
  assert.deepEqual(moveTab(second, "e", 0), { order: ["e", "a", "b", "c"], active: "e" })
})
test("all others close at once", () => assert.deepEqual(closeOthers(abc, "a"), { order: ["a"], active: "a" }))

const ab = { order: ["a", "b", "c", "d"], active: "a", columns: ["a", "b"] }
test("a session is shown beside the active one, or the neighbour beside it", () => {
  assert.deepEqual(showBeside(abc, "c"), { ...abc, active: "c", columns: ["b", "c"] })
  assert.deepEqual(showBeside(abc, "c", "start"), { ...abc, active: "c", columns: ["c", "b"] })
  assert.deepEqual(showBeside(abc, "b"), { ...abc, columns: ["c", "b"] })
  assert.deepEqual(showBeside({ order: ["a"], active: "a" }, "a"), { order: ["a"], active: "a" })
  assert.deepEqual(showBeside(abc, "x"), { order: ["a", "b", "c", "x"], active: "x", columns: ["b", "x"] })
})
test("at most three are side by side; the one at that edge gives way", () => {
  const abd = showBeside(ab, "d")
  assert.deepEqual(abd.columns, ["a", "b", "d"])
  assert.deepEqual(showBeside(abd, "c").columns, ["a", "b", "c"])
  assert.deepEqual(showBeside(abd, "c", "start").columns, ["c", "b", "d"])
  assert.deepEqual(nextBeside(abd), "c")
})
test("a tab in no column takes the place of the active one", () => {
  assert.deepEqual(openTab(ab, "c"), { ...ab, active: "c", columns: ["c", "b"] })
  assert.deepEqual(openTab(ab, "b"), { ...ab, active: "b" })
  assert.deepEqual(stepTab({ ...ab, active: "b" }, 1).columns, ["a", "c"])
  assert.deepEqual(openTab({ ...ab, active: null }, "c"), { ...ab, active: "c", columns: ["a", "c"] })
  const preview = previewTab(ab, "x")
  assert.deepEqual(preview.columns, ["x", "b"])
  assert.deepEqual(previewTab(openTab(preview, "b"), "y").columns, ["y", "b"])
})
test("closing a tab or a column activates the neighbouring column; one alone is no column", () => {
  assert.deepEqual(closeTab(ab, "a"), { order: ["b", "c", "d"], active: "b" })
  assert.deepEqual(closeColumn(ab, "b"), { order: ab.order, active: "a" })
  const abd = { ...ab, columns: ["a", "b", "d"], active: "b" }
  assert.deepEqual(closeColumn(abd, "b"), { ...abd, columns: ["a", "d"], active: "d" })
  assert.deepEqual(showAlone(abd, "b"), { order: ab.order, active: "b" })
  assert.equal(nextColumn({ ...abd, active: "d" }).active, "a")
})
test("as many columns are in view as fit, the active one among them", () => {
  const abd = { ...ab, columns: ["a", "b", "d"], active: "b" }
  assert.deepEqual(tabsInView(abd, 3), ["a", "b", "d"])
  assert.deepEqual(tabsInView(abd, 2), ["a", "b"])
  assert.deepEqual(tabsInView({ ...abd, active: "d" }, 2), ["b", "d"])
  assert.deepEqual(tabsInView(abd, 1), ["b"])
  assert.deepEqual(tabsInView(noTabs, 2), [])
})
test("columns are stored; a stored column without a tab is passed over", () => {
  assert.deepEqual(tabsFromStore(tabsToStore(ab, () => true)), ab)
  assert.deepEqual(tabsFromStore({ openTabs: ["a", "b"], activeTab: "a", columns: ["a", "z", 3] }), {
    order: ["a", "b"],
    active: "a",
  })
  assert.deepEqual(replaceTab({ ...ab, active: "b" }, "b", "s").columns, ["a", "s"])
})

test("panes are added in the order of the view, and those that are there stay where they are", () => {
  assert.deepEqual(withInView(["x"], ["a", "b"]), ["x", "a", "b"])
  assert.deepEqual(withInView(["x", "b"], ["a", "b", "c"]), ["x", "a", "b", "c"])
  assert.deepEqual(withInView(["c", "a"], ["a", "b", "c"]), ["b", "c", "a"])
  const shown = ["a", "b"]
  assert.equal(withInView(shown, ["b", "a"]), shown)
})
