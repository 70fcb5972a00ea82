/**
 * The shell's side of the portlets: which are listening, the state each needs, and their requests to the socket. The
 * iframes are in `panes.js`, the messages in `bridge.js`.
 */

import { isToPortlet } from "../shared/bridge.js"
import { linkTo } from "../shared/link.js"
import { isPrivateReply } from "../shared/socket.js"
import { sealed } from "../shared/storage.js"
import { moveDraft } from "../portlet/drafts.js"
import { compareOf, isCompareTab, panesInView, panesOf, sessionInFront } from "./compare-state.js"
import { interruptedByRestart, sessionOf } from "./model.js"
import { closeTab, keepTab, moveTab, openTab } from "./tabs-state.js"

/** @import { ErrorBody, Frame } from "../contract.js" */
/** @import { Figures, PortletRequest, ShellState, Theme, ToPortlet, ToShell } from "../shared/bridge.js" */
/** @import { Entry } from "../shared/door.js" */
/** @import { Socket } from "../shared/socket.js" */
/** @import { Shell } from "./shell-state.js" */
/** @import { Tabs } from "./tabs-state.js" */

/** @typedef {object} PortletsDeps
 * @property {() => Shell} shell
 * @property {() => Promise<Entry>} enter
 * @property {string} storageKey
 * @property {Socket} socket
 * @property {(sessionId: string, message: ToPortlet) => void} post
 * @property {() => Theme} theme
 * @property {() => boolean} isLookedAt
 * @property {() => Element | null} focused  The focused element.
 * @property {(name: string) => void} onShortcut
 * @property {(sessionId: string) => void} onFocus
 * @property {(change: (tabs: Tabs) => Tabs) => void} setTabs
 * @property {(sessionId: string, figures: Figures) => void} onFigures
 * @property {(agent: string, titles: string[]) => Promise<boolean>} confirmRestart
 *   `titles`: the sessions it interrupts.
 * @property {(text: string) => void} lost  Something the user asked for can't be shown. */

/** @typedef {ReturnType<typeof createPortlets>} Portlets */

