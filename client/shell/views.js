/** What the sidebar, the tabs and the panes show, from the shell's state. Pure. */

import { agentName, agentOf } from "../shared/agents.js"
import { inOrder, isFiltering, passes } from "./arrangement.js"
import { compareOf, isCompareTab, panesInView, panesOf, titleOfCompare } from "./compare-state.js"
import { moodOf, sessionOf, urgentMoods } from "./model.js"
import { choiceWords } from "./start-state.js"

/** @import { OutsideCount, Project } from "../contract.js" */
/** @import { Shell } from "./shell-state.js" */
/** @import { ComparedPane, Creating, Pane, Visit } from "./panes.js" */
/** @import { ProjectSection } from "./project-section.js" */
/** @import { Tab } from "./tab-bar.js" */

/** How many sessions wait for the user. @param {Shell} shell */
export function waitingOf({ model }) {
  const visited = [...model.visited.values()].filter((session) => moodOf(session) === "waiting")
  return model.sessions.waiting() + visited.length
}

/** @param {Shell} shell @returns {ProjectSection[] | null} */
export function sectionsOf(shell) {
  const { model, arrangement, filter } = shell
  if (model.projects === null) return null
  const outside = new Map(shell.outside.projects.map((each) => [each.projectId, each]))
  return inOrder(model.projects, arrangement.projects, ({ id }) => id)
    .map((project) => sectionOf(shell, project, outside.get(project.id) ?? null))
    .filter(({ rows }) => !isFiltering(filter) || rows.length > 0)
}

/** Each project's section, and what it was made from.
 * @type {WeakMap<Project, { from: unknown[], section: ProjectSection }>} */
const made = new WeakMap()

/** The same section again, unless something in it changed: there may be many, with many sessions each.
 * @param {Shell} shell @param {Project} project @param {OutsideCount | null} outside @returns {ProjectSection} */
function sectionOf({ model, tabs, collapsed, editing, arrangement, filter }, project, outside) {
  const sessions = model.sessions.of(project.id)
  /** @param {string | null} id */
  const ifHere = (id) => (id !== null && sessionOf(model, id)?.projectId === project.id ? id : null)
  const [active, edited] = [ifHere(tabs.active), ifHere(editing)]
  const [isCollapsed, listed] = [collapsed.has(project.id), model.listed.has(project.id)]
  const from = [sessions, active, edited, isCollapsed, listed, arrangement.pinned, filter, outside]
  const known = made.get(project)
  if (known?.from.every((each, at) => each === from[at])) return known.section

  const filtered = isFiltering(filter)
  const pinned = new Set(arrangement.pinned)
  const rows = sessions
    .map((session) => ({
      session,
      mood: moodOf(session),
      current: session.id === active,
      editing: session.id === edited,
      pinned: pinned.has(session.id),
    }))
    .filter(({ session, mood }) => passes(filter, session, mood))
  const first = inOrder(
    rows.filter((each) => each.pinned),
    arrangement.pinned,
    ({ session }) => session.id,
  )
  const section = {
    project,
    // What matches is shown, wherever it is.
    collapsed: isCollapsed && !filtered,
    listed,
    outside: filtered ? null : outside,
    filtered,
    rows: [...first, ...rows.filter((each) => !each.pinned)],
  }
  made.set(project, { from, section })
  return section
}

/** What a tab is called, and whose it is. @param {Shell} shell @param {string} id */
export function aboutTab({ model, creating }, id) {
  const compare = compareOf(model, id)
  if (compare || isCompareTab(id))
    return {
      title: compare ? titleOfCompare(compare) : "…",
      cliType: "compare",
      agent: "Comparison",
      project: projectName(model, compare?.projectId),
    }
  const session = sessionOf(model, id)
  const cliType = session?.cliType ?? creating.get(id)?.cliType ?? agentOf(id)
  return {
    title: session?.title ?? (creating.has(id) ? "New Session" : "…"),
    cliType,
    agent: agentName(cliType, model.agents),
    project: projectName(model, session?.projectId),
  }
}

/** @param {Shell["model"]} model @param {string | undefined} id */
export const projectName = (model, id) => model.projects?.find((project) => project.id === id)?.name ?? ""

/** @param {Shell} shell @returns {Tab[]} */
export function tabsOf(shell) {
  const { tabs, creating, model } = shell
  const visible = panesInView(shell)
  /** @param {string} id */
  const moodFor = (id) => {
    const session = sessionOf(model, id)
    return session && moodOf(session)
  }
  return tabs.order.map((id) => {
    const compare = compareOf(model, id)
    const members = compare ? panesOf(compare).map((pane) => moodFor(pane.id)) : []
    const mood = compare ? urgentMoods.find((each) => members.includes(each)) : moodFor(id)
    const begun = creating.get(id)
    return {
      id,
      ...aboutTab(shell, id),
      active: id === tabs.active,
      beside: id !== tabs.active && visible.includes(id),
      preview: id === tabs.preview,
      counts: sessionOf(model, id)?.counts ?? null,
      mood: begun ? (begun.error ? "failed" : "running") : (mood ?? "idle"),
    }
  })
}

/** @typedef {object} PaneFacts
 * @property {(id: string) => Creating | null} creating
 * @property {(id: string) => Visit | null} visit */

/** The panes of sessions, and of members of comparisons that have no session.
 * @param {Shell} shell @param {PaneFacts} facts @returns {Pane[]} */
export function panesOfShell(shell, { creating, visit }) {
  const { model, tabs, shown } = shell
  const visible = panesInView(shell)
  const compare = compareOf(model, tabs.active)
  const members = new Map((compare ? panesOf(compare) : []).map((pane) => [pane.id, pane]))
  const inFront = members.has(shell.member ?? "") ? shell.member : (members.keys().next().value ?? tabs.active)
  /** @param {string} id @returns {ComparedPane | null} */
  const compared = (id) => {
    const pane = members.get(id)
    const session = sessionOf(model, id)
    if (!compare || !pane) return null
    return {
      cliType: pane.member.cliType,
      agent: agentName(pane.member.cliType, model.agents),
      choices: choiceWords(pane.member.options ?? {}, undefined),
      place: `${visible.indexOf(id) + 1} of ${visible.length}`,
      mood: session ? moodOf(session) : pane.member.state === "failed" ? "failed" : "running",
      counts: session?.counts ?? null,
      canKeep: session !== undefined && compare.kept !== id,
      isKept: compare.kept === id,
    }
  }
  const place = (/** @type {string} */ id) => ({
    id,
    title: aboutTab(shell, id).title,
    active: id === inFront,
    column: visible.includes(id) ? { at: visible.indexOf(id), of: visible.length } : null,
    compared: compared(id),
  })
  const pending = [...members.values()].filter(({ member }) => member.state !== "started")
  const messages = [compare?.content ?? ""].filter(Boolean)
  return [
    ...shown.map((id) => ({ ...place(id), creating: creating(id), visit: visit(id) })),
    ...pending.map(({ id, member }) => {
      const agent = agentName(member.cliType, model.agents)
      const error =
        member.state === "failed"
          ? { code: /** @type {const} */ ("SESSION_CREATE_FAILED"), message: member.message, retryable: false }
          : null
      const words = `Starting ${agent}…`
      return {
        ...place(id),
        title: agent,
        visit: null,
        creating: { agent, messages, attachments: [], words, error, canRetry: false, typed: "" },
      }
    }),
  ]
}
