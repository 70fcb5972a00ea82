/** What users do with projects and sessions: menus, dialogs, requests, and how their failures are told. */

import { agentMark, agentName } from "../shared/agents.js"
import { api } from "../shared/door.js"
import { uuid } from "../shared/ids.js"
import { agentChoices, withUsed } from "./agent-choice.js"
import { openArchived } from "./archived.js"
import { allowNotifications, notificationPermission } from "./attention.js"
import { saveDefaults } from "./defaults.js"
import { confirmed } from "./dialog.js"
import { copied } from "../shared/failure.js"
import { openHelp } from "./help.js"
import { openMenu } from "./menu.js"
import { sessionOf, sessionsByProject, withLogin, withVisit } from "./model.js"
import { openPalette } from "./palette.js"
import { commandsOf } from "./commands.js"
import { openSettings } from "./settings.js"
import { closeTab, moveTab, nudgeTab, openTab, replaceTab, stepTab } from "./tabs-state.js"

/** @import { ErrorBody, Frame, Hit, SessionListItem } from "../contract.js" */
/** @import { Socket } from "../shared/socket.js" */
/** @import { Shell } from "./app.js" */
/** @import { Look } from "./look.js" */
/** @import { MenuItem, OpenMenu } from "./menu.js" */
/** @import { Creating, Visit } from "./panes.js" */
/** @import { Portlets } from "./portlets.js" */
/** @import { Tab } from "./tab-bar.js" */
/** @import { Tabs } from "./tabs-state.js" */
/** @import { Toast } from "./toasts.js" */

/** @typedef {object} ActionsDeps
 * @property {() => Shell} shell
 * @property {(change: Partial<Shell>) => void} set
 * @property {Socket} socket
 * @property {{ show(toast: Toast): void }} toasts
 * @property {Look} view
 * @property {Portlets} portlets
 * @property {(id: string) => void} focusPane
 * @property {() => void} addProject  Opens the form. */

