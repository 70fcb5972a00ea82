/**
 * The shell's side of the portlets: which are listening, what each must know, and their requests to the socket. The frames
 * themselves are in `panes.js`, what may be said is in `bridge.js`.
 */

import { sessionOf } from "./model.js"

/** @import { ClientMessage, ErrorBody, Frame } from "../contract.js" */
/** @import { ShellState, Theme, ToPortlet, ToShell } from "../shared/bridge.js" */
/** @import { Socket } from "../shared/socket.js" */
/** @import { Shell } from "./app.js" */

/** @typedef {object} PortletsDeps
 * @property {() => Shell} shell
 * @property {Socket} socket
 * @property {(sessionId: string, message: ToPortlet) => void} post
 * @property {() => Theme} theme
 * @property {() => boolean} isLookedAt
 * @property {() => Element | null} focused  What has the focus now.
 * @property {(name: string) => void} onShortcut
 * @property {() => void} onFocus
 * @property {(text: string) => void} lost  Something the user asked for can't be shown. */

/** @typedef {ReturnType<typeof createPortlets>} Portlets */

/** @param {PortletsDeps} deps */
export function createPortlets({ shell, socket, post, theme, isLookedAt, focused, onShortcut, onFocus, lost }) {
  /** Those that listen, and what they were told last. @type {Map<string, ShellState>} */
  const told = new Map()
  /** Items to go to once the next history is there. @type {Map<string, string>} */
  const reveals = new Map()
  /** Items whose surroundings were asked for: when they are lacking still, they are gone. @type {Map<string, string>} */
  const asked = new Map()
  /** Portlets to give the caret once they listen, and what had the focus when that was wished. @type {Map<string, Element | null>} */
  const focusing = new Map()

  /** @param {string} sessionId @returns {ShellState} */
  function stateOf(sessionId) {
    const { model, tabs } = shell()
    const session = sessionOf(model, sessionId) ?? null
    return {
      type: "shell:state",
      session,
      project: model.projects?.find(({ id }) => id === session?.projectId) ?? null,
      agent: model.agents.find(({ cliType }) => cliType === session?.cliType) ?? null,
      agentState: model.agentStates.get(sessionId) ?? (session ? model.agentStates.get(session.cliType) : undefined) ?? null,
      connection: model.status.connection,
      theme: theme(),
      visible: tabs.active === sessionId && isLookedAt(),
    }
  }

  /** @param {string} sessionId */
  function ready(sessionId) {
    const state = stateOf(sessionId)
    told.set(sessionId, state)
    post(sessionId, state)
    const sends = socket.adoptSends(sessionId, (frame) => answer(sessionId, frame))
    if (sends.length > 0) post(sessionId, { type: "shell:pending", sends })
    const reveal = reveals.get(sessionId)
    if (reveal !== undefined) asked.set(sessionId, reveal)
    socket.follow(sessionId, reveal)
    if (focusing.has(sessionId) && isStillWished(focusing.get(sessionId) ?? null)) post(sessionId, { type: "shell:focus" })
    focusing.delete(sessionId)
  }

  /** A portlet may take its time to load; whoever has gone elsewhere meanwhile keeps the focus there. @param {Element | null} before */
  function isStillWished(before) {
    const now = focused()
    return now === before || now === null || now === document.body || now instanceof HTMLIFrameElement
  }

  /** A reply that is this portlet's alone; what everybody gets comes through `onFrame`. @param {string} sessionId @param {Frame} frame */
  function answer(sessionId, frame) {
    if (frame.type === "ok" || frame.type === "error" || frame.type === "session:older" || frame.type === "session:newer" || frame.type === "session:accepted") post(sessionId, frame)
  }

  /** @param {string} sessionId @param {ClientMessage} message @param {string | undefined} requestId */
  function ask(sessionId, message, requestId) {
    socket.request(message, requestId === undefined ? {} : { requestId }).then(
      (frame) => answer(sessionId, frame),
      (/** @type {ErrorBody} */ reason) => post(sessionId, { ...reason, type: "error", sessionId, ...(requestId === undefined ? {} : { requestId }) }))
  }

  return {
    /** @param {string} sessionId */
    has: (sessionId) => told.has(sessionId),

    /** @param {string} sessionId @param {ToShell} message */
    onMessage(sessionId, message) {
      switch (message.type) {
        case "portlet:ready": return ready(sessionId)
        case "portlet:focus": return onFocus()
        case "portlet:shortcut": return onShortcut(message.name)
        case "portlet:retry-open": return socket.follow(sessionId)
        case "portlet:lacks": {
          if (asked.get(sessionId) === message.itemId) return lost("That message is not in the transcript any more.")
          asked.set(sessionId, message.itemId)
          reveals.set(sessionId, message.itemId)
          return socket.follow(sessionId, message.itemId)
        }
        case "session:send": return socket.send({ sessionId, content: message.content, requestId: message.requestId }, (frame) => answer(sessionId, frame))
        case "session:cancel": return ask(sessionId, { type: message.type, sessionId }, message.requestId)
        case "session:older": return ask(sessionId, { type: message.type, sessionId, before: message.before }, message.requestId)
        case "session:newer": return ask(sessionId, { type: message.type, sessionId, after: message.after }, message.requestId)
        case "session:policy": return ask(sessionId, { type: message.type, sessionId, policy: message.policy }, message.requestId)
        case "session:permission": {
          const { itemId, optionId, answers } = message
          return ask(sessionId, { type: message.type, sessionId, itemId, ...(optionId === undefined ? {} : { optionId }), ...(answers === undefined ? {} : { answers }) }, message.requestId)
        }
        case "session:reconnect": {
          const cliType = stateOf(sessionId).session?.cliType
          if (cliType !== undefined) ask(sessionId, { type: message.type, cliType, sessionId }, message.requestId)
        }
      }
    },

    /** @param {Exclude<Frame, {type: "session:tail"}>} frame */
    onFrame(frame) {
      switch (frame.type) {
        case "session:history": {
          post(frame.sessionId, frame)
          const itemId = reveals.get(frame.sessionId)
          if (itemId === undefined) return
          reveals.delete(frame.sessionId)
          return post(frame.sessionId, { type: "shell:reveal", itemId })
        }
        case "session:upsert": case "session:turn": case "session:policy":
          if (told.has(frame.sessionId)) post(frame.sessionId, frame)
          return
        case "agent:status":
          for (const [sessionId, state] of told) {
            if (frame.sessionId === sessionId || (frame.sessionId === undefined && state.session?.cliType === frame.cliType)) post(sessionId, frame)
          }
          return
        case "error":
          if (frame.sessionId !== undefined && told.has(frame.sessionId)) post(frame.sessionId, frame)
      }
    },

    /** Goes to an item of a session whose tab was just brought to the front. @param {string} sessionId @param {string} itemId */
    reveal(sessionId, itemId) {
      asked.delete(sessionId)
      if (told.has(sessionId)) post(sessionId, { type: "shell:reveal", itemId })
      else reveals.set(sessionId, itemId)
    },

    /** Puts the caret into a session's composer, now or when it is there. @param {string} sessionId */
    focus(sessionId) {
      if (told.has(sessionId)) post(sessionId, { type: "shell:focus" })
      else focusing.set(sessionId, focused())
    },

    /** Its tab is gone. @param {string} sessionId */
    closed(sessionId) {
      told.delete(sessionId)
      reveals.delete(sessionId)
      asked.delete(sessionId)
      focusing.delete(sessionId)
      socket.unfollow(sessionId)
    },

    /** Tells those whose surroundings changed. */
    update() {
      for (const [sessionId, before] of told) {
        const now = stateOf(sessionId)
        if (Object.entries(now).every(([key, value]) => before[/** @type {keyof ShellState} */ (key)] === value)) continue
        told.set(sessionId, now)
        post(sessionId, now)
      }
    },
  }
}