/** @param {PortletsDeps} deps */
export function createPortlets(deps) {
  const { shell, enter, storageKey, socket, post, theme, isLookedAt, focused } = deps
  const { onShortcut, onFocus, setTabs, onFigures, confirmRestart, lost } = deps
  /** The listening portlets and the state each was last sent. @type {Map<string, ShellState>} */
  const sentStates = new Map()
  /** Items to scroll to when the next history arrives. @type {Map<string, string>} */
  const reveals = new Map()
  /** Items whose surroundings were requested: if still missing, they no longer exist. @type {Map<string, string>} */
  const requested = new Map()
  /** The tab to focus once its portlet listens, and what had the focus when that was requested.
   * @type {{ tab: string, before: Element | null } | null} */
  let wish = null
  /** The commands that each portlet offers. @type {Map<string, readonly string[]>} */
  const commands = new Map()

  /** @param {string} sessionId @returns {ShellState} */
  function stateOf(sessionId) {
    const { model } = shell()
    const session = sessionOf(model, sessionId) ?? null
    return {
      type: "shell:state",
      session,
      project: model.projects?.find(({ id }) => id === session?.projectId) ?? null,
      agent: model.agents.find(({ cliType }) => cliType === session?.cliType) ?? null,
      agentState:
        model.agentStates.get(sessionId) ?? (session ? model.agentStates.get(session.cliType) : undefined) ?? null,
      connection: model.status.connection,
      compared: panesOf(compareOf(model, shell().tabs.active)).some(({ id }) => id === sessionId),
      theme: theme(),
      visible: panesInView(shell()).includes(sessionId) && isLookedAt(),
      storageKey,
    }
  }

  /** @param {string} sessionId */
  function ready(sessionId) {
    const state = stateOf(sessionId)
    sentStates.set(sessionId, state)
    post(sessionId, state)
    const sends = socket.adoptSends(sessionId, (frame) => answer(sessionId, frame))
    if (sends.length > 0) post(sessionId, { type: "shell:pending", sends })
    const reveal = reveals.get(sessionId)
    if (reveal !== undefined) requested.set(sessionId, reveal)
    socket.follow(sessionId, reveal)
    const isInFront = sessionInFront(shell()) === sessionId
    if (wish === null || (wish.tab !== sessionId && !(isInFront && wish.tab === shell().tabs.active))) return
    if (isInFront && isFocusFree(wish.before)) post(sessionId, { type: "shell:focus" })
    wish = null
  }

  /** A portlet may load slowly; if the user moved the focus meanwhile, keep it. @param {Element | null} before */
  function isFocusFree(before) {
    const now = focused()
    return now === before || now === null || now === document.body || now instanceof HTMLIFrameElement
  }

  /** @param {string} sessionId @param {Frame} frame */
  function pass(sessionId, frame) {
    if (isToPortlet(frame, sessionId)) post(sessionId, frame)
  }

  /** Passes on a reply for this portlet alone; frames for everyone come through `onFrame`.
   * @param {string} sessionId @param {Frame} frame */
  function answer(sessionId, frame) {
    if (isPrivateReply(frame)) pass(sessionId, frame)
  }

  /** @param {string} sessionId @param {PortletRequest} message */
  function ask(sessionId, message) {
    const { requestId } = message
    socket.request(message, { requestId }).then(
      (frame) => answer(sessionId, frame),
      (/** @type {ErrorBody} */ reason) => post(sessionId, { ...reason, type: "error", sessionId, requestId }),
    )
  }

  /** The user writes in it: its tab is no preview any more. @param {string} sessionId */
  const kept = (sessionId) => {
    if (shell().tabs.preview === sessionId) setTabs((tabs) => keepTab(tabs, sessionId))
  }

  /** Opens the session that was made from this one. An edited version takes the place of the earlier one.
   * @param {string} sessionId @param {Extract<PortletRequest, { type: "session:branch" }>} message */
  async function branch(sessionId, message) {
    const { requestId } = message
    try {
      const frame = await socket.request(message, { requestId })
      if (frame.type === "session:created" && message.as === "edit")
        moveDraft(sealed(localStorage, storageKey), sessionId, frame.sessionId)
      post(sessionId, { type: "ok", requestId })
      if (frame.type !== "session:created") return
      setTabs((tabs) => {
        const opened = moveTab(openTab(tabs, frame.sessionId), frame.sessionId, tabs.order.indexOf(sessionId) + 1)
        return message.as === "edit" ? closeTab(opened, sessionId) : opened
      })
      wish = { tab: frame.sessionId, before: focused() }
    } catch (reason) {
      post(sessionId, { .../** @type {ErrorBody} */ (reason), type: "error", sessionId, requestId })
    }
  }

  /** Restarts the session's agent, which may be at work for other sessions too.
   * @param {string} sessionId @param {Extract<PortletRequest, { type: "session:reconnect" }>} message */
  async function restart(sessionId, message) {
    const { model } = shell()
    const others = interruptedByRestart(model, sessionId)
    const name = model.agents.find(({ cliType }) => cliType === message.cliType)?.name ?? "the agent"
    if (others.length === 0 || (await confirmRestart(name, others))) return ask(sessionId, message)
    post(sessionId, { type: "ok", requestId: message.requestId })
  }

  return {
    /** @param {string} sessionId */
    has: (sessionId) => sentStates.has(sessionId),

    /** @param {string} sessionId @param {ToShell} message */
    onMessage(sessionId, message) {
      switch (message.type) {
        case "portlet:ready":
          return ready(sessionId)
        case "portlet:focus":
          return onFocus(sessionId)
        case "portlet:kept":
          return kept(sessionId)
        case "portlet:open":
          return void (location.hash = new URL(linkTo(location.origin, message.target)).hash)
        case "portlet:shortcut":
          return onShortcut(message.name)
        case "portlet:commands": {
          commands.set(sessionId, message.commands)
          return
        }
        case "portlet:figures":
          return onFigures(sessionId, message.figures)
        case "portlet:enter": {
          enter().then((entry) => post(sessionId, { type: "shell:entry", entry }))
          return
        }
        case "portlet:retry-open":
          return socket.follow(sessionId)
        case "portlet:lacks": {
          if (requested.get(sessionId) === message.itemId) return lost("That message is no longer in the transcript.")
          requested.set(sessionId, message.itemId)
          reveals.set(sessionId, message.itemId)
          return socket.follow(sessionId, message.itemId)
        }
        case "session:send":
          kept(sessionId)
          return socket.send(message, (frame) => answer(sessionId, frame))
        case "session:branch": {
          branch(sessionId, message)
          return
        }
        case "session:reconnect": {
          restart(sessionId, message)
          return
        }
        default:
          return ask(sessionId, message)
      }
    },

    /** @param {Frame} frame */
    onFrame(frame) {
      if (frame.type === "agent:status" && frame.sessionId === undefined) {
        for (const [sessionId, state] of sentStates)
          if (state.session?.cliType === frame.cliType) pass(sessionId, frame)
      }
      if (!("sessionId" in frame) || frame.sessionId === undefined || !sentStates.has(frame.sessionId)) return
      pass(frame.sessionId, frame)
      const itemId = reveals.get(frame.sessionId)
      if (frame.type !== "session:history" || itemId === undefined) return
      reveals.delete(frame.sessionId)
      post(frame.sessionId, { type: "shell:reveal", itemId })
    },

    /** Scrolls to an item of a session whose tab was just activated.
     * @param {string} sessionId @param {string} itemId */
    reveal(sessionId, itemId) {
      requested.delete(sessionId)
      if (sentStates.has(sessionId)) post(sessionId, { type: "shell:reveal", itemId })
      else reveals.set(sessionId, itemId)
    },

    /** Focuses the session of a tab, in a comparison the one in front, now or once it has loaded: what waits for the
     * user, or the composer. @param {string} tab @param {"composer"} [on] the composer in any case */
    focus(tab, on) {
      const sessionId = isCompareTab(tab) ? (sessionInFront(shell()) ?? "") : tab
      if (sentStates.has(sessionId)) post(sessionId, { type: "shell:focus", ...(on && { on }) })
      else wish = { tab, before: focused() }
    },

    /** What the palette can do in a session. @param {string} sessionId @returns {readonly string[]} */
    commandsOf: (sessionId) => commands.get(sessionId) ?? [],

    /** Runs a command of a session, by its shortcut's name or its label.
     * @param {string} sessionId @param {string} name */
    run: (sessionId, name) => post(sessionId, { type: "shell:command", name }),

    /** Its tab was closed. @param {string} sessionId */
    closed(sessionId) {
      commands.delete(sessionId)
      sentStates.delete(sessionId)
      reveals.delete(sessionId)
      requested.delete(sessionId)
      if (wish?.tab === sessionId) wish = null
      socket.unfollow(sessionId)
    },

    /** Sends each portlet its state if it changed. */
    update() {
      for (const [sessionId, before] of sentStates) {
        const now = stateOf(sessionId)
        const changed = Object.keys(now).filter(
          (key) => before[/** @type {keyof ShellState} */ (key)] !== now[/** @type {keyof ShellState} */ (key)],
        )
        if (changed.length === 0) continue
        sentStates.set(sessionId, now)
        post(
          sessionId,
          changed.every((key) => key === "visible") ? { type: "shell:visible", visible: now.visible } : now,
        )
      }
    },
  }
}
