/** The commands in the palette. */

import { keysFor, shortcuts } from "../shared/keys.js"
import { isCompareTab } from "./compare-state.js"
import { openHelp } from "./help.js"
import { closeOthers } from "./tabs-state.js"

/** @import { ActionsDeps } from "./actions.js" */
/** @import { CompareActions } from "./compare-actions.js" */
/** @import { Command } from "./palette.js" */
/** @import { ProjectActions } from "./project-actions.js" */
/** @import { SessionActions } from "./session-actions.js" */
/** @import { SidebarActions } from "./sidebar-actions.js" */

/** @typedef {Pick<ActionsDeps, "shell" | "set" | "view" | "portlets" | "addProject"> & {
 *   compares: CompareActions, projects: ProjectActions, sessions: SessionActions, sidebar: SidebarActions,
 *   newSession(projectId: string): void, settings(): void, shortcut(name: string): void }} CommandDeps */

/** @param {CommandDeps} deps @returns {Command[]} */
export function commandsOf(deps) {
  const { shell, set } = deps
  const { model, tabs, closed, room } = shell()
  const { archivedOf, archiveSeveral } = deps.projects
  const active = tabs.active === null || isCompareTab(tabs.active) ? null : tabs.active
  const projects = model.projects ?? []
  /** @param {string} name @param {Command["icon"]} icon @returns {Command} */
  const byKey = (name, icon) => ({
    label: shortcuts.find((shortcut) => shortcut.name === name)?.label.replace(/;.*/, "") ?? name,
    icon,
    keys: keysFor(name),
    run: () => deps.shortcut(name),
  })
  /** @type {Command[]} */
  const always = [
    ...(projects.length > 0
      ? [
          /** @type {Command} */ ({
            label: "New session",
            icon: "add",
            keys: keysFor("new-session"),
            run: () => deps.shortcut("new-session"),
          }),
        ]
      : []),
    ...(active === null
      ? []
      : /** @type {Command[]} */ ([
          {
            label: "Close tab",
            icon: "close",
            keys: keysFor("close-tab"),
            run: () => deps.shortcut("close-tab"),
          },
          { label: "Close other tabs", icon: "close", run: () => set({ tabs: closeOthers(shell().tabs, active) }) },
          ...(room > 1 && tabs.order.length > 1 ? [byKey("show-beside", "columns")] : []),
          byKey("find", "search"),
          byKey("changes", "diff"),
          ...(tabs.columns ? [byKey("next-column", "columns"), byKey("show-alone", "column")] : []),
          ...deps.sessions.sessionItems(active).map(({ label, icon, aside, run }) => ({
            label: aboutThis(label),
            icon,
            keys: aside,
            run,
          })),
          ...deps.portlets
            .commandsOf(active)
            .map((label) => ({ label, icon: "settings", run: () => deps.portlets.run(active, label) })),
        ])),
    ...(closed.length === 0
      ? []
      : [
          /** @type {Command} */ ({
            label: "Reopen closed tab",
            icon: "add",
            keys: keysFor("reopen-tab"),
            run: () => deps.shortcut("reopen-tab"),
          }),
        ]),
    { label: "Add a project", icon: "add", run: deps.addProject },
    { label: "Settings", icon: "settings", run: deps.settings },
    { label: "Keyboard shortcuts", icon: "help", keys: "?", run: () => void openHelp() },
    {
      label: "Show or hide the sidebar",
      icon: "sidebar",
      keys: keysFor("toggle-sidebar"),
      run: () => deps.shortcut("toggle-sidebar"),
    },
    { label: "Theme: dark", icon: "circle", run: () => deps.view.setTheme("dark") },
    { label: "Theme: light", icon: "circle", run: () => deps.view.setTheme("light") },
    { label: "Theme: system", icon: "circle", run: () => deps.view.setTheme("system") },
  ]
  return [
    ...projects.map(
      (project) =>
        /** @type {Command} */ ({
          label: project.name,
          path: project.path,
          icon: "folder",
          run: () => deps.sidebar.showProject(project.id),
        }),
    ),
    ...always,
    ...deps.compares.commands(),
    ...projects.flatMap(
      (project) =>
        /** @type {Command[]} */ ([
          { label: `New session in ${project.name}`, icon: "add", run: () => deps.newSession(project.id) },
          { label: `Archive sessions in ${project.name}`, icon: "archive", run: () => archiveSeveral(project.id) },
          { label: `Archived sessions in ${project.name}`, icon: "archive", run: () => archivedOf(project.id) },
        ]),
    ),
  ]
}

/** The label of a session's menu item outside of that menu. @param {string} label */
const aboutThis = (label) =>
  label === "Copy link" ? "Copy a link to this session" : label.replace(/^\w+/, "$& this session")
