/** One session in its portlet: frames from the shell in, requests of the user out, state and views in between. */

import { agentName, agentOf } from "../shared/agents.js"
import { connectShell, sessionOfAddress } from "../shared/bridge.js"
import { need } from "../shared/dom.js"
import { createApi } from "../shared/door.js"
import { copied } from "../shared/failure.js"
import { createFrames } from "../shared/frames.js"
import { uuid } from "../shared/ids.js"
import { linkTo } from "../shared/link.js"
import { followReading } from "../shared/reading.js"
import { sealed } from "../shared/storage.js"
import { resolveTheme, showTheme, themeChoice } from "../shared/theme.js"
import { createAnnouncer } from "./announcer.js"
import { createAsked } from "./asked.js"
import { refsOf } from "./attachments.js"
import { createChangesReading } from "./changes-reading.js"
import { mountChanges } from "./changes.js"
import { openPathsOnClick } from "./changed-paths.js"
import { copyOnClick } from "./code-block.js"
import { mountComposer } from "./composer.js"
import { mountControls } from "./controls.js"
import { mountConversation } from "./conversation.js"
import { mountCommands } from "./demo.js"
import { draftOf, keepDraft, keepingOf } from "./drafts.js"
import { createFigures } from "./figures.js"
import { mountFindBar } from "./find-bar.js"
import { mountGoingBack } from "./going-back.js"
import { mountHeader } from "./header.js"
import { mountInfo } from "./info.js"
import { mountMeter } from "./meter.js"
import { whetherItAsks } from "./options.js"
import { createOpening } from "./opening.js"
import { createOwnJumps } from "./own-jumps.js"
import { createPictures } from "./pictures.js"
import { mountQueue } from "./queue.js"
import { createRequests } from "./requests.js"
import { workingSince } from "./rows.js"
import { isSending, isWaiting, stillUnderWay, withoutSend, withRefusal, withSend } from "./sends.js"
import { mountSessionCommands } from "./session-commands.js"
import { isLate, mountStanding } from "./standing.js"
import { setupToShow } from "./workspace-cards.js"
import { launchWords, statusOf, troubleOf } from "./status.js"
import {
  applyFrame,
  itemById,
  lastFailure,
  lastOwnMessage,
  lastModel,
  lastUsage,
  nothingYet,
  openPermissions,
  ownMessages,
  planOf,
  runningTurn,
} from "./transcript.js"
import { exactTime, timeOfDay } from "./words.js"

/** @import { AttachmentRef, Comment, ErrorBody, Frame } from "../contract.js" */
/** @import { ShellState, ToPortlet } from "../shared/bridge.js" */
/** @import { Entry } from "../shared/door.js" */
/** @import { Send } from "./sends.js" */

const sessionId = sessionOfAddress(location.hash)
const ending = new AbortController()
const { signal } = ending

let transcript = nothingYet
/** @type {Send[]} */
let sends = []
/** One value, so that nothing is drawn again. @type {readonly Comment[]} */
const noComments = []
/** @type {ShellState | null} */
let shell = null
/** Why the session could not be opened, and why the last request failed.
 * @type {{ open: ErrorBody | null, last: ErrorBody | null }} */
let failures = { open: null, last: null }
/** The turn the user asked to stop. */
let stopping = ""
/** Resolved when the shell sends a ticket. @type {((entry: Entry) => void)[]} */
let entering = []

const bridge = connectShell(sessionId, receive, signal)
const frames = createFrames(signal)
const { ask, quietly, answered, failed } = createRequests(bridge.post, sessionId)
const api = createApi(
  () =>
    new Promise((resolve) => {
      entering.push(resolve)
      bridge.post({ type: "portlet:enter" })
    }),
)
const pictures = createPictures(api, signal)
const agent = () => shell?.agent?.name ?? agentName(agentOf(sessionId))
const isBusy = () => isSending(sends) || runningTurn(transcript) !== null

/** @param {string} content @param {AttachmentRef[]} [attachments] */
function send(content, attachments = []) {
  const requestId = uuid()
  const waits = runningTurn(transcript) !== null
  sends = withSend(sends, { requestId, content, attachments }, new Date().toISOString(), waits)
  failures = { ...failures, last: null }
  bridge.post({ type: "session:send", sessionId, content, attachments, requestId })
  // The shell is on the same thread: it sends the message before this draws it.
  showSoon()
  if (!waits) frames.beforePaint(conversation.toEnd)
}

function stop() {
  const turn = runningTurn(transcript)
  if (!turn || stopping === turn.turnId) return
  stopping = turn.turnId
  ask({ type: "session:cancel" }, () => {
    stopping = ""
  })
  show()
}

/** @param {string | null} at */
const continueAt = (at) => ask({ type: "session:continue-at", ...(at === null ? {} : { at }) })

