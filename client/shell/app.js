/**
 * The wiring of the shell: one socket, one model, the tabs, the views. Frames and user actions change the state; every
 * change ends in one `render`, which gives each view its new state. The user's actions are in `actions.js`.
 */

import { confirmed } from "../shared/dialog.js"
import { need } from "../shared/dom.js"
import { createFrames } from "../shared/frames.js"
import { shortcutOf } from "../shared/keys.js"
import { createSocket } from "../shared/socket.js"
import { keys, load, loadRecord, save, sealed } from "../shared/storage.js"
import { agentName } from "../shared/agents.js"
import { createActions } from "./actions.js"
import { arrangementFromStore, filterWords, inOrder, noFilter } from "./arrangement.js"
import { mountAttention, newsOf, offerNotifications, requestOf } from "./attention.js"
import { mountColumns } from "./columns.js"
import { compareOf, memberToOpen, isCompareTab, panesInView, panesOf } from "./compare-state.js"
import { mountConnectionBar } from "./connection-bar.js"
import { loadDefaults, saveDefaults } from "./defaults.js"
import { createListing } from "./listing.js"
import { createLook } from "./look.js"
import { mountKeeping, nothingOutside } from "./keeping.js"
import {
  applyFrame,
  emptyModel,
  moodOf,
  sessionOf,
  visitsFrom,
  withArchived,
  withLook,
  withStatus,
  withVisitsOf,
} from "./model.js"
import { NOW, createNow, nowPane } from "./now.js"
import { mountPanes } from "./panes.js"
import { createPortlets } from "./portlets.js"
import { mountSidebar } from "./sidebar.js"
import { collapsedFromStore, sendsFromStore } from "./stored.js"
import { mountTabBar } from "./tab-bar.js"
import { closeTab, keepTab, keepTabs, moveTab, nudgeTab, openTab } from "./tabs-state.js"
import { tabsFromStore, tabsToStore, withInView } from "./tabs-state.js"
import { mountToasts } from "./toasts.js"
import { aboutTab, panesOfShell, projectName, sectionsOf, tabsOf, waitingOf } from "./views.js"
import { mountWelcome } from "./welcome.js"

/** @import { ErrorBody, Frame, Project, SessionListItem } from "../contract.js" */
/** @import { Admission, Door } from "../shared/door.js" */
/** @import { Tabs } from "./tabs-state.js" */

/** A session being created, without an id from the server yet. `more`: what is to be said after the prompt. `typed`:
 * what is being written.
 * @typedef {import("./start.js").Start & import("./start-state.js").Member & {
 *   more: readonly string[], typed: string, error: ErrorBody | null }} Creation */

/** The shell's state. Everything in it is replaced, never changed in place.
 * @typedef {object} Shell
 * @property {import("./model.js").Model} model
 * @property {Tabs} tabs
 * @property {number} room  How many sessions fit side by side.
 * @property {readonly string[]} shown  Tabs that have been in view, in that order: they have a pane.
 * @property {ReadonlyMap<string, Creation>} creating
 * @property {ReadonlySet<string>} collapsed
 * @property {import("./arrangement.js").Arrangement} arrangement
 * @property {import("./arrangement.js").Filter} filter
 * @property {string | null} member  The session of a comparison that had the focus last.
 * @property {import("./defaults.js").Defaults} defaults
 * @property {readonly string[]} closed  Tabs that the user closed, the last one at the end.
 * @property {import("./keeping.js").OutsideState} outside  Sessions that were made outside.
 * @property {string | null} editing  The session whose title is being changed. */

/** So many closed tabs can be reopened. */
const MOST_CLOSED = 20

