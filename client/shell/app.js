/**
 * The wiring of the shell: one socket, one model, the tabs, the views. Frames and the user's acts change the state; every
 * change ends in one `render`, which tells each view what is now. What users do with sessions and projects is in `actions.js`.
 */

import { need } from "../shared/dom.js"
import { credential, prove } from "../shared/door.js"
import { shortcutOf } from "../shared/keys.js"
import { createSocket } from "../shared/socket.js"
import { keys, load, loadRecord, save } from "../shared/storage.js"
import { agentName, agentOf } from "../shared/agents.js"
import { createActions } from "./actions.js"
import { mountAttention, newsOf, withMoods } from "./attention.js"
import { mountConnectionBar } from "./connection-bar.js"
import { loadDefaults } from "./defaults.js"
import { createLook } from "./look.js"
import { applyFrame, emptyModel, sessionOf, sessionsByProject, visitsFrom, withArchived, withStatus, withVisitsOf } from "./model.js"
import { mountPanes } from "./panes.js"
import { createPortlets } from "./portlets.js"
import { isUnread, look, notice, seenFrom } from "./seen.js"
import { mountSidebar } from "./sidebar.js"
import { mountTabBar } from "./tab-bar.js"
import { keepTabs, moveTab, nudgeTab, openTab, closeTab, tabsFromStore, tabsToStore } from "./tabs-state.js"
import { mountToasts } from "./toasts.js"
import { mountWelcome } from "./welcome.js"

/** @import { ErrorBody, Frame, SessionListItem } from "../contract.js" */
/** @import { Send } from "../shared/socket.js" */
/** @import { Mood } from "./model.js" */
/** @import { Tabs } from "./tabs-state.js" */

/** A session that is being made: no id of the server yet. @typedef {{ projectId: string, cliType: string, error: ErrorBody | null }} Creation */

/** What the wiring holds. Everything in it is replaced, never changed in place.
 * @typedef {object} Shell
 * @property {import("./model.js").Model} model
 * @property {Tabs} tabs
 * @property {readonly string[]} shown  Tabs that were in front once, in that order: they have a pane.
 * @property {ReadonlyMap<string, Creation>} creating
 * @property {import("./seen.js").Seen} seen
 * @property {ReadonlySet<string>} collapsed
 * @property {import("./defaults.js").Defaults} defaults
 * @property {string | null} editing  The session whose title is being changed. */

