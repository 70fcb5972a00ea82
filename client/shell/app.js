/**
 * The wiring of the shell: one state, one socket. Frames and user actions change the state; every change ends in one
 * `render`, which gives the views their new state. The views are mounted in `page.js`; the user's actions are in
 * `actions.js`.
 */

import { isInDialog } from "../shared/dialog.js"
import { need } from "../shared/dom.js"
import { createFrames } from "../shared/frames.js"
import { shortcutOf } from "../shared/keys.js"
import { quoted } from "../shared/phrases.js"
import { createSocket } from "../shared/socket.js"
import { keys, sealed } from "../shared/storage.js"
import { sendsFromStore, storeSends } from "../shared/unsent.js"
import { createActions } from "./actions.js"
import { confirmRestart } from "./agents-menu.js"
import { arrangementFromStore } from "./arrangement.js"
import { mountAttention, requestOf } from "./attention.js"
import { compareOf, panesInView } from "./compare-state.js"
import { loadDefaults, saveDefaults } from "./defaults.js"
import { mountKeeping } from "./keeping.js"
import { createListing } from "./listing.js"
import { createLook } from "./look.js"
import { applyFrame, sessionOf, withLook, withStatus } from "./model.js"
import { NOW, createNow } from "./now.js"
import { mountPage } from "./page.js"
import { createPortlets } from "./portlets.js"
import { withTabsSettled } from "./shell-state.js"
import { collapsedFromStore, shellFromStore, storeStarts, storeTabs } from "./stored.js"
import { openTab } from "./tabs-state.js"
import { mountToasts } from "./toasts.js"

/** @import { Frame } from "../contract.js" */
/** @import { Admission, Door } from "../shared/door.js" */
/** @import { Shell } from "./shell-state.js" */

