/**
 * The page's only WebSocket: connects with a fresh ticket, reconnects automatically, matches replies to requests,
 * follows sessions by cursor, and resends unanswered messages. It knows no view and keeps no transcript.
 */

import { receive, startFollowing } from "./following.js"
import { uuid } from "./ids.js"
import { retryDelay } from "./reconnect.js"

/** @import { ClientMessage, ErrorBody, Frame } from "../contract.js" */
/** @import { Connection } from "./bridge.js" */
/** @import { Entry } from "./door.js" */
/** @import { Following } from "./following.js" */
/** @import { Send } from "./unsent.js" */

/** `stranger`: the server at this address is not ours, or does not know this browser.
 * @typedef {{ connection: Connection, stranger: boolean }} Status */

/** @typedef {object} SocketDeps
 * @property {() => Entry | Promise<Entry>} enter
 * @property {(ticket: string) => WebSocket} open
 * @property {(frame: Frame) => void} onFrame
 * @property {(status: Status) => void} onStatus
 * @property {() => void} onOpen  The socket is open: request everything that may have changed.
 * @property {(sends: Send[]) => void} keepSends  Stores unanswered sends, for after a reload.
 * @property {Send[]} sends  What an earlier page stored.
 * @property {() => boolean} isHidden */

/** In milliseconds. A WebSocket that closes sooner after it opened counts as a failed attempt. */
const settledAfter = 1000

/** @typedef {ReturnType<typeof createSocket>} Socket */

