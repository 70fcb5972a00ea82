import assert from "node:assert/strict"
import { test } from "node:test"
import {
  callTime,
  createSegmenter,
  foldTitle,
  keysTo,
  runRows,
  toolState,
  waitedFor,
} from "../../client/portlet/rows.js"
import { keysOf } from "../../client/portlet/permission.js"
import { applyFrame, nothingYet } from "../../client/portlet/transcript.js"
import { clock, compact, duration, firstLine, turnFigures } from "../../client/portlet/words.js"
import { statusOf, troubleOf } from "../../client/portlet/status.js"

const at = "2026-06-15T12:00:00.000Z"
const base = (index) => ({
  turnId: "t1",
  sessionId: "s",
  itemId: `i${index}`,
  sourceTimestamp: at,
  emittedAt: at,
  status: "complete",
  index,
  startedAt: at,
})
const said = (index, more = {}) => ({
  ...base(index),
  type: "message",
  origin: "agent",
  content: "x",
  blocks: ["<p>x</p>"],
  ...more,
})
const call = (index, more = {}) => ({
  ...base(index),
  type: "tool_call",
  toolName: "t",
  toolArguments: {},
  callId: `c${index}`,
  title: "t",
  toolKind: "read",
  locations: [],
  parts: [],
  ...more,
})
const thought = (index) => ({ ...base(index), type: "thinking", content: "hm", providerId: "p", blocks: [] })
const ended = {
  turn: { turnId: "t1", seq: 1, origin: "user", startedAt: at, endedAt: at, outcome: "completed" },
  details: null,
}
const rows = (items, { live = false, known = undefined } = {}) =>
  runRows({ turnId: "t1", late: false, items }, known, live)
const shape = (list) => list.map((row) => (row.kind === "work" ? row.entries.map(({ kind }) => kind) : row.kind))

test("work stands together, words stand alone, and the end comes last", () => {
  assert.deepEqual(shape(rows([said(0, { origin: "user" }), thought(1), call(2), said(3)], { known: ended })), [
    "message",
    ["thinking", "tool"],
    "message",
    "end",
  ])
})

test("what was done after a turn is told below its end", () => {
  const notice = (index, startedAt) => ({ ...base(index), type: "notice", startedAt, text: "Committed", actions: [] })
  const later = "2026-06-15T12:05:00.000Z"
  const list = rows([said(0), notice(1, at), notice(2, later), notice(3, later)], { known: ended })
  assert.deepEqual(shape(list), ["message", "notice", "end", "notice", "notice"])
})

test("three finished calls in a row are one line, with the thoughts between them", () => {
  assert.deepEqual(shape(rows([thought(0), call(1), thought(2), call(3), call(4), said(5)])), [
    ["thinking", "fold"],
    "message",
  ])
  assert.deepEqual(shape(rows([call(1), call(2), said(5)])), [["tool", "tool"], "message"])
})

test("nothing is folded that a reader should see: what runs, failed, or changed a file, and the newest work", () => {
  assert.deepEqual(shape(rows([call(1), call(2), call(3, { status: "update" }), call(4)], { live: true })), [
    ["tool", "tool", "tool", "tool"],
  ])
  assert.deepEqual(shape(rows([call(1), call(2), call(3, { toolOutputIsError: true }), said(5)])), [
    ["tool", "tool", "tool"],
    "message",
  ])
  assert.deepEqual(
    shape(
      rows([
        call(1),
        call(2),
        call(3),
        call(4, { parts: [{ kind: "diff", html: "", added: 0, removed: 0 }] }),
        said(5),
      ]),
    ),
    [["fold", "tool"], "message"],
  )
  assert.deepEqual(shape(rows([call(1), call(2), call(3)], { live: true })), [["tool", "tool", "tool"]])
})

test("work of a sub-agent is inside its call; of a call that is not here, beside the rest", () => {
  const [work] = rows([
    call(1),
    call(2, { parentCallId: "c1" }),
    said(3, { parentCallId: "c1" }),
    call(4, { parentCallId: "gone" }),
  ])
  assert.deepEqual(
    work.entries.map(({ item }) => item.index),
    [1, 4],
  )
  assert.deepEqual(shape(work.entries[0].inner), [["tool"], "message"])
})

test("a call says how its permission was answered; an open one replaces it, one about no call stands alone", () => {
  const asked = (index, more = {}) => ({
    ...base(index),
    type: "permission",
    title: "t",
    options: [],
    parts: [],
    outcome: { by: "user" },
    ...more,
  })
  const [work] = rows([call(1), call(2), asked(3, { callId: "c1" }), asked(4), asked(5, { callId: "gone" })])
  assert.deepEqual(
    work.entries.map(({ kind, item, ask }) => [kind, item.index, ask?.index]),
    [
      ["tool", 1, 3],
      ["tool", 2, undefined],
      ["answered", 4, undefined],
      ["answered", 5, undefined],
    ],
  )
  assert.deepEqual(
    shape(rows([call(1), asked(2, { callId: "c1", outcome: undefined, status: "create" })], { live: true })),
    ["ask"],
  )
})

