/** The unsent message of each session, kept across reloads. */

import { keys, loadRecord, save } from "../shared/storage.js"
import { attachmentsIn } from "./attachments.js"

/** @import { Attachment } from "../contract.js" */
/** @import { Store } from "../shared/storage.js" */

/** @typedef {{ text: string, attachments: Attachment[] }} Draft */

/** The maximum number of drafts; the oldest are dropped. */
const MOST = 200

/** @param {Store} storage @param {string} sessionId @returns {Draft} */
export function draftOf(storage, sessionId) {
  const stored = loadRecord(storage, keys.drafts)[sessionId]
  if (typeof stored === "string") return { text: stored, attachments: [] }
  const { text, attachments } = /** @type {Partial<Record<keyof Draft, unknown>>} */ (stored ?? {})
  return { text: typeof text === "string" ? text : "", attachments: attachmentsIn(attachments) }
}

/** One without attachments is kept as its text alone. @param {Store} storage @param {string} sessionId
 * @param {Draft} draft */
export function keepDraft(storage, sessionId, draft) {
  const { [sessionId]: _before, ...others } = loadRecord(storage, keys.drafts)
  const kept = Object.entries(others).slice(-(MOST - 1))
  if (draft.attachments.length > 0) kept.push([sessionId, draft])
  else if (draft.text !== "") kept.push([sessionId, draft.text])
  save(storage, keys.drafts, Object.fromEntries(kept))
}
