/** One session in its portlet: frames from the shell in, requests of the user out, state and views in between. */

import { agentName, agentOf } from "../shared/agents.js"
import { connectShell, sessionOfAddress } from "../shared/bridge.js"
import { need } from "../shared/dom.js"
import { createApi } from "../shared/door.js"
import { copied } from "../shared/failure.js"
import { createFrames } from "../shared/frames.js"
import { tameHeldKeys } from "../shared/held.js"
import { linkTo } from "../shared/link.js"
import { followReading } from "../shared/reading.js"
import { sealed } from "../shared/storage.js"
import { resolveTheme, showTheme, themeChoice } from "../shared/theme.js"
import { createAnnouncer } from "./announcer.js"
import { createAsked } from "./asked.js"
import { createChangesReading } from "./changes-reading.js"
import { mountChanges } from "./changes.js"
import { openPathsOnClick } from "./changed-paths.js"
import { copyOnClick } from "./code-block.js"
import { mountConversation } from "./conversation.js"
import { mountCommands } from "./demo.js"
import { createFigures } from "./figures.js"
import { mountFindBar } from "./find-bar.js"
import { mountFooter } from "./footer.js"
import { mountHeader } from "./header.js"
import { mountInfo } from "./info.js"
import { createOpening } from "./opening.js"
import { createOwnJumps } from "./own-jumps.js"
import { createPictures } from "./pictures.js"
import { createRequests } from "./requests.js"
import { createSending } from "./sending.js"
import { isWaiting } from "./sends.js"
import { mountSessionCommands } from "./session-commands.js"
import { mountStanding } from "./standing.js"
import { remedyOf } from "./status.js"
import { createTyped } from "./typed.js"
import { applyFrame, itemById, nothingYet } from "./transcript.js"
import { changesOf, headerOf, infoOf, standingOf } from "./views.js"
import { exactTime, timeOfDay } from "./words.js"

/** @import { ErrorBody, Frame } from "../contract.js" */
/** @import { ShellState, ToPortlet } from "../shared/bridge.js" */
/** @import { PortletState } from "./views.js" */

const sessionId = sessionOfAddress(location.hash)
const ending = new AbortController()
const { signal } = ending
tameHeldKeys(signal)

let transcript = nothingYet
/** @type {ShellState | null} */
let shell = null
/** @type {PortletState["failures"]} */
let failures = { open: null, last: null }

