/** The sessions in the lists, by id and by project. Nothing is changed in place, and a change copies only the sessions
 * of its project: there may be many thousands in all. */

/** @import { SessionListItem } from "../contract.js" */

/** Those of one project, by id. @typedef {ReadonlyMap<string, SessionListItem>} ProjectSessions */
/** @typedef {ReturnType<typeof sessionsOf>} Sessions */

/** @type {ProjectSessions} */
const none = new Map()

/** @param {ReadonlyMap<string, ProjectSessions>} projects */
function sessionsOf(projects) {
  /** @param {string} projectId */
  const own = (projectId) => projects.get(projectId) ?? none
  /** @param {string} projectId @param {ProjectSessions} sessions */
  const replaced = (projectId, sessions) => sessionsOf(new Map(projects).set(projectId, sessions))
  /** @param {string} id */
  const get = (id) => {
    for (const sessions of projects.values()) {
      const session = sessions.get(id)
      if (session) return session
    }
    return undefined
  }
  return {
    get,
    /** @param {string} id */
    has: (id) => get(id) !== undefined,
    *values() {
      for (const sessions of projects.values()) yield* sessions.values()
    },
    /** How many wait for the user. */
    waiting: () => [...projects.values()].reduce((count, sessions) => count + waitingIn(sessions), 0),
    /** Those of a project, newest first, without earlier versions. The same array until one of them changes.
     * @param {string} projectId */
    of: (projectId) => newestFirst(own(projectId)),
    /** @param {SessionListItem} session */
    with: (session) => replaced(session.projectId, new Map(own(session.projectId)).set(session.id, session)),
    /** @param {string} id */
    without(id) {
      const projectId = get(id)?.projectId
      return projectId === undefined
        ? sessionsOf(projects)
        : replaced(projectId, new Map([...own(projectId)].filter(([other]) => other !== id)))
    },
    /** @param {string} projectId @param {SessionListItem[]} list */
    withList: (projectId, list) => replaced(projectId, new Map(list.map((session) => [session.id, session]))),
    /** @param {ReadonlySet<string>} projectIds */
    ofOnly: (projectIds) => sessionsOf(new Map([...projects].filter(([id]) => projectIds.has(id)))),
  }
}

export const noSessions = sessionsOf(new Map())

/** Computes something of a project's sessions once, until one of them changes.
 * @template T @param {(sessions: ProjectSessions) => T} compute @returns {(sessions: ProjectSessions) => T} */
function remembered(compute) {
  /** @type {WeakMap<ProjectSessions, { result: T }>} */
  const known = new WeakMap()
  return (sessions) => {
    let kept = known.get(sessions)
    if (!kept) known.set(sessions, (kept = { result: compute(sessions) }))
    return kept.result
  }
}

const waitingIn = remembered((sessions) => {
  let count = 0
  for (const { state } of sessions.values()) if (state === "waiting") count += 1
  return count
})

const newestFirst = remembered((sessions) =>
  [...sessions.values()]
    .filter(({ newer }) => newer === undefined)
    .sort((a, b) => later(a.lastActiveAt, b.lastActiveAt) || later(a.createdAt, b.createdAt)),
)

/** The later of two times first. All have the same form, so that the letters decide: comparing them as words of a
 * language would take a hundred times as long. @param {string} a @param {string} b */
const later = (a, b) => (a < b ? 1 : a > b ? -1 : 0)
