/** Comparisons in the shell: their tabs, and which sessions are in view. Pure. */

import { sessionOf } from "./model.js"
import { tabsInView } from "./tabs-state.js"

/** @import { Compare, CompareMember } from "../contract.js" */
/** @import { Model } from "./model.js" */
/** @import { Tabs } from "./tabs-state.js" */

const PREFIX = "compare:"

/** The tab of a comparison. @param {string} id */
export const compareTab = (id) => `${PREFIX}${id}`

/** @param {string} tab */
export const isCompareTab = (tab) => tab.startsWith(PREFIX)

/** The comparison of a tab. @param {Model} model @param {string | null} tab */
export const compareOf = (model, tab) =>
  tab !== null && isCompareTab(tab) ? model.compares?.get(tab.slice(PREFIX.length)) : undefined

/** The comparison that a session takes part in. @param {Model} model @param {string} sessionId */
export const comparing = (model, sessionId) =>
  [...(model.compares?.values() ?? [])].find(({ members }) =>
    members.some((member) => member.state === "started" && member.sessionId === sessionId),
  )

/** No agent could start, so the message is in no session. @param {Compare} compare */
export const cameToNothing = ({ members }) => members.every(({ state }) => state === "failed")

/** Where a member is shown: its session, or a place of its own while it has none.
 * @param {Compare} compare @param {CompareMember} member @param {number} at */
const paneOfMember = ({ id }, member, at) => (member.state === "started" ? member.sessionId : `${compareTab(id)}#${at}`)

/** Those that have a column: discarded ones have none. @param {Compare | undefined} compare */
export const panesOf = (compare) =>
  compare?.members.flatMap((member, at) =>
    member.state === "discarded" ? [] : [{ id: paneOfMember(compare, member, at), member, at }],
  ) ?? []

/** The sessions in view, left to right, and panes of those that have none yet.
 * @param {{ model: Model, tabs: Tabs, room: number }} shell @returns {readonly string[]} */
export function panesInView({ model, tabs, room }) {
  const compare = compareOf(model, tabs.active)
  return compare ? panesOf(compare).map(({ id }) => id) : tabsInView(tabs, room).filter((id) => !isCompareTab(id))
}

/** The session that keys and commands are for. @param {{ model: Model, tabs: Tabs, member: string | null }} shell */
export function sessionInFront({ model, tabs, member }) {
  const compare = compareOf(model, tabs.active)
  if (!compare) return tabs.active === null || isCompareTab(tabs.active) ? null : tabs.active
  const sessions = compare.members.flatMap((each) => (each.state === "started" ? [each.sessionId] : []))
  return sessions.find((id) => id === member) ?? sessions[0] ?? null
}

/** The session that a comparison opens with: one that waits for the user, else the one before.
 * @param {{ model: Model, tabs: Tabs, member: string | null }} shell */
export const memberToOpen = ({ model, tabs, member }) =>
  panesOf(compareOf(model, tabs.active)).find(({ id }) => sessionOf(model, id)?.state === "waiting")?.id ?? member

/** A tab's title: how the message begins. @param {Compare} compare */
export const titleOfCompare = ({ content }) => content.trim().split("\n", 1)[0]?.slice(0, 80) || "Comparison"