function reconnect() {
  const cliType = shell?.session?.cliType
  if (cliType !== undefined) ask({ type: "session:reconnect", cliType })
}

const header = mountHeader(need(document, "#header", HTMLElement))
const info = mountInfo(header.info, { request: ask })
const changes = mountChanges(need(document, "#changes", HTMLElement), need(document, "#header", HTMLElement), {
  sessionId,
  storage: localStorage,
  request: (message) => quietly(message, (error) => changes.failed(error)),
  acts: {
    ask,
    worktree: () => shell?.session?.worktree,
    askAgent: (content) => asked.ask(content),
    tellAgent: (content) => send(content),
  },
  toggled: (open) => document.body.toggleAttribute("data-panel", open),
  focusComposer: () => composer.focus(),
})
const asked = createAsked(send)
const changesReading = createChangesReading({ ...changes, isSeen: () => shell?.visible !== false })
const keep = keepingOf((draft) => {
  if (shell) keepDraft(sealed(localStorage, shell.storageKey), sessionId, ...goingBack.toKeep(draft))
}, window)
const composer = mountComposer(need(document, "#composer", HTMLElement), {
  keepDraft(draft) {
    keep(draft)
    if (draft.text !== "" || draft.attachments.length > 0) bridge.post({ type: "portlet:kept" })
  },
  send: (content, attachments) => (goingBack.isEditing() ? goingBack.submit : send)(content, attachments),
  stop,
  ...pictures,
  findFiles: (query) => quietly({ type: "files:find", query, limit: 50 }),
  toQuestion: () => /** @type {HTMLElement | null} */ (document.querySelector(".ask:not([aria-busy])"))?.focus(),
  scroll: (pages) => conversation.page(pages),
})
const opening = createOpening(composer, signal)
const goingBack = mountGoingBack(need(document, "#composer", HTMLElement), {
  ...composer,
  open: (target) => bridge.post({ type: "portlet:open", target }),
  chooseFiles: changes.chooseFiles,
  branch: (message, onDone, onFailure) => ask({ type: "session:branch", ...message }, onFailure, onDone),
})
/** After something was chosen. On a touch screen it would open the keyboard. */
const focusToWrite = () => {
  if (matchMedia("(hover: hover)").matches) composer.focus()
}
const controls = mountControls(composer.controls, { request: ask, chosen: focusToWrite })
const meter = mountMeter(composer.meter, {
  compact() {
    if (!isBusy()) send("/compact")
  },
})
const queue = mountQueue(composer.queue, {
  ...pictures,
  // Words that come too late for their row go into the composer.
  act: (message, act) =>
    ask({ type: "session:queue", message, ...act }, () => act.act === "edit" && composer.restore(act.content)),
  resume: () => ask({ type: "session:queue-resume" }),
  restore: composer.restore,
  leave: composer.focus,
})
const conversation = mountConversation(need(document, "#conversation", HTMLElement), {
  open: new Map(),
  agentName: agent,
  remedy(errorCode) {
    if (errorCode !== "AUTH_REQUIRED") return null
    const command = shell?.agent?.login
    return {
      hint: `Log in to ${agent()} in a terminal, then try again.`,
      ...(command === undefined ? {} : { command }),
    }
  },
  answer: (itemId, answer, onFailure) => ask({ type: "session:permission", itemId, ...answer }, onFailure),
  continueAt,
  undo: changes.undoAct,
  act(action) {
    if (action === "cancel") stop()
    else if (action === "restart") reconnect()
    else {
      const last = lastOwnMessage(transcript)
      if (last !== undefined && !isBusy()) send(last.content, refsOf(last.attachments ?? []))
    }
  },
  resend: send,
  takeBack(requestId) {
    const found = sends.find((each) => each.requestId === requestId)
    sends = withoutSend(sends, requestId)
    show()
    if (found) composer.restore(found.content, found.attachments)
  },
  forget: (requestId) => {
    sends = withoutSend(sends, requestId)
  },
  canSend: () => !isBusy(),
  isVisible: () => shell?.visible === true,
  // Only the bytes that belong to this card: a long output may continue in the next one.
  wholeOutput: async (itemId, bytes) =>
    (
      await api(`/api/session/${encodeURIComponent(sessionId)}/item/${encodeURIComponent(itemId)}/output`, {
        headers: { range: `bytes=0-${bytes - 1}` },
      })
    ).text(),
  ...pictures,
  copyLink: (itemId) => copied(linkTo(location.origin, sessionId, itemId)),
  edit: goingBack.edit,
  branch: goingBack.branch,
  focusComposer: focusToWrite,
  composerIsIdle: composer.isIdle,
  loadOlder: (before) => quietly({ type: "session:older", before }, () => conversation.olderFailed()),
  loadNewer: (after) => quietly({ type: "session:newer", after }, () => conversation.olderFailed()),
  reopen: () => bridge.post({ type: "portlet:retry-open" }),
})
const findBar = mountFindBar(need(document, "#conversation", HTMLElement), {
  ...conversation,
  focusComposer: composer.focus,
})
const ownJumps = createOwnJumps({ ...conversation, transcript: () => transcript })
const sessionCommands = mountSessionCommands(
  {
    byKey: {
      find: findBar.open,
      "own-above": () => ownJumps.jump(-1),
      "own-below": () => ownJumps.jump(1),
      changes: changes.toggle,
      "focus-composer": composer.focus,
      stop,
    },
    toShell: (name) => bridge.post({ type: "portlet:shortcut", name }),
    isFinding: findBar.hasFocus,
    offer: (commands) => bridge.post({ type: "portlet:commands", commands }),
  },
  signal,
)
const standing = mountStanding(conversation.below, {
  reconnect,
  renew: () => ask({ type: "workspace:renew" }),
  bringBack: changes.bringBack,
  setup: (act) => ask({ type: "workspace:setup", act }),
  continueNow(content) {
    if (!isBusy()) send(content)
  },
  dontContinue: () => continueAt(null),
  copy: goingBack.copy,
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
const commands =
  agentOf(sessionId) === "demo"
    ? mountCommands(need(document, "#conversation", HTMLElement), (text) => send(text), signal)
    : null
const announcer = createAnnouncer(need(document, "#announcer", HTMLElement))
const figures = createFigures((now) => bridge.post({ type: "portlet:figures", figures: now }))

/** @param {ToPortlet} message */
function receive(message) {
  switch (message.type) {
    case "session:history":
    case "session:older":
    case "session:newer":
    case "session:upsert":
    case "session:tail":
    case "session:turn":
    case "session:policy":
    case "session:facts": {
      answered(message.requestId)
      const next = applyFrame(transcript, message)
      if (!next) return bridge.post({ type: "portlet:retry-open" })
      transcript = next
      sends = stillUnderWay(sends, transcript)
      if (message.type === "session:history") failures = { ...failures, open: null }
      changesReading.follow(message)
      return showSoon()
    }
    case "changes:changed":
      return changesReading.follow(message)
    case "changes:list":
    case "changes:file":
    case "changes:preview":
    case "changes:done":
      answered(message.requestId)
      return changes.receive(message)
    case "shell:state":
      if (!shell) continueDraft(message.storageKey)
      shell = message
      showTheme(document, message.theme)
      return showSoon()
    // A tab looks the same when it is shown again, so there is nothing to draw. Files may differ.
    case "shell:visible":
      shell = shell && { ...shell, visible: message.visible }
      if (message.visible && changes.isOpen()) changes.refresh()
      return
    case "agent:status":
      if (shell) shell = { ...shell, agentState: message }
      return showSoon()
    case "shell:pending":
      for (const each of message.sends) sends = withSend(sends, each, new Date().toISOString())
      sends = stillUnderWay(sends, transcript)
      return showSoon()
    case "shell:focus":
      return opening.begin(message.on, transcript.known)
    case "shell:reveal":
      return reveal(message.itemId)
    case "shell:command":
      return sessionCommands.run(message.name)
    case "shell:entry":
      for (const resolve of entering) resolve(message.entry)
      entering = []
      return
    case "error":
      return fail(message)
    case "ok":
      return answered(message.requestId)
    case "files:found":
      answered(message.requestId)
      return composer.found(message)
    case "session:task-output":
      answered(message.requestId)
      return info.output(message)
    // The message itself, or the queue with it, follows; until then it is shown as it is.
    case "session:accepted":
    case "session:queued":
      return
  }
}

/** @param {string} storageKey */
function continueDraft(storageKey) {
  const draft = draftOf(sealed(localStorage, storageKey), sessionId)
  composer.continue(draft)
  goingBack.resume(draft.edit)
}

/** Shows each failure next to what failed. @param {Extract<Frame, {type: "error"}>} error */
function fail(error) {
  const { requestId = "" } = error
  const request = failed(requestId)
  if (request?.undo(error) === true) return
  if (sends.some((each) => each.requestId === requestId)) sends = withRefusal(sends, requestId, error)
  else if (request?.what === "quiet") return
  else if (request === undefined && !transcript.known) failures = { ...failures, open: error }
  else failures = { ...failures, last: error }
  // The user can try to stop again.
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
/** Updates the page at most once per animation frame, however many messages arrive. */
function showSoon() {
  if (isDue) return
  isDue = true
  frames.beforePaint(() => {
    isDue = false
    show()
  })
}

function show() {
  const running = runningTurn(transcript)
  if (running?.turnId !== stopping) stopping = ""
  const waits = openPermissions(transcript).length > 0
  const waiting = sends.filter(isWaiting)
  conversation.update(
    transcript,
    sends.filter((send) => !isWaiting(send)),
  )
  const sendsBy = running === null ? "idle" : waits ? "refuse" : transcript.facts.steers
  queue.update(transcript.facts.queue, waiting, sendsBy)
  commands?.update()
  if (transcript.known) opening.known()
  showStatus()
  standing.update({
    launching: launchWords(shell, agent()),
    trouble: troubleOf(shell, failures.open, agent(), lastFailure(transcript) === "AUTH_REQUIRED"),
    failure: failures.last,
    planned: transcript.facts.continueAt ?? null,
    elsewhere: transcript.facts.elsewhere,
    late: isLate(transcript.facts.continueAt ?? null, Date.now()),
    transcript: !transcript.known ? "loading" : transcript.runs.length === 0 && sends.length === 0 ? "empty" : "some",
    agent: agent(),
    project: shell?.project?.name ?? "",
    asks: whetherItAsks(transcript.facts, transcript.policy),
    workspace: transcript.facts.workspace ?? null,
    setup: setupToShow(transcript.facts.setup ?? null, running !== null || transcript.runs.length === 0),
  })
  changes.update({
    comments: transcript.facts.comments ?? noComments,
    workspace: transcript.facts.workspace ?? null,
    counts: shell?.session?.counts ?? null,
  })
  controls.update({ facts: transcript.facts, policy: transcript.known ? transcript.policy : null })
  composer.update({
    agent: agent(),
    work: stopping !== "" ? "stopping" : running ? "working" : isSending(sends) ? "sending" : "idle",
    since: running ? workingSince(transcript, running) : null,
    waits,
    plan: running ? planOf(transcript, running.turnId) : [],
    elsewhere: transcript.facts.elsewhere,
    queued: transcript.facts.queue.messages.length + waiting.length,
    connected: shell?.connection === "open",
    takesPictures: transcript.facts.takesPictures !== false,
    commands: transcript.facts.commands,
    own: ownMessages(transcript),
  })
  const canCompact = running === null && transcript.facts.commands.some(({ name }) => name === "compact")
  meter.update({ usage: transcript.facts.usage, turn: lastUsage(transcript), canCompact })
  announcer.update(transcript, agent())
  figures.update(transcript)
  asked.update(transcript, isBusy())
  findBar.update(transcript)
  ownJumps.update()
  const last = transcript.runs.at(-1)?.items.at(-1)?.itemId ?? null
  const session = shell?.session ?? null
  const place = transcript.facts.workspace?.state
  const hasGit = place === "ok" || place === "busy"
  const own = transcript.facts.elsewhere ? undefined : lastOwnMessage(transcript)
  goingBack.update({ session, agent: agent(), last, own, works: running !== null, hasGit })
  sessionCommands.update([
    ...goingBack.commands(),
    ...(running && !transcript.facts.elsewhere ? [{ label: "Stop", run: stop }] : []),
    ...(canCompact ? [{ label: "Compact", run: () => send("/compact") }] : []),
    ...controls.commands(),
  ])
}

function showStatus() {
  const path = shell?.session?.worktree?.path ?? shell?.project?.path ?? ""
  info.update({ agent: agent(), facts: transcript.facts, model: lastModel(transcript), path })
  header.update({
    status: statusOf(shell, Date.now()),
    // The control below shows it already.
    model: transcript.facts.options.some(({ category }) => category === "model") ? "" : lastModel(transcript),
    project: shell?.project?.name ?? "",
    path,
    branch: shell?.session?.worktree?.branch ?? "",
    workspace: transcript.facts.workspace ?? null,
  })
}

showTheme(document, resolveTheme(themeChoice(localStorage), matchMedia("(prefers-color-scheme: light)").matches))
followReading(document, localStorage)
copyOnClick(need(document, "#conversation", HTMLElement), signal)
openPathsOnClick(need(document, "#conversation", HTMLElement), changes, signal)
window.addEventListener("focus", () => bridge.post({ type: "portlet:focus" }), { signal })
document.addEventListener("pointerdown", () => bridge.post({ type: "portlet:focus" }), { signal })
// Updates the clock of the running turn and the countdown to a reconnect. Nothing else on the page depends on time.
const clock = setInterval(() => {
  composer.tick()
  info.tick()
  if (shell?.agentState?.status === "reconnecting") showStatus()
}, 1000)
signal.addEventListener("abort", () => clearInterval(clock))
window.addEventListener("pagehide", () => ending.abort(), { signal })

show()
bridge.post({ type: "portlet:ready" })
// A browser's first time formatting takes tens of milliseconds: do it while the history is on its way.
setTimeout(() => [timeOfDay, exactTime].forEach((format) => format(new Date().toISOString())))