const bridge = connectShell(sessionId, receive, signal)
const frames = createFrames(signal)
const requests = createRequests(bridge.post, sessionId)
const { ask, quietly, answered, failed } = requests
const drafts = () => shell && sealed(localStorage, shell.storageKey)
const typed = createTyped(sessionId, drafts)
const pictures = createPictures(createApi(requests.enter), signal)
const agent = () => shell?.agent?.name ?? agentName(agentOf(sessionId))
const sending = createSending({
  sessionId,
  transcript: () => transcript,
  post: bridge.post,
  unsent: () => shell && sealed(sessionStorage, shell.storageKey),
  ask,
  sent(waits) {
    failures = { ...failures, last: null }
    showSoon()
    if (!waits) frames.beforePaint(conversation.toEnd)
  },
  show,
  restore: (content, attachments) => composer.restore(content, attachments),
})
const { send, stop, isBusy } = sending

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
  request: (message, refused) => quietly(message, (error) => (refused ? refused(error) : changes.failed(error))),
  acts: {
    ask,
    worktree: () => shell?.session?.worktree,
    askAgent: (content) => asked.ask(content),
    tellAgent: send,
    typed,
  },
  typed,
  toggled: (open) => document.body.toggleAttribute("data-panel", open),
  focusComposer: () => composer.focus(),
})
const asked = createAsked(send)
const changesReading = createChangesReading({ ...changes, isSeen: () => shell?.visible !== false })
const footer = mountFooter(need(document, "#composer", HTMLElement), {
  ...requests,
  ...sending,
  ...pictures,
  sessionId,
  drafts,
  typed,
  post: bridge.post,
  complain,
  chooseFiles: changes.chooseFiles,
  scroll: (pages) => conversation.page(pages),
})
const { composer, goingBack } = footer
const opening = createOpening(composer, signal)
const conversation = mountConversation(need(document, "#conversation", HTMLElement), {
  open: new Map(),
  agentName: agent,
  remedy: (errorCode) => remedyOf(shell, errorCode, agent()),
  answer: (itemId, answer, onFailure) => ask({ type: "session:permission", itemId, ...answer }, onFailure),
  continueAt,
  undo: changes.undoAct,
  act(action) {
    if (action === "cancel") stop()
    else if (action === "restart") reconnect()
    else sending.sendLastAgain()
  },
  resend: send,
  takeBack: sending.takeBack,
  forget: sending.forget,
  canSend: () => !isBusy(),
  isVisible: () => shell?.visible === true,
  wholeOutput: (itemId, bytes) => pictures.output(sessionId, itemId, bytes),
  ...pictures,
  copyLink: (itemId) => copied(linkTo(location.origin, sessionId, itemId)),
  edit: goingBack.edit,
  branch: goingBack.branch,
  focusComposer: footer.focusToWrite,
  composerIsIdle: composer.isIdle,
  typed,
  leave: (words) => composer.restore(words),
  write: composer.focus,
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
  continueNow: sending.sendIfIdle,
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
      sending.settle()
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
    case "shell:state": {
      const isFirst = !shell
      shell = message
      if (isFirst) footer.continueDraft(sealed(localStorage, message.storageKey))
      showTheme(document, message.theme)
      return showSoon()
    }
    // A tab looks the same when it is shown again, so there is nothing to draw. Files may differ.
    case "shell:visible":
      shell = shell && { ...shell, visible: message.visible }
      if (message.visible && changes.isOpen()) changes.refresh()
      return
    case "agent:status":
      if (shell) shell = { ...shell, agentState: message }
      return showSoon()
    case "shell:pending":
      sending.resume(message.sends)
      return showSoon()
    case "shell:focus":
      return opening.begin(message.on, transcript.known)
    case "shell:reveal":
      return reveal(message.itemId)
    case "shell:command":
      return sessionCommands.run(message.name)
    case "shell:entry":
      return requests.entered(message.entry)
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
      return answered(message.requestId)
  }
}

/** Shows each failure next to what failed. @param {Extract<Frame, {type: "error"}>} error */
function fail(error) {
  const request = failed(error.requestId)
  if (request?.undo(error) === true) return
  if (!sending.refused(error)) {
    if (request?.what === "quiet") return
    if (request !== undefined || transcript.known) return complain(error)
    failures = { ...failures, open: error }
  }
  showSoon()
}

/** @param {ErrorBody} error */
function complain(error) {
  failures = { ...failures, last: error }
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

/** @returns {PortletState} */
const state = () => ({ transcript, shell, failures, agent: agent(), ...sending.state() })

function show() {
  const now = state()
  conversation.update(
    transcript,
    now.sends.filter((each) => !isWaiting(each)),
  )
  commands?.update()
  if (transcript.known) opening.known()
  showStatus(now)
  standing.update(standingOf(now, Date.now()))
  changes.update(changesOf(now))
  footer.update(now)
  announcer.update(transcript, now.agent)
  figures.update(transcript)
  asked.update(transcript, isBusy())
  findBar.update(transcript)
  ownJumps.update()
  sessionCommands.update(footer.commands(now))
}

/** @param {PortletState} now */
function showStatus(now) {
  info.update(infoOf(now))
  header.update(headerOf(now, Date.now()))
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
  if (shell?.agentState?.status === "reconnecting") showStatus(state())
}, 1000)
signal.addEventListener("abort", () => clearInterval(clock))
window.addEventListener("pagehide", () => ending.abort(), { signal })

show()
bridge.post({ type: "portlet:ready" })
// A browser's first time formatting takes tens of milliseconds: do it while the history is on its way.
setTimeout(() => [timeOfDay, exactTime].forEach((format) => format(new Date().toISOString())))
