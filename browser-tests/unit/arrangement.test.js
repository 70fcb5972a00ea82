import { deepEqual, equal } from "node:assert/strict"
import { test } from "node:test"
import { inOrder, movedBefore, nudged, passes, togglePin } from "../../client/shell/arrangement.js"
import { compareOf, memberToOpen, panesInView, panesOf, sessionInFront } from "../../client/shell/compare-state.js"
import { emptyModel } from "../../client/shell/model.js"
import { choiceWords, factsOf, hasTwins, newMember, skips, withAnother } from "../../client/shell/start-state.js"

const same = (id) => id

test("the user's order comes first, and what it doesn't name stays as it was", () => {
  deepEqual(inOrder(["a", "b", "c", "d"], ["c", "a"], same), ["c", "a", "b", "d"])
  deepEqual(inOrder(["a", "b"], ["gone", "b"], same), ["b", "a"])
})

test("one is moved before another, to the end, or by one place among its neighbours", () => {
  deepEqual(movedBefore(["a", "b", "c"], "c", "a"), ["c", "a", "b"])
  deepEqual(movedBefore(["a", "b", "c"], "a", null), ["b", "c", "a"])
  deepEqual(movedBefore(["a", "b"], "a", "gone"), ["a", "b"])
  deepEqual(nudged(["a", "b", "c"], "b", 1), ["a", "c", "b"])
  deepEqual(nudged(["a", "b", "c"], "a", -1), ["a", "b", "c"])
  deepEqual(nudged(["a", "x", "b"], "b", -1, ["a", "b"]), ["b", "a", "x"])
  deepEqual(togglePin(togglePin([], "a"), "a"), [])
})

test("a filter by state and agent keeps what matches both", () => {
  const session = /** @type {any} */ ({ cliType: "codex" })
  equal(passes({ state: null, agent: null }, session, "idle"), true)
  equal(passes({ state: "stopped", agent: "codex" }, session, "interrupted"), true)
  equal(passes({ state: "waiting", agent: null }, session, "running"), false)
  equal(passes({ state: null, agent: "gemini" }, session, "idle"), false)
})

const offer = /** @type {any} */ ({
  cliType: "codex",
  asks: "always",
  commands: [],
  options: [
    {
      id: "mode",
      name: "Mode",
      category: "mode",
      value: "ask",
      choices: [
        { value: "ask", name: "Ask" },
        { value: "all", name: "All", skipsQuestions: true },
      ],
    },
    { id: "fast", name: "Fast", category: "other", value: false, choices: [] },
  ],
})

test("what takes part has the offered options with the user's own values", () => {
  const member = { ...newMember("codex", []), options: { mode: "all" } }
  deepEqual(
    factsOf(member, offer).options.map(({ value }) => value),
    ["all", false],
  )
  deepEqual(factsOf(member, undefined).options, [])
  equal(skips(factsOf(member, offer), "mode", "all"), true)
  equal(skips(factsOf(member, offer), "mode", "ask"), false)
  equal(choiceWords({ mode: "all", fast: true }, offer), "All, Fast")
  equal(choiceWords({ model: "m1" }, undefined), "m1")
})

test("an agent takes part again with other options, six times at most, and twins are noticed", () => {
  let members = /** @type {any} */ ([newMember("codex", [])])
  for (let n = 0; n < 9; n += 1) members = withAnother(members, members[0].key)
  equal(members.length, 6)
  equal(new Set(members.map(({ key }) => key)).size, 6)
  equal(hasTwins(members), true)
  equal(hasTwins(members.map((member, n) => ({ ...member, options: { model: `m${n}` } }))), false)
})

test("the tab of a comparison shows a column for each that is not discarded", () => {
  const compare = /** @type {any} */ ({
    id: "c",
    members: [
      { state: "started", sessionId: "codex:1" },
      { state: "failed", message: "" },
      { state: "discarded", sessionId: "codex:2" },
      { state: "starting" },
    ],
  })
  const model = { ...emptyModel, compares: new Map([["c", compare]]) }
  const tabs = { order: ["compare:c", "codex:9"], active: "compare:c" }
  equal(compareOf(model, "codex:9"), undefined)
  deepEqual(
    panesOf(compare).map(({ id }) => id),
    ["codex:1", "compare:c#1", "compare:c#3"],
  )
  deepEqual(panesInView({ model, tabs, room: 1 }), ["codex:1", "compare:c#1", "compare:c#3"])
  deepEqual(panesInView({ model, tabs: { ...tabs, active: "codex:9" }, room: 1 }), ["codex:9"])
  equal(sessionInFront({ model, tabs, member: null }), "codex:1")
  equal(sessionInFront({ model, tabs: { ...tabs, active: "codex:9" }, member: "codex:1" }), "codex:9")

  equal(memberToOpen({ model, tabs, member: "codex:2" }), "codex:2")
  const sessions = new Map([["codex:1", /** @type {any} */ ({ id: "codex:1", state: "waiting" })]])
  equal(memberToOpen({ model: { ...model, sessions }, tabs, member: "codex:2" }), "codex:1")
})
