/**
 * What the user has looked at: for each session, the `lastActiveAt` that was in front of them. A session is unread when
 * it moved on since. Kept in `localStorage`, so a turn that ended while no page was open is unread too, and looking in
 * one window clears it in all. Pure.
 */

/** @import { SessionListItem } from "../contract.js" */
/** @typedef {Readonly<Record<string, string>>} Seen */

/** Sessions remembered at most; the oldest are forgotten and count as read. */
const most = 2000

/** @param {Record<string, unknown>} stored @returns {Seen} */
export const seenFrom = (stored) => Object.fromEntries(Object.entries(stored).flatMap(([id, at]) => typeof at === "string" ? [[id, at]] : []))

/** @param {Seen} seen @param {SessionListItem} session */
export function isUnread(seen, session) {
  const at = seen[session.id]
  return at !== undefined && session.lastActiveAt > at
}

/** The user looks at it. The same object comes back when nothing changes. @param {Seen} seen @param {SessionListItem} session @returns {Seen} */
export function look(seen, session) {
  const at = seen[session.id]
  return at !== undefined && at >= session.lastActiveAt ? seen : remember(seen, session.id, session.lastActiveAt)
}

/** A session nobody looked at yet moves on: from here its news counts. @param {Seen} seen @param {SessionListItem} before @returns {Seen} */
export const notice = (seen, before) => seen[before.id] === undefined ? remember(seen, before.id, before.lastActiveAt) : seen

/** @param {Seen} seen @param {string} id @param {string} at @returns {Seen} */
function remember(seen, id, at) {
  const entries = Object.entries({ ...seen, [id]: at })
  if (entries.length <= most) return Object.fromEntries(entries)
  return Object.fromEntries(entries.sort((a, b) => b[1].localeCompare(a[1])).slice(0, most))
}
