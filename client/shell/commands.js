/** The commands in the palette. */

import { keysFor, shortcuts } from "../shared/keys.js"
import { isCompareTab } from "./compare-state.js"

/** @import { ThemeChoice } from "../shared/theme.js" */
/** @import { Shell } from "./app.js" */
/** @import { MenuItem } from "../shared/menu.js" */
/** @import { Command } from "./palette.js" */

/** @typedef {object} CommandDeps
 * @property {() => void} openAddProject
 * @property {() => void} settings
 * @property {() => void} help
 * @property {(projectId: string) => void} archivedOf
 * @property {(projectId: string) => void} archiveSeveral
 * @property {() => Command[]} comparisons
 * @property {(projectId: string) => void} newSessionIn
 * @property {(projectId: string) => void} showProject
 * @property {(name: string) => void} shortcut
 * @property {(id: string) => void} closeOthers
 * @property {(id: string) => MenuItem[]} sessionItems
 * @property {(id: string) => readonly string[]} portletCommands  Labels of what can be done in a session.
 * @property {(id: string, label: string) => void} runInPortlet
 * @property {(choice: ThemeChoice) => void} setTheme */

/** @param {Shell} shell @param {CommandDeps} deps @returns {Command[]} */
export function commandsOf({ model, tabs, closed, room }, deps) {
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
          { label: "Close other tabs", icon: "close", run: () => deps.closeOthers(active) },
          ...(room > 1 && tabs.order.length > 1 ? [byKey("show-beside", "columns")] : []),
          byKey("find", "search"),
          byKey("changes", "diff"),
          ...(tabs.columns ? [byKey("next-column", "columns"), byKey("show-alone", "column")] : []),
          ...deps.sessionItems(active).map(({ label, icon, aside, run }) => ({
            label: aboutThis(label),
            icon,
            keys: aside,
            run,
          })),
          ...deps
            .portletCommands(active)
            .map((label) => ({ label, icon: "settings", run: () => deps.runInPortlet(active, label) })),
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
    { label: "Add a project", icon: "add", run: deps.openAddProject },
    { label: "Settings", icon: "settings", run: deps.settings },
    { label: "Keyboard shortcuts", icon: "help", keys: "?", run: deps.help },
    {
      label: "Show or hide the sidebar",
      icon: "sidebar",
      keys: keysFor("toggle-sidebar"),
      run: () => deps.shortcut("toggle-sidebar"),
    },
    { label: "Theme: dark", icon: "circle", run: () => deps.setTheme("dark") },
    { label: "Theme: light", icon: "circle", run: () => deps.setTheme("light") },
    { label: "Theme: system", icon: "circle", run: () => deps.setTheme("system") },
  ]
  return [
    ...projects.map(
      (project) =>
        /** @type {Command} */ ({
          label: project.name,
          path: project.path,
          icon: "folder",
          run: () => deps.showProject(project.id),
        }),
    ),
    ...always,
    ...deps.comparisons(),
    ...projects.flatMap(
      (project) =>
        /** @type {Command[]} */ ([
          { label: `New session in ${project.name}`, icon: "add", run: () => deps.newSessionIn(project.id) },
          { label: `Archive sessions in ${project.name}`, icon: "archive", run: () => deps.archiveSeveral(project.id) },
          { label: `Archived sessions in ${project.name}`, icon: "archive", run: () => deps.archivedOf(project.id) },
        ]),
    ),
  ]
}

/** The label of a session's menu item outside of that menu. @param {string} label */
const aboutThis = (label) =>
  label === "Copy link" ? "Copy a link to this session" : label.replace(/^\w+/, "$& this session")