test("the time in which the user decided is no work, even if several permissions waited at once", () => {
  const second = (n) => new Date(Date.parse(at) + n * 1000).toISOString()
  const asked = (index, from, to, more = {}) => ({
    ...base(index),
    type: "permission",
    title: "t",
    options: [],
    parts: [],
    outcome: { by: "user" },
    startedAt: second(from),
    emittedAt: second(to),
    ...more,
  })
  const work = { ...call(1), emittedAt: second(30) }
  assert.equal(waitedFor([work, asked(2, 5, 15), asked(3, 10, 20)]), 15_000)
  assert.equal(waitedFor([asked(2, 5, 15, { outcome: undefined, status: "create" })]), 0)
  assert.equal(callTime({ item: work, endedAt: second(30), ask: asked(2, 5, 15, { callId: "c1" }) }), 20_000)
  const ended = { turn: { turnId: "t1", seq: 1, origin: "user", startedAt: at, outcome: "failed" }, details: null }
  const own = said(0, { origin: "user", content: "again" })
  const ends = [true, false].map((isLast) =>
    runRows({ turnId: "t1", late: false, items: [own, work, asked(2, 5, 15, { callId: "c1" })] }, ended, false, {
      isLast,
    }),
  )
  assert.deepEqual(
    ends.map((all) => [all.at(-1).waited, all.at(-1).prompt?.content ?? null]),
    [
      [10_000, "again"],
      [10_000, null],
    ],
  )
})

test("to see an item, the folds and calls that it stands in are opened, and itself", () => {
  const some = rows([
    said(0),
    call(1),
    call(2),
    call(3),
    call(4, { toolOutputIsError: true }),
    call(5, { parentCallId: "c4" }),
    said(6),
  ])
  assert.deepEqual(shape(some), ["message", ["fold", "tool"], "message"])
  assert.deepEqual(
    ["i0", "i2", "i5", "gone"].map((id) => keysTo(some, id)),
    [[], ["fold:i1", "i2"], ["i4", "i5"], null],
  )
})

test("a call that its turn left open was stopped, and is not said to be done", () => {
  assert.deepEqual(
    [
      ["update", true],
      ["update", false],
      ["complete", false],
      ["error", false],
    ].map(([status, live]) => toolState(call(1, { status }), live)),
    ["running", "stopped", "done", "failed"],
  )
  assert.equal(toolState(call(1, { refused: true, status: "error" }), true), "refused")
})

test("a call left open by a turn that completed ended without a result", () => {
  assert.equal(toolState(call(1, { status: "update" }), false, "completed"), "ended")
  assert.equal(toolState(call(1, { status: "update" }), false, "cancelled"), "stopped")
})

test("a turn in which nothing was said says so at its end", () => {
  const silent = (items) => rows(items, { known: ended }).at(-1).isSilent
  const prompt = said(0, { origin: "user" })
  assert.deepEqual([[prompt], [prompt, thought(1)], [prompt, said(1)], [prompt, call(1)], [thought(1)]].map(silent), [
    true,
    true,
    false,
    false,
    false,
  ])
})

test("a digit means the same on every card", () => {
  const keys = (...kinds) => keysOf(kinds.map((kind) => ({ optionId: kind, name: kind, kind })))
  assert.deepEqual(keys("allow_once", "reject_once"), ["1", "3"])
  assert.deepEqual(keys("allow_once", "allow_always", "allow_always", "other", "reject_once", "reject_always"), [
    "1",
    "2",
    "5",
    "6",
    "3",
    "4",
  ])
  assert.deepEqual(keys("allow_once", "allow_once", "reject_once"), ["1", "2", "3"])
  assert.deepEqual(keys("allow_once", "allow_once", "allow_always"), ["1", "5", "2"])
})

test("the choices of a question are counted", () => {
  const keys = (...kinds) => keysOf(kinds.map((kind) => ({ optionId: kind, name: kind, kind })))
  assert.deepEqual(keys("allow_always", "allow_always", "allow_always", "allow_always"), ["1", "2", "3", "4"])
  assert.deepEqual(keys("other", "other", "other"), ["1", "2", "3"])
  assert.deepEqual(keys("reject_once", "reject_once", "reject_once"), ["3", "4", "5"])
})

test("a fold says what was done", () => {
  const entries = rows([call(1), call(2, { toolKind: "execute" }), call(3), said(4)])[0].entries[0].entries
  assert.equal(foldTitle(entries), "Read 2 files, ran 1 command")
})

test("segments are few, in order, and keep the rows of what did not change", () => {
  const entries = Array.from({ length: 200 }, (_, index) => said(index, { turnId: `t${Math.floor(index / 10)}` }))
  const frame = {
    type: "session:history",
    sessionId: "s",
    entries,
    stream: "a",
    seq: 1,
    turns: [],
    mode: "snapshot",
    older: false,
    policy: "ask",
  }
  const now = applyFrame(nothingYet, frame)
  const segments = createSegmenter()
  const before = segments(now, [], new Date(at).toDateString())
  assert.deepEqual(
    before.map(({ key }) => key),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  )
  assert.equal(
    before.reduce((sum, { rows: each }) => sum + each.length, 0),
    200,
  )
  const after = segments(
    applyFrame(now, {
      type: "session:upsert",
      sessionId: "s",
      seq: 2,
      payload: said(199, { turnId: "t19", content: "y" }),
    }),
    [],
    new Date(at).toDateString(),
  )
  assert.equal(after[0].rows[0], before[0].rows[0])
  assert.notEqual(after[12].rows.at(-1), before[12].rows.at(-1))
})

