/**
 * The shell's side of Now: whether it listens, what it must know, and its requests. The server is asked for rows only
 * while Now is in front, or while the user is away and wants to be notified of what a session asks for.
 */

import { isNowInFront } from "./shell-state.js"

/** @import { ErrorBody, Frame, NowRow } from "../contract.js" */
/** @import { FromNow, NowRequest, NowState, Theme, ToNow } from "../shared/bridge.js" */
/** @import { Entry } from "../shared/door.js" */
/** @import { Socket } from "../shared/socket.js" */
/** @import { Shell } from "./shell-state.js" */

/** The pane of Now; no session has this id. */
export const NOW = "now"

/** Its pane, hidden. @type {import("./panes.js").Pane} */
export const nowPane = {
  id: NOW,
  title: "Now",
  active: false,
  column: null,
  compared: null,
  creating: null,
  visit: null,
}

/** @typedef {object} NowDeps
 * @property {() => Shell} shell
 * @property {string} storageKey
 * @property {() => Promise<Entry>} enter
 * @property {Socket} socket
 * @property {(message: ToNow) => void} post
 * @property {() => Theme} theme
 * @property {() => boolean} isLookedAt
 * @property {(sessionId: string, itemId: string | undefined) => void} open
 * @property {() => void} newSession
 * @property {(name: string) => void} onShortcut
 * @property {() => void} onFocus
 * @property {(row: NowRow) => void} onWaiting  A session asks for something while the user is away.
 * @property {(text: string) => void} failed */

/** @typedef {ReturnType<typeof createNow>} Now */

/** @param {NowDeps} deps */
export function createNow(deps) {
  const { shell, socket, post } = deps
  /** @type {Map<string, NowRow>} */
  const rows = new Map()
  let isListening = false
  let isFollowing = false
  let wantsFocus = false
  /** @type {NowState | null} */
  let sent = null
  /** Sessions that began to wait while the user was away. @type {Set<string>} */
  const news = new Set()

  /** @returns {NowState} */
  const stateNow = () => ({
    type: "shell:now",
    storageKey: deps.storageKey,
    projects: shell().model.projects ?? [],
    agents: shell().model.agents,
    theme: deps.theme(),
    visible: isNowInFront(shell()) && deps.isLookedAt(),
  })

  /** @param {NowRequest} message */
  function ask(message) {
    const { requestId, sessionId } = message
    // Only about sessions that it shows.
    if (!rows.has(sessionId)) return post({ type: "shell:refused", requestId })
    /** @param {ErrorBody} error */
    const refused = (error) => {
      post({ type: "shell:refused", requestId })
      deps.failed(error.message)
    }
    if (message.type === "session:send")
      return socket.send(message, (frame) =>
        frame.type === "error" ? refused(frame) : post({ type: "shell:done", requestId }),
      )
    socket.request(message, { requestId }).then(() => post({ type: "shell:done", requestId }), refused)
  }

  return {
    /** @param {FromNow} message */
    onMessage(message) {
      switch (message.type) {
        case "portlet:ready":
          isListening = true
          sent = stateNow()
          post(sent)
          // Its rows may be older than this frame, which may have been loaded again.
          if (isFollowing) post({ type: "now:summary", sessions: [...rows.values()], gone: [], whole: true })
          if (wantsFocus && isNowInFront(shell())) post({ type: "shell:focus" })
          wantsFocus = false
          return
        case "portlet:enter":
          deps.enter().then((entry) => post({ type: "shell:entry", entry }))
          return
        case "portlet:focus":
          return deps.onFocus()
        case "portlet:shortcut":
          return deps.onShortcut(message.name)
        case "now:new-session":
          return deps.newSession()
        case "now:open":
          return deps.open(message.sessionId, rows.get(message.sessionId)?.card?.itemId)
        default:
          return ask(message)
      }
    },

    /** @param {Frame} frame */
    onFrame(frame) {
      if (frame.type !== "now:summary") return
      const whole = frame.requestId !== undefined
      if (whole) rows.clear()
      for (const id of frame.gone) rows.delete(id)
      for (const row of frame.sessions) {
        rows.set(row.id, row)
        if (row.card && news.delete(row.id)) deps.onWaiting(row)
      }
      if (isListening) post({ ...frame, whole })
    },

    /** A session began to wait: once its request is known, the user is notified. @param {string} sessionId */
    expect(sessionId) {
      const row = rows.get(sessionId)
      if (isFollowing && row?.card) deps.onWaiting(row)
      else news.add(sessionId)
    },

    /** The request that a session waits with, if it is known. @param {string} sessionId */
    cardOf: (sessionId) => rows.get(sessionId)?.card?.itemId,

    /** A new connection knows of nothing. */
    lost() {
      isFollowing = false
    },

    focus() {
      if (isListening) post({ type: "shell:focus" })
      else wantsFocus = true
    },

    has: () => isListening,

    update() {
      const away = shell().defaults.notifications && !deps.isLookedAt()
      if (!away) news.clear()
      const wants = (isNowInFront(shell()) && !document.hidden) || away
      if (wants !== isFollowing && shell().model.status.connection === "open") {
        isFollowing = wants
        socket.request({ type: wants ? "now:follow" : "now:leave" }).catch(() => {})
      }
      if (!isListening) return
      const next = stateNow()
      if (Object.entries(next).every(([key, value]) => sent?.[/** @type {keyof NowState} */ (key)] === value)) return
      sent = next
      post(next)
    },
  }
}
