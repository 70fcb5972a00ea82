import assert from "node:assert/strict"
import { test } from "node:test"
import { createSending } from "../../client/portlet/sending.js"
import { remedyOf } from "../../client/portlet/status.js"
import { nothingYet } from "../../client/portlet/transcript.js"
import { canCompact, composerOf, goingBackOf, headerOf, sendsBy, standingOf } from "../../client/portlet/views.js"

const at = "2026-06-15T12:00:00.000Z"
const message = { turnId: "t1", itemId: "i0", index: 0, type: "message", origin: "user", content: "Hi", startedAt: at }
const runs = [{ turnId: "t1", late: false, items: [{ ...message, requestId: "r0", status: "complete" }] }]
const turns = (more) => new Map([["t1", { turn: { turnId: "t1", seq: 1, origin: "user", startedAt: at, ...more } }]])
const running = { ...nothingYet, known: true, runs, turns: turns({}) }
const ended = { ...running, turns: turns({ endedAt: at, outcome: "completed", modelId: "large" }) }
const withFacts = (transcript, facts) => ({ ...transcript, facts: { ...transcript.facts, ...facts } })
const state = (more) => ({
  transcript: ended,
  sends: [],
  isStopping: false,
  shell: null,
  failures: { open: null, last: null },
  agent: "X",
  ...more,
})
const send = (waits) => ({ requestId: "r", content: "", attachments: [], at, error: null, waits })

test("the composer knows what the agent does", () => {
  const work = (more) => composerOf(state(more)).work
  assert.deepEqual(
    [{}, { sends: [send(false)] }, { transcript: running }, { transcript: running, isStopping: true }].map(work),
    ["idle", "sending", "working", "stopping"],
  )
  const { since, queued } = composerOf(state({ transcript: running, sends: [send(true)] }))
  assert.deepEqual([since, queued], [at, 1])
})

test("a message of the queue waits for nobody, for the agent's next step, or refuses what the agent asks for", () => {
  const steered = withFacts(running, { steers: "after-step" })
  assert.deepEqual(
    [sendsBy(ended, false), sendsBy(steered, false), sendsBy(steered, true)],
    ["idle", "after-step", "refuse"],
  )
})

test("only an idle agent that has the command can compact", () => {
  const commands = [{ name: "compact", description: "" }]
  assert.deepEqual([ended, withFacts(ended, { commands }), withFacts(running, { commands })].map(canCompact), [
    false,
    true,
    false,
  ])
})

test("a conversation is empty only once it is known and nothing is being sent", () => {
  const stands = (transcript, sends) => standingOf(state({ transcript, sends }), 0).transcript
  const empty = { ...nothingYet, known: true }
  assert.deepEqual(
    [stands(nothingYet, []), stands(empty, []), stands(empty, [send(false)]), stands(ended, [])],
    ["loading", "empty", "some", "some"],
  )
})

test("the header names the model unless a control does", () => {
  const model = (facts) => headerOf(state({ transcript: withFacts(ended, facts) }), 0).model
  assert.equal(model({}), "large")
  assert.equal(model({ options: [{ id: "m", category: "model" }] }), "")
})

test("a session in use elsewhere offers no message to edit", () => {
  const own = (facts) => goingBackOf(state({ transcript: withFacts(ended, facts) })).own?.content
  assert.deepEqual([own({}), own({ elsewhere: true })], ["Hi", undefined])
})

test("a failed login has a remedy, with the command if there is one", () => {
  const hint = "Log in to X in a terminal, then try again."
  assert.equal(remedyOf(null, "PROCESS_CRASH", "X"), null)
  assert.deepEqual(remedyOf(null, "AUTH_REQUIRED", "X"), { hint })
  assert.deepEqual(remedyOf({ agent: { login: "x login" } }, "AUTH_REQUIRED", "X"), { hint, command: "x login" })
})

/** What the user tells the agent, with what left the page. */
function sendingIn(transcript) {
  const page = { transcript, left: [], waits: [], restored: [], fail: () => {} }
  const sending = createSending({
    sessionId: "s",
    transcript: () => page.transcript,
    post: (posted) => page.left.push(posted),
    unsent: () => null,
    ask: (asked, onFailure) => {
      page.left.push(asked)
      page.fail = onFailure
    },
    sent: (waits) => page.waits.push(waits),
    show: () => {},
    restore: (content) => page.restored.push(content),
  })
  return { page, sending }
}

test("a message is under way until the transcript has it, and waits while a turn runs", () => {
  const { page, sending } = sendingIn(nothingYet)
  sending.send("Hi")
  sending.sendIfIdle("not now")
  const [{ requestId }, ...others] = page.left
  assert.deepEqual([others, page.waits, sending.isBusy()], [[], [false], true])
  const arrived = { ...runs[0], items: [{ ...runs[0].items[0], requestId }] }
  page.transcript = { ...running, runs: [arrived] }
  sending.settle()
  assert.deepEqual([sending.state().sends, sending.isBusy()], [[], true])
  sending.send("next")
  assert.deepEqual(page.waits, [false, true])
})

test("a refused message can be taken back", () => {
  const { page, sending } = sendingIn(nothingYet)
  sending.send("Hi")
  const [{ requestId }] = page.left
  assert.equal(sending.refused({ requestId: "another", code: "INTERNAL_ERROR" }), false)
  assert.equal(sending.refused({ requestId, code: "SESSION_BUSY" }), true)
  assert.equal(sending.isBusy(), false)
  sending.takeBack(requestId)
  assert.deepEqual([sending.state().sends, page.restored], [[], ["Hi"]])
})

test("a turn is stopped once, and again only if that failed", () => {
  const { page, sending } = sendingIn(running)
  const stops = () => {
    sending.stop()
    return page.left.length
  }
  assert.deepEqual([stops(), stops(), sending.state().isStopping], [1, 1, true])
  page.fail()
  assert.equal(stops(), 2)
  sending.refused({ code: "INTERRUPT_FAILED" })
  assert.equal(stops(), 3)
  page.transcript = ended
  sending.settle()
  assert.deepEqual([stops(), sending.state().isStopping], [3, false])
})
