/** The open tabs: which sessions, in which order, the active one, and which are shown side by side. Pure. */

/** @typedef {object} Tabs
 * @property {readonly string[]} order  Session ids, and ids of sessions being created.
 * @property {string | null} active
 * @property {string} [preview]  The tab that the next preview replaces.
 * @property {readonly string[]} [columns]  The tabs shown side by side, if there are several. The active one is among
 *   them, if there is one. */

/** The most sessions side by side. */
const MOST_COLUMNS = 3

/** Opens a session, or activates its tab. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export const openTab = (tabs, id) =>
  activated({ ...tabs, order: tabs.order.includes(id) ? tabs.order : [...tabs.order, id] }, id)

/** A tab that is in no column takes the place of the active one, or of the last.
 * @param {Tabs} tabs @param {string} id @returns {Tabs} */
function activated(tabs, id) {
  const { columns, active } = tabs
  if (!columns || columns.includes(id)) return { ...tabs, active: id }
  const place = active !== null && columns.includes(active) ? active : columns.at(-1)
  return { ...tabs, active: id, columns: columns.map((other) => (other === place ? id : other)) }
}

/** Opens a session in a tab that the next preview replaces. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export function previewTab(tabs, id) {
  if (tabs.order.includes(id)) return openTab(tabs, id)
  const inPlace = (/** @type {string} */ other) => (other === tabs.preview ? id : other)
  return openTab(
    withColumns({ ...tabs, order: tabs.order.map(inPlace), preview: id }, tabs.columns?.map(inPlace) ?? []),
    id,
  )
}

/** @param {Tabs} tabs @param {readonly string[]} columns fewer than two are none @returns {Tabs} */
function withColumns(tabs, columns) {
  const { columns: _before, ...rest } = tabs
  return columns.length < 2 ? rest : { ...rest, columns }
}

/** Shows a session beside the others. The last column on that side gives way if there are too many; if no other session
 * is shown, the neighbouring tab is.
 * @param {Tabs} tabs @param {string} id @param {"start" | "end"} [side] @returns {Tabs} */
export function showBeside(tabs, id, side = "end") {
  const opened = { ...keepTab(tabs, id), order: openTab(tabs, id).order, active: id }
  const at = tabs.order.indexOf(id)
  const others = (tabs.columns ?? [tabs.active]).filter((other) => other !== null && other !== id)
  const [neighbour] = [tabs.order[at + 1], tabs.order[at - 1]].filter((other) => at >= 0 && other !== undefined)
  if (others.length === 0 && neighbour !== undefined) others.push(neighbour)
  const kept = side === "end" ? others.slice(0, MOST_COLUMNS - 1) : others.slice(1 - MOST_COLUMNS)
  return withColumns(opened, /** @type {string[]} */ (side === "end" ? [...kept, id] : [id, ...kept]))
}

/** The tab that the next column shows: the next one that is in none.
 * @param {Tabs} tabs @returns {string | undefined} */
export function nextBeside({ order, active, columns }) {
  const at = active === null ? 0 : order.indexOf(active)
  const taken = columns ?? [active]
  return [...order.slice(at), ...order.slice(0, at)].find((id) => !taken.includes(id))
}

/** Takes a session out of its column; its tab stays. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export function closeColumn(tabs, id) {
  const at = tabs.columns?.indexOf(id) ?? -1
  if (at < 0) return tabs
  const columns = (tabs.columns ?? []).filter((other) => other !== id)
  return withColumns(
    { ...tabs, active: tabs.active === id ? (columns[at] ?? columns[at - 1] ?? id) : tabs.active },
    columns,
  )
}

/** Shows one session alone. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export const showAlone = (tabs, id) => withColumns(openTab(tabs, id), [])

/** Activates the next column, wrapping around at the end. @param {Tabs} tabs @returns {Tabs} */
export function nextColumn(tabs) {
  const { columns = [], active } = tabs
  return { ...tabs, active: columns[(columns.indexOf(active ?? "") + 1) % columns.length] ?? active }
}

/** The tabs in view, left to right: the active one and as many of its neighbours as there is room for.
 * @param {Tabs} tabs @param {number} room how many fit @returns {readonly string[]} */
export function tabsInView({ columns, active }, room) {
  if (active === null) return []
  if (!columns || room < 2) return [active]
  const first = Math.max(0, columns.indexOf(active) - room + 1)
  return columns.slice(first, first + room)
}

/** Adds the tabs in view to those that have a pane, each before the next one in view. Those that have one keep their
 * order: a frame that is moved loads again.
 * @param {readonly string[]} shown @param {readonly string[]} inView @returns {readonly string[]} */
