/** One session in its portlet: frames of the shell in, state, views, requests of the user out. */

import { agentName, agentOf } from "../shared/agents.js"
import { connectShell, sessionOfAddress } from "../shared/bridge.js"
import { need } from "../shared/dom.js"
import { api } from "../shared/door.js"
import { uuid } from "../shared/ids.js"
import { shortcutOf } from "../shared/keys.js"
import { resolveTheme, showTheme, themeChoice } from "../shared/theme.js"
import { createAnnouncer } from "./announcer.js"
import { copyOnClick } from "./code-block.js"
import { mountComposer } from "./composer.js"
import { mountConversation } from "./conversation.js"
import { draftOf, keepDraft } from "./drafts.js"
import { mountHeader } from "./header.js"
import { createPictures } from "./pictures.js"
import { isSending, stillUnderWay, withoutSend, withRefusal, withSend } from "./sends.js"
import { mountStanding } from "./standing.js"
import { isLaunching, statusOf, troubleOf } from "./status.js"
import { applyFrame, itemById, lastFailure, lastModel, nothingYet, openAsks, ownMessages, runningTurn } from "./transcript.js"
import { exactTime, timeOfDay } from "./words.js"

/** @import { ErrorBody, Frame } from "../contract.js" */
/** @import { ShellState, ToPortlet } from "../shared/bridge.js" */
/** @import { Send } from "./sends.js" */

const sessionId = sessionOfAddress(location.hash)
const ending = new AbortController()
const { signal } = ending

let transcript = nothingYet
/** @type {Send[]} */
let sends = []
/** @type {ShellState | null} */
let shell = null
/** Why the session could not be opened, and why the last thing asked for did not work. @type {{ open: ErrorBody | null, last: ErrorBody | null }} */
let failures = { open: null, last: null }
/** The turn the user asked to stop. */
let stopping = ""
/** What is asked of the server, and what a refusal of it undoes. @type {Map<string, { what: "older" | "other", undo(): void }>} */
const asked = new Map()

const bridge = connectShell(receive, signal)
const pictures = createPictures((url) => api(url), signal)
const agent = () => shell?.agent?.name ?? agentName(agentOf(sessionId))
const isBusy = () => isSending(sends) || runningTurn(transcript) !== null

/** @param {"older" | "other"} what @param {() => void} [undo] so that what was asked for may be asked for again */
function ask(what, undo = () => {}) {
  const requestId = uuid()
  asked.set(requestId, { what, undo })
  return requestId
}

/** @param {string} content */
function send(content) {
  const requestId = uuid()
  sends = withSend(sends, { requestId, content }, new Date().toISOString())
  failures = { ...failures, last: null }
  bridge.post({ type: "session:send", content, requestId })
  show()
  conversation.toEnd()
}

function stop() {
  const turn = runningTurn(transcript)
  if (!turn || stopping === turn.turnId) return
  stopping = turn.turnId
  bridge.post({ type: "session:cancel", requestId: ask("other", () => { stopping = "" }) })
  show()
}

const reconnect = () => bridge.post({ type: "session:reconnect", requestId: ask("other") })

const header = mountHeader(need(document, "#header", HTMLElement), {
  setPolicy: (policy) => bridge.post({ type: "session:policy", policy, requestId: ask("other") }),
})
const composer = mountComposer(need(document, "#composer", HTMLElement), {
  draft: draftOf(localStorage, sessionId),
  keepDraft: (text) => keepDraft(localStorage, sessionId, text),
  send,
  stop,
  toQuestion: () => /** @type {HTMLElement | null} */ (document.querySelector(".ask:not([aria-busy])"))?.focus(),
  scroll: (pages) => conversation.page(pages),
})
const conversation = mountConversation(need(document, "#conversation", HTMLElement), {
  open: new Map(),
  agentName: agent,
  remedy(errorCode) {
    if (errorCode !== "AUTH_REQUIRED") return null
    const command = shell?.agent?.login
    return { hint: `Log in to ${agent()} in a terminal, then try again.`, ...(command === undefined ? {} : { command }) }
  },
  answer(itemId, optionId, answers, onFailure) {
    bridge.post({ type: "session:permission", itemId, ...(optionId === undefined ? {} : { optionId }), ...(answers === undefined ? {} : { answers }), requestId: ask("other", onFailure) })
  },
  act(action) {
    if (action === "cancel") stop()
    else if (action === "restart") reconnect()
    else {
      const last = ownMessages(transcript)[0]
      if (last !== undefined && !isBusy()) send(last)
    }
  },
  resend: send,
  takeBack(requestId) {
    const found = sends.find((each) => each.requestId === requestId)
    sends = withoutSend(sends, requestId)
    show()
    if (found) composer.restore(found.content)
  },
  forget: (requestId) => { sends = withoutSend(sends, requestId) },
  canSend: () => !isBusy(),
  isVisible: () => shell?.visible === true,
  // Only as much as this card stands for: an output of any length may go on in the next.
  wholeOutput: async (itemId, bytes) => (await api(`/api/session/${encodeURIComponent(sessionId)}/item/${encodeURIComponent(itemId)}/output`, { headers: { range: `bytes=0-${bytes - 1}` } })).text(),
  picture: pictures.address,
  focusComposer: composer.focus,
  composerIsIdle: composer.isIdle,
  loadOlder: (before) => bridge.post({ type: "session:older", before, requestId: ask("older", () => conversation.olderFailed()) }),
  loadNewer: (after) => bridge.post({ type: "session:newer", after, requestId: ask("older", () => conversation.olderFailed()) }),
  reopen: () => bridge.post({ type: "portlet:retry-open" }),
})
const standing = mountStanding(conversation.below, {
  reconnect,
  reopen() {
    failures = { ...failures, open: null }
    bridge.post({ type: "portlet:retry-open" })
    show()
  },
  dismiss() {
    failures = { ...failures, last: null }
    show()
  },
})
const announcer = createAnnouncer(need(document, "#announcer", HTMLElement))

