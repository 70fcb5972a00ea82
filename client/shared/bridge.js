/**
 * The messages between the shell and its portlets, and the only way they are exchanged.
 *
 * The shell owns the one WebSocket. Each open session is a portlet: an iframe of our own origin at
 * `/portlet/index.html#<sessionId>` (the session id percent-encoded). They use `postMessage`; both ends
 * check the source window, the exact origin, the type, and that the message is about the portlet's own
 * session. A message that fails a check is dropped silently: it is not ours.
 *
 * The order: the portlet posts `portlet:ready` when it listens. The shell answers with `shell:state`, then
 * `shell:pending` if sends of an earlier page are still unanswered, and opens the session on the socket, so
 * `session:history` follows. After a lost connection the shell opens it again by cursor, and a
 * `session:history` with `mode: "since"` (or a fresh snapshot) arrives; the portlet need not ask. Requests
 * and frames of the contract are passed on unchanged. `requests` and `frames` below list them; a new one only
 * needs its line there.
 *
 * Now is one more frame of this kind, for all sessions; its messages are in `FromNow` and `ToNow`.
 */

/** @import { Agent, AttachmentRef, ClientMessage, Frame, Project, SessionListItem } from "../contract.js" */
/** @import { Entry } from "./door.js" */

/**
 * The state around the session. Sent on `portlet:ready` and whenever any of it changes.
 * @typedef {object} ShellState
 * @property {"shell:state"} type
 * @property {SessionListItem | null} session  Null while the session is in no list.
 * @property {Project | null} project
 * @property {Agent | null} agent
 * @property {AgentState | null} agentState  The newest `agent:status` of this session or its agent.
 * @property {Connection} connection
 * @property {boolean} compared  Whether it is in view in a comparison, whose head names the agent.
 * @property {Theme} theme  The theme to show, already resolved.
 * @property {boolean} visible  Whether its tab is in view and the user looks at the page.
 * @property {string} storageKey  Seals what the portlet stores.
 */
/** @typedef {"connecting" | "open" | "lost"} Connection */
/** @typedef {"dark" | "light"} Theme */
/** @typedef {Extract<Frame, {type: "agent:status"}>} AgentState */

/** What the last turn took: its time, and what the session has cost so far. `startedAt` is later by the time in which
 * the turn waited for the user; while it waits, it is when that began.
 * @typedef {{ startedAt?: string, endedAt?: string, costUsd?: number }} Figures */

/** An unanswered send: shown as sending; the shell resends it automatically.
 * @typedef {{ requestId: string, content: string, attachments: AttachmentRef[] }} PendingSend */

/** @typedef {(
 *   | PortletFrame
 *   | ShellState
 *   | { type: "shell:visible", visible: boolean }
 *   | { type: "shell:pending", sends: PendingSend[] }
 *   | { type: "shell:focus", on?: "composer" }
 *   | { type: "shell:reveal", itemId: string }
 *   | { type: "shell:command", name: string }
 *   | { type: "shell:entry", entry: Entry }
 * )} ToPortlet
 *
 * `shell:visible`: nothing else in its state changed.
 * `shell:focus`: focus the card that waits, else the composer.
 * `shell:reveal`: scroll to the item and mark it; answer `portlet:lacks` if it is not loaded, then history around it
 * follows, then `shell:reveal` again.
 * `shell:command`: the user chose a command of the session, by its shortcut's name or by its label.
 * `shell:entry`: the result of a request for a ticket.
 */

/** The contract's requests that a portlet may make, about its own session. */
const requests = /** @type {const} */ ([
  "session:send",
  "session:queue",
  "session:queue-resume",
  "session:branch",
  "session:cancel",
  "session:permission",
  "session:older",
  "session:newer",
  "session:policy",
  "session:option",
  "session:task",
  "session:mcp",
  "session:continue-at",
  "session:reconnect",
  "session:looked",
  "changes:list",
  "changes:file",
  "changes:comment",
  "changes:uncomment",
  "changes:send-comments",
  "workspace:renew",
  "workspace:setup",
  "changes:act",
  "files:find",
])

