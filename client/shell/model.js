/**
 * What the shell knows about the server: projects, sessions, agents, the connection. Pure: frames in, next model out.
 * Tabs are in `tabs-state.js`; transcripts belong to the portlets and never pass through here.
 */

import { noSessions } from "./sessions.js"

/** @import { Agent, Compare, ErrorBody, Frame, Project, SessionListItem } from "../contract.js" */
/** @import { AgentState } from "../shared/bridge.js" */
/** @import { Status } from "../shared/socket.js" */
/** @import { Sessions } from "./sessions.js" */

/** @typedef {object} Model
 * @property {Project[] | null} projects  In the order added; null until the first list arrives.
 * @property {Sessions} sessions  Those that are not archived.
 * @property {ReadonlyMap<string, SessionListItem>} visited  Sessions with a tab that are in no list: archived, or of
 *   a removed project.
 * @property {ReadonlySet<string>} listed  Projects whose sessions were received.
 * @property {ReadonlyMap<string, Compare> | null} compares  Null until received.
 * @property {Agent[]} agents
 * @property {ReadonlyMap<string, AgentState>} agentStates  The newest status by agent, or by session if each has
 *   its own process.
 * @property {ReadonlyMap<string, ErrorBody>} logins  Agents that need a login, and the error that says how.
 * @property {Status} status */

/** @type {Model} */
export const emptyModel = {
  projects: null,
  sessions: noSessions,
  visited: new Map(),
  listed: new Set(),
  compares: null,
  agents: [],
  agentStates: new Map(),
  logins: new Map(),
  status: { connection: "connecting", stranger: false },
}

/** @param {Model} now @param {Frame} frame @returns {Model} */
export function applyFrame(now, frame) {
  switch (frame.type) {
    case "project:list":
      return withProjects(now, frame.projects)
    case "project:added":
      return withProjects(now, [...(now.projects ?? []).filter(({ id }) => id !== frame.project.id), frame.project])
    case "project:removed":
      return withProjects(
        now,
        (now.projects ?? []).filter(({ id }) => id !== frame.projectId),
      )
    case "session:list":
      return withList(now, frame.projectId, frame.sessions)
    case "session:created":
    case "session:unarchived":
      return {
        ...(frame.type === "session:created" ? withoutLogin(now, frame.session.cliType) : now),
        sessions: now.sessions.with(frame.session),
        visited: without(now.visited, frame.sessionId),
      }
    case "session:changed":
      return withRow(now, frame.session)
    case "session:archived":
      return { ...now, sessions: now.sessions.without(frame.sessionId) }
    case "session:deleted":
      return {
        ...now,
        sessions: now.sessions.without(frame.sessionId),
        visited: without(now.visited, frame.sessionId),
      }
    case "session:title-updated":
      return withSession(now, frame.sessionId, { title: frame.title })
    case "session:state":
      return withSession(worksAgain(now, frame), frame.sessionId, {
        state: frame.state,
        lastActiveAt: frame.lastActiveAt,
        unread: frame.unread,
      })
    case "session:looked":
      return withLook(now, frame.sessionId)
    case "changes:changed":
      return withSession(now, frame.sessionId, { counts: frame.counts })
    case "compare:list":
      return { ...now, compares: new Map(frame.compares.map((compare) => [compare.id, compare])) }
    case "compare:changed":
      return { ...now, compares: new Map(now.compares ?? []).set(frame.compare.id, frame.compare) }
    case "agents:list":
      return { ...now, agents: frame.agents }
    case "agent:status":
      return withAgentStatus(now, frame)
    case "error":
      return frame.code === "AUTH_REQUIRED" && frame.sessionId !== undefined
        ? withLogin(now, now.sessions.get(frame.sessionId)?.cliType, frame)
        : now
    case "now:summary":
    case "outside:list":
    case "outside:found":
    case "outside:progress":
    case "path:completions":
    case "files:found":
    case "search:results":
    case "session:accepted":
    case "session:offer":
    case "workspace:offer":
    case "workspace:discarded":
    case "changes:list":
    case "changes:file":
    case "changes:storage":
    case "changes:preview":
    case "changes:done":
    case "session:queued":
    case "session:task-output":
    case "session:older":
    case "session:newer":
    case "session:history":
    case "session:upsert":
    case "session:tail":
    case "session:turn":
    case "session:facts":
    case "session:policy":
    case "ok":
      return now
  }
}

