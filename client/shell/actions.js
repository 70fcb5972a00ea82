/** Everything that users can do in the shell. Opening sessions and the menus of their tabs are here; the rest is put
 * together from modules that each have one part of it. */

import { agentMark } from "../shared/agents.js"
import { keysFor } from "../shared/keys.js"
import { openMenu } from "../shared/menu.js"
import { createAgentsMenu } from "./agents-menu.js"
import { columnItems } from "./columns.js"
import { commandsOf } from "./commands.js"
import { createCompareActions } from "./compare-actions.js"
import { isCompareTab } from "./compare-state.js"
import { createDiscarding } from "./discarding.js"
import { createFinding } from "./finding.js"
import { moodWords, sessionOf } from "./model.js"
import { createNewSession } from "./new-session.js"
import { createProjectActions } from "./project-actions.js"
import { createSessionActions } from "./session-actions.js"
import { createSettingsActions } from "./settings-actions.js"
import { createShortcuts } from "./shortcuts.js"
import { createSidebarActions } from "./sidebar-actions.js"
import { closeOthers, closeTab, openTab, previewTab } from "./tabs-state.js"

/** @import { ErrorBody } from "../contract.js" */
/** @import { Door } from "../shared/door.js" */
/** @import { MenuItem } from "../shared/menu.js" */
/** @import { Socket } from "../shared/socket.js" */
/** @import { Store } from "../shared/storage.js" */
/** @import { Look } from "./look.js" */
/** @import { Portlets } from "./portlets.js" */
/** @import { Shell } from "./shell-state.js" */
/** @import { Tab } from "./tab-bar.js" */
/** @import { Toast } from "./toasts.js" */

/** @typedef {object} ActionsDeps
 * @property {() => Shell} shell
 * @property {(change: Partial<Shell>) => void} set
 * @property {Door} door
 * @property {Store} preferences
 * @property {Socket} socket
 * @property {{ show(toast: Toast): () => void }} toasts
 * @property {Look} view
 * @property {Portlets} portlets
 * @property {{ focus(): void }} now
 * @property {(id: string) => void} focusPane
 * @property {() => void} lookOutside  Counts the sessions made outside again.
 * @property {() => void} addProject  Opens the form. */

/** Shows an error that begins with `what`. @typedef {(what: string) => (reason: unknown) => void} Failed */

/** @typedef {ReturnType<typeof createActions>} Actions */

/** @param {ActionsDeps} deps */
export function createActions(deps) {
  const { shell, set, toasts, portlets } = deps
  let drawn = { agents: shell().model.agents, logins: shell().model.logins }

  /** @type {Failed} */
  const failed = (what) => (reason) =>
    toasts.show({ kind: "error", text: `${what}: ${/** @type {ErrorBody} */ (reason).message}` })
  const agentsMenu = createAgentsMenu({ ...deps, failed })
  const compares = createCompareActions({ ...deps, failed, openSession })
  const discarding = createDiscarding({ ...deps, failed })
  const sidebar = createSidebarActions(deps)
  const settings = createSettingsActions({ ...deps, failed, discarding })
  const { pin } = sidebar
  const { discard } = discarding
  const sessions = createSessionActions({ ...deps, failed, compareItems: compares.items, discard, pin })
  const projects = createProjectActions({
    ...deps,
    failed,
    sessions,
    openSession,
    newSession: (id, where) => starting.newSession(id, where),
    settings: settings.open,
  })
  const { outsideOf, continueOutside } = projects
  const starting = createNewSession({ ...deps, failed, outsideOf, continueOutside })
  const { newSession } = starting
  const finding = createFinding({ ...deps, failed, sessions, openSession, commands, continueOutside })
  const { search } = finding
  const shortcut = createShortcuts({ ...deps, sessions, openSession, reopenTab, newSession, search, pin })

  /** @param {string} id @param {"keep" | "preview"} [as] */
  function openSession(id, as = "keep") {
    set({ tabs: as === "preview" ? previewTab(shell().tabs, id) : openTab(shell().tabs, id) })
    focusTab(id)
  }

  /** On a touch screen it would open the keyboard. @param {string} id */
  function focusTab(id) {
    if (matchMedia("(hover: hover)").matches) portlets.focus(id)
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

  /** For the palette. */
  function commands() {
    const parts = { compares, projects, sessions, sidebar, newSession, settings: settings.open, shortcut }
    return commandsOf({ ...deps, ...parts })
  }

  return {
    agentsMenu,
    compares,
    finding,
    projects,
    sessions,
    sidebar,
    starting,
    openSession,
    focusTab,
    /** @param {string} id */
    restore: (id) => void sessions.restore(id).catch(failed("Could not restore the session")),
    settings: settings.open,
    shortcut,
    tabMenu,
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
    /** Follows what is known now: an unfollowed link, and the agents in open panels. */
    update() {
      finding.followLink()
      const { agents, logins } = shell().model
      if (agents === drawn.agents && logins === drawn.logins) return
      drawn = { agents, logins }
      settings.update()
      starting.updateStart()
    },
  }
}