/** @param {Document} document @param {Door} door @param {Admission} admission for the first connection */
export function startApp(document, door, admission) {
  need(document, "#app", HTMLElement).hidden = false
  const { storageKey } = admission
  const preferences = sealed(localStorage, storageKey)
  const unsent = sealed(sessionStorage, storageKey)
  let shell = shellFromStore(preferences, unsent)
  /** @type {Admission | null} */
  let firstEntry = admission
  let isDue = false
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
    if (shell.creating !== before.creating) storeStarts(unsent, shell.creating)
    isDue = true
    soon(() => {
      if (!isDue) return
      isDue = false
      render()
    })
  }

  /** @param {Shell} before */
  function settleTabs(before) {
    const { shown } = shell
    shell = withTabsSettled(before, shell)
    for (const id of shown) if (!shell.shown.includes(id)) portlets.closed(id)
    if (shell.tabs !== before.tabs || shell.model.visited !== before.model.visited) storeTabs(shell)
  }

  const isLookedAt = () => document.visibilityState === "visible" && document.hasFocus()

  /** Tells the server that the user looks at the sessions in view. */
  function lookAtView() {
    if (!isLookedAt()) return
    for (const id of panesInView(shell)) {
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
    keepSends: (sends) => storeSends(unsent, sends),
    onStatus: (status) => set({ model: withStatus(shell.model, status) }),
    onOpen() {
      const isBack = shell.model.projects !== null
      if (isBack) page.panes.revive((id) => (id === NOW ? now.has() : portlets.has(id)))
      now.lost()
      actions.starting.resume()
      listing.all()
      keeping.look()
    },
    onFrame,
  })

  const listing = createListing({
    shell: () => shell,
    set,
    socket,
    begun: () => frames.afterPaint(() => set({ isListPainted: true })),
  })

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
    if (frame.type === "search:results") actions.finding.foundAgain(frame)
    // Known projects are asked for when the socket opens; this is for new ones.
    if (frame.type === "project:list" || frame.type === "project:added") listing.added(before.projects)
    if (frame.type === "session:state")
      attention.stateChanged(sessionOf(before, frame.sessionId), sessionOf(model, frame.sessionId))
    if (frame.type === "error" && !(frame.sessionId !== undefined && portlets.has(frame.sessionId)))
      toasts.show({ kind: "error", text: frame.message })
  }

  const portlets = createPortlets({
    shell: () => shell,
    enter: door.enter,
    storageKey,
    socket,
    post: (sessionId, message) => page.panes.post(sessionId, message),
    theme: () => view.theme(),
    isLookedAt,
    focused: () => document.activeElement,
    onShortcut: (name) => actions.shortcut(name),
    onFocus: (id) => {
      view.closeDrawer()
      if (compareOf(shell.model, shell.tabs.active)) set({ member: id })
      else if (id !== shell.tabs.active && panesInView(shell).includes(id)) set({ tabs: openTab(shell.tabs, id) })
    },
    setTabs: (change) => set({ tabs: change(shell.tabs) }),
    onFigures: (id, figures) => page.panes.figure(id, figures),
    confirmRestart: (agent, titles) => confirmRestart(agent, `This also interrupts ${quoted(titles)}.`),
    lost: (text) => toasts.show({ kind: "error", text }),
  })

  const now = createNow({
    shell: () => shell,
    storageKey,
    enter: door.enter,
    socket,
    post: (message) => page.panes.postNow(message),
    theme: () => view.theme(),
    isLookedAt,
    open: (id, itemId) => openAt(id, itemId),
    newSession: () => actions.shortcut("new-session"),
    onShortcut: (name) => actions.shortcut(name),
    onFocus: () => view.closeDrawer(),
    onWaiting: (row) => attention.notify(row, requestOf(row)),
    failed: (text) => toasts.show({ kind: "error", text }),
  })

  /** Opens a session at its card, if it waits with one. @param {string} id @param {string | undefined} itemId */
  function openAt(id, itemId) {
    actions.openSession(id)
    if (itemId !== undefined) portlets.reveal(id, itemId)
  }

  const view = createLook(document, { changed: () => set({}), storage: localStorage })
  const toasts = mountToasts(need(document, "#toasts", HTMLElement))
  const attention = mountAttention(document, {
    shell: () => shell,
    isLookedAt,
    setDefaults: (change) => set({ defaults: saveDefaults(preferences, change) }),
    toasts,
    expect: now.expect,
    open: (id) => openAt(id, now.cardOf(id)),
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
    focusPane: (id) => page.panes.focus(id),
    addProject: () => page.addProject(),
  })
  const page = mountPage(document, { shell: () => shell, set, socket, view, portlets, now, actions, attention })
  shell = { ...shell, room: page.room() }

  /** Whether the page was looked at when it was last rendered. */
  let wasLookedAt = false
  function render() {
    wasLookedAt = isLookedAt()
    lookAtView()
    page.update()
    portlets.update()
    now.update()
    actions.update()
  }

  document.addEventListener("keydown", (event) => {
    const name = shortcutOf(event)
    if (name === null || (isInDialog() && name !== "search")) return
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
  window.addEventListener("hashchange", actions.finding.followAddress)
  window.addEventListener("online", () => socket.wake())
  window.addEventListener("storage", (event) => {
    if (event.key === keys.collapsed) set({ collapsed: collapsedFromStore() })
    if (event.key === keys.arrangement) set({ arrangement: arrangementFromStore() })
    if (event.key === keys.defaults) set({ defaults: loadDefaults(preferences) })
    if (event.key === keys.theme || event.key === keys.sidebar) view.follow()
  })
  setInterval(() => {
    if (!document.hidden) page.tick()
  }, 15_000)

  settleTabs(shell)
  // The connection is made while the page is drawn.
  socket.start()
  queueMicrotask(() => {
    render()
    if (shell.tabs.active !== null && shell.tabs.active !== NOW) actions.focusTab(shell.tabs.active)
    actions.finding.followAddress()
  })
}
