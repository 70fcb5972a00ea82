/** Messages that the server has not answered yet, kept across reloads of this tab. */

import { keys, load, save } from "./storage.js"

/** @import { PendingSend } from "./bridge.js" */
/** @import { Store } from "./storage.js" */

/** @typedef {PendingSend & { sessionId: string }} Send */

/** @param {Store} unsent @returns {Send[]} */
export function sendsFromStore(unsent) {
  const stored = load(unsent, keys.sends)
  return Array.isArray(stored)
    ? stored
        .filter((send) => ["sessionId", "requestId", "content"].every((key) => typeof send?.[key] === "string"))
        .map((send) => ({ ...send, attachments: Array.isArray(send.attachments) ? send.attachments : [] }))
    : []
}

/** @param {Store} unsent @param {Send[]} sends */
export const storeSends = (unsent, sends) => save(unsent, keys.sends, sends)
