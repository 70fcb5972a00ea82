/**
 * What this browser remembers. Every key is here, so that they do not collide; a value that is not of the expected kind
 * (another version of us, a hand edit, no storage at all) counts as absent and is never an error.
 */

export const keys = /** @type {const} */ ({
  credential: "liminal:credential",
  tabs: "liminal:tabs",
  collapsed: "liminal:collapsed",
  theme: "liminal:theme",
  sidebar: "liminal:sidebar",
  defaults: "liminal:defaults",
  seen: "liminal:seen",
  sends: "liminal:sends",
  drafts: "liminal:drafts",
})

/** @param {Storage} storage @param {string} key @returns {unknown} */
export function load(storage, key) {
  try {
    return JSON.parse(storage.getItem(key) ?? "null")
  } catch {
    return null
  }
}

/** False when the browser has no room or forbids it: then this window goes on without remembering.
 * @param {Storage} storage @param {string} key @param {unknown} value */
export function save(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}

/** @param {Storage} storage @param {string} key @returns {Record<string, unknown>} */
export function loadRecord(storage, key) {
  const value = load(storage, key)
  return typeof value === "object" && value !== null && !Array.isArray(value) ? /** @type {Record<string, unknown>} */ (value) : {}
}