export const withInView = (shown, inView) =>
  inView.toReversed().reduce((all, id, at) => {
    if (all.includes(id)) return all
    const next = all.indexOf(inView[inView.length - at] ?? "")
    return all.toSpliced(next < 0 ? all.length : next, 0, id)
  }, shown)

/** Keeps a preview. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export function keepTab(tabs, id) {
  if (tabs.preview !== id) return tabs
  const { preview: _kept, ...rest } = tabs
  return rest
}

/** Closes a tab and activates its right neighbour, or the left one at the end.
 * @param {Tabs} tabs @param {string} id @returns {Tabs} */
export function closeTab(tabs, id) {
  const at = tabs.order.indexOf(id)
  if (at < 0) return tabs
  const order = tabs.order.filter((other) => other !== id)
  const left = { ...keepTab(closeColumn(tabs, id), id), order }
  return left.active === id ? { ...left, active: order[at] ?? order[at - 1] ?? null } : left
}

/** Closes all tabs but one. @param {Tabs} tabs @param {string} id @returns {Tabs} */
export const closeOthers = (tabs, id) => ({ ...keepTabs(tabs, (other) => other === id), active: id })

/** Closes every tab for which `keep` is false.
 * @param {Tabs} tabs @param {(id: string) => boolean} keep @returns {Tabs} */
export const keepTabs = (tabs, keep) => tabs.order.filter((id) => !keep(id)).reduce(closeTab, tabs)

/** Moves a tab; `to` is an index in the order without it.
 * @param {Tabs} tabs @param {string} id @param {number} to @returns {Tabs} */
export function moveTab(tabs, id, to) {
  if (!tabs.order.includes(id)) return tabs
  const rest = tabs.order.filter((other) => other !== id)
  const at = Math.max(0, Math.min(to, rest.length))
  return { ...keepTab(tabs, id), order: [...rest.slice(0, at), id, ...rest.slice(at)] }
}

/** Moves a tab one place. @param {Tabs} tabs @param {string} id @param {1 | -1} by @returns {Tabs} */
export const nudgeTab = (tabs, id, by) => moveTab(tabs, id, tabs.order.indexOf(id) + by)

/** Activates the next or previous tab, wrapping around at the ends.
 * @param {Tabs} tabs @param {1 | -1} by @returns {Tabs} */
export function stepTab(tabs, by) {
  const count = tabs.order.length
  if (count === 0) return tabs
  const at = tabs.active === null ? (by > 0 ? -1 : 0) : tabs.order.indexOf(tabs.active)
  const next = tabs.order[(at + by + count) % count]
  return next === undefined ? tabs : activated(tabs, next)
}

/** A session being created gets its real id.
 * @param {Tabs} tabs @param {string} from @param {string} to @returns {Tabs} */
export function replaceTab(tabs, from, to) {
  if (!tabs.order.includes(from)) return tabs
  const renamed = (/** @type {readonly string[]} */ ids) =>
    ids.filter((id) => id !== to || !ids.includes(from)).map((id) => (id === from ? to : id))
  const active = tabs.active === from ? to : tabs.active
  return withColumns({ ...tabs, order: renamed(tabs.order), active }, renamed(tabs.columns ?? []))
}

/** What to store: only the tabs for which `keep` is true. @param {Tabs} tabs @param {(id: string) => boolean} keep */
export function tabsToStore(tabs, keep) {
  const { order, active, preview, columns } = keepTabs(tabs, keep)
  return {
    openTabs: order,
    activeTab: active,
    tabOrder: order,
    ...(preview && { preview }),
    ...(columns && { columns }),
  }
}

/** Reads what was stored, and ignores anything invalid. @param {Record<string, unknown>} stored @returns {Tabs} */
export function tabsFromStore(stored) {
  const open = strings(stored.openTabs)
  const sorted = strings(stored.tabOrder).filter((id) => open.includes(id))
  const order = [...new Set([...sorted, ...open])]
  const columns = [...new Set(strings(stored.columns))].filter((id) => order.includes(id)).slice(0, MOST_COLUMNS)
  const active =
    typeof stored.activeTab === "string" && order.includes(stored.activeTab)
      ? stored.activeTab
      : (columns[0] ?? order[0] ?? null)
  const { preview } = stored
  return withColumns(
    { order, active, ...(typeof preview === "string" && order.includes(preview) && { preview }) },
    active !== null && columns.includes(active) ? columns : [],
  )
}

/** @param {unknown} value @returns {string[]} */
const strings = (value) => (Array.isArray(value) ? value.filter((each) => typeof each === "string") : [])
