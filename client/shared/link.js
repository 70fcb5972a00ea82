/**
 * Links to a session, or to one item in it. What follows the “#” never reaches a server. It names no credential,
 * and opening it only shows the session.
 */

/** @typedef {{ sessionId: string, itemId: string | null }} SessionLink */

/** @param {string} origin @param {string} sessionId @param {string} [itemId] */
export const linkTo = (origin, sessionId, itemId) =>
  `${origin}/#${new URLSearchParams({ session: sessionId, ...(itemId !== undefined && { item: itemId }) })}`

/** @param {string} hash `location.hash` @returns {SessionLink | null} */
export function linkFrom(hash) {
  const parts = new URLSearchParams(hash.slice(1))
  const sessionId = parts.get("session")
  return sessionId ? { sessionId, itemId: parts.get("item") || null } : null
}
