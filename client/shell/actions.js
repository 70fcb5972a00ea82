/**
 * The shell's actions: opening sessions, search, settings, shortcuts. `new-session.js`, `compare-actions.js`,
 * `session-actions.js`, `discarding.js` and `project-actions.js` have the rest.
 */

import { agentMark } from "../shared/agents.js"
import { agentChoices } from "./agent-choice.js"
import { createAgentsMenu } from "./agents-menu.js"
import { allowNotifications, notificationPermission } from "./attention.js"
import { columnItems } from "./columns.js"
import { filterItems, inOrder, movedBefore, nudged, storeArrangement } from "./arrangement.js"
import { commandsOf } from "./commands.js"
import { createCompareActions } from "./compare-actions.js"
import { isCompareTab, sessionInFront } from "./compare-state.js"
import { saveDefaults } from "./defaults.js"
import { createDiscarding } from "./discarding.js"
import { openHelp } from "./help.js"
import { keysFor } from "../shared/keys.js"
import { linkFrom } from "../shared/link.js"
import { openMenu } from "../shared/menu.js"
import { moodWords, sessionOf, sessionsByProject } from "./model.js"
import { createNewSession } from "./new-session.js"
import { NOW } from "./now.js"
import { openPalette } from "./palette.js"
import { createProjectActions } from "./project-actions.js"
import { createSessionActions } from "./session-actions.js"
import { openSettings } from "./settings.js"
import {
  closeOthers,
  closeTab,
  nextBeside,
  nextColumn,
  nudgeTab,
  openTab,
  previewTab,
  showAlone,
  showBeside,
  stepTab,
} from "./tabs-state.js"

/** @import { ErrorBody, Frame, Hit } from "../contract.js" */
/** @import { Door } from "../shared/door.js" */
/** @import { SessionLink } from "../shared/link.js" */
/** @import { Socket } from "../shared/socket.js" */
/** @import { Store } from "../shared/storage.js" */
/** @import { Shell } from "./app.js" */
/** @import { Look } from "./look.js" */
/** @import { MenuItem } from "../shared/menu.js" */
/** @import { Arrangement } from "./arrangement.js" */
/** @import { Mood } from "./model.js" */
/** @import { Portlets } from "./portlets.js" */
/** @import { Moved } from "./sidebar-moving.js" */
/** @import { Tab } from "./tab-bar.js" */
/** @import { Toast } from "./toasts.js" */

/** @typedef {object} ActionsDeps
 * @property {() => Shell} shell
 * @property {(change: Partial<Shell>) => void} set
 * @property {Door} door
 * @property {Store} preferences
 * @property {Socket} socket
 * @property {{ show(toast: Toast): void }} toasts
 * @property {Look} view
 * @property {Portlets} portlets
 * @property {{ focus(): void }} now
 * @property {(id: string) => void} focusPane
 * @property {(id: string) => Mood} moodFor
 * @property {() => void} lookOutside  Counts the sessions made outside again.
 * @property {() => void} addProject  Opens the form. */

/** Shows an error that begins with `what`. @typedef {(what: string) => (reason: unknown) => void} Failed */