/** The contract's frames that are passed to a portlet unchanged. */
const frames = /** @type {const} */ ([
  "session:history",
  "session:upsert",
  "session:tail",
  "session:turn",
  "session:facts",
  "session:older",
  "session:newer",
  "session:accepted",
  "session:queued",
  "session:policy",
  "session:task-output",
  "changes:list",
  "changes:file",
  "changes:changed",
  "changes:preview",
  "changes:done",
  "files:found",
  "agent:status",
  "error",
  "ok",
])

/** @typedef {Extract<ClientMessage, {type: typeof requests[number]}> & { requestId: string }} PortletRequest */
/** @typedef {Extract<Frame, {type: typeof frames[number]}>} PortletFrame */

/** @typedef {(
 *   | PortletRequest
 *   | { type: "portlet:ready" }
 *   | { type: "portlet:enter" }
 *   | { type: "portlet:focus" }
 *   | { type: "portlet:kept" }
 *   | { type: "portlet:shortcut", name: string }
 *   | { type: "portlet:commands", commands: string[] }
 *   | { type: "portlet:lacks", itemId: string }
 *   | { type: "portlet:figures", figures: Figures }
 *   | { type: "portlet:open", target: string }
 *   | { type: "portlet:retry-open" }
 * )} ToShell
 *
 * `portlet:enter`: asks for a ticket for requests over HTTP. `portlet:focus`: the user is in this portlet (menus of
 * the shell close). `portlet:kept`: the user writes here. `portlet:shortcut`: a shortcut from `keys.js` was pressed;
 * the portlet has prevented its default. `portlet:commands`: the labels of what the palette can do here.
 * `portlet:figures`: for a comparison. `portlet:open`: opens another session.
 * `portlet:retry-open`: opens the session again, after an error, to read its end, or because a tail did not fit. The
 * `requestId` of a send is a UUID.
 */

/** @type {ReadonlySet<unknown>} */
const toShell = new Set([
  ...requests,
  "portlet:ready",
  "portlet:enter",
  "portlet:focus",
  "portlet:kept",
  "portlet:shortcut",
  "portlet:commands",
  "portlet:lacks",
  "portlet:figures",
  "portlet:open",
  "portlet:retry-open",
])
/** @type {ReadonlySet<unknown>} */
const toPortlet = new Set([
  ...frames,
  "shell:state",
  "shell:visible",
  "shell:pending",
  "shell:focus",
  "shell:reveal",
  "shell:command",
  "shell:entry",
])

/** Whether a message has one of these types and, if it names a session, names this one. Its content is not checked:
 * the server rejects what it can't read.
 * @param {unknown} data @param {ReadonlySet<unknown>} kinds @param {string} sessionId */
function isOf(data, kinds, sessionId) {
  if (typeof data !== "object" || data === null) return false
  const message = /** @type {{ type?: unknown, sessionId?: unknown }} */ (data)
  if (!kinds.has(message.type)) return false
  const needsSession = String(message.type).startsWith("session:")
  return message.sessionId === sessionId || (!needsSession && message.sessionId === undefined)
}

/** @param {unknown} data @param {string} sessionId the portlet's own @returns {data is ToShell} */
export const isToShell = (data, sessionId) => isOf(data, toShell, sessionId)

/** @param {unknown} data @param {string} sessionId the portlet's own @returns {data is ToPortlet} */
export const isToPortlet = (data, sessionId) => isOf(data, toPortlet, sessionId)

/**
 * The state around Now. Sent on `portlet:ready` and whenever any of it changes.
 * @typedef {object} NowState
 * @property {"shell:now"} type
 * @property {string} storageKey  Seals what Now stores.
 * @property {Project[]} projects
 * @property {Agent[]} agents
 * @property {Theme} theme  The theme to show, already resolved.
 * @property {boolean} visible  Whether Now is in front and the user looks at the page.
 */

/** The requests that Now may make, about any session it shows: the shell checks that. */
const nowRequests = /** @type {const} */ (["session:permission", "session:send", "session:looked"])

/** @typedef {Extract<ClientMessage, {type: typeof nowRequests[number]}> & { requestId: string }} NowRequest */