/** @param {ToPortlet} message */
function receive(message) {
  // What is said of another session is not for this one.
  if ("sessionId" in message && message.sessionId !== undefined && message.sessionId !== sessionId) return
  switch (message.type) {
    case "session:history": case "session:older": case "session:newer": case "session:upsert": case "session:turn": case "session:policy":
      if (message.requestId !== undefined) asked.delete(message.requestId)
      transcript = applyFrame(transcript, message, new Date().toISOString())
      sends = stillUnderWay(sends, transcript)
      if (message.type === "session:history") failures = { ...failures, open: null }
      return showSoon()
    case "shell:state":
      shell = message
      showTheme(document, message.theme)
      return showSoon()
    case "agent:status":
      if (shell) shell = { ...shell, agentState: message }
      return showSoon()
    case "shell:pending":
      for (const each of message.sends) sends = withSend(sends, each, new Date().toISOString())
      sends = stillUnderWay(sends, transcript)
      return showSoon()
    // A question that has the focus keeps it.
    case "shell:focus": return document.querySelector(".ask:focus-within") ? undefined : composer.focus()
    case "shell:reveal": return reveal(message.itemId)
    case "error": return fail(message)
    case "ok":
      if (message.requestId !== undefined) asked.delete(message.requestId)
      return
    case "session:accepted": return
  }
}

/** Each failure is shown where it belongs. @param {Extract<Frame, {type: "error"}>} error */
function fail(error) {
  const { requestId = "" } = error
  const request = asked.get(requestId)
  asked.delete(requestId)
  request?.undo()
  if (sends.some((each) => each.requestId === requestId)) sends = withRefusal(sends, requestId, error)
  else if (request?.what === "older") return
  else if (request === undefined && !transcript.known) failures = { ...failures, open: error }
  else failures = { ...failures, last: error }
  // A stop that failed may be asked for again.
  if (error.code === "INTERRUPT_FAILED") stopping = ""
  showSoon()
}

/** @param {string} itemId */
function reveal(itemId) {
  const item = itemById(transcript, itemId)
  if (!item) return bridge.post({ type: "portlet:lacks", itemId })
  show()
  conversation.reveal(itemId, item.index)
}

let isDue = false
/** However many frames come, the page changes once a frame of the screen. */
function showSoon() {
  if (isDue) return
  isDue = true
  requestAnimationFrame(() => {
    isDue = false
    show()
  })
}

function show() {
  const running = runningTurn(transcript)
  if (running?.turnId !== stopping) stopping = ""
  const waits = openAsks(transcript).length > 0
  conversation.update(transcript, sends)
  showStatus()
  standing.update({
    launching: isLaunching(shell),
    trouble: troubleOf(shell, failures.open, agent(), lastFailure(transcript) === "AUTH_REQUIRED"),
    failure: failures.last,
    transcript: !transcript.known ? "loading" : transcript.runs.length === 0 && sends.length === 0 ? "empty" : "some",
    agent: agent(),
    project: shell?.project?.name ?? "",
    policy: transcript.policy,
  })
  composer.update({
    agent: agent(),
    work: stopping !== "" ? "stopping" : running ? "working" : isSending(sends) ? "sending" : "idle",
    since: running?.startedAt ?? null,
    waits,
    connected: shell?.connection === "open",
    own: ownMessages(transcript),
  })
  announcer.update(transcript, agent())
}

function showStatus() {
  header.update({
    agent: agent(),
    status: statusOf(shell, Date.now()),
    model: lastModel(transcript),
    project: shell?.project?.name ?? "",
    path: shell?.project?.path ?? "",
    policy: transcript.known ? transcript.policy : null,
  })
}

showTheme(document, resolveTheme(themeChoice(localStorage), matchMedia("(prefers-color-scheme: light)").matches))
copyOnClick(need(document, "#conversation", HTMLElement), signal)
document.addEventListener("keydown", (event) => {
  const name = shortcutOf(event)
  if (name === null) return
  event.preventDefault()
  if (name === "focus-composer") composer.focus()
  else bridge.post({ type: "portlet:shortcut", name })
}, { signal })
window.addEventListener("focus", () => bridge.post({ type: "portlet:focus" }), { signal })
document.addEventListener("pointerdown", () => bridge.post({ type: "portlet:focus" }), { signal })
// The clock of what is under way; nothing else on the page is moved by time.
const clock = setInterval(() => {
  composer.tick()
  if (shell?.agentState?.status === "reconnecting") showStatus()
}, 1000)
signal.addEventListener("abort", () => clearInterval(clock))
window.addEventListener("pagehide", () => ending.abort(), { signal })

show()
bridge.post({ type: "portlet:ready" })
// The first time a browser writes a time takes it tens of milliseconds: they are spent while the history is on its way.
setTimeout(() => [timeOfDay, exactTime].forEach((format) => format(new Date().toISOString())))
