import assert from "node:assert/strict"
import { test } from "node:test"
import { infoLines, serverActs, serverWord, sortedTasks, taskActs, taskWord } from "../../client/portlet/info-state.js"
import { noFacts } from "../../client/portlet/transcript.js"

const now = Date.parse("2026-11-17T12:01:07Z")
const task = (id, state, more = {}) => ({
  id,
  name: id,
  kind: "command",
  state,
  inTurn: false,
  startedAt: "2026-11-17T12:00:00Z",
  ...more,
})

test("only what is known about an agent is listed", () => {
  const state = { agent: "Claude Code", facts: noFacts, model: "", path: "/work" }
  assert.deepEqual(infoLines(state), [
    ["Agent", "Claude Code"],
    ["Directory", "/work"],
  ])
  const agent = { version: "2.1", account: "me", mcp: [], controlsMcp: true }
  assert.deepEqual(
    infoLines({ ...state, facts: { ...noFacts, agent }, model: "opus" }).map(([name]) => name),
    ["Agent", "Version", "Account", "Model", "Directory"],
  )
})

test("a task says how long it runs or ran", () => {
  assert.equal(taskWord(task("a", "running"), now), "Running · 1:07")
  assert.equal(taskWord(task("a", "running", { inTurn: true }), now), "Running in this turn · 1:07")
  assert.equal(taskWord(task("a", "failed", { endedAt: "2026-11-17T12:00:03Z" }), now), "Failed · 0:03")
})

test("only what can be done with a task is offered", () => {
  assert.deepEqual(taskActs(task("a", "running")), ["output", "stop"])
  assert.deepEqual(taskActs(task("a", "running", { inTurn: true })), ["background", "stop"])
  assert.deepEqual(taskActs(task("a", "running", { kind: "sub_agent" })), ["stop"])
  assert.deepEqual(taskActs(task("a", "completed")), ["output"])
  assert.deepEqual(taskActs(task("a", "lost")), [])
})

test("what runs comes first, then the newest", () => {
  const tasks = [task("old", "completed"), task("runs", "running"), task("new", "completed")]
  assert.deepEqual(
    sortedTasks(tasks).map(({ id }) => id),
    ["runs", "new", "old"],
  )
})

test("a server has a word for its state and what can be done about it", () => {
  assert.equal(serverWord({ name: "a", state: "connected", tools: 1 }), "Connected · 1 tool")
  assert.equal(serverWord({ name: "a", state: "disabled", tools: 1 }), "Off")
  assert.deepEqual(serverActs({ name: "a", state: "disabled" }), ["enable"])
  assert.deepEqual(serverActs({ name: "a", state: "failed" }), ["reconnect", "disable"])
})