/** `now:open`: the user opens a session, at its card if it has one.
 * @typedef {(
 *   | NowRequest
 *   | { type: "portlet:ready" | "portlet:enter" | "portlet:focus" | "now:new-session" }
 *   | { type: "portlet:shortcut", name: string }
 *   | { type: "now:open", sessionId: string }
 * )} FromNow */

/** `whole`: these are all rows.
 * @typedef {(
 *   | NowState
 *   | (Extract<Frame, { type: "now:summary" }> & { whole: boolean })
 *   | { type: "shell:done" | "shell:refused", requestId: string }
 *   | { type: "shell:focus" }
 *   | { type: "shell:entry", entry: Entry }
 * )} ToNow */

/** @type {ReadonlySet<unknown>} */
const fromNow = new Set([
  ...nowRequests,
  "portlet:ready",
  "portlet:enter",
  "portlet:focus",
  "portlet:shortcut",
  "now:new-session",
  "now:open",
])
/** @type {ReadonlySet<unknown>} */
const toNow = new Set(["shell:now", "now:summary", "shell:done", "shell:refused", "shell:focus", "shell:entry"])

/** @param {unknown} data @param {ReadonlySet<unknown>} kinds */
const hasKind = (data, kinds) =>
  typeof data === "object" && data !== null && kinds.has(/** @type {{ type?: unknown }} */ (data).type)

/** Listens to one window of our own origin.
 * @template M @param {() => Window | null} from @param {(data: unknown) => data is M} accepts
 * @param {(message: M) => void} onMessage @param {AbortSignal} signal */
function listen(from, accepts, onMessage, signal) {
  window.addEventListener(
    "message",
    ({ source, origin, data }) => {
      if (source === from() && origin === location.origin && accepts(data)) onMessage(data)
    },
    { signal },
  )
}

/** The shell's end of one portlet.
 * @param {HTMLIFrameElement} frame
 * @param {string} sessionId
 * @param {(message: ToShell) => void} onMessage
 * @param {AbortSignal} signal stops listening
 * @returns {{ post(message: ToPortlet): void }} */
export function connectPortlet(frame, sessionId, onMessage, signal) {
  /** @returns {data is ToShell} @param {unknown} data */
  const accepts = (data) => isToShell(data, sessionId)
  listen(() => frame.contentWindow, accepts, onMessage, signal)
  return { post: (message) => frame.contentWindow?.postMessage(message, location.origin) }
}

/** The portlet's end. The caller posts `portlet:ready` when it is ready.
 * @param {string} sessionId
 * @param {(message: ToPortlet) => void} onMessage
 * @param {AbortSignal} signal stops listening
 * @returns {{ post(message: ToShell): void }} */
export function connectShell(sessionId, onMessage, signal) {
  /** @returns {data is ToPortlet} @param {unknown} data */
  const accepts = (data) => isToPortlet(data, sessionId)
  listen(() => window.parent, accepts, onMessage, signal)
  return { post: (message) => window.parent.postMessage(message, location.origin) }
}

/** The shell's end of Now. @param {HTMLIFrameElement} frame @param {(message: FromNow) => void} onMessage
 * @param {AbortSignal} signal @returns {{ post(message: ToNow): void }} */
export function connectNow(frame, onMessage, signal) {
  /** @returns {data is FromNow} @param {unknown} data */
  const accepts = (data) => hasKind(data, fromNow)
  listen(() => frame.contentWindow, accepts, onMessage, signal)
  return { post: (message) => frame.contentWindow?.postMessage(message, location.origin) }
}

/** Now's end. @param {(message: ToNow) => void} onMessage @param {AbortSignal} signal
 * @returns {{ post(message: FromNow): void }} */
export function connectShellFromNow(onMessage, signal) {
  /** @returns {data is ToNow} @param {unknown} data */
  const accepts = (data) => hasKind(data, toNow)
  listen(() => window.parent, accepts, onMessage, signal)
  return { post: (message) => window.parent.postMessage(message, location.origin) }
}

/** The address of a session's portlet. @param {string} sessionId */
export const portletAddress = (sessionId) => `/portlet/index.html#${encodeURIComponent(sessionId)}`

/** The session of this portlet, from its own address. @param {string} hash `location.hash` */
export const sessionOfAddress = (hash) => decodeURIComponent(hash.slice(1))
