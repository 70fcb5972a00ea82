/** What was typed and not sent, per session, over reloads. */

import { keys, loadRecord, save } from "../shared/storage.js"

/** So many sessions keep a draft; the oldest give way. */
const MOST = 200

/** @param {Storage} storage @param {string} sessionId */
export function draftOf(storage, sessionId) {
  const draft = loadRecord(storage, keys.drafts)[sessionId]
  return typeof draft === "string" ? draft : ""
}

/** @param {Storage} storage @param {string} sessionId @param {string} text */
export function keepDraft(storage, sessionId, text) {
  const { [sessionId]: _before, ...others } = loadRecord(storage, keys.drafts)
  const kept = Object.entries(others).slice(-(MOST - 1))
  if (text !== "") kept.push([sessionId, text])
  save(storage, keys.drafts, Object.fromEntries(kept))
}