/** The user has seen the session. @param {Model} now @param {string} id @returns {Model} */
export const withLook = (now, id) => (sessionOf(now, id)?.unread ? withSession(now, id, { unread: false }) : now)

/** An agent needs a login.
 * @param {Model} now @param {string | undefined} cliType @param {ErrorBody} error @returns {Model} */
export function withLogin(now, cliType, error) {
  return cliType === undefined ? now : { ...now, logins: new Map(now.logins).set(cliType, error) }
}

/** @param {Model} now @param {string} cliType @returns {Model} */
const withoutLogin = (now, cliType) =>
  now.logins.has(cliType) ? { ...now, logins: without(now.logins, cliType) } : now

/** An agent that works is logged in; one that is only connected may not be.
 * @param {Model} now @param {Extract<Frame, { type: "session:state" }>} frame @returns {Model} */
function worksAgain(now, { sessionId, state }) {
  const session = state === "running" ? now.sessions.get(sessionId) : undefined
  return session ? withoutLogin(now, session.cliType) : now
}

/** Whether the sessions of every project were received. @param {Model} model */
export const areAllListed = ({ projects, listed }) => projects?.every(({ id }) => listed.has(id)) === true

/** A session in a list or in a tab. @param {Model} model @param {string} id */
export const sessionOf = (model, id) => model.sessions.get(id) ?? model.visited.get(id)

/** The user opens a session that is in no list. @param {Model} now @param {SessionListItem} session @returns {Model} */
export const withVisit = (now, session) =>
  now.sessions.has(session.id) ? now : { ...now, visited: new Map(now.visited).set(session.id, session) }

/** Updates the visited sessions from their project's archive, and drops those that are no longer in it.
 * @param {Model} now @param {string} projectId @param {SessionListItem[]} archived @returns {Model} */
export function withArchived(now, projectId, archived) {
  const fresh = new Map(archived.map((session) => [session.id, session]))
  return {
    ...now,
    visited: new Map(
      [...now.visited].flatMap(([id, session]) => {
        const next = session.projectId === projectId && session.archived ? fresh.get(id) : session
        return next ? [[id, next]] : []
      }),
    ),
  }
}

/** Forgets visited sessions whose tab closed. Returns the same object when there are none.
 * @param {Model} now @param {(id: string) => boolean} hasTab @returns {Model} */
export function withVisitsOf(now, hasTab) {
  return [...now.visited.keys()].every(hasTab)
    ? now
    : { ...now, visited: new Map([...now.visited].filter(([id]) => hasTab(id))) }
}

/** Reads what was stored, and ignores anything invalid.
 * @param {unknown} stored @returns {ReadonlyMap<string, SessionListItem>} */
export const visitsFrom = (stored) =>
  new Map(
    (Array.isArray(stored) ? stored : [])
      .filter((each) =>
        ["id", "projectId", "title", "cliType", "createdAt", "lastActiveAt"].every(
          (key) => typeof each?.[key] === "string",
        ),
      )
      .map((each) => [each.id, { ...each, archived: each.archived === true, state: "idle", unread: false }]),
  )

/** @param {Model} now @param {Project[]} projects @returns {Model} */
function withProjects(now, projects) {
  const known = new Set(projects.map(({ id }) => id))
  return {
    ...now,
    projects,
    sessions: now.sessions.ofOnly(known),
    listed: new Set([...now.listed].filter((id) => known.has(id))),
  }
}

/** @param {Model} now @param {string} projectId @param {SessionListItem[]} list @returns {Model} */
function withList(now, projectId, list) {
  const current = list.filter(({ archived }) => !archived)
  return {
    ...now,
    sessions: now.sessions.withList(projectId, current),
    listed: new Set(now.listed).add(projectId),
  }
}

