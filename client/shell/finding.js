/** Finding a session: by search, or by a link in the page's address. */

import { linkFrom } from "../shared/link.js"
import { areAllListed, moodOf, sessionOf, sessionsByProject } from "./model.js"
import { openPalette } from "./palette.js"

/** @import { Frame, Hit, OutsideSession } from "../contract.js" */
/** @import { SessionLink } from "../shared/link.js" */
/** @import { ActionsDeps, Failed } from "./actions.js" */
/** @import { Command } from "./palette.js" */
/** @import { SessionActions } from "./session-actions.js" */

/** @param {Pick<ActionsDeps, "shell" | "socket" | "toasts" | "view" | "portlets"> & {
 *   failed: Failed, sessions: SessionActions, openSession(id: string): void, commands(): Command[],
 *   continueOutside(projectId: string, session: OutsideSession): Promise<void> }} deps */
export function createFinding(deps) {
  const { shell, socket, toasts, view, portlets } = deps
  const { failed, sessions, openSession, commands, continueOutside } = deps
  /** @type {ReturnType<typeof openPalette> | null} */
  let palette = null
  /** A link that can't be followed yet. @type {SessionLink | null} */
  let link = null

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
      if (!areAllListed(model)) return
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

  /** @param {string} projectId */
  const nameOf = (projectId) => shell().model.projects?.find(({ id }) => id === projectId)?.name

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
        projectName: (id) => nameOf(id) ?? "a removed project",
        commands,
        sessions: () =>
          [...sessionsByProject(shell().model)]
            .flatMap(([projectId, sessions]) =>
              sessions.map((session) => ({ session, mood: moodOf(session), project: nameOf(projectId) ?? "" })),
            )
            .sort((a, b) => b.session.lastActiveAt.localeCompare(a.session.lastActiveAt)),
        search: async (query) => {
          const frame = await socket.request({ type: "search", query, limit: 30 })
          return frame.type === "search:results" ? frame : { query, hits: [], more: false, behind: false }
        },
      },
      () => (palette = null),
    )
  }

  return {
    search,
    /** A second answer, after one from an index that was behind.
     * @param {Extract<Frame, {type: "search:results"}>} answer */
    foundAgain: (answer) => palette?.answeredAgain(answer),
    /** Opens the link in the page's address, if there is one. */
    followAddress() {
      const given = linkFrom(location.hash)
      if (given === null) return
      // So that a later reload opens the page as it is then.
      history.replaceState(history.state, "", location.pathname)
      link = given
      followLink()
    },
    followLink,
  }
}
