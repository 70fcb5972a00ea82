/** What the user likes, kept in this browser. Pure, but for where it is kept. */

import { keys, loadRecord, save } from "../shared/storage.js"

/** @import { Policy } from "../contract.js" */

/** @typedef {object} Defaults
 * @property {Policy | null} policy  For new sessions; null: as the server was told.
 * @property {boolean} notifications
 * @property {string | null} agent  Null: the one used last.
 * @property {readonly string[]} lastUsed  Agents, the newest first. */

/** @param {Storage} storage @returns {Defaults} */
export function loadDefaults(storage) {
  const { policy, notifications, agent, lastUsed } = loadRecord(storage, keys.defaults)
  return {
    policy: policy === "ask" || policy === "auto" ? policy : null,
    notifications: notifications === true,
    agent: typeof agent === "string" ? agent : null,
    lastUsed: Array.isArray(lastUsed) ? lastUsed.filter((each) => typeof each === "string") : [],
  }
}

/** Changes some of it and leaves what another window set. @param {Storage} storage @param {Partial<Defaults>} change @returns {Defaults} */
export function saveDefaults(storage, change) {
  const next = { ...loadDefaults(storage), ...change }
  save(storage, keys.defaults, next)
  return next
}
