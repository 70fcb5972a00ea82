/** The shell's state as a whole, and what a change of its tabs or sessions means for the rest of it. Pure. */

import { compareOf, isCompareTab, memberToOpen, panesInView, panesOf } from "./compare-state.js"
import { areAllListed, sessionOf, withVisitsOf } from "./model.js"
import { keepTabs, withInView } from "./tabs-state.js"

/** @import { ErrorBody } from "../contract.js" */

/** A session being created, without an id from the server yet. `requestId`: of the request and of the prompt, however
 * often they are sent. `at`: when, in milliseconds. `more`: what is to be said after the prompt. `typed`: what is being
 * written.
 * @typedef {import("./start.js").Start & import("./start-state.js").Member & {
 *   requestId: string, at: number, more: readonly string[], typed: string, error: ErrorBody | null }} Creation */

/** Everything in it is replaced, never changed in place.
 * @typedef {object} Shell
 * @property {import("./model.js").Model} model
 * @property {import("./tabs-state.js").Tabs} tabs
 * @property {number} room  How many sessions fit side by side.
 * @property {readonly string[]} shown  Tabs that have been in view, in that order: they have a pane.
 * @property {ReadonlyMap<string, Creation>} creating
 * @property {ReadonlySet<string>} collapsed
 * @property {import("./arrangement.js").Arrangement} arrangement
 * @property {import("./arrangement.js").Filter} filter
 * @property {string | null} member  The session of a comparison that had the focus last.
 * @property {import("./defaults.js").Defaults} defaults
 * @property {readonly string[]} closed  Tabs that the user closed, the last one at the end.
 * @property {import("./keeping.js").OutsideState} outside  Sessions that were made outside.
 * @property {string | null} editing  The session whose title is being changed.
 * @property {boolean} isListPainted  The first sessions are in the sidebar, or none will come. */

/** So many closed tabs can be reopened. */
const MOST_CLOSED = 20

/** Now is what is shown without a session. @param {Shell} shell */
export const isNowInFront = ({ tabs, model }) => tabs.active === null && (model.projects?.length ?? 0) > 0

/** Closes tabs of sessions that are gone, gives tabs in view a pane, and remembers the tabs that were closed.
 * @param {Shell} before @param {Shell} now @returns {Shell} */
export function withTabsSettled(before, now) {
  const { creating } = now
  const isKnown = (/** @type {string} */ id) =>
    isCompareTab(id)
      ? now.model.compares === null || compareOf(now.model, id) !== undefined
      : creating.has(id) || sessionOf(now.model, id) !== undefined || !areAllListed(now.model)
  const tabs = keepTabs(now.tabs, isKnown)
  const model = withVisitsOf(now.model, (id) => tabs.order.includes(id))
  const compared = tabs.order.flatMap((id) => panesOf(compareOf(model, id)).map((pane) => pane.id))
  const isOpen = (/** @type {string} */ id) => tabs.order.includes(id) || compared.includes(id)
  const visible = panesInView({ ...now, model, tabs }).filter((id) => !isCompareTab(id))
  const gone = before.tabs.order.filter(
    (id) => !tabs.order.includes(id) && id !== before.tabs.preview && sessionOf(model, id),
  )
  const closed = gone.length === 0 ? now.closed : [...now.closed.filter((id) => !gone.includes(id)), ...gone]
  return {
    ...now,
    model,
    tabs,
    member: now.tabs.active === before.tabs.active ? now.member : memberToOpen(now),
    shown: withInView(now.shown.filter(isOpen), visible),
    closed: closed.filter((id) => !tabs.order.includes(id)).slice(-MOST_CLOSED),
  }
}
