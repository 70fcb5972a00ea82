/** What is stored for the next page: the tabs and folded projects. */

import { keys, load, loadRecord, save } from "../shared/storage.js"
import { arrangementFromStore, noFilter } from "./arrangement.js"
import { loadDefaults } from "./defaults.js"
import { nothingOutside } from "./keeping.js"
import { emptyModel, visitsFrom } from "./model.js"
import { tabsFromStore, tabsToStore } from "./tabs-state.js"

/** @import { Store } from "../shared/storage.js" */
/** @import { Shell } from "./shell-state.js" */

/** The state that a page begins with. Each window keeps its own tabs; a new window starts with those of the window that
 * changed last. @param {Store} preferences @returns {Shell} */
export function shellFromStore(preferences) {
  const isReload = load(sessionStorage, keys.tabs) !== null
  const stored = loadRecord(isReload ? sessionStorage : localStorage, keys.tabs)
  const isNarrow = matchMedia("(max-width: 700px)").matches
  return {
    model: { ...emptyModel, visited: visitsFrom(stored.visited) },
    room: 1,
    shown: [],
    creating: new Map(),
    editing: null,
    closed: [],
    outside: nothingOutside,
    // A new window on a phone shows Now first.
    tabs: { ...tabsFromStore(stored), ...(isNarrow && !isReload && { active: null }) },
    collapsed: collapsedFromStore(),
    arrangement: arrangementFromStore(),
    filter: noFilter,
    member: null,
    defaults: loadDefaults(preferences),
    isListPainted: false,
  }
}

/** @param {Shell} shell */
export function storeTabs({ tabs, creating, model }) {
  const stored = { ...tabsToStore(tabs, (id) => !creating.has(id)), visited: [...model.visited.values()] }
  save(sessionStorage, keys.tabs, stored)
  save(localStorage, keys.tabs, stored)
}

export const collapsedFromStore = () =>
  new Set(
    Object.entries(loadRecord(localStorage, keys.collapsed))
      .filter(([, folded]) => folded === true)
      .map(([id]) => id),
  )
