/**
 * The one WebSocket of the page: connects after the server proved itself, comes back by itself, matches replies to
 * requests, follows sessions by cursor, and sends again what was sent and never answered. It knows no view and keeps no
 * transcript. Frames leave it with tails already put together.
 */

import { receive, startFollowing } from "./following.js"
import { uuid } from "./ids.js"
import { retryDelay } from "./reconnect.js"

/** @import { ClientMessage, ErrorBody, Frame } from "../contract.js" */
/** @import { Connection, PendingSend } from "./bridge.js" */
/** @import { Proof } from "./door.js" */
/** @import { Following } from "./following.js" */

/** @typedef {{ connection: Connection, stranger: boolean }} Status  `stranger`: who answers is not the server we know. */
/** @typedef {PendingSend & { sessionId: string }} Send */

/** @typedef {object} SocketDeps
 * @property {() => string | null} token
 * @property {(token: string) => Promise<Proof>} prove
 * @property {(token: string) => WebSocket} open
 * @property {(frame: Exclude<Frame, {type: "session:tail"}>) => void} onFrame
 * @property {(status: Status) => void} onStatus
 * @property {() => void} onOpen  The socket is open: ask for everything that may have changed.
 * @property {(sends: Send[]) => void} keepSends  Remember what is not answered yet, for after a reload.
 * @property {Send[]} sends  What an earlier page remembered.
 * @property {() => boolean} isHidden */

/** An opened WebSocket that lived this long was a real connection; one that ended sooner counts as a failed try. */
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
  /** Where the answer to a send goes, while the page that asked is there.
   * @type {Map<string, (frame: Frame) => void>} */
  const sendAnswers = new Map()

  async function connect() {
    clearTimeout(timer)
    if (stopped || trying || socket) return
    const token = deps.token()
    if (token === null) return
    trying = true
    const proof = await deps.prove(token)
    trying = false
    if (stopped) return
    if (proof !== "ours") return lost(proof === "stranger")
    const fresh = deps.open(token)
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
      return // not one of ours; the server only sends JSON
    }
    if (frame.type === "session:history" || frame.type === "session:upsert" || frame.type === "session:turn" || frame.type === "session:tail") {
      const now = followed.get(frame.sessionId)
      if (now) {
        const { next, emit, reopen } = receive(now, frame)
        followed.set(frame.sessionId, next)
        if (reopen) open(frame.sessionId)
        if (emit) deps.onFrame(emit)
      }
    } else if (!(frame.requestId !== undefined && isFor(frame.requestId, frame))) {
      deps.onFrame(frame)
    }
    if (frame.requestId !== undefined) settle(frame.requestId, frame)
  }

  /** Whether a reply concerns nobody but who asked. @param {string} requestId @param {Frame} frame */
  function isFor(requestId, frame) {
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
  const transmit = (message) => socket?.send(JSON.stringify(message))

  /** @param {Send} send */
  const transmitSend = ({ sessionId, content, requestId }) => transmit({ type: "session:send", sessionId, content, requestId })

  /** @param {string} sessionId @param {string} [around] */
  function open(sessionId, around) {
    const now = followed.get(sessionId) ?? startFollowing()
    followed.set(sessionId, { ...now, opening: true })
    if (!isOpen) return
    const requestId = uuid()
    waiting.set(requestId, {
      resolve: () => {},
      // The session can't be opened: whoever shows it says so, and asks again when the user does.
      reject: (reason) => {
        if (reason === connectionLost) return
        followed.delete(sessionId)
        deps.onFrame({ ...reason, type: "error", sessionId })
      },
    })
    transmit({
      type: "session:open", sessionId, tails: true, requestId,
      ...(around !== undefined ? { around } : now.cursor ? { since: now.cursor } : {}),
    })
  }

  return {
    start: connect,

    /** The user looks again, or the network is back: don't wait for the timer. */
    wake() {
      if (!socket && !trying) connect()
    },

    stop() {
      stopped = true
      clearTimeout(timer)
      socket?.close()
    },

    /** Asks; the promise is its reply. Rejects with the server's error, or with one of ours when there is no connection.
     * @param {ClientMessage} message
     * @param {{ requestId?: string, quietly?: boolean }} [how] `quietly`: the reply is for the asker alone, not for the lists.
     * @returns {Promise<Frame>} */
    request(message, { requestId = uuid(), quietly = false } = {}) {
      if (!isOpen) return Promise.reject(connectionLost)
      return new Promise((resolve, reject) => {
        waiting.set(requestId, { resolve, reject, quietly })
        transmit({ ...message, requestId })
      })
    },

    /** Sends a message of the user; again after a lost connection, until it is answered.
     * @param {Send} send @param {(frame: Frame) => void} onAnswer `session:accepted` or `error` */
    send(send, onAnswer) {
      sends.set(send.requestId, send)
      sendAnswers.set(send.requestId, onAnswer)
      deps.keepSends([...sends.values()])
      if (isOpen) transmitSend(send)
    },

    /** The sends of a session without an answer yet; `onAnswer` takes over their answers. @param {string} sessionId @param {(frame: Frame) => void} onAnswer */
    adoptSends(sessionId, onAnswer) {
      const mine = [...sends.values()].filter((send) => send.sessionId === sessionId)
      for (const send of mine) sendAnswers.set(send.requestId, onAnswer)
      return mine.map(({ requestId, content }) => ({ requestId, content }))
    },

    /** Follows a session from the start (its portlet is new), or reads it around an item. @param {string} sessionId @param {string} [around] */
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

/** @type {ErrorBody} */
const connectionLost = {
  code: "INTERNAL_ERROR", message: "Not connected to the server. Try again when the connection is back.", retryable: true,
}

/** Replies that never change what everybody sees. @param {Frame} frame */
const isPrivateReply = (frame) => frame.type === "error" || frame.type === "ok" || frame.type === "session:accepted"
  || frame.type === "session:older" || frame.type === "session:newer" || frame.type === "path:completions" || frame.type === "search:results"
