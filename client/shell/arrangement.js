/** How the user arranged the sidebar, in this browser: the order of the projects, the pinned sessions, a filter. Pure
 * but for what is stored. */

import { keys, loadRecord, save } from "../shared/storage.js"

/** @import { Agent, SessionListItem } from "../contract.js" */
/** @import { MenuItem } from "../shared/menu.js" */
/** @import { Mood } from "./model.js" */

/** @typedef {object} Arrangement
 * @property {readonly string[]} projects  Those that were moved, and those that were there then.
 * @property {readonly string[]} pinned  Sessions. */

/** @typedef {"waiting" | "working" | "done" | "stopped"} StateFilter */

/** Null: all. @typedef {{ state: StateFilter | null, agent: string | null }} Filter */

/** @type {Filter} */
export const noFilter = { state: null, agent: null }

/** @type {Record<StateFilter, { label: string, moods: readonly Mood[] }>} */
const states = {
  waiting: { label: "Waiting for you", moods: ["waiting"] },
  working: { label: "Working", moods: ["running"] },
  done: { label: "Done, not looked at", moods: ["unread"] },
  stopped: { label: "Stopped", moods: ["failed", "interrupted"] },
}

/** @returns {Arrangement} */
export function arrangementFromStore() {
  const { projects, pinned } = loadRecord(localStorage, keys.arrangement)
  return { projects: strings(projects), pinned: strings(pinned) }
}

/** @param {Arrangement} arrangement */
export const storeArrangement = (arrangement) => save(localStorage, keys.arrangement, arrangement)

/** @param {unknown} value @returns {string[]} */
const strings = (value) => (Array.isArray(value) ? value.filter((each) => typeof each === "string") : [])

/** In the user's order; those that it doesn't name come after it, as they were.
 * @template T @param {readonly T[]} all @param {readonly string[]} order @param {(each: T) => string} idOf
 * @returns {T[]} */
export function inOrder(all, order, idOf) {
  const place = new Map(order.map((id, at) => [id, at]))
  const at = (/** @type {T} */ each) => place.get(idOf(each)) ?? order.length
  return all.toSorted((a, b) => at(a) - at(b))
}

/** Moves one before another; null: to the end.
 * @param {readonly string[]} ids @param {string} id @param {string | null} before @returns {readonly string[]} */
export function movedBefore(ids, id, before) {
  if (id === before || !ids.includes(id)) return ids
  const rest = ids.filter((other) => other !== id)
  const at = before === null ? rest.length : rest.indexOf(before)
  return at < 0 ? ids : rest.toSpliced(at, 0, id)
}

/** Moves one by one place, among those in `group`.
 * @param {readonly string[]} ids @param {string} id @param {1 | -1} by @param {readonly string[]} [group]
 * @returns {readonly string[]} */
export function nudged(ids, id, by, group = ids) {
  const at = group.indexOf(id)
  const other = group[at + by]
  if (at < 0 || other === undefined) return ids
  return by < 0 ? movedBefore(ids, id, other) : movedBefore(ids, other, id)
}

/** @param {readonly string[]} pinned @param {string} id @returns {readonly string[]} */
export const togglePin = (pinned, id) =>
  pinned.includes(id) ? pinned.filter((other) => other !== id) : [...pinned, id]

/** @param {Filter} filter */
export const isFiltering = ({ state, agent }) => state !== null || agent !== null

/** @param {Filter} filter @param {SessionListItem} session @param {Mood} mood */
export const passes = ({ state, agent }, session, mood) =>
  (state === null || states[state].moods.includes(mood)) && (agent === null || session.cliType === agent)

/** The filter in words. @param {Filter} filter @param {(cliType: string) => string} nameOf */
export const filterWords = ({ state, agent }, nameOf) =>
  [state === null ? "" : states[state].label, agent === null ? "" : nameOf(agent)].filter(Boolean).join(" · ")

/** @param {Filter} filter @param {Agent[]} agents those that have sessions @param {(next: Filter) => void} set
 * @returns {MenuItem[]} */
export const filterItems = (filter, agents, set) => [
  choice("State", "All states", filter.state === null, () => set({ ...filter, state: null })),
  .../** @type {StateFilter[]} */ (Object.keys(states)).map((state) =>
    choice("State", states[state].label, filter.state === state, () => set({ ...filter, state })),
  ),
  choice("Agent", "All agents", filter.agent === null, () => set({ ...filter, agent: null })),
  ...agents.map(({ cliType, name }) =>
    choice("Agent", name, filter.agent === cliType, () => set({ ...filter, agent: cliType })),
  ),
]

/** @param {string} group @param {string} label @param {boolean} checked @param {() => void} run @returns {MenuItem} */
const choice = (group, label, checked, run) => ({ group, label, checked, run })
