/** What an earlier page stored: folded projects, and messages that were not answered yet. */

import { keys, load, loadRecord } from "../shared/storage.js"

/** @import { Send } from "../shared/socket.js" */
/** @import { Store } from "../shared/storage.js" */

export const collapsedFromStore = () =>
  new Set(
    Object.entries(loadRecord(localStorage, keys.collapsed))
      .filter(([, folded]) => folded === true)
      .map(([id]) => id),
  )

/** @param {Store} unsent @returns {Send[]} */
export function sendsFromStore(unsent) {
  const stored = load(unsent, keys.sends)
  return Array.isArray(stored)
    ? stored
        .filter((send) => ["sessionId", "requestId", "content"].every((key) => typeof send?.[key] === "string"))
        .map((send) => ({ ...send, attachments: Array.isArray(send.attachments) ? send.attachments : [] }))
    : []
}