/** @param {Document} document */
export function startApp(document) {
  const app = need(document, "#app", HTMLElement)
  app.hidden = false
  // Each window keeps its own tabs; a new window begins with those of the last one that changed.
  const stored = loadRecord(load(sessionStorage, keys.tabs) ? sessionStorage : localStorage, keys.tabs)
  /** @type {Shell} */
  let shell = {
    model: { ...emptyModel, visited: visitsFrom(stored.visited) }, shown: [], creating: new Map(), editing: null,
    tabs: tabsFromStore(stored),
    seen: seenFrom(loadRecord(localStorage, keys.seen)),
    collapsed: collapsedFromStore(),
    defaults: loadDefaults(localStorage),
  }
  let isDue = false

  /** Changes the state; what is seen follows before the next paint. @param {Partial<Shell>} change @param {(show: () => void) => void} soon */
  function set(change, soon = queueMicrotask) {
    const before = shell
    shell = { ...shell, ...change }
    if (shell.tabs !== before.tabs || shell.model.sessions !== before.model.sessions || shell.model.visited !== before.model.visited) settleTabs(before)
    isDue = true
    soon(() => {
      if (!isDue) return
      isDue = false
      render()
    })
  }

  /** Tabs are of sessions that exist, the one in front has a pane, and all this is remembered. @param {Shell} before */
  function settleTabs(before) {
    const { creating } = shell
    const known = shell.model.projects?.every(({ id }) => shell.model.listed.has(id)) === true
    const tabs = keepTabs(shell.tabs, (id) => creating.has(id) || sessionOf(shell.model, id) !== undefined || !known)
    const model = withVisitsOf(shell.model, (id) => tabs.order.includes(id))
    const shown = shell.shown.filter((id) => tabs.order.includes(id))
    for (const id of shell.shown) if (!tabs.order.includes(id)) portlets.closed(id)
    if (tabs.active !== null && !shown.includes(tabs.active)) shown.push(tabs.active)
    shell = { ...shell, model, tabs, shown }
    if (tabs === before.tabs && model.visited === before.model.visited) return
    const stored = { ...tabsToStore(tabs, (id) => !creating.has(id)), visited: [...model.visited.values()] }
    save(sessionStorage, keys.tabs, stored)
    save(localStorage, keys.tabs, stored)
  }

  const isLookedAt = () => document.visibilityState === "visible" && document.hasFocus()

  /** The session in front is seen while the page is looked at. */
  function lookAtActive() {
    const session = shell.tabs.active === null ? undefined : sessionOf(shell.model, shell.tabs.active)
    if (!session || !isLookedAt()) return
    const seen = look(shell.seen, session)
    if (seen === shell.seen) return
    save(localStorage, keys.seen, seen)
    shell = { ...shell, seen }
  }

  const socket = createSocket({
    token: () => credential(localStorage),
    prove,
    open: (token) => new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`, ["liminal.1", token]),
    isHidden: () => document.hidden,
    sends: sendsFromStore(),
    keepSends: (sends) => save(sessionStorage, keys.sends, sends),
    onStatus: (status) => set({ model: withStatus(shell.model, status) }),
    onOpen() {
      const isBack = shell.model.projects !== null
      if (isBack) panes.revive(portlets.has)
      const ask = (/** @type {import("../contract.js").ClientMessage} */ message) => socket.request(message).catch(() => {}) // a lost connection asks again when it is back
      ask({ type: "project:list" })
      for (const project of shell.model.projects ?? []) ask({ type: "session:list", projectId: project.id })
      ask({ type: "agents:list" })
      for (const projectId of new Set([...shell.model.visited.values()].filter(({ archived }) => archived).map((session) => session.projectId))) {
        socket.request({ type: "session:list", projectId, archived: true }, { quietly: true })
          .then((frame) => { if (frame.type === "session:list") set({ model: withArchived(shell.model, projectId, frame.sessions) }) }, () => {})
      }
    },
    onFrame,
  })

  /** @param {Exclude<Frame, {type: "session:tail"}>} frame */
  function onFrame(frame) {
    const before = shell.model
    const model = applyFrame(before, frame)
    // What a session is doing comes with what it says, which is not to wait for the sidebar.
    const canWait = frame.type === "session:state" && !document.hidden
    if (model !== before) set({ model }, canWait ? requestAnimationFrame : queueMicrotask)
    portlets.onFrame(frame)
    if (frame.type === "project:list" || frame.type === "project:added") {
      // Those we knew are asked for when the socket opens; here come the new ones.
      for (const { id } of model.projects ?? []) {
        if (!model.listed.has(id) && !(before.projects ?? []).some((known) => known.id === id)) socket.request({ type: "session:list", projectId: id }).catch(() => {})
      }
    }
    if (frame.type === "session:state") stateChanged(sessionOf(before, frame.sessionId), sessionOf(model, frame.sessionId))
    if (frame.type === "error" && !(frame.sessionId !== undefined && portlets.has(frame.sessionId))) toasts.show({ kind: "error", text: frame.message })
  }

  /** @param {SessionListItem | undefined} before @param {SessionListItem | undefined} after */
  function stateChanged(before, after) {
    if (!before || !after) return
    const inFront = after.id === shell.tabs.active && isLookedAt()
    if (!inFront && after.lastActiveAt !== before.lastActiveAt) {
      const seen = notice(shell.seen, before)
      if (seen !== shell.seen) { save(localStorage, keys.seen, seen); set({ seen }) }
    }
    const news = newsOf(before, after)
    if (news !== null && !isLookedAt() && shell.defaults.notifications) attention.notify(after, news)
  }

  const portlets = createPortlets({
    shell: () => shell,
    socket,
    post: (sessionId, message) => panes.post(sessionId, message),
    theme: () => view.theme(),
    isLookedAt,
    focused: () => document.activeElement,
    onShortcut: (name) => actions.shortcut(name),
    onFocus: () => view.closeDrawer(),
    lost: (text) => toasts.show({ kind: "error", text }),
  })

  const view = createLook(document, { changed: () => set({}), storage: localStorage })
  const toasts = mountToasts(need(document, "#toasts", HTMLElement))
  const attention = mountAttention(document, { open: (id) => actions.openSession(id) })
  const bar = mountConnectionBar(need(document, "#connection", HTMLElement), { retry: () => socket.wake() })
  const panes = mountPanes(need(document, "#panes", HTMLElement), {
    onMessage: (sessionId, message) => portlets.onMessage(sessionId, message),
    retry: (id) => actions.retryCreate(id),
    restore: (id) => actions.restore(id),
    close: (id) => set({ tabs: closeTab(shell.tabs, id) }),
  })
  const actions = createActions({ shell: () => shell, set, socket, toasts, view, portlets, focusPane: (id) => panes.focus(id), addProject: () => { view.showSidebar(); sidebar.addProject() } })
  const welcome = mountWelcome(need(document, "#panes", HTMLElement), { addProject: () => { view.showSidebar(); sidebar.addProject() }, newSession: (anchor) => actions.newSession(anchor) })
  const sidebar = mountSidebar(need(document, "#sidebar", HTMLElement), {
    now: Date.now,
    open: (id) => { actions.openSession(id); view.closeDrawer() },
    menu: actions.sessionMenu,
    renamed: actions.renamed,
    rename: (id) => set({ editing: id }),
    archive: actions.archive,
    collapse(projectId, collapsed) {
      const next = collapsedFromStore()
      if (collapsed) next.add(projectId)
      else next.delete(projectId)
      save(localStorage, keys.collapsed, Object.fromEntries([...next].map((id) => [id, true])))
      set({ collapsed: next })
    },
    newSession: (projectId, anchor) => actions.newSession(anchor, projectId),
    projectMenu: actions.projectMenu,
    complete: actions.completePath,
    add: actions.addProject,
    search: actions.search,
    settings: actions.settings,
    hide: () => view.hideSidebar(),
  })
  const tabBar = mountTabBar(need(document, "#tabs", HTMLElement), {
    activate: (id) => set({ tabs: openTab(shell.tabs, id) }),
    close: (id) => set({ tabs: closeTab(shell.tabs, id) }),
    move: (id, to) => set({ tabs: moveTab(shell.tabs, id, to) }),
    nudge: (id, by) => set({ tabs: nudgeTab(shell.tabs, id, by) }),
    all: actions.allTabs,
    newSession: (anchor) => actions.newSession(anchor),
    showSidebar: () => view.showSidebar(),
  })

  function render() {
    lookAtActive()
    const { model, tabs, shown, creating, collapsed, editing, seen } = shell
    /** @type {Map<string, Mood>} */
    const moods = new Map(withMoods([...model.sessions.values(), ...model.visited.values()], (session) => isUnread(seen, session)).map(({ session, mood }) => [session.id, mood]))
    const groups = sessionsByProject(model)
    sidebar.update({
      status: model.status,
      sections: model.projects?.map((project) => ({
        project, collapsed: collapsed.has(project.id), listed: model.listed.has(project.id),
        rows: (groups.get(project.id) ?? []).map((session) => ({
          session, mood: moods.get(session.id) ?? "idle", current: session.id === tabs.active, editing: session.id === editing,
        })),
      })) ?? null,
    })
    const about = (/** @type {string} */ id) => {
      const session = sessionOf(model, id)
      const cliType = session?.cliType ?? creating.get(id)?.cliType ?? agentOf(id)
      return { title: session?.title ?? (creating.has(id) ? "New Session" : "…"), cliType, agent: agentName(cliType, model.agents) }
    }
    tabBar.update(tabs.order.map((id) => ({
      id, ...about(id), active: id === tabs.active,
      mood: creating.has(id) ? (creating.get(id)?.error ? "failed" : "running") : moods.get(id) ?? "idle",
    })))
    panes.update(shown.map((id) => ({ id, title: about(id).title, active: id === tabs.active, creating: actions.creatingPane(id), visit: actions.visitOf(id) })))
    welcome.update({ shown: tabs.active === null, projects: model.projects?.length ?? null })
    bar.update(model.status)
    attention.update({ title: tabs.active === null ? null : about(tabs.active).title, sessions: [...moods.values()].map((mood) => ({ mood })) })
    portlets.update()
    actions.update()
  }

  document.addEventListener("keydown", (event) => {
    const name = shortcutOf(event)
    if (name === null || (document.querySelector("dialog[open]") && name !== "search")) return
    event.preventDefault()
    actions.shortcut(name)
  })
  for (const type of ["visibilitychange", "focus", "blur"]) {
    (type === "visibilitychange" ? document : window).addEventListener(type, () => { if (!document.hidden) socket.wake(); set({}) })
  }
  window.addEventListener("online", () => socket.wake())
  window.addEventListener("storage", (event) => {
    if (event.key === keys.collapsed) set({ collapsed: collapsedFromStore() })
    if (event.key === keys.defaults) set({ defaults: loadDefaults(localStorage) })
    if (event.key === keys.seen) set({ seen: seenFrom(loadRecord(localStorage, keys.seen)) })
    if (event.key === keys.theme || event.key === keys.sidebar) view.follow()
    if (event.key === keys.credential) socket.wake()
  })
  setInterval(() => { if (!document.hidden) sidebar.tick() }, 15_000)

  settleTabs(shell)
  render()
  socket.start()
}

const collapsedFromStore = () => new Set(Object.entries(loadRecord(localStorage, keys.collapsed)).filter(([, folded]) => folded === true).map(([id]) => id))

/** @returns {Send[]} */
function sendsFromStore() {
  const stored = load(sessionStorage, keys.sends)
  return Array.isArray(stored) ? stored.filter((send) => ["sessionId", "requestId", "content"].every((key) => typeof send?.[key] === "string")) : []
}
