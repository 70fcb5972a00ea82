/** The user's preferences, kept in this browser. */

import { keys, loadRecord, save } from "../shared/storage.js"

/** @import { Policy } from "../contract.js" */
/** @import { Store } from "../shared/storage.js" */

/** @typedef {object} Defaults
 * @property {Policy | null} policy  For new sessions; null: the server's default.
 * @property {boolean} notifications
 * @property {boolean} offered  Notifications were offered once.
 * @property {string | null} agent  Null: the last used.
 * @property {readonly string[]} lastUsed  Agents, the newest first.
 * @property {Readonly<Record<string, string>>} agents  The agent used last in each project.
 * @property {Readonly<Record<string, boolean>>} worktrees  Whether its last session got a worktree. */

/** @param {Store} storage @returns {Defaults} */
export function loadDefaults(storage) {
  const { policy, notifications, offered, agent, lastUsed, agents, worktrees } = loadRecord(storage, keys.defaults)
  return {
    policy: policy === "ask" || policy === "auto" ? policy : null,
    notifications: notifications === true,
    offered: offered === true,
    agent: typeof agent === "string" ? agent : null,
    lastUsed: Array.isArray(lastUsed) ? lastUsed.filter((each) => typeof each === "string") : [],
    agents: Object.fromEntries(Object.entries(agents ?? {}).filter(([, each]) => typeof each === "string")),
    worktrees: Object.fromEntries(Object.entries(worktrees ?? {}).filter(([, each]) => typeof each === "boolean")),
  }
}

/** Changes only what is given, so that changes from other windows stay.
 * @param {Store} storage @param {Partial<Defaults>} change @returns {Defaults} */
export function saveDefaults(storage, change) {
  const next = { ...loadDefaults(storage), ...change }
  save(storage, keys.defaults, next)
  return next
}
