/** Asks for the lists of what there is. Sessions are asked for a few projects at a time: all at once may be more than a
 * slow browser can take, and then the server ends the connection. */

import { inOrder } from "./arrangement.js"
import { withArchived } from "./model.js"

/** @import { ClientMessage, Project } from "../contract.js" */
/** @import { Socket } from "../shared/socket.js" */
/** @import { Shell } from "./shell-state.js" */

const AT_ONCE = 3

/** `begun`: the first list of sessions is here, or will not come.
 * @param {{ shell(): Shell, set(change: Partial<Shell>): void, socket: Socket, begun(): void }} deps */
export function createListing({ shell, set, socket, begun }) {
  /** @type {Set<string>} */
  const waiting = new Set()
  let underWay = 0
  let hasBegun = false

  function next() {
    for (const projectId of waiting) {
      if (underWay >= AT_ONCE) return
      waiting.delete(projectId)
      underWay += 1
      const done = () => {
        underWay -= 1
        next()
        if (!hasBegun) begun()
        hasBegun = true
      }
      socket.request({ type: "session:list", projectId }).then(done, done) // after a reconnect, all are asked for again
    }
  }

  /** Asks for their sessions, from the top of the sidebar. @param {readonly Project[]} projects */
  function add(projects) {
    for (const { id } of inOrder(projects, shell().arrangement.projects, ({ id }) => id)) waiting.add(id)
    next()
  }

  /** @param {ClientMessage} message */
  const ask = (message) => socket.request(message).catch(() => {}) // asked again after a reconnect

  /** @param {string} projectId */
  const lookInArchive = (projectId) =>
    socket.request({ type: "session:list", projectId, archived: true }, { quietly: true }).then(
      (frame) => {
        if (frame.type === "session:list") set({ model: withArchived(shell().model, projectId, frame.sessions) })
      },
      () => {},
    )

  return {
    /** Asks for everything, also for what was known before a reconnect. */
    all() {
      ask({ type: "project:list" })
      add(shell().model.projects ?? [])
      ask({ type: "agents:list" })
      ask({ type: "compare:list" })
      const archived = [...shell().model.visited.values()].filter((session) => session.archived)
      new Set(archived.map(({ projectId }) => projectId)).forEach(lookInArchive)
    },
    /** Asks for the sessions of projects that were added. @param {readonly Project[] | null} known those before */
    added(known) {
      const { projects, listed } = shell().model
      add((projects ?? []).filter(({ id }) => !listed.has(id) && !known?.some((each) => each.id === id)))
    },
  }
}
