/** What is stored for the next page: the tabs, folded projects, and sessions that are being created. */

import { attachmentsIn } from "../portlet/attachments.js"
import { keys, load, loadRecord, save } from "../shared/storage.js"
import { arrangementFromStore, noFilter } from "./arrangement.js"
import { loadDefaults } from "./defaults.js"
import { nothingOutside } from "./keeping.js"
import { emptyModel, visitsFrom } from "./model.js"
import { keepTabs, tabsFromStore, tabsToStore } from "./tabs-state.js"

/** @import { Store } from "../shared/storage.js" */
/** @import { Creation, Shell } from "./shell-state.js" */

const CREATING = "creating:"

/** In milliseconds. The server knows the requests for its newest sessions; an older one could be carried out twice. */
const REPEATABLE = 24 * 60 * 60 * 1000

/** Whether to ask for the session again, when the page is new or connected again. @param {Creation} creation */
export const isRepeatable = ({ error, at }) => error === null && Date.now() - at < REPEATABLE

/** The tab of a session that is being created. @param {string} requestId */
export const creatingTab = (requestId) => `${CREATING}${requestId}`

/** The state that a page begins with. Each window keeps its own tabs; a new window starts with those of the window that
 * changed last. @param {Store} preferences @param {Store} unsent @returns {Shell} */
export function shellFromStore(preferences, unsent) {
  const isReload = load(sessionStorage, keys.tabs) !== null
  const stored = loadRecord(isReload ? sessionStorage : localStorage, keys.tabs)
  const isNarrow = matchMedia("(max-width: 700px)").matches
  const creating = startsFromStore(unsent)
  const isOpen = (/** @type {string} */ id) => {
    const creation = creating.get(id)
    return creation ? isRepeatable(creation) : !id.startsWith(CREATING)
  }
  const tabs = keepTabs(tabsFromStore(stored), isOpen)
  return {
    model: { ...emptyModel, visited: visitsFrom(stored.visited) },
    room: 1,
    shown: [],
    creating,
    editing: null,
    closed: [],
    outside: nothingOutside,
    // A new window on a phone shows Now first.
    tabs: { ...tabs, ...(isNarrow && !isReload && { active: null }) },
    collapsed: collapsedFromStore(),
    arrangement: arrangementFromStore(),
    filter: noFilter,
    member: null,
    defaults: loadDefaults(preferences),
    isListPainted: false,
  }
}

/** Only this window goes on with what it creates. @param {Shell} shell */
export function storeTabs({ tabs, creating, model }) {
  const visited = [...model.visited.values()]
  save(sessionStorage, keys.tabs, { ...tabsToStore(tabs, () => true), visited })
  save(localStorage, keys.tabs, { ...tabsToStore(tabs, (id) => !creating.has(id)), visited })
}

/** @param {Store} unsent @param {Shell["creating"]} creating */
export const storeStarts = (unsent, creating) => save(unsent, keys.starts, [...creating.values()])

/** @param {Store} unsent @returns {Shell["creating"]} */
function startsFromStore(unsent) {
  const stored = load(unsent, keys.starts)
  const starts = /** @type {Creation[]} */ (Array.isArray(stored) ? stored : []).filter(
    (start) =>
      ["requestId", "prompt", "typed", "projectId", "cliType"].every(
        (key) => typeof (/** @type {Record<string, unknown>} */ (start)?.[key]) === "string",
      ) &&
      typeof start.at === "number" &&
      Array.isArray(start.more),
  )
  return new Map(
    starts.map((start) => [
      creatingTab(start.requestId),
      { ...start, attachments: attachmentsIn(start.attachments), more: start.more.map(String) },
    ]),
  )
}

export const collapsedFromStore = () =>
  new Set(
    Object.entries(loadRecord(localStorage, keys.collapsed))
      .filter(([, folded]) => folded === true)
      .map(([id]) => id),
  )
