/** What users do with projects: adding them, removing one from the list, its archived sessions, and its menu. */

import { confirmed } from "../shared/dialog.js"
import { copied } from "../shared/failure.js"
import { editorAddress, editors, readingFrom } from "../shared/reading.js"
import { keys, load, save } from "../shared/storage.js"
import { openArchived } from "./archived.js"
import { openBulkArchive } from "./bulk-archive.js"
import { openMenu } from "../shared/menu.js"
import { isAtWork, sessionsByProject } from "./model.js"
import { openOutside } from "./outside.js"

/** @import { ActionsDeps, Failed } from "./actions.js" */
/** @import { SessionActions } from "./session-actions.js" */
/** @import { OutsideSession } from "../contract.js" */
/** @import { MenuItem } from "../shared/menu.js" */

/** How many removed projects are suggested when one adds a project. */
const MOST_RECENT = 5

/** @typedef {ReturnType<typeof createProjectActions>} ProjectActions */

/** @param {Pick<ActionsDeps, "shell" | "socket" | "toasts" | "lookOutside"> & {
 *   failed: Failed, sessions: SessionActions, openSession(id: string): void,
 *   newSession(projectId: string, where: "worktree"): void, settings(): void,
 * }} deps */
export function createProjectActions({
  shell,
  socket,
  toasts,
  lookOutside,
  failed,
  sessions,
  openSession,
  newSession,
  settings,
}) {
  /** @param {string} id */
  async function removeProject(id) {
    const { model } = shell()
    const project = model.projects?.find((each) => each.id === id)
    if (!project) return
    const own = [...model.sessions.values()].filter((session) => session.projectId === id)
    const isWorking = own.some(isAtWork)
    const worktrees = own.flatMap(({ worktree }) => worktree?.path ?? [])
    const yes = await confirmed({
      title: `Remove ${project.name}?`,
      action: "Remove",
      kind: isWorking ? "danger" : "main",
      text: [
        "This removes it from the list and closes its tabs.",
        `Nothing is deleted: add ${project.path} again to get its sessions back.`,
        ...(isWorking ? ["Running turns are stopped."] : []),
        ...(worktrees.length === 0 ? [] : [`Worktrees stay where they are: ${worktrees.join(", ")}.`]),
      ].join(" "),
    })
    if (!yes) return
    await socket
      .request({ type: "project:remove", projectId: id })
      .then(
        () => save(localStorage, keys.recent, [project.path, ...recent()].slice(0, MOST_RECENT)),
        failed("Could not remove the project"),
      )
  }

  /** Projects that were removed from the list, the last one first; then directories where agents worked before.
   * @returns {string[]} */
  function recent() {
    const stored = load(localStorage, keys.recent)
    const found = shell().outside.directories.slice(0, MOST_RECENT)
    const listed = (shell().model.projects ?? []).map(({ path }) => path)
    return [...new Set([...(Array.isArray(stored) ? stored : []), ...found.map(({ path }) => path)])].filter(
      (path) => typeof path === "string" && !listed.includes(path),
    )
  }

  /** Directories that hold projects, those of the newest first. */
  const places = () => [
    ...new Set(
      (shell().model.projects ?? [])
        .map(({ path }) => path.replace(/[^/]+\/?$/, ""))
        .toReversed()
        .filter((path) => path !== "/"),
    ),
  ]

  /** @param {string} id */
  function archivedOf(id) {
    const project = shell().model.projects?.find((each) => each.id === id)
    if (!project) return
    openArchived(project, {
      now: Date.now,
      restore: sessions.restore,
      open: sessions.visit,
      remove: (session) => sessions.remove(session.id, session.title, false),
      list: async (projectId) => {
        const frame = await socket.request({ type: "session:list", projectId, archived: true }, { quietly: true })
        return frame.type === "session:list" ? frame.sessions : []
      },
    })
  }

  /** @param {string} id */
  function outsideOf(id) {
    const project = shell().model.projects?.find((each) => each.id === id)
    if (!project) return
    /** @param {"outside:list" | "outside:ask"} type */
    const listed = async (type) => {
      const frame = await socket.request({ type, projectId: id }, { quietly: true })
      return frame.type === "outside:list" ? frame.sessions : []
    }
    openOutside(project, {
      now: Date.now,
      agents: shell().model.agents,
      open: ({ cliType, ref }) => openSession(`${cliType}:${ref}`),
      list: () => listed("outside:list"),
      ask: () => listed("outside:ask"),
      adopt: (session) => adopt(id, session),
      async keep(chosen) {
        const ids = chosen.map(({ cliType, ref }) => `${cliType}:${ref}`)
        await socket.request({ type: "outside:keep", projectId: id, sessions: ids })
      },
    })
  }

  /** @param {string} projectId @param {OutsideSession} session */
  async function adopt(projectId, { cliType, ref }) {
    await socket.request({ type: "outside:adopt", projectId, cliType, refs: [ref] })
    lookOutside()
  }

  /** @param {string} projectId @param {OutsideSession} session */
  async function continueOutside(projectId, session) {
    await adopt(projectId, session)
    openSession(`${session.cliType}:${session.ref}`)
  }

  /** @param {string} id */
  function archiveSeveral(id) {
    const project = shell().model.projects?.find((each) => each.id === id)
    if (!project) return
    const listed = sessionsByProject(shell().model).get(id) ?? []
    openBulkArchive(project, listed, { now: Date.now(), archive: sessions.archiveAll })
  }

  /** @param {string} path @returns {MenuItem} */
  function editorItem(path) {
    const { editor } = readingFrom(localStorage)
    const address = editorAddress(editor, path)
    if (editor === "" || address === null)
      return { label: "Open in editor…", icon: "edit", note: "Choose your editor in the settings", run: settings }
    return { label: `Open in ${editors[editor].name}`, icon: "edit", run: () => void window.open(address, "_self") }
  }

  /** @param {string} id @param {HTMLElement} anchor @param {{ x: number, y: number }} [at] */
  function projectMenu(id, anchor, at) {
    const project = shell().model.projects?.find((each) => each.id === id)
    if (!project) return
    openMenu(
      anchor,
      project.name,
      [
        { label: "New session in a worktree…", icon: "branch", run: () => newSession(id, "worktree") },
        editorItem(project.path),
        { label: "Archive sessions…", icon: "archive", run: () => archiveSeveral(id) },
        { label: "Archived sessions…", icon: "archive", run: () => archivedOf(id) },
        { label: "From the terminal…", icon: "terminal", run: () => outsideOf(id) },
        {
          label: "Copy path",
          icon: "copy",
          note: project.path,
          run: async () => {
            if (!(await copied(project.path))) toasts.show({ text: project.path })
          },
        },
        {
          label: "Remove from list…",
          icon: "trash",
          kind: "danger",
          run: () => {
            removeProject(id)
          },
        },
      ],
      at ? { at } : {},
    )
  }

  /** @param {string[]} paths */
  async function addProjects(paths) {
    for (const path of paths) await socket.request({ type: "project:add", path }).catch(failed(`Could not add ${path}`))
  }

  return {
    projectMenu,
    archivedOf,
    archiveSeveral,
    outsideOf,
    continueOutside,
    addProjects,
    recent,
    places,
    /** @param {string} path */
    addProject: (path) => socket.request({ type: "project:add", path }).then(() => {}),
    /** @param {string} prefix */
    async completePath(prefix) {
      const frame = await socket.request({ type: "path:complete", prefix })
      return frame.type === "path:completions" ? frame : { entries: [] }
    },
  }
}