test("what was undone since offers no undo", () => {
  const segments = createSegmenter()
  const notice = (index, details) => ({
    ...base(index),
    type: "notice",
    severity: "info",
    text: "x",
    actions: [],
    details,
  })
  const run = (turnId, items) => ({ turnId, late: false, items })
  const first = run("t1", [notice(0, { undo: "a" }), notice(1, { undo: "b" })])
  const rowsOf = (runs) => segments({ ...nothingYet, runs }, [], "").flatMap(({ rows }) => rows)
  const undone = (runs) => rowsOf(runs).flatMap((row) => (row.kind === "notice" ? row.isUndone : []))
  assert.deepEqual(undone([first]), [false, false])
  assert.deepEqual(undone([first, run("t2", [notice(2, { undone: "a" })])]), [true, false, false])
})

test("figures are as people read them", () => {
  assert.deepEqual([0, 94, 95, 400, 9_400, 12_000, 72_000, 120_000, 7_500_000, NaN, -1].map(duration), [
    "0 ms",
    "94 ms",
    "0.1 s",
    "0.4 s",
    "9.4 s",
    "12 s",
    "1 min 12 s",
    "2 min",
    "2 h 5 min",
    "",
    "",
  ])
  assert.deepEqual([0, 42_000, 3_725_000].map(clock), ["0:00", "0:42", "1:02:05"])
  assert.deepEqual([999, 18_400, 120_000, 999_960, 2_500_000].map(compact), ["999", "18.4k", "120k", "1M", "2.5M"])
  assert.equal(
    turnFigures(
      {
        turnId: "t",
        seq: 1,
        origin: "user",
        startedAt: at,
        endedAt: "2026-06-15T12:01:12.000Z",
        usage: { inputTokens: 18_000, outputTokens: 400, costUsd: 0.09 },
      },
      60_000,
    ),
    "12 s · 18.4k tokens · $0.09",
  )
  assert.equal(firstLine("\n\n## **Plan** the `work`\nthen"), "Plan the work")
})

test("the header shows the agent's state, and trouble comes with the command to type", () => {
  const shell = (more) => ({
    type: "shell:state",
    session: null,
    project: null,
    agent: { cliType: "x", name: "X", status: "idle", ready: "ready", builtin: true, offered: true },
    agentState: null,
    connection: "open",
    theme: "dark",
    visible: true,
    ...more,
  })
  const state = (status, more = {}) => ({ type: "agent:status", cliType: "x", status, ...more })
  const word = (more) => statusOf(shell(more), Date.parse(at)).word
  assert.deepEqual(
    [
      word({}),
      word({ connection: "lost" }),
      word({ agentState: state("starting") }),
      word({ agentState: state("reconnecting", { attempt: 2, retryAt: "2026-06-15T12:00:04.000Z" }) }),
    ],
    ["ready", "offline", "starting", "reconnecting · try 2 · in 4 s"],
  )
  assert.equal(troubleOf(shell({}), null, "X"), null)
  const missing = troubleOf(
    shell({
      agent: {
        cliType: "x",
        name: "X",
        status: "disconnected",
        ready: "missing",
        install: "npm i x",
        builtin: true,
        offered: true,
      },
      agentState: state("disconnected"),
    }),
    null,
    "X",
  )
  assert.deepEqual([missing.title, missing.details.command, missing.label], ["X is not installed", "npm i x", "Retry"])
  const login = troubleOf(
    shell({
      agentState: state("disconnected", { details: { command: "x login", authMethods: [{ id: "a", name: "A" }] } }),
    }),
    null,
    "X",
  )
  assert.deepEqual([login.title, login.details.command], ["X needs you to log in", "x login"])
  const gone = troubleOf(shell({ agentState: state("disconnected", { details: { stderrTail: "boom" } }) }), null, "X")
  assert.deepEqual([gone.label, gone.details.stderrTail], ["Reconnect", "boom"])
  // A crash is said once: by the turn that it ended, unless there is more to say.
  const crashed = (details) =>
    troubleOf(shell({ agentState: state("disconnected", { details }) }), null, "X", "PROCESS_CRASH")
  assert.deepEqual([crashed(undefined), crashed({ stderrTail: "boom" })?.label], [null, "Reconnect"])
})

test("a stopped call took until its turn ended", () => {
  const endedAt = "2026-06-15T12:00:09.000Z"
  const stopped = { ...ended, turn: { ...ended.turn, outcome: "cancelled", endedAt } }
  const items = [call(0), call(1, { status: "update" })]
  const [work] = rows(items, { known: stopped })
  assert.deepEqual(
    work.entries.map((entry) => entry.endedAt),
    [at, endedAt],
  )
})
