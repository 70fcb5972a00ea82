/**
 * What shell and portlets say to each other, and the only way they say it.
 *
 * The shell owns the one WebSocket. Each open session is a portlet: an iframe of our own origin at
 * `/portlet/index.html#<sessionId>` (the session id percent-encoded). They talk by `postMessage`; both
 * ends check the window it came from, the exact origin, and the shape. A message that fails a check is
 * dropped without a word: it was not one of ours.
 *
 * Order of things. The portlet posts `portlet:ready` when it listens. The shell answers with
 * `shell:state`, then `shell:pending` when sends of an earlier page are still under way, and opens the
 * session on the socket, so `session:history` follows. After a lost connection the shell opens again by
 * cursor, and a `session:history` with `mode: "since"` (or a fresh snapshot) arrives; the portlet has
 * nothing to ask for. Frames of the contract are passed on as they are, except that tails were put
 * together: a portlet only ever sees whole upserts.
 */

/** @import { Agent, Frame, Policy, Project, SessionListItem } from "../contract.js" */

/**
 * How things are around the session. Sent on `portlet:ready` and whenever any of it changed.
 * @typedef {object} ShellState
 * @property {"shell:state"} type
 * @property {SessionListItem | null} session  Null for a session that the lists do not (yet) know.
 * @property {Project | null} project
 * @property {Agent | null} agent
 * @property {AgentState | null} agentState  The newest `agent:status` of this session or its agent.
 * @property {Connection} connection
 * @property {Theme} theme  What to show, already resolved.
 * @property {boolean} visible  Whether this is the tab in front and the page is looked at.
 */
/** @typedef {"connecting" | "open" | "lost"} Connection */
/** @typedef {"dark" | "light"} Theme */
/** @typedef {Extract<Frame, {type: "agent:status"}>} AgentState */

/** A send that no answer came for yet: shown as sending; the shell sends it again by itself.
 * @typedef {{ requestId: string, content: string }} PendingSend */

/** Frames of the contract that a portlet gets as they are.
 * @typedef {Extract<Frame, {type: "session:history" | "session:upsert" | "session:turn" | "session:older" | "session:newer"
 *   | "session:accepted" | "session:policy" | "agent:status" | "error" | "ok"}>} PortletFrame */

/** @typedef {(
 *   | PortletFrame
 *   | ShellState
 *   | { type: "shell:pending", sends: PendingSend[] }
 *   | { type: "shell:focus" }
 *   | { type: "shell:reveal", itemId: string }
 * )} ToPortlet
 *
 * `shell:focus`: put the caret into the composer. `shell:reveal`: scroll to the item and mark it; answer
 * `portlet:lacks` when it is not loaded, then history around it follows, then `shell:reveal` again.
 */

/** @typedef {(
 *   | { type: "portlet:ready" }
 *   | { type: "portlet:focus" }
 *   | { type: "portlet:shortcut", name: string }
 *   | { type: "portlet:lacks", itemId: string }
 *   | { type: "portlet:retry-open" }
 *   | { type: "session:send", content: string, requestId: string }
 *   | { type: "session:cancel", requestId?: string }
 *   | { type: "session:permission", itemId: string, optionId?: string, answers?: Record<string, string>, requestId?: string }
 *   | { type: "session:older", before: number, requestId?: string }
 *   | { type: "session:newer", after: number, requestId?: string }
 *   | { type: "session:policy", policy: Policy, requestId?: string }
 *   | { type: "session:reconnect", requestId?: string }
 * )} ToShell
 *
 * `portlet:focus`: the user is in this portlet (menus of the shell close). `portlet:shortcut`: a key that
 * `keys.js` names was pressed; the portlet has prevented its default. `portlet:retry-open`: the user asks to open
 * again, after an error or to read the end. `session:*`: the contract's requests without `sessionId` and `cliType`, which the
 * shell knows; `requestId` comes back on the reply or the `error`. The `requestId` of a send is a UUID.
 */

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value)
/** @param {unknown} value */
const isString = (value) => typeof value === "string"
/** @param {unknown} value */
const isOptionalString = (value) => value === undefined || typeof value === "string"
/** @param {unknown} value */
const isAnswers = (value) => value === undefined || (isRecord(value) && Object.values(value).every(isString))

/** Every field of every message of a portlet, and what it must be.
 * @type {Record<ToShell["type"], Record<string, (value: unknown) => boolean>>} */
const toShellFields = {
  "portlet:ready": {},
  "portlet:focus": {},
  "portlet:shortcut": { name: isString },
  "portlet:lacks": { itemId: isString },
  "portlet:retry-open": {},
  "session:send": { content: isString, requestId: isString },
  "session:cancel": { requestId: isOptionalString },
  "session:permission": { itemId: isString, optionId: isOptionalString, answers: isAnswers, requestId: isOptionalString },
  "session:older": { before: Number.isInteger, requestId: isOptionalString },
  "session:newer": { after: Number.isInteger, requestId: isOptionalString },
  "session:policy": { policy: (value) => isPolicy(value), requestId: isOptionalString },
  "session:reconnect": { requestId: isOptionalString },
}