/** @param {ActionsDeps} deps */
export function createActions({ shell, set, socket, toasts, view, portlets, focusPane, addProject: openAddProject }) {
  /** @type {{ close(): void } | null} */
  let palette = null
  /** @type {{ update(): void } | null} */
  let settingsPanel = null
  /** @type {{ menu: OpenMenu, fill(): MenuItem[] } | null} */
  let picker = null
  let drawn = { agents: shell().model.agents, logins: shell().model.logins }

  /** @param {string} what @returns {(reason: unknown) => void} */
  const failed = (what) => (reason) => toasts.show({ kind: "error", text: `${what}: ${/** @type {ErrorBody} */ (reason).message}` })
  /** @param {string} id */
  const titleOf = (id) => sessionOf(shell().model, id)?.title ?? "this session"

  /** @param {string} id @param {{ focus?: boolean }} [how] */
  function openSession(id, { focus = true } = {}) {
    set({ tabs: openTab(shell().tabs, id) })
    if (focus && matchMedia("(hover: hover)").matches) portlets.focus(id)
  }

  /** The project a new session goes to when none was named: that of the tab in front, else the one used last, else the first. */
  function likelyProject() {
    const { model, tabs } = shell()
    const active = tabs.active === null ? undefined : sessionOf(model, tabs.active)?.projectId
    const newest = [...model.sessions.values()].reduce((/** @type {SessionListItem | null} */ best, each) => best && best.lastActiveAt > each.lastActiveAt ? best : each, null)
    return active ?? newest?.projectId ?? model.projects?.[0]?.id
  }

  /** The agents, at a button. @param {HTMLElement} anchor @param {string | undefined} [projectId] */
  function newSession(anchor, projectId = likelyProject()) {
    if (projectId === undefined) return openAddProject()
    const project = shell().model.projects?.find(({ id }) => id === projectId)
    const fill = () => agentChoices(shell().model.agents, shell().model.logins, { preferred: shell().defaults.agent, lastUsed: shell().defaults.lastUsed }).map(({ agent, state, word, todo }) => /** @type {MenuItem} */ ({
      label: agent.name, icon: agentMark(agent.cliType, agent.name), aside: word, ...(todo ? { note: todo } : {}), ...(state === "missing" ? { kind: "muted" } : {}),
      async run() {
        if (state !== "missing") return create(projectId, agent.cliType)
        toasts.show({ text: `${agent.name} is not installed.${todo ? ` ${await copied(todo) ? "Copied to the clipboard" : "Type in a terminal"}: ${todo}` : ""}` })
      },
    }))
    if (fill().length === 0) return toasts.show({ kind: "error", text: "The server has not said yet which agents there are. Try again in a moment." })
    picker = { fill, menu: openMenu(anchor, `New session in ${project?.name ?? "this project"}`, fill(), { className: "agent-picker", onClose: () => { picker = null } }) }
    socket.request({ type: "agents:list" }).catch(() => {}) // what is installed may have changed since
  }

  /** @param {string} projectId @param {string} cliType */
  function create(projectId, cliType) {
    const id = `creating:${uuid()}`
    set({
      creating: new Map(shell().creating).set(id, { projectId, cliType, error: null }),
      tabs: openTab(shell().tabs, id),
      defaults: saveDefaults(localStorage, { lastUsed: withUsed(shell().defaults.lastUsed, cliType) }),
    })
    view.closeDrawer()
    focusPane(id)
    requestCreate(id)
  }

  /** @param {string} id */
  async function requestCreate(id) {
    const creation = shell().creating.get(id)
    if (!creation) return
    const { projectId, cliType } = creation
    const { policy } = shell().defaults
    try {
      const frame = await socket.request({ type: "session:create", projectId, cliType, ...(policy === null ? {} : { policy }) })
      if (frame.type !== "session:created") return
      const wasOpen = shell().tabs.order.includes(id)
      const wasActive = shell().tabs.active === id
      set({ tabs: replaceTab(shell().tabs, id, frame.sessionId), creating: withoutKey(shell().creating, id) })
      if (wasOpen && wasActive) portlets.focus(frame.sessionId)
    } catch (reason) {
      const error = /** @type {ErrorBody} */ (reason)
      if (error.code === "AUTH_REQUIRED") set({ model: withLogin(shell().model, cliType, error) })
      if (shell().tabs.order.includes(id)) set({ creating: new Map(shell().creating).set(id, { ...creation, error }) })
      else {
        set({ creating: withoutKey(shell().creating, id) })
        failed(`Could not start a session with ${agentName(cliType, shell().model.agents)}`)(error)
      }
    }
  }

  /** @param {string} id */
  function archive(id) {
    const title = titleOf(id)
    const { order, active } = shell().tabs
    /** As it was before, where it stood. @param {Tabs} now @returns {Tabs} */
    const backAgain = (now) => ({ ...moveTab(openTab(now, id), id, order.indexOf(id)), active: active === id ? id : now.active })
    socket.request({ type: "session:archive", sessionId: id }).then(() => toasts.show({
      text: `Archived “${title}”.`,
      action: {
        label: "Undo",
        run: () => restore(id).then(() => { if (order.includes(id)) set({ tabs: backAgain(shell().tabs) }) }, failed("Could not restore it")),
      },
    }), failed("Could not archive it"))
  }

  /** @param {string} id */
  const restore = (id) => socket.request({ type: "session:unarchive", sessionId: id }).then(() => {})

  /** Opens a session whether or not it is in a list. @param {SessionListItem} session */
  const visit = (session) => set({ model: withVisit(shell().model, session), tabs: openTab(shell().tabs, session.id) })

  /** How a session that is in no list comes to have a tab. @param {string} id @returns {Visit | null} */
  function visitOf(id) {
    const session = shell().model.visited.get(id)
    return session ? (session.archived ? "archived" : "removed") : null
  }

  /** @param {string} id @param {string} title @param {boolean} works */
  async function remove(id, title, works) {
    const yes = await confirmed({
      title: `Delete “${title}”?`, action: "Delete",
      text: `${works ? "It is working now and will be stopped. " : ""}Its transcript is removed from Liminal Builder for good. A file the agent itself keeps stays where it is.`,
    })
    if (yes) await socket.request({ type: "session:delete", sessionId: id })
    return yes
  }

  /** @param {string} id @param {"md" | "json"} format */
  async function exportSession(id, format) {
    try {
      const answer = await api(`/api/session/${encodeURIComponent(id)}/export?format=${format}`)
      const address = URL.createObjectURL(await answer.blob())
      const link = Object.assign(document.createElement("a"), { href: address, download: `${titleOf(id).replace(/[^\p{L}\p{N} ._-]/gu, "").trim().slice(0, 80) || "session"}.${format}` })
      link.click()
      setTimeout(() => URL.revokeObjectURL(address), 60_000)
    } catch (reason) {
      failed("Could not export it")(reason)
    }
  }

  /** @param {string} id @param {HTMLElement} anchor @param {{ x: number, y: number }} [at] */
  function sessionMenu(id, anchor, at) {
    const session = shell().model.sessions.get(id)
    if (!session) return
    openMenu(anchor, session.title, [
      { label: "Rename", icon: "edit", aside: "F2", run: () => set({ editing: id }) },
      { label: "Archive", icon: "archive", aside: "Del", run: () => archive(id) },
      { label: "Export as Markdown", icon: "export", run: () => exportSession(id, "md") },
      { label: "Export as JSON", icon: "export", run: () => exportSession(id, "json") },
      { label: "Delete…", icon: "trash", kind: "danger", run: () => { remove(id, session.title, session.state !== "idle" && session.state !== "failed").catch(failed("Could not delete it")) } },
    ], at ? { at } : {})
  }

  /** @param {string} id @param {string | null} title */
  function renamed(id, title) {
    set({ editing: null })
    if (title !== null) socket.request({ type: "session:rename", sessionId: id, title }).catch(failed("Could not rename it"))
  }

  /** @param {string} id */
  async function removeProject(id) {
    const { model } = shell()
    const project = model.projects?.find((each) => each.id === id)
    if (!project) return
    const works = [...model.sessions.values()].some((session) => session.projectId === id && session.state !== "idle" && session.state !== "failed")
    const yes = await confirmed({
      title: `Remove ${project.name}?`, action: "Remove",
      text: `It leaves the list and its tabs close. Nothing is deleted: files and sessions stay, and adding ${project.path} again brings them back.${works ? " Work under way goes on until it ends." : ""}`,
    })
    if (yes) await socket.request({ type: "project:remove", projectId: id }).catch(failed("Could not remove it"))
  }

  /** @param {string} id */
  function archivedOf(id) {
    const project = shell().model.projects?.find((each) => each.id === id)
    if (!project) return
    openArchived(project, {
      now: Date.now, restore,
      open: visit,
      remove: (session) => remove(session.id, session.title, false),
      list: async (projectId) => {
        const frame = await socket.request({ type: "session:list", projectId, archived: true }, { quietly: true })
        return frame.type === "session:list" ? frame.sessions : []
      },
    })
  }

  /** @param {string} id @param {HTMLElement} anchor @param {{ x: number, y: number }} [at] */
  function projectMenu(id, anchor, at) {
    const project = shell().model.projects?.find((each) => each.id === id)
    if (!project) return
    openMenu(anchor, project.name, [
      { label: "Archived sessions…", icon: "archive", run: () => archivedOf(id) },
      { label: "Copy the path", icon: "copy", note: project.path, run: async () => { if (!await copied(project.path)) toasts.show({ text: project.path }) } },
      { label: "Remove from the list…", icon: "trash", kind: "danger", run: () => { removeProject(id) } },
    ], at ? { at } : {})
  }

  function settings() {
    settingsPanel = openSettings({
      now: () => ({
        theme: view.themeChoice(), defaults: shell().defaults, notifications: notificationPermission(),
        agents: agentChoices(shell().model.agents, shell().model.logins, { preferred: null, lastUsed: [] }),
      }),
      setTheme: view.setTheme,
      setDefaults: (change) => set({ defaults: saveDefaults(localStorage, change) }),
      allowNotifications,
      about: async () => (await api("/api/about")).json(),
    }, () => { settingsPanel = null })
    socket.request({ type: "agents:list" }).catch(() => {})
  }

  /** @param {Hit} hit */
  function openHit(hit) {
    const { sessionId: id, projectId, title, cliType, at, itemId } = hit
    // In no list although its project is there: archived.
    const archived = shell().model.projects?.some((project) => project.id === projectId) === true
    visit({ id, projectId, title, cliType, archived, state: "idle", createdAt: at, lastActiveAt: at })
    portlets.reveal(id, itemId)
  }

  function search() {
    if (palette) return palette.close()
    view.closeDrawer()
    palette = openPalette({
      now: Date.now, openSession, openHit,
      projectName: (id) => shell().model.projects?.find((each) => each.id === id)?.name ?? "a removed project",
      commands: () => commandsOf(shell(), { openAddProject, settings, help, archivedOf, newSessionIn: (projectId) => newSession(addButton(), projectId), shortcut, setTheme: view.setTheme, showProject }),
      sessions: () => [...sessionsByProject(shell().model)].flatMap(([projectId, sessions]) => sessions.map((session) => ({ session, project: shell().model.projects?.find(({ id }) => id === projectId)?.name ?? "" })))
        .sort((a, b) => b.session.lastActiveAt.localeCompare(a.session.lastActiveAt)),
      search: async (query) => {
        const frame = await socket.request({ type: "search", query, limit: 30 })
        return frame.type === "search:results" ? frame : { hits: [], more: false }
      },
    }, () => { palette = null })
  }

  /** @param {string} id */
  function showProject(id) {
    view.showSidebar()
    const fold = document.querySelector(`[data-project="${CSS.escape(id)}"]`)
    if (!(fold instanceof HTMLElement)) return
    if (fold.getAttribute("aria-expanded") === "false") fold.click()
    fold.focus()
    fold.scrollIntoView({ block: "nearest" })
  }

  const help = () => { openHelp() }
  const addButton = () => /** @type {HTMLElement} */ (document.querySelector(".tab-add"))

  /** @param {string} name of `keys.js` */
  function shortcut(name) {
    const { tabs } = shell()
    const nth = /^tab-(\d)$/.exec(name)?.[1]
    if (nth !== undefined) {
      const id = tabs.order[Number(nth) - 1]
      return id === undefined ? undefined : openSession(id)
    }
    switch (name) {
      case "search": return search()
      case "help": return help()
      case "new-session": return newSession(addButton())
      case "close-tab": return tabs.active === null ? undefined : set({ tabs: closeTab(tabs, tabs.active) })
      case "next-tab": case "previous-tab": {
        const next = stepTab(tabs, name === "next-tab" ? 1 : -1)
        return next.active === null ? undefined : openSession(next.active)
      }
      case "move-tab-left": return tabs.active === null ? undefined : set({ tabs: nudgeTab(tabs, tabs.active, -1) })
      case "move-tab-right": return tabs.active === null ? undefined : set({ tabs: nudgeTab(tabs, tabs.active, 1) })
      case "focus-composer": return tabs.active === null ? undefined : portlets.focus(tabs.active)
      case "toggle-sidebar": return view.toggleSidebar()
    }
  }

  return {
    openSession, newSession, archive, visitOf,
    /** @param {string} id */
    restore: (id) => { restore(id).catch(failed("Could not restore it")) },
    sessionMenu, renamed, projectMenu, settings, search, shortcut,
    /** @param {HTMLElement} anchor @param {Tab[]} tabs */
    allTabs: (anchor, tabs) => {
      openMenu(anchor, "Open sessions", tabs.map((tab) => ({ label: tab.title, icon: agentMark(tab.cliType, tab.agent), run: () => openSession(tab.id), ...(tab.active ? { aside: "in front" } : {}) })))
    },
    /** @param {string} id */
    retryCreate(id) {
      const creation = shell().creating.get(id)
      if (!creation) return
      set({ creating: new Map(shell().creating).set(id, { ...creation, error: null }) })
      requestCreate(id)
    },
    /** @param {string} id @returns {Creating | null} */
    creatingPane(id) {
      const { model, creating } = shell()
      const creation = creating.get(id)
      if (!creation) return null
      const agent = agentName(creation.cliType, model.agents)
      const status = model.agentStates.get(creation.cliType)?.status
      return {
        agent, error: creation.error,
        words: status === "connected" ? `${agent} is ready. Making the session…` : status === "reconnecting" ? `Reconnecting to ${agent}…` : `Starting ${agent}…`,
      }
    },
    /** @param {string} prefix @returns {Promise<string[]>} */
    completePath: (prefix) => socket.request({ type: "path:complete", prefix }).then((/** @type {Frame} */ frame) => frame.type === "path:completions" ? frame.entries : []),
    /** @param {string} path */
    addProject: (path) => socket.request({ type: "project:add", path }).then(() => {}),
    /** What is open follows what is known of the agents. */
    update() {
      const { agents, logins } = shell().model
      if (agents === drawn.agents && logins === drawn.logins) return
      drawn = { agents, logins }
      settingsPanel?.update()
      picker?.menu.update(picker.fill())
    },
  }
}

/** @template V @param {ReadonlyMap<string, V>} map @param {string} key */
function withoutKey(map, key) {
  const rest = new Map(map)
  rest.delete(key)
  return rest
}
