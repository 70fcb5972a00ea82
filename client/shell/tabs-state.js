/** The open tabs: which sessions, in which order, which is in front. Pure. */

/** @typedef {object} Tabs
 * @property {readonly string[]} order  Session ids, and ids of sessions being created.
 * @property {string | null} active */

/** Opens a session, or brings its tab to the front. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export const openTab = (tabs, id) => ({ order: tabs.order.includes(id) ? tabs.order : [...tabs.order, id], active: id })

/** Closes a tab; the one to its right comes to the front, or at the end the one to its left. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export function closeTab(tabs, id) {
  const at = tabs.order.indexOf(id)
  if (at < 0) return tabs
  const order = tabs.order.filter((other) => other !== id)
  return { order, active: tabs.active === id ? (order[at] ?? order[at - 1] ?? null) : tabs.active }
}

/** Closes every tab that `keep` refuses. @param {Tabs} tabs @param {(id: string) => boolean} keep @returns {Tabs} */
export const keepTabs = (tabs, keep) => tabs.order.filter((id) => !keep(id)).reduce(closeTab, tabs)

/** Moves a tab to a place, counted in the order without it. @param {Tabs} tabs @param {string} id @param {number} to @returns {Tabs} */
export function moveTab(tabs, id, to) {
  if (!tabs.order.includes(id)) return tabs
  const rest = tabs.order.filter((other) => other !== id)
  const at = Math.max(0, Math.min(to, rest.length))
  return { ...tabs, order: [...rest.slice(0, at), id, ...rest.slice(at)] }
}

/** Moves a tab one place. @param {Tabs} tabs @param {string} id @param {1 | -1} by @returns {Tabs} */
export const nudgeTab = (tabs, id, by) => moveTab(tabs, id, tabs.order.indexOf(id) + by)

/** Brings the next or previous tab to the front, around the ends. @param {Tabs} tabs @param {1 | -1} by @returns {Tabs} */
export function stepTab(tabs, by) {
  const count = tabs.order.length
  if (count === 0) return tabs
  const at = tabs.active === null ? (by > 0 ? -1 : 0) : tabs.order.indexOf(tabs.active)
  return { ...tabs, active: tabs.order[(at + by + count) % count] ?? null }
}

/** A session that was being created has its real id now. @param {Tabs} tabs @param {string} from @param {string} to @returns {Tabs} */
export function replaceTab(tabs, from, to) {
  if (!tabs.order.includes(from)) return tabs
  const order = tabs.order.filter((id) => id !== to).map((id) => (id === from ? to : id))
  return { order, active: tabs.active === from ? to : tabs.active }
}

/** As it is stored. `keep` leaves out what can't come back. @param {Tabs} tabs @param {(id: string) => boolean} keep */
export function tabsToStore(tabs, keep) {
  const { order, active } = keepTabs(tabs, keep)
  return { openTabs: order, activeTab: active, tabOrder: order }
}

/** From what was stored; anything odd in it is passed over. @param {Record<string, unknown>} stored @returns {Tabs} */
export function tabsFromStore(stored) {
  const open = strings(stored.openTabs)
  const sorted = strings(stored.tabOrder).filter((id) => open.includes(id))
  const order = [...new Set([...sorted, ...open])]
  const active = typeof stored.activeTab === "string" && order.includes(stored.activeTab) ? stored.activeTab : (order[0] ?? null)
  return { order, active }
}

/** @param {unknown} value @returns {string[]} */
const strings = (value) => Array.isArray(value) ? value.filter((each) => typeof each === "string") : []
