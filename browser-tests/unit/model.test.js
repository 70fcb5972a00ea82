import assert from "node:assert/strict"
import { test } from "node:test"
import { newsOf, requestOf, titleOf } from "../../client/shell/attention.js"
import {
  applyFrame,
  emptyModel,
  moodOf,
  sessionsByProject,
  visitsFrom,
  withArchived,
  withLogin,
  withStatus,
  withVisit,
  withVisitsOf,
} from "../../client/shell/model.js"

const at = (minute) => `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`
const project = (id) => ({ id, name: id, path: `/${id}`, addedAt: at(0) })
const session = (id, projectId, minute = 0, more = {}) => ({
  id,
  projectId,
  title: id,
  cliType: "demo",
  archived: false,
  state: "idle",
  unread: false,
  createdAt: at(0),
  lastActiveAt: at(minute),
  ...more,
})
const idsOf = (model) => [...model.sessions.values()].map(({ id }) => id)
const after = (...frames) => frames.reduce(applyFrame, emptyModel)
const two = [
  { type: "project:list", projects: [project("p"), project("q")] },
  { type: "session:list", projectId: "p", sessions: [session("a", "p", 1), session("b", "p", 2)] },
  { type: "session:list", projectId: "q", sessions: [session("c", "q")] },
]

test("sessions stand under their project, newest first", () => {
  const groups = sessionsByProject(after(...two))
  assert.deepEqual(
    [...groups].map(([id, list]) => [id, list.map((each) => each.id)]),
    [
      ["p", ["b", "a"]],
      ["q", ["c"]],
    ],
  )
})
test("a list replaces what was known of its project and nothing else", () => {
  const model = after(...two, { type: "session:list", projectId: "p", sessions: [session("d", "p")] })
  assert.deepEqual(idsOf(model).sort(), ["c", "d"])
})
test("a removed project takes its sessions from view", () => {
  const model = after(...two, { type: "project:removed", projectId: "p" })
  assert.deepEqual([model.projects.map(({ id }) => id), idsOf(model), [...model.listed]], [["q"], ["c"], ["q"]])
})
test("what a lost server said of its agents is void when one is there again", () => {
  const before = after({ type: "agent:status", cliType: "demo", status: "connected" })
  assert.equal(withStatus(before, { connection: "lost", stranger: false }).agentStates.size, 1)
  assert.equal(withStatus(before, { connection: "open", stranger: false }).agentStates.size, 0)
})
test("archived and deleted sessions leave, restored ones return", () => {
  const gone = after(...two, { type: "session:archived", sessionId: "a" }, { type: "session:deleted", sessionId: "c" })
  assert.deepEqual(idsOf(gone), ["b"])
  assert.ok(
    applyFrame(gone, { type: "session:unarchived", sessionId: "a", session: session("a", "p") }).sessions.has("a"),
  )
})
test("state and title of a session change in place", () => {
  const model = after(
    ...two,
    { type: "session:state", sessionId: "a", projectId: "p", state: "running", lastActiveAt: at(9) },
    { type: "session:title-updated", sessionId: "a", title: "T" },
  )
  assert.deepEqual(
    [model.sessions.get("a").state, model.sessions.get("a").title, sessionsByProject(model).get("p")[0].id],
    ["running", "T", "a"],
  )
})
test("news of a session that is not listed changes nothing", () => {
  const model = after(...two)
  assert.equal(applyFrame(model, { type: "session:title-updated", sessionId: "x", title: "T" }), model)
})
test("a visited session is as its project's archive has it, and gone when that has it no more", () => {
  const visiting = ["x", "y"].reduce(
    (model, id) => withVisit(model, session(id, "p", 0, { archived: true })),
    after(...two),
  )
  const fresh = withArchived(visiting, "p", [session("x", "p", 5, { archived: true, title: "Newer" })])
  assert.deepEqual(
    [...fresh.visited.values()].map(({ id, title }) => [id, title]),
    [["x", "Newer"]],
  )
  assert.equal(
    applyFrame(fresh, { type: "session:title-updated", sessionId: "x", title: "Newest" }).visited.get("x").title,
    "Newest",
  )
  assert.deepEqual([...withArchived(visiting, "q", []).visited.keys()], ["x", "y"])
})
test("a visit ends when the session is restored or deleted, or its tab closes; a listed session is none", () => {
  const visiting = withVisit(after(...two), session("x", "p"))
  assert.equal(
    applyFrame(visiting, { type: "session:unarchived", sessionId: "x", session: session("x", "p") }).visited.size,
    0,
  )
  assert.equal(applyFrame(visiting, { type: "session:deleted", sessionId: "x" }).visited.size, 0)
  assert.equal(withVisitsOf(visiting, () => false).visited.size, 0)
  assert.equal(
    withVisitsOf(visiting, () => true),
    visiting,
  )
  assert.equal(withVisit(after(...two), session("a", "p")).visited.size, 0)
})
test("stored visits come back at rest, and odd ones are passed over", () => {
  const stored = JSON.parse(
    JSON.stringify([session("x", "p", 0, { archived: true, state: "running" }), { id: 7 }, null, "x"]),
  )
  assert.deepEqual([...visitsFrom(stored).values()], [session("x", "p", 0, { archived: true })])
  assert.equal(visitsFrom("nonsense").size, 0)
})
test("the status of an agent is kept by agent or by session, and one that works needs no login", () => {
  const agents = {
    type: "agents:list",
    agents: [{ cliType: "demo", name: "Demo", status: "idle", ready: "ready", builtin: true, offered: true }],
  }
  const model = withLogin(
    after(
      agents,
      { type: "agent:status", cliType: "demo", status: "starting" },
      { type: "agent:status", cliType: "demo", status: "disconnected", sessionId: "a" },
    ),
    "demo",
    { code: "AUTH_REQUIRED", message: "", retryable: true },
  )
  assert.deepEqual(
    [
      model.agents[0].status,
      model.agentStates.get("demo").status,
      model.agentStates.get("a").status,
      model.logins.size,
    ],
    ["starting", "starting", "disconnected", 1],
  )
  // It connects before it is asked for a session, but that may be told later than its refusal.
  const connected = applyFrame(model, { type: "agent:status", cliType: "demo", status: "connected" })
  assert.equal(connected.logins.size, 1)
  const made = session("x", "p", 0, { cliType: "demo" })
  const created = { type: "session:created", sessionId: "x", projectId: "p", session: made }
  assert.equal(applyFrame(connected, created).logins.size, 0)
  const listed = withLogin(applyFrame(connected, created), "demo", {
    code: "AUTH_REQUIRED",
    message: "",
    retryable: true,
  })
  const state = { type: "session:state", sessionId: "x", projectId: "p", lastActiveAt: "", unread: false }
  assert.equal(applyFrame(listed, { ...state, state: "starting" }).logins.size, 1)
  assert.equal(applyFrame(listed, { ...state, state: "running" }).logins.size, 0)
})
test("the mood is the most urgent thing about a session", () => {
  assert.deepEqual(
    ["waiting", "starting", "running", "failed", "interrupted", "idle"].map((state) =>
      moodOf(session("a", "p", 0, { state, unread: true })),
    ),
    ["waiting", "running", "running", "failed", "interrupted", "unread"],
  )
  assert.equal(moodOf(session("a", "p")), "idle")
})
test("a session is unread from the end of a turn until the user looks at it, in whichever browser", () => {
  const ended = {
    type: "session:state",
    sessionId: "a",
    projectId: "p",
    state: "idle",
    lastActiveAt: at(3),
    unread: true,
  }
  const model = after(...two, ended)
  assert.equal(moodOf(model.sessions.get("a")), "unread")
  const looked = applyFrame(model, { type: "session:looked", sessionId: "a" })
  assert.equal(moodOf(looked.sessions.get("a")), "idle")
  assert.equal(applyFrame(looked, { type: "session:looked", sessionId: "a" }), looked)
})
test("the title counts what waits for the user, and nothing else", () => {
  assert.equal(titleOf({ title: null, waiting: 0 }), "Liminal Builder")
  assert.equal(titleOf({ title: "Fix it", waiting: 0 }), "Fix it · Liminal Builder")
  assert.equal(titleOf({ title: "Fix it", waiting: 2 }), "(2) Fix it · Liminal Builder")
})
test("a turn's end is news, a start is not", () => {
  const to = (from, state) => newsOf(session("a", "p", 0, { state: from }), session("a", "p", 1, { state }))
  assert.deepEqual(
    [
      to("running", "idle"),
      to("running", "waiting"),
      to("running", "failed"),
      to("idle", "running"),
      to("idle", "idle"),
      newsOf(undefined, session("a", "p")),
    ],
    ["Finished", null, "Failed", null, null, null],
  )
})
test("a notification says what a session asks for", () => {
  const row = (card) => requestOf({ ...session("a", "p"), card })
  const asks = { type: "permission", title: "npm test", questions: [] }
  assert.equal(row(asks), "Asks for permission: npm test")
  assert.equal(row({ ...asks, title: "Which one?", questions: [{ question: "Which one?" }] }), "Asks: Which one?")
  const { questions: _none, ...plain } = asks
  const options = (...kinds) => kinds.map((kind) => ({ optionId: kind, name: kind, kind }))
  assert.equal(row({ ...plain, options: options("allow_once", "reject_once") }), "Asks for permission: npm test")
  assert.equal(row({ ...plain, options: options("allow_once", "allow_always") }), "Asks: npm test")
})