/** @param {SocketDeps} deps */
export function createSocket(deps) {
  /** @type {WebSocket | null} */
  let socket = null
  let isOpen = false
  let trying = false
  let stopped = false
  let failures = 0
  let openedAt = 0
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  /** @type {Map<string, { resolve(frame: Frame): void, reject(reason: ErrorBody): void, quietly?: boolean }>} */
  const waiting = new Map()
  /** @type {Map<string, Following>} */
  const followed = new Map()
  /** @type {Map<string, Send>} */
  const sends = new Map(deps.sends.map((send) => [send.requestId, send]))
  /** Who gets the answer to a send, while its portlet exists.
   * @type {Map<string, (frame: Frame) => void>} */
  const sendAnswers = new Map()

  async function connect() {
    clearTimeout(timer)
    if (stopped || trying || socket) return
    trying = true
    const entry = await deps.enter()
    trying = false
    if (stopped) return
    if (typeof entry === "string") return lost(entry === "stranger")
    const fresh = deps.open(entry.ticket)
    socket = fresh
    fresh.onopen = () => {
      isOpen = true
      openedAt = performance.now()
      deps.onStatus({ connection: "open", stranger: false })
      for (const sessionId of followed.keys()) open(sessionId)
      for (const send of sends.values()) transmitSend(send)
      deps.onOpen()
    }
    fresh.onmessage = (event) => take(event.data)
    fresh.onclose = () => {
      if (socket !== fresh) return
      const settled = isOpen && performance.now() - openedAt >= settledAfter
      socket = null
      isOpen = false
      if (settled) failures = 0
      for (const { reject } of waiting.values()) reject(connectionLost)
      waiting.clear()
      lost(false)
    }
  }

  /** @param {boolean} stranger */
  function lost(stranger) {
    if (stopped) return
    deps.onStatus({ connection: "lost", stranger })
    timer = setTimeout(connect, retryDelay(failures, deps.isHidden()))
    failures += 1
  }

  /** @param {unknown} data */
  function take(data) {
    /** @type {Frame} */
    let frame
    try {
      frame = JSON.parse(String(data))
    } catch {
      return // not from our server, which only sends JSON
    }
    if (
      frame.type === "session:history" ||
      frame.type === "session:upsert" ||
      frame.type === "session:turn" ||
      frame.type === "session:facts" ||
      frame.type === "session:tail"
    ) {
      const now = followed.get(frame.sessionId)
      const next = now && receive(now, frame)
      if (next) {
        followed.set(frame.sessionId, next)
        deps.onFrame(frame)
      }
    } else if (!(frame.requestId !== undefined && isOnlyForAsker(frame.requestId, frame))) {
      deps.onFrame(frame)
    }
    if (frame.requestId !== undefined) settle(frame.requestId, frame)
  }

  /** Whether a reply concerns only its asker. @param {string} requestId @param {Frame} frame */
  function isOnlyForAsker(requestId, frame) {
    if (waiting.get(requestId)?.quietly) return true
    return (waiting.has(requestId) || sends.has(requestId)) && isPrivateReply(frame)
  }

  /** @param {string} requestId @param {Frame} frame */
  function settle(requestId, frame) {
    if (sends.delete(requestId)) {
      deps.keepSends([...sends.values()])
      sendAnswers.get(requestId)?.(frame)
      sendAnswers.delete(requestId)
    }
    const asked = waiting.get(requestId)
    if (!asked) return
    waiting.delete(requestId)
    if (frame.type === "error") asked.reject(frame)
    else asked.resolve(frame)
  }

  /** @param {ClientMessage & { requestId?: string }} message */
  const transmit = (message) => {
    // A socket that is closing would only complain; what waits for an answer is sent again or fails.
    if (socket && !(socket.readyState > 1)) socket.send(JSON.stringify(message))
  }

  /** @param {Send} send */
  const transmitSend = ({ sessionId, content, attachments, requestId }) =>
    transmit({ type: "session:send", sessionId, content, attachments, requestId, whenBusy: "queue" })

  /** @param {string} sessionId @param {string} [around] */
  function open(sessionId, around) {
    const now = followed.get(sessionId) ?? startFollowing()
    followed.set(sessionId, { ...now, opening: true })
    if (!isOpen) return
    const requestId = uuid()
    waiting.set(requestId, {
      resolve: () => {},
      // The session can't be opened: its portlet shows the error and retries when the user asks.
      reject: (reason) => {
        if (reason === connectionLost) return
        followed.delete(sessionId)
        deps.onFrame({ ...reason, type: "error", sessionId })
      },
    })
    transmit({
      type: "session:open",
      sessionId,
      tails: true,
      requestId,
      ...(around !== undefined ? { around } : now.cursor ? { since: now.cursor } : {}),
    })
  }

  return {
    start: connect,

    /** Connects now, without waiting for the timer: the user is back, or the network is. */
    wake() {
      if (!socket && !trying) connect()
    },

    stop() {
      stopped = true
      clearTimeout(timer)
      socket?.close()
    },

    /** Resolves with the reply. Rejects with the server's error, or with one of ours if there is no connection.
     * @param {ClientMessage} message
     * @param {{ requestId?: string, quietly?: boolean }} [how] `quietly`: the reply does not reach the lists.
     * @returns {Promise<Frame>} */
    request(message, { requestId = uuid(), quietly = false } = {}) {
      if (!isOpen) return Promise.reject(connectionLost)
      return new Promise((resolve, reject) => {
        waiting.set(requestId, { resolve, reject, quietly })
        transmit({ ...message, requestId })
      })
    },

    /** Sends a message of the user, again after each reconnect until it is answered.
     * @param {Omit<Send, "attachments"> & Partial<Send>} send
     * @param {(frame: Frame) => void} onAnswer `session:accepted`, `session:queued` or `error` */
    send({ sessionId, content, attachments = [], requestId }, onAnswer) {
      const send = { sessionId, content, attachments, requestId }
      sends.set(requestId, send)
      sendAnswers.set(requestId, onAnswer)
      deps.keepSends([...sends.values()])
      if (isOpen) transmitSend(send)
    },

    /** The unanswered sends of a session; from now on `onAnswer` gets their answers.
     * @param {string} sessionId @param {(frame: Frame) => void} onAnswer */
    adoptSends(sessionId, onAnswer) {
      const mine = [...sends.values()].filter((send) => send.sessionId === sessionId)
      for (const send of mine) sendAnswers.set(send.requestId, onAnswer)
      return mine.map(({ requestId, content, attachments }) => ({ requestId, content, attachments }))
    },

    /** Follows a session without a cursor (its portlet is new), or reads it around an item.
     * @param {string} sessionId @param {string} [around] */
    follow(sessionId, around) {
      followed.set(sessionId, startFollowing())
      open(sessionId, around)
    },

    /** @param {string} sessionId */
    unfollow(sessionId) {
      if (followed.delete(sessionId) && isOpen) transmit({ type: "session:close", sessionId })
    },
  }
}

/** Why a request failed that the server may have got nevertheless. @type {ErrorBody} */
export const connectionLost = {
  code: "INTERNAL_ERROR",
  message: "Not connected to the server. Try again when the connection is back.",
  retryable: true,
}

/** Whether a reply never changes what others see. @param {Frame} frame */
export const isPrivateReply = (frame) =>
  frame.type === "error" ||
  frame.type === "ok" ||
  frame.type === "session:accepted" ||
  frame.type === "session:queued" ||
  frame.type === "session:task-output" ||
  frame.type === "session:older" ||
  frame.type === "session:newer" ||
  frame.type === "outside:list" ||
  frame.type === "session:offer" ||
  frame.type === "outside:found" ||
  frame.type === "workspace:offer" ||
  frame.type === "workspace:discarded" ||
  frame.type === "changes:list" ||
  frame.type === "changes:file" ||
  frame.type === "changes:storage" ||
  frame.type === "changes:preview" ||
  frame.type === "changes:done" ||
  frame.type === "path:completions" ||
  frame.type === "files:found" ||
  frame.type === "search:results"
