/** The unsent message of each session, kept across reloads. */

import { keys, loadRecord, save } from "../shared/storage.js"
import { attachmentsIn } from "./attachments.js"

/** @import { Attachment } from "../contract.js" */
/** @import { Store } from "../shared/storage.js" */

/** @typedef {{ text: string, attachments: Attachment[] }} Draft */

/** A draft that replaces a message: the message's id, and the draft that comes back afterwards.
 * @typedef {{ itemId: string, before: Draft }} Edit */

/** The maximum number of drafts; the oldest are dropped. */
const MOST = 200

/** In characters. */
const LONG = 20_000

/** In milliseconds. */
const PAUSE = 500

/** @param {Store} storage @param {string} sessionId @returns {Draft & { edit: Edit | null }} */
export function draftOf(storage, sessionId) {
  const stored = loadRecord(storage, keys.drafts)[sessionId]
  const { itemId, before } = /** @type {Record<string, unknown>} */ (fieldOf(stored, "edit") ?? {})
  return { ...draftIn(stored), edit: typeof itemId === "string" ? { itemId, before: draftIn(before) } : null }
}

/** @param {unknown} stored @returns {Draft} */
function draftIn(stored) {
  if (typeof stored === "string") return { text: stored, attachments: [] }
  const text = fieldOf(stored, "text")
  return { text: typeof text === "string" ? text : "", attachments: attachmentsIn(fieldOf(stored, "attachments")) }
}

/** @param {unknown} stored @param {string} name */
const fieldOf = (stored, name) => /** @type {Record<string, unknown> | null | undefined} */ (stored)?.[name]

/** One without attachments is kept as its text alone. @param {Store} storage @param {string} sessionId
 * @param {Draft} draft @param {Edit | null} [edit] */
export function keepDraft(storage, sessionId, draft, edit = null) {
  const { [sessionId]: _before, ...others } = loadRecord(storage, keys.drafts)
  const kept = Object.entries(others).slice(-(MOST - 1))
  if (edit) kept.push([sessionId, { ...draft, edit }])
  else if (draft.attachments.length > 0) kept.push([sessionId, draft])
  else if (draft.text !== "") kept.push([sessionId, draft.text])
  save(storage, keys.drafts, Object.fromEntries(kept))
}

/** An edited version takes the place of the earlier one: the draft from before the edit goes on there.
 * @param {Store} storage @param {string} from @param {string} to */
export function moveDraft(storage, from, to) {
  const { edit, ...draft } = draftOf(storage, from)
  keepDraft(storage, to, edit?.before ?? draft)
  keepDraft(storage, from, { text: "", attachments: [] })
}

/** Returns a function that calls `keep` for a draft: at once, but for a long one, which takes a while to seal, only
 * when the user pauses or leaves. @param {(draft: Draft) => void} keep @param {Window} page */
export function keepingOf(keep, page) {
  /** @type {Draft | null} */
  let due = null
  let timer = 0
  function keepNow() {
    const draft = due
    due = null
    clearTimeout(timer)
    if (draft) keep(draft)
  }
  page.addEventListener("pagehide", keepNow)
  return (/** @type {Draft} */ draft) => {
    clearTimeout(timer)
    due = draft
    if (draft.text.length < LONG) keepNow()
    else timer = page.setTimeout(keepNow, PAUSE)
  }
}
