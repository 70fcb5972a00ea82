/** The page's views: mounts them around the sessions, and gives each what it shows. */

import { agentName } from "../shared/agents.js"
import { need } from "../shared/dom.js"
import { filterWords, noFilter } from "./arrangement.js"
import { mountColumns } from "./columns.js"
import { mountConnectionBar } from "./connection-bar.js"
import { nowPane } from "./now.js"
import { mountPanes } from "./panes.js"
import { isNowInFront } from "./shell-state.js"
import { mountSidebar } from "./sidebar.js"
import { mountTabBar } from "./tab-bar.js"
import { closeTab, keepTab, moveTab, nudgeTab, openTab } from "./tabs-state.js"
import { aboutTab, panesOfShell, sectionsOf, tabsOf, waitingOf } from "./views.js"
import { mountWelcome } from "./welcome.js"

/** @import { Actions, ActionsDeps } from "./actions.js" */
/** @import { Attention } from "./attention.js" */
/** @import { Now } from "./now.js" */

/** @typedef {Pick<ActionsDeps, "shell" | "set" | "socket" | "view" | "portlets"> & {
 *   now: Now, actions: Actions, attention: Attention }} PageDeps */

/** @param {Document} document @param {PageDeps} deps */
export function mountPage(document, { shell, set, socket, view, portlets, now, actions, attention }) {
  const { finding, projects, sessions, starting } = actions
  let isNowLoaded = false

  /** @param {string} id */
  function closeOne(id) {
    starting.forget(id)
    set({ tabs: closeTab(shell().tabs, id) })
  }

  /** Opens the form. */
  function addProject() {
    view.showSidebar()
    sidebar.addProject()
  }

  const bar = mountConnectionBar(need(document, "#connection", HTMLElement), { retry: () => socket.wake() })
  const columns = mountColumns(need(document, "#panes", HTMLElement), { shell, set, focus: portlets.focus })
  const panes = mountPanes(need(document, "#panes", HTMLElement), {
    onMessage: portlets.onMessage,
    onNowMessage: now.onMessage,
    retry: starting.retryCreate,
    restore: actions.restore,
    columns,
    close: closeOne,
    typed: starting.typed,
    say: starting.alsoSay,
    open: actions.openSession,
    keep: actions.compares.keep,
    pictures: () => starting.pictures,
  })
  const welcome = mountWelcome(need(document, "#panes", HTMLElement), {
    addProject,
    addProjects: projects.addProjects,
    tryDemo: starting.tryDemo,
    async lookAgain() {
      await socket.request({ type: "agents:list" }).catch(() => {}) // asked again after a reconnect
    },
    now: Date.now,
  })
  const sidebar = mountSidebar(need(document, "#sidebar", HTMLElement), {
    now: Date.now,
    open: (id) => {
      actions.openSession(id, "preview")
      view.closeDrawer()
    },
    keep: (id) => set({ tabs: keepTab(shell().tabs, id) }),
    menu: sessions.sessionMenu,
    renamed: sessions.renamed,
    rename: (id) => set({ editing: id }),
    archive: sessions.archive,
    move: actions.sidebar.move,
    nudge: actions.sidebar.nudge,
    filter: actions.sidebar.filterMenu,
    unfilter: () => set({ filter: noFilter }),
    collapse: actions.sidebar.collapse,
    newSession: (projectId) => starting.newSession(projectId),
    projectMenu: projects.projectMenu,
    outsideOf: projects.outsideOf,
    complete: projects.completePath,
    places: projects.places,
    recent: projects.recent,
    add: projects.addProject,
    search: finding.search,
    settings: actions.settings,
    agents: actions.agentsMenu,
    hide: () => view.hideSidebar(),
  })
  const tabBar = mountTabBar(need(document, "#tabs", HTMLElement), {
    activate: (id) => set({ tabs: openTab(shell().tabs, id) }),
    open: (id) => actions.openSession(id),
    keep: (id) => set({ tabs: keepTab(shell().tabs, id) }),
    menu: actions.tabMenu,
    close: closeOne,
    move: (id, to) => set({ tabs: moveTab(shell().tabs, id, to) }),
    dragging: columns.dragging,
    nudge: (id, by) => set({ tabs: nudgeTab(shell().tabs, id, by) }),
    all: actions.allTabs,
    newSession: () => starting.newSession(),
    now: () => actions.shortcut("now"),
    showSidebar: () => view.showSidebar(),
  })

  return {
    addProject,
    panes,
    room: columns.room,
    /** Ages in the sidebar change without a change of the state. */
    tick: sidebar.tick,
    update() {
      const { model, tabs, filter, outside, isListPainted } = shell()
      const isNow = isNowInFront(shell())
      const waiting = waitingOf(shell())
      sidebar.update({
        status: model.status,
        sections: sectionsOf(shell()),
        filter: filterWords(filter, (cliType) => agentName(cliType, model.agents)),
      })
      tabBar.update(tabsOf(shell()), { active: isNow, waiting })
      isNowLoaded ||= isNow
      // The first sessions are shown before a frame is loaded, which keeps the page busy for longer.
      if (isListPainted || model.projects?.length === 0 || model.status.connection === "lost")
        panes.update([
          ...(isNowLoaded ? [{ ...nowPane, active: isNow, column: isNow ? { at: 0, of: 1 } : null }] : []),
          ...panesOfShell(shell(), { creating: starting.creatingPane, visit: sessions.visitOf }),
        ])
      welcome.update({
        shown: tabs.active === null && model.projects?.length === 0,
        agents: model.agents,
        directories: outside.directories,
      })
      bar.update(model.status)
      attention.update({ title: tabs.active === null ? null : aboutTab(shell(), tabs.active).title, waiting })
    },
  }
}
