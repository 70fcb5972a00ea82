/** Which files of which sessions were viewed, and in which version, as this browser remembers it. */

import { keys, loadRecord, save } from "../shared/storage.js"

/** Sessions beyond this lose their marks. */
const mostSessions = 50

/** @param {Storage} storage @param {string} sessionId @returns {Record<string, string>} */
export function viewedOf(storage, sessionId) {
  const marks = loadRecord(storage, keys.viewed)[sessionId]
  if (typeof marks !== "object" || marks === null) return {}
  return Object.fromEntries(Object.entries(marks).filter(([, version]) => typeof version === "string"))
}

/** @param {Storage} storage @param {string} sessionId @param {Readonly<Record<string, string>>} marks */
export function keepViewed(storage, sessionId, marks) {
  const { [sessionId]: _former, ...others } = loadRecord(storage, keys.viewed)
  const kept = Object.entries(others).slice(-mostSessions + 1)
  save(storage, keys.viewed, { ...Object.fromEntries(kept), [sessionId]: marks })
}