/** @param {Model} now @param {string} id @param {Partial<SessionListItem>} change @returns {Model} */
function withSession(now, id, change) {
  const visit = now.visited.get(id)
  if (visit) return { ...now, visited: new Map(now.visited).set(id, { ...visit, ...change }) }
  const session = now.sessions.get(id)
  return session ? { ...now, sessions: now.sessions.with({ ...session, ...change }) } : now
}

/** @param {Model} now @param {SessionListItem} session @returns {Model} */
function withRow(now, session) {
  if (now.visited.has(session.id)) return { ...now, visited: new Map(now.visited).set(session.id, session) }
  return now.sessions.has(session.id) ? { ...now, sessions: now.sessions.with(session) } : now
}

/** A new connection clears the agents' states, because the server sends all of them again.
 * @param {Model} now @param {Status} status @returns {Model} */
export function withStatus(now, status) {
  return status.connection === "open" ? { ...now, status, agentStates: new Map() } : { ...now, status }
}

/** @param {Model} now @param {AgentState} frame @returns {Model} */
function withAgentStatus(now, frame) {
  const agentStates = new Map(now.agentStates).set(frame.sessionId ?? frame.cliType, frame)
  const agents =
    frame.sessionId !== undefined
      ? now.agents
      : now.agents.map((agent) => (agent.cliType === frame.cliType ? { ...agent, status: frame.status } : agent))
  return { ...now, agentStates, agents }
}

/** @template V @param {ReadonlyMap<string, V>} map @param {string} key @returns {ReadonlyMap<string, V>} */
function without(map, key) {
  if (!map.has(key)) return map
  const rest = new Map(map)
  rest.delete(key)
  return rest
}

/** The sessions of each project, newest first, without earlier versions.
 * @param {Model} model @returns {Map<string, SessionListItem[]>} */
export const sessionsByProject = ({ projects, sessions }) =>
  new Map((projects ?? []).map(({ id }) => [id, sessions.of(id)]))

/** How a session looks at a glance, the most urgent first.
 * @typedef {"waiting" | "running" | "failed" | "interrupted" | "unread" | "idle"} Mood */

/** @param {SessionListItem} session @returns {Mood} */
export function moodOf({ state, unread }) {
  switch (state) {
    case "waiting":
      return "waiting"
    case "running":
    case "starting":
      return "running"
    case "failed":
      return "failed"
    case "interrupted":
      return unread ? "interrupted" : "idle"
    case "idle":
      return unread ? "unread" : "idle"
  }
}

/** The mood in words, for screen readers. @type {Record<Mood, string>} */
export const moodWords = {
  waiting: "waiting for your permission",
  running: "working",
  failed: "failed",
  interrupted: "interrupted",
  unread: "unread",
  idle: "",
}

/** The mood in words, for a tooltip; null if there is nothing to say. @param {Mood} mood */
export function stateWords(mood) {
  const words = moodWords[mood]
  return words === "" ? null : words.charAt(0).toUpperCase() + words.slice(1)
}

/** From the most urgent. @type {Mood[]} */
export const urgentMoods = ["waiting", "failed", "interrupted", "running", "unread"]
/** Whether an agent works on the session, or waits for the user. @param {SessionListItem} session */
export const isAtWork = ({ state }) => state === "starting" || state === "running" || state === "waiting"

/** The titles of the other sessions at work that a restart of this session's agent interrupts. An agent whose status is
 * reported per session has a process for each, and interrupts no other.
 * @param {Model} model @param {string} sessionId */
export function interruptedByRestart(model, sessionId) {
  const cliType = sessionOf(model, sessionId)?.cliType
  if (model.agentStates.has(sessionId)) return []
  return [...model.sessions.values(), ...model.visited.values()]
    .filter((session) => session.id !== sessionId && session.cliType === cliType && isAtWork(session))
    .map(({ title }) => title)
}
