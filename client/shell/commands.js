/** The commands that can be found by name. */

import { keysOf, shortcuts } from "../shared/keys.js"

/** @import { ThemeChoice } from "../shared/theme.js" */
/** @import { Shell } from "./app.js" */
/** @import { Command } from "./palette.js" */

/** @typedef {object} CommandDeps
 * @property {() => void} openAddProject
 * @property {() => void} settings
 * @property {() => void} help
 * @property {(projectId: string) => void} archivedOf
 * @property {(projectId: string) => void} newSessionIn
 * @property {(projectId: string) => void} showProject
 * @property {(name: string) => void} shortcut
 * @property {(choice: ThemeChoice) => void} setTheme */

/** @param {Shell} shell @param {CommandDeps} deps @returns {Command[]} */
export function commandsOf({ model, tabs }, deps) {
  const projects = model.projects ?? []
  const keysFor = (/** @type {string} */ name) => shortcuts.filter((shortcut) => shortcut.name === name).map((shortcut) => keysOf(shortcut).join(" "))[0] ?? ""
  /** @type {Command[]} */
  const always = [
    ...(projects.length > 0 ? [/** @type {Command} */ ({ label: "New session", icon: "add", keys: keysFor("new-session"), run: () => deps.shortcut("new-session") })] : []),
    ...(tabs.active === null ? [] : [/** @type {Command} */ ({ label: "Close the tab", icon: "close", keys: keysFor("close-tab"), run: () => deps.shortcut("close-tab") })]),
    { label: "Add a project", icon: "add", run: deps.openAddProject },
    { label: "Settings", icon: "settings", run: deps.settings },
    { label: "Keyboard shortcuts", icon: "help", keys: "?", run: deps.help },
    { label: "Show or hide the sidebar", icon: "sidebar", keys: keysFor("toggle-sidebar"), run: () => deps.shortcut("toggle-sidebar") },
    { label: "Theme: dark", icon: "circle", run: () => deps.setTheme("dark") },
    { label: "Theme: light", icon: "circle", run: () => deps.setTheme("light") },
    { label: "Theme: as the system", icon: "circle", run: () => deps.setTheme("system") },
  ]
  return [
    ...projects.map((project) => /** @type {Command} */ ({ label: project.name, path: project.path, icon: "folder", run: () => deps.showProject(project.id) })),
    ...always,
    ...projects.flatMap((project) => /** @type {Command[]} */ ([
      { label: `New session in ${project.name}`, icon: "add", run: () => deps.newSessionIn(project.id) },
      { label: `Archived sessions of ${project.name}`, icon: "archive", run: () => deps.archivedOf(project.id) },
    ])),
  ]
}