/** @param {ActionsDeps} deps */
export function createActions(deps) {
  const {
    shell,
    set,
    door,
    preferences,
    socket,
    toasts,
    view,
    portlets,
    now,
    moodFor,
    addProject: openAddProject,
  } = deps
  /** @type {ReturnType<typeof openPalette> | null} */
  let palette = null
  /** @type {{ update(): void } | null} */
  let settingsPanel = null
  /** A link that can't be followed yet. @type {SessionLink | null} */
  let link = null
  let drawn = { agents: shell().model.agents, logins: shell().model.logins }

  /** @type {Failed} */
  const failed = (what) => (reason) =>
    toasts.show({ kind: "error", text: `${what}: ${/** @type {ErrorBody} */ (reason).message}` })
  const compares = createCompareActions({ ...deps, failed })
  const discarding = createDiscarding({ ...deps, failed })
  const { discard } = discarding
  const sessions = createSessionActions({ ...deps, failed, compareItems: compares.items, discard })
  const agentsMenu = createAgentsMenu({ ...deps, failed })
  const { projectMenu, archivedOf, archiveSeveral, outsideOf, continueOutside, addProjects, recent, places } =
    createProjectActions({
      ...deps,
      failed,
      sessions,
      openSession,
      newSession: (id, where) => starting.newSession(id, where),
      settings,
    })
  const starting = createNewSession({ ...deps, failed, outsideOf, continueOutside })
  const { newSession, tryDemo, retryCreate, forget, creatingPane, updateStart } = starting

  /** @param {string} id @param {"keep" | "preview"} [as] */
  function openSession(id, as = "keep") {
    set({ tabs: as === "preview" ? previewTab(shell().tabs, id) : openTab(shell().tabs, id) })
    if (!isCompareTab(id) && matchMedia("(hover: hover)").matches) portlets.focus(id)
  }

  function reopenTab() {
    const id = shell().closed.findLast((each) => sessionOf(shell().model, each))
    if (id !== undefined) openSession(id)
  }

  /** @param {string} id @param {HTMLElement} anchor @param {{ x: number, y: number }} at */
  function tabMenu(id, anchor, at) {
    const { tabs, closed } = shell()
    /** @type {MenuItem[]} */
    const items = [
      {
        label: "Close",
        icon: "close",
        ...(id === tabs.active && { aside: keysFor("close-tab") }),
        run: () => set({ tabs: closeTab(shell().tabs, id) }),
      },
    ]
    if (isCompareTab(id)) return void openMenu(anchor, "Tab", items, { at })
    if (tabs.order.length > 1)
      items.push({ label: "Close others", icon: "close", run: () => set({ tabs: closeOthers(shell().tabs, id) }) })
    if (closed.length > 0)
      items.push({ label: "Reopen closed tab", icon: "add", aside: keysFor("reopen-tab"), run: reopenTab })
    openMenu(anchor, "Tab", [...items, ...columnItems(id, shell, set), ...sessions.sessionItems(id)], { at })
  }

  function settings() {
    settingsPanel = openSettings(
      {
        now: () => ({
          theme: view.themeChoice(),
          reading: view.reading(),
          defaults: shell().defaults,
          notifications: notificationPermission(),
          agents: agentChoices(shell().model.agents, shell().model.logins, { preferred: null, lastUsed: [] }),
        }),
        setTheme: view.setTheme,
        setReading: view.setReading,
        setDefaults: (change) => set({ defaults: saveDefaults(preferences, change) }),
        allowNotifications,
        async storage(most) {
          const frame = await socket.request({ type: "changes:storage", ...(most === undefined ? {} : { most }) })
          return frame.type === "changes:storage" ? frame : Promise.reject(new Error("No answer."))
        },
        discarded: discarding,
        keepsOutside: shell().outside.automatic,
        async keepOutside(on) {
          await socket.request({ type: "outside:automatic", on }).catch(failed("Could not change the setting"))
          deps.lookOutside()
        },
        about: async () => (await door.api("/api/about")).json(),
        browsers: async () => (await (await door.api("/api/browsers")).json()).browsers,
        async logOut({ id, isCurrent }) {
          await door.api(`/api/browsers/${encodeURIComponent(id)}`, { method: "DELETE" })
          if (!isCurrent) return
          await door.forget()
          location.reload()
        },
      },
      () => {
        settingsPanel = null
      },
    )
    socket.request({ type: "agents:list" }).catch(() => {})
  }

  /** @param {Hit} hit */
  function openHit(hit) {
    const { sessionId: id, projectId, title, cliType, at, itemId } = hit
    // In no list although its project is listed: archived.
    const archived = shell().model.projects?.some((project) => project.id === projectId) === true
    sessions.visit({
      id,
      projectId,
      title,
      cliType,
      archived,
      state: "idle",
      unread: false,
      createdAt: at,
      lastActiveAt: at,
    })
    portlets.reveal(id, itemId)
  }

  /** Opens the session of a link, once it is known which sessions there are. */
  function followLink() {
    const { model } = shell()
    if (link === null) return
    const { sessionId, itemId } = link
    if (!sessionOf(model, sessionId)) {
      if (!model.projects?.every(({ id }) => model.listed.has(id))) return
      link = null
      return void findArchived(sessionId, itemId)
    }
    link = null
    openSession(sessionId)
    if (itemId !== null) portlets.reveal(sessionId, itemId)
  }

  /** Looks for the session of a link among the archived ones. @param {string} id @param {string | null} itemId */
  async function findArchived(id, itemId) {
    for (const project of shell().model.projects ?? []) {
      const frame = await socket
        .request({ type: "session:list", projectId: project.id, archived: true }, { quietly: true })
        .catch(() => null)
      const session = frame?.type === "session:list" ? frame.sessions.find((each) => each.id === id) : undefined
      if (!session) continue
      sessions.visit(session)
      return itemId === null ? undefined : portlets.reveal(id, itemId)
    }
    toasts.show({ kind: "error", text: "The session of this link no longer exists." })
  }

  function search() {
    if (palette) return palette.close()
    view.closeDrawer()
    palette = openPalette(
      {
        now: Date.now,
        openSession,
        openHit,
        async findOutside(query) {
          const frame = await socket.request({ type: "outside:find", query }, { quietly: true })
          return frame.type === "outside:found" ? frame.sessions : []
        },
        openOutside: (session) =>
          void continueOutside(session.projectId ?? "", session).catch(failed("Could not open the session")),
        projectName: (id) => shell().model.projects?.find((each) => each.id === id)?.name ?? "a removed project",
        commands: () =>
          commandsOf(shell(), {
            openAddProject,
            settings,
            help,
            archivedOf,
            archiveSeveral,
            comparisons: compares.commands,
            newSessionIn: newSession,
            shortcut,
            setTheme: view.setTheme,
            showProject,
            closeOthers: (id) => set({ tabs: closeOthers(shell().tabs, id) }),
            sessionItems: sessions.sessionItems,
            portletCommands: portlets.commandsOf,
            runInPortlet: portlets.run,
          }),
        sessions: () =>
          [...sessionsByProject(shell().model)]
            .flatMap(([projectId, sessions]) =>
              sessions.map((session) => ({
                session,
                mood: moodFor(session.id),
                project: shell().model.projects?.find(({ id }) => id === projectId)?.name ?? "",
              })),
            )
            .sort((a, b) => b.session.lastActiveAt.localeCompare(a.session.lastActiveAt)),
        search: async (query) => {
          const frame = await socket.request({ type: "search", query, limit: 30 })
          return frame.type === "search:results" ? frame : { query, hits: [], more: false, behind: false }
        },
      },
      () => {
        palette = null
      },
    )
  }

  /** A second answer, after one from an index that was behind.
   * @param {Extract<Frame, {type: "search:results"}>} answer */
  const foundAgain = (answer) => palette?.answeredAgain(answer)

  /** @param {string} id */
  function showProject(id) {
    view.showSidebar()
    const fold = document.querySelector(`[data-project="${CSS.escape(id)}"]`)
    if (!(fold instanceof HTMLElement)) return
    if (fold.getAttribute("aria-expanded") === "false") fold.click()
    fold.focus()
    fold.scrollIntoView({ block: "nearest" })
  }

  const help = () => {
    openHelp()
  }

  /** @param {string} name as in `keys.js` */
  function shortcut(name) {
    const { tabs } = shell()
    const session = sessionInFront(shell())
    const nth = /^tab-(\d)$/.exec(name)?.[1]
    if (nth !== undefined) {
      const id = tabs.order[Number(nth) - 1]
      return id === undefined ? undefined : openSession(id)
    }
    switch (name) {
      case "now":
        set({ tabs: { ...tabs, active: null } })
        // Keys must no longer reach the session that is hidden now.
        deps.focusPane(NOW)
        return now.focus()
      case "search":
        return search()
      case "help":
        return help()
      case "new-session":
        return newSession()
      case "close-tab":
        return tabs.active === null ? undefined : set({ tabs: closeTab(tabs, tabs.active) })
      case "reopen-tab":
        return reopenTab()
      case "next-tab":
      case "previous-tab": {
        const next = stepTab(tabs, name === "next-tab" ? 1 : -1)
        return next.active === null ? undefined : openSession(next.active)
      }
      case "move-tab-left":
        return tabs.active === null ? undefined : set({ tabs: nudgeTab(tabs, tabs.active, -1) })
      case "move-tab-right":
        return tabs.active === null ? undefined : set({ tabs: nudgeTab(tabs, tabs.active, 1) })
      case "focus-composer":
        return session === null ? undefined : portlets.focus(session, "composer")
      case "find":
      case "own-above":
      case "own-below":
      case "changes":
        if (session === null) return
        deps.focusPane(session)
        return portlets.run(session, name)
      case "stop":
        return session === null ? undefined : portlets.run(session, name)
      case "rename":
      case "pin":
      case "archive":
      case "copy-link":
        return session === null || !shell().model.sessions.has(session) ? undefined : onSession(name, session)
      case "show-beside": {
        const next = nextBeside(tabs)
        if (next === undefined || shell().room < 2) return toasts.show({ text: whyNotBeside(next) })
        set({ tabs: showBeside(tabs, next) })
        return portlets.focus(next)
      }
      case "show-alone":
        return tabs.active === null ? undefined : set({ tabs: showAlone(tabs, tabs.active) })
      case "next-column": {
        const { active, columns } = nextColumn(tabs)
        return columns && active !== null ? openSession(active) : undefined
      }
      case "toggle-sidebar":
        return view.toggleSidebar()
    }
  }

  /** @param {"rename" | "pin" | "archive" | "copy-link"} name @param {string} id */
  function onSession(name, id) {
    if (name === "rename") sessions.rename(id)
    else if (name === "pin") sessions.pin(id)
    else if (name === "archive") sessions.archive(id)
    else sessions.copyLink(id)
  }

  /** @param {Partial<Arrangement>} change */
  function arrange(change) {
    const arrangement = { ...shell().arrangement, ...change }
    storeArrangement(arrangement)
    set({ arrangement })
  }

  /** Every project in the order shown. */
  const projectOrder = () =>
    inOrder(shell().model.projects ?? [], shell().arrangement.projects, ({ id }) => id).map(({ id }) => id)

  /** @param {Moved} moved @param {string | null} before */
  function moveInSidebar({ kind, id }, before) {
    if (kind === "project") arrange({ projects: movedBefore(projectOrder(), id, before) })
    else arrange({ pinned: movedBefore(shell().arrangement.pinned, id, before) })
  }

  /** @param {Moved} moved @param {1 | -1} by */
  function nudgeInSidebar({ kind, id }, by) {
    if (kind === "project") return arrange({ projects: nudged(projectOrder(), id, by) })
    const { model, arrangement } = shell()
    const project = model.sessions.get(id)?.projectId
    const neighbours = arrangement.pinned.filter((other) => model.sessions.get(other)?.projectId === project)
    arrange({ pinned: nudged(arrangement.pinned, id, by, neighbours) })
  }

  /** @param {HTMLElement} anchor */
  function filterMenu(anchor) {
    const { model, filter } = shell()
    const used = new Set([...model.sessions.values()].map(({ cliType }) => cliType))
    const agents = model.agents.filter(({ cliType }) => used.has(cliType))
    openMenu(
      anchor,
      "Filter sessions",
      filterItems(filter, agents, (next) => set({ filter: next })),
    )
  }

  /** @param {string | undefined} next */
  const whyNotBeside = (next) =>
    next === undefined
      ? "Open another session first; it is then shown beside this one."
      : "The window is too narrow for two sessions side by side."

  return {
    openSession,
    newSession,
    retryCreate,
    forget,
    creatingPane,
    typed: starting.typed,
    alsoSay: starting.alsoSay,
    pictures: starting.pictures,
    keepCompared: compares.keep,
    moveInSidebar,
    nudgeInSidebar,
    filterMenu,
    archive: sessions.archive,
    visitOf: sessions.visitOf,
    /** @param {string} id */
    restore: (id) => {
      sessions.restore(id).catch(failed("Could not restore the session"))
    },
    sessionMenu: sessions.sessionMenu,
    tabMenu,
    renamed: sessions.renamed,
    projectMenu,
    recent,
    places,
    outsideOf,
    addProjects,
    tryDemo,
    settings,
    agentsMenu,
    search,
    foundAgain,
    shortcut,
    /** Opens the link in the page's address, if there is one. */
    followAddress() {
      const given = linkFrom(location.hash)
      if (given === null) return
      // So that a later reload opens the page as it is then.
      history.replaceState(history.state, "", location.pathname)
      link = given
      followLink()
    },
    /** @param {HTMLElement} anchor @param {Tab[]} tabs */
    allTabs: (anchor, tabs) => {
      openMenu(
        anchor,
        "Open sessions",
        tabs.map((tab) => ({
          label: tab.title,
          icon: agentMark(tab.cliType, tab.agent),
          note: tab.project,
          run: () => openSession(tab.id),
          aside: tab.active ? "current" : moodWords[tab.mood],
        })),
      )
    },
    /** @param {string} prefix @returns {Promise<string[]>} */
    completePath: (prefix) =>
      socket
        .request({ type: "path:complete", prefix })
        .then((/** @type {Frame} */ frame) => (frame.type === "path:completions" ? frame.entries : [])),
    /** @param {string} path */
    addProject: (path) => socket.request({ type: "project:add", path }).then(() => {}),
    /** Follows what is known now: an unfollowed link, and the agents in open panels. */
    update() {
      followLink()
      const { agents, logins } = shell().model
      if (agents === drawn.agents && logins === drawn.logins) return
      drawn = { agents, logins }
      settingsPanel?.update()
      updateStart()
    },
  }
}