/** @param {unknown} value */
const isBoolean = (value) => typeof value === "boolean"
/** @param {unknown} value */
const isPolicy = (value) => value === "ask" || value === "auto"
/** @param {...string} words */
const isOneOf = (...words) => (/** @type {unknown} */ value) => typeof value === "string" && words.includes(value)
/** @param {unknown} value */
const isItem = (value) => isRecord(value) && isString(value.itemId) && isString(value.turnId) && isString(value.type) && Number.isInteger(value.index)
/** @param {unknown} value */
const isEvent = (value) => isRecord(value) && isString(value.turnId) && isString(value.type)
/** @param {unknown} value */
const isSend = (value) => isRecord(value) && isString(value.requestId) && isString(value.content)

/** What a portlet relies on in every message of the shell; it may hold more.
 * @type {Record<ToPortlet["type"], Record<string, (value: unknown) => boolean>>} */
const toPortletFields = {
  "session:history": { sessionId: isString, entries: Array.isArray, stream: isString, seq: Number.isInteger, turns: Array.isArray, mode: isOneOf("snapshot", "since"), older: isBoolean, policy: isPolicy },
  "session:upsert": { sessionId: isString, payload: isItem, seq: Number.isInteger },
  "session:turn": { sessionId: isString, payload: isEvent, seq: Number.isInteger },
  "session:older": { sessionId: isString, entries: Array.isArray, turns: Array.isArray, before: Number.isInteger, older: isBoolean },
  "session:newer": { sessionId: isString, entries: Array.isArray, turns: Array.isArray, after: Number.isInteger, newer: isBoolean },
  "session:accepted": { sessionId: isString },
  "session:policy": { sessionId: isString, policy: isPolicy },
  "agent:status": { cliType: isString, status: isString },
  error: { code: isString, message: isString },
  ok: {},
  "shell:state": { connection: isOneOf("connecting", "open", "lost"), theme: isOneOf("dark", "light"), visible: isBoolean },
  "shell:pending": { sends: (value) => Array.isArray(value) && value.every(isSend) },
  "shell:focus": {},
  "shell:reveal": { itemId: isString },
}

/** Whether this is a message of a portlet: known, every field right, none besides.
 * @param {unknown} data @returns {data is ToShell} */
export function isToShell(data) {
  if (!isRecord(data) || typeof data.type !== "string" || !Object.hasOwn(toShellFields, data.type)) return false
  const fields = toShellFields[/** @type {ToShell["type"]} */ (data.type)]
  return Object.keys(data).every((key) => key === "type" || Object.hasOwn(fields, key))
    && Object.entries(fields).every(([key, check]) => check(data[key]))
}

/** Whether this is a message of the shell: known, and with all that it must have.
 * @param {unknown} data @returns {data is ToPortlet} */
export function isToPortlet(data) {
  if (!isRecord(data) || typeof data.type !== "string" || !Object.hasOwn(toPortletFields, data.type)) return false
  return Object.entries(toPortletFields[/** @type {ToPortlet["type"]} */ (data.type)]).every(([key, check]) => check(data[key]))
}

/** The shell's end of one portlet.
 * @param {HTMLIFrameElement} frame
 * @param {(message: ToShell) => void} onMessage
 * @param {AbortSignal} signal ends it
 * @returns {{ post(message: ToPortlet): void }} */
export function connectPortlet(frame, onMessage, signal) {
  window.addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || event.origin !== location.origin || !isToShell(event.data)) return
    onMessage(event.data)
  }, { signal })
  return { post: (message) => frame.contentWindow?.postMessage(message, location.origin) }
}

/** The portlet's end. The caller posts `portlet:ready` once it is.
 * @param {(message: ToPortlet) => void} onMessage
 * @param {AbortSignal} signal ends it
 * @returns {{ post(message: ToShell): void }} */
export function connectShell(onMessage, signal) {
  const shell = window.parent
  window.addEventListener("message", (event) => {
    if (event.source !== shell || event.origin !== location.origin || !isToPortlet(event.data)) return
    onMessage(event.data)
  }, { signal })
  return { post: (message) => shell.postMessage(message, location.origin) }
}

/** The address of a session's portlet. @param {string} sessionId */
export const portletAddress = (sessionId) => `/portlet/index.html#${encodeURIComponent(sessionId)}`

/** The session of this portlet, from its own address. @param {string} hash `location.hash` */
export const sessionOfAddress = (hash) => decodeURIComponent(hash.slice(1))