/** @param {Document} document @param {Door} door @param {Admission} admission for the first connection */
export function startApp(document, door, admission) {
  const app = need(document, "#app", HTMLElement)
  app.hidden = false
  const { storageKey } = admission
  const preferences = sealed(localStorage, storageKey)
  const unsent = sealed(sessionStorage, storageKey)
  // Each window keeps its own tabs; a new window starts with those of the window that changed last.
  const isReload = load(sessionStorage, keys.tabs) !== null
  const stored = loadRecord(isReload ? sessionStorage : localStorage, keys.tabs)
  const isNarrow = matchMedia("(max-width: 700px)").matches
  /** @type {Shell} */
  let shell = {
    model: { ...emptyModel, visited: visitsFrom(stored.visited) },
    room: 1,
    shown: [],
    creating: new Map(),
    editing: null,
    closed: [],
    outside: nothingOutside,
    // A new window on a phone shows Now first.
    tabs: { ...tabsFromStore(stored), ...(isNarrow && !isReload && { active: null }) },
    collapsed: collapsedFromStore(),
    arrangement: arrangementFromStore(),
    filter: noFilter,
    member: null,
    defaults: loadDefaults(preferences),
  }
  /** @type {Admission | null} */
  let firstEntry = admission
  let isDue = false
  let isNowLoaded = false
  let isListShown = false
  const frames = createFrames()

  /** Changes the state; the views follow before the next paint.
   * @param {Partial<Shell>} change @param {(show: () => void) => void} soon */
  function set(change, soon = queueMicrotask) {
    const before = shell
    shell = { ...shell, ...change }
    if (
      shell.tabs !== before.tabs ||
      shell.room !== before.room ||
      shell.model.sessions !== before.model.sessions ||
      shell.model.compares !== before.model.compares ||
      shell.model.visited !== before.model.visited
    )
      settleTabs(before)
    isDue = true
    soon(() => {
      if (!isDue) return
      isDue = false
      render()
    })
  }

  /** Closes tabs of sessions that are gone, gives tabs in view a pane, and stores the tabs. @param {Shell} before */
  function settleTabs(before) {
    if (shell.tabs.active !== before.tabs.active) shell = { ...shell, member: memberToOpen(shell) }
    const { creating } = shell
    const known = shell.model.projects?.every(({ id }) => shell.model.listed.has(id)) === true
    const isKnown = (/** @type {string} */ id) =>
      isCompareTab(id)
        ? shell.model.compares === null || compareOf(shell.model, id) !== undefined
        : creating.has(id) || sessionOf(shell.model, id) !== undefined || !known
    const tabs = keepTabs(shell.tabs, isKnown)
    const model = withVisitsOf(shell.model, (id) => tabs.order.includes(id))
    const compared = tabs.order.flatMap((id) => panesOf(compareOf(model, id)).map((pane) => pane.id))
    const isOpen = (/** @type {string} */ id) => tabs.order.includes(id) || compared.includes(id)
    for (const id of shell.shown) if (!isOpen(id)) portlets.closed(id)
    const visible = panesInView({ ...shell, model, tabs }).filter((id) => !isCompareTab(id))
    const shown = withInView(shell.shown.filter(isOpen), visible)
    const gone = before.tabs.order.filter(
      (id) => !tabs.order.includes(id) && id !== before.tabs.preview && sessionOf(model, id),
    )
    const closed = gone.length === 0 ? shell.closed : [...shell.closed.filter((id) => !gone.includes(id)), ...gone]
    shell = {
      ...shell,
      model,
      tabs,
      shown,
      closed: closed.filter((id) => !tabs.order.includes(id)).slice(-MOST_CLOSED),
    }
    if (tabs === before.tabs && model.visited === before.model.visited) return
    const stored = { ...tabsToStore(tabs, (id) => !creating.has(id)), visited: [...model.visited.values()] }
    save(sessionStorage, keys.tabs, stored)
    save(localStorage, keys.tabs, stored)
  }

  const isLookedAt = () => document.visibilityState === "visible" && document.hasFocus()

  /** Now is what is shown without a session. */
  const isNowInFront = () => shell.tabs.active === null && (shell.model.projects?.length ?? 0) > 0
  const inView = () => panesInView(shell)

  /** Tells the server that the user looks at the sessions in view. */
  function lookAtView() {
    if (!isLookedAt()) return
    for (const id of inView()) {
      if (!sessionOf(shell.model, id)?.unread) continue
      shell = { ...shell, model: withLook(shell.model, id) }
      socket.request({ type: "session:looked", sessionId: id }).catch(() => {}) // unread again with the next list
    }
  }

  const socket = createSocket({
    enter() {
      const first = firstEntry
      firstEntry = null
      return first ?? door.enter()
    },
    open: (ticket) => new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`, ["liminal.1", ticket]),
    isHidden: () => document.hidden,
    sends: sendsFromStore(unsent),
    keepSends: (sends) => save(unsent, keys.sends, sends),
    onStatus: (status) => set({ model: withStatus(shell.model, status) }),
    onOpen() {
      const isBack = shell.model.projects !== null
      if (isBack) panes.revive((id) => (id === NOW ? now.has() : portlets.has(id)))
      now.lost()
      const ask = (/** @type {import("../contract.js").ClientMessage} */ message) =>
        socket.request(message).catch(() => {}) // asked again after a reconnect
      ask({ type: "project:list" })
      listing.add(inSidebar(shell.model.projects ?? []))
      ask({ type: "agents:list" })
      ask({ type: "compare:list" })
      keeping.look()
      for (const projectId of new Set(
        [...shell.model.visited.values()].filter(({ archived }) => archived).map((session) => session.projectId),
      )) {
        socket.request({ type: "session:list", projectId, archived: true }, { quietly: true }).then(
          (frame) => {
            if (frame.type === "session:list") set({ model: withArchived(shell.model, projectId, frame.sessions) })
          },
          () => {},
        )
      }
    },
    onFrame,
  })

  const listing = createListing(
    (projectId) => socket.request({ type: "session:list", projectId }),
    () =>
      frames.afterPaint(() => {
        isListShown = true
        set({})
      }),
  )
  /** Their ids, from the top. @param {readonly Project[]} projects */
  const inSidebar = (projects) => inOrder(projects, shell.arrangement.projects, ({ id }) => id).map(({ id }) => id)

  /** @param {Frame} frame */
  function onFrame(frame) {
    const before = shell.model
    const model = applyFrame(before, frame)
    // A session's state comes with its output, which must not wait for the sidebar. Lists come many at once; only the
    // first is shown without waiting for more.
    const isOneOfMany = frame.type === "session:list" && before.listed.size > 0
    const canWait = (frame.type === "session:state" || isOneOfMany) && !document.hidden
    if (model !== before) set({ model }, canWait || frames.isHeld() ? frames.beforePaint : queueMicrotask)
    portlets.onFrame(frame)
    now.onFrame(frame)
    keeping.onFrame(frame)
    if (frame.type === "search:results") actions.foundAgain(frame)
    if (frame.type === "project:list" || frame.type === "project:added") {
      // Known projects are requested when the socket opens; this is for new ones.
      const isNew = (/** @type {{ id: string }} */ { id }) =>
        !model.listed.has(id) && !before.projects?.some((known) => known.id === id)
      listing.add(inSidebar((model.projects ?? []).filter(isNew)))
    }
    if (frame.type === "session:state")
      stateChanged(sessionOf(before, frame.sessionId), sessionOf(model, frame.sessionId))
    if (frame.type === "error" && !(frame.sessionId !== undefined && portlets.has(frame.sessionId)))
      toasts.show({ kind: "error", text: frame.message })
  }

  /** @param {SessionListItem | undefined} before @param {SessionListItem | undefined} after */
  function stateChanged(before, after) {
    if (!before || !after) return
    const inFront = (inView().includes(after.id) || isNowInFront()) && isLookedAt()
    const news = newsOf(before, after)
    const isAway = !isLookedAt() && shell.defaults.notifications
    if (news !== null && isAway) attention.notify(after, projectName(shell.model, after.projectId), news)
    if (after.state !== "waiting" || before.state === "waiting") return
    if (isAway) now.expect(after.id)
    if (!inFront)
      offerNotifications(after.title, {
        defaults: shell.defaults,
        keep: (change) => set({ defaults: saveDefaults(preferences, change) }),
        toasts,
      })
  }

  const portlets = createPortlets({
    shell: () => shell,
    enter: door.enter,
    storageKey,
    socket,
    post: (sessionId, message) => panes.post(sessionId, message),
    theme: () => view.theme(),
    isLookedAt,
    focused: () => document.activeElement,
    onShortcut: (name) => actions.shortcut(name),
    onFocus: (id) => {
      view.closeDrawer()
      if (compareOf(shell.model, shell.tabs.active)) set({ member: id })
      else if (id !== shell.tabs.active && inView().includes(id)) set({ tabs: openTab(shell.tabs, id) })
    },
    setTabs: (change) => set({ tabs: change(shell.tabs) }),
    onFigures: (id, figures) => panes.figure(id, figures),
    confirmRestart: (agent, titles) =>
      confirmed({
        title: `Restart ${agent}?`,
        text: `This also interrupts ${new Intl.ListFormat("en").format(titles.map((title) => `“${title}”`))}.`,
        action: "Restart",
        kind: "danger",
      }),
    lost: (text) => toasts.show({ kind: "error", text }),
  })

  const now = createNow({
    shell: () => shell,
    enter: door.enter,
    socket,
    post: (message) => panes.postNow(message),
    theme: () => view.theme(),
    isLookedAt,
    isInFront: isNowInFront,
    open: (id, itemId) => openAt(id, itemId),
    newSession: () => actions.shortcut("new-session"),
    onShortcut: (name) => actions.shortcut(name),
    onFocus: () => view.closeDrawer(),
    onWaiting: (row) => attention.notify(row, projectName(shell.model, row.projectId), requestOf(row)),
    failed: (text) => toasts.show({ kind: "error", text }),
  })

  /** Opens a session at its card, if it waits with one. @param {string} id @param {string | undefined} itemId */
  function openAt(id, itemId) {
    actions.openSession(id)
    if (itemId !== undefined) portlets.reveal(id, itemId)
  }

  /** @param {string} id */
  function closeOne(id) {
    actions.forget(id)
    set({ tabs: closeTab(shell.tabs, id) })
  }

  const view = createLook(document, { changed: () => set({}), storage: localStorage })
  const toasts = mountToasts(need(document, "#toasts", HTMLElement))
  const attention = mountAttention(document, { open: (id) => openAt(id, now.cardOf(id)) })
  const bar = mountConnectionBar(need(document, "#connection", HTMLElement), { retry: () => socket.wake() })
  const columns = mountColumns(need(document, "#panes", HTMLElement), {
    shell: () => shell,
    set,
    focus: (id) => portlets.focus(id),
  })
  shell = { ...shell, room: columns.room() }
  const panes = mountPanes(need(document, "#panes", HTMLElement), {
    onMessage: (sessionId, message) => portlets.onMessage(sessionId, message),
    onNowMessage: (message) => now.onMessage(message),
    retry: (id) => actions.retryCreate(id),
    restore: (id) => actions.restore(id),
    columns,
    close: closeOne,
    typed: (id, text) => actions.typed(id, text),
    say: (id, text) => actions.alsoSay(id, text),
    open: (id) => actions.openSession(id),
    keep: (id) => actions.keepCompared(id),
    pictures: () => actions.pictures,
  })
  const keeping = mountKeeping(document.body, { socket: () => socket, set: (outside) => set({ outside }) })

  const actions = createActions({
    shell: () => shell,
    lookOutside: keeping.look,
    set,
    door,
    preferences,
    socket,
    toasts,
    view,
    portlets,
    now,
    focusPane: (id) => panes.focus(id),
    moodFor(id) {
      const session = sessionOf(shell.model, id)
      return session ? moodOf(session) : "idle"
    },
    addProject: () => {
      view.showSidebar()
      sidebar.addProject()
    },
  })
  const welcome = mountWelcome(need(document, "#panes", HTMLElement), {
    addProject: () => {
      view.showSidebar()
      sidebar.addProject()
    },
    addProjects: actions.addProjects,
    tryDemo: actions.tryDemo,
    lookAgain: () =>
      socket.request({ type: "agents:list" }).then(
        () => {},
        () => {}, // asked again after a reconnect
      ),
    now: Date.now,
  })
  const sidebar = mountSidebar(need(document, "#sidebar", HTMLElement), {
    now: Date.now,
    open: (id) => {
      actions.openSession(id, "preview")
      view.closeDrawer()
    },
    keep: (id) => set({ tabs: keepTab(shell.tabs, id) }),
    menu: actions.sessionMenu,
    renamed: actions.renamed,
    rename: (id) => set({ editing: id }),
    archive: actions.archive,
    move: actions.moveInSidebar,
    nudge: actions.nudgeInSidebar,
    filter: actions.filterMenu,
    unfilter: () => set({ filter: noFilter }),
    collapse(projectId, collapsed) {
      const next = collapsedFromStore()
      if (collapsed) next.add(projectId)
      else next.delete(projectId)
      save(localStorage, keys.collapsed, Object.fromEntries([...next].map((id) => [id, true])))
      set({ collapsed: next })
    },
    newSession: (projectId) => actions.newSession(projectId),
    projectMenu: actions.projectMenu,
    outsideOf: actions.outsideOf,
    complete: actions.completePath,
    places: actions.places,
    recent: actions.recent,
    add: actions.addProject,
    search: actions.search,
    settings: actions.settings,
    agents: actions.agentsMenu,
    hide: () => view.hideSidebar(),
  })
  const tabBar = mountTabBar(need(document, "#tabs", HTMLElement), {
    activate: (id) => set({ tabs: openTab(shell.tabs, id) }),
    open: (id) => actions.openSession(id),
    keep: (id) => set({ tabs: keepTab(shell.tabs, id) }),
    menu: actions.tabMenu,
    close: closeOne,
    move: (id, to) => set({ tabs: moveTab(shell.tabs, id, to) }),
    dragging: columns.dragging,
    nudge: (id, by) => set({ tabs: nudgeTab(shell.tabs, id, by) }),
    all: actions.allTabs,
    newSession: () => actions.newSession(),
    now: () => actions.shortcut("now"),
    showSidebar: () => view.showSidebar(),
  })

  /** Whether the page was looked at when it was last rendered. */
  let wasLookedAt = false
  function render() {
    wasLookedAt = isLookedAt()
    lookAtView()
    const { model, tabs } = shell
    const waiting = waitingOf(shell)
    sidebar.update({
      status: model.status,
      sections: sectionsOf(shell),
      filter: filterWords(shell.filter, (cliType) => agentName(cliType, model.agents)),
    })
    tabBar.update(tabsOf(shell), { active: isNowInFront(), waiting })
    isNowLoaded ||= isNowInFront()
    const column = isNowInFront() ? { at: 0, of: 1 } : null
    // The first sessions are shown before a frame is loaded, which keeps the page busy for longer.
    if (isListShown || model.projects?.length === 0 || model.status.connection === "lost")
      panes.update([
        ...(isNowLoaded ? [{ ...nowPane, active: isNowInFront(), column }] : []),
        ...panesOfShell(shell, { creating: actions.creatingPane, visit: actions.visitOf }),
      ])
    welcome.update({
      shown: tabs.active === null && model.projects?.length === 0,
      agents: model.agents,
      directories: shell.outside.directories,
    })
    bar.update(model.status)
    attention.update({ title: tabs.active === null ? null : aboutTab(shell, tabs.active).title, waiting })
    portlets.update()
    now.update()
    actions.update()
  }

  document.addEventListener("keydown", (event) => {
    const name = shortcutOf(event)
    if (name === null || (document.querySelector("dialog[open]") && name !== "search")) return
    if (name === "find" && shell.tabs.active === null) return
    event.preventDefault()
    actions.shortcut(name)
  })
  for (const type of ["visibilitychange", "focus", "blur"]) {
    ;(type === "visibilitychange" ? document : window).addEventListener(type, () => {
      if (!document.hidden) socket.wake()
      // The focus also moves between the shell and its frames, which changes nothing.
      if (type === "visibilitychange" || isLookedAt() !== wasLookedAt) set({})
    })
  }
  window.addEventListener("hashchange", actions.followAddress)
  window.addEventListener("online", () => socket.wake())
  window.addEventListener("storage", (event) => {
    if (event.key === keys.collapsed) set({ collapsed: collapsedFromStore() })
    if (event.key === keys.arrangement) set({ arrangement: arrangementFromStore() })
    if (event.key === keys.defaults) set({ defaults: loadDefaults(preferences) })
    if (event.key === keys.theme || event.key === keys.sidebar) view.follow()
  })
  setInterval(() => {
    if (!document.hidden) sidebar.tick()
  }, 15_000)

  settleTabs(shell)
  // The connection is made while the page is drawn.
  socket.start()
  queueMicrotask(() => {
    render()
    actions.followAddress()
  })
}
