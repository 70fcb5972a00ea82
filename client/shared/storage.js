/**
 * What this browser stores. All keys are listed here, so that they can't collide. An unexpected value (from another
 * version, a manual edit, or because there is no storage) counts as absent and is never an error.
 *
 * Another program that has our port while we don't run can write here too. Whatever acts or speaks for the user
 * (unsent messages, drafts, defaults) is therefore sealed; the rest only changes what is in view.
 */

import { hmacSha256 } from "./hmac.js"

/** @typedef {Pick<Storage, "getItem" | "setItem">} Store */

export const keys = /** @type {const} */ ({
  credential: "liminal:credential",
  tabs: "liminal:tabs",
  collapsed: "liminal:collapsed",
  arrangement: "liminal:arrangement",
  theme: "liminal:theme",
  reading: "liminal:reading",
  sidebar: "liminal:sidebar",
  defaults: "liminal:defaults",
  recent: "liminal:recent",
  sends: "liminal:sends",
  starts: "liminal:starts",
  drafts: "liminal:drafts",
  panel: "liminal:panel",
  viewed: "liminal:viewed",
})

/** @param {Store} storage @param {string} key @returns {unknown} */
export function load(storage, key) {
  try {
    return JSON.parse(storage.getItem(key) ?? "null")
  } catch {
    return null
  }
}

/** False if the browser has no room or forbids it; the window then works without storing.
 * @param {Store} storage @param {string} key @param {unknown} value */
export function save(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}

/** @param {Store} storage @param {string} key @returns {Record<string, unknown>} */
export function loadRecord(storage, key) {
  const value = load(storage, key)
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? /** @type {Record<string, unknown>} */ (value)
    : {}
}

/** Digits of a seal. */
const sealLength = 64

/** A store whose values count only if they were written with the same secret, which only a page that is logged in to
 * this server knows. @param {Store} storage @param {string} secret @returns {Store} */
export function sealed(storage, secret) {
  const seal = (/** @type {string} */ key, /** @type {string} */ text) => hmacSha256(secret, `${key}\n${text}`)
  return {
    getItem(key) {
      const stored = storage.getItem(key) ?? ""
      const text = stored.slice(sealLength)
      return text !== "" && stored.slice(0, sealLength) === seal(key, text) ? text : null
    },
    setItem: (key, text) => storage.setItem(key, seal(key, text) + text),
  }
}
