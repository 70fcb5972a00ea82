/** Requests about this session and for tickets, until each is answered. */

import { createEntering } from "../shared/door.js"
import { uuid } from "../shared/ids.js"

/** @import { ErrorBody } from "../contract.js" */
/** @import { PortletRequest, ToShell } from "../shared/bridge.js" */

/** A request without what every request of a portlet has.
 * @typedef {PortletRequest extends infer R ? R extends PortletRequest ? Omit<R, "sessionId" | "requestId"> : never
 *   : never} Asked */

/** `quiet`: if it fails, nobody is told but `undo`, which may return that it took care of the error.
 * @typedef {{ what: "quiet" | "other", undo(error: ErrorBody): boolean | void, done(): void }} Pending */

/** @param {(message: ToShell) => void} post @param {string} sessionId */
export function createRequests(post, sessionId) {
  /** @type {Map<string, Pending>} */
  const pending = new Map()

  /** @param {Asked} message @param {Pending} request */
  function send(message, request) {
    const requestId = uuid()
    pending.set(requestId, request)
    post(/** @type {PortletRequest} */ ({ ...message, sessionId, requestId }))
    return requestId
  }

  /** @param {string | undefined} requestId */
  function taken(requestId = "") {
    const request = pending.get(requestId)
    pending.delete(requestId)
    return request
  }

  return {
    /** @param {Asked} message @param {Pending["undo"]} [undo] so that the user can try again
     * @param {() => void} [done] */
    ask: (message, undo = () => {}, done = () => {}) => void send(message, { what: "other", undo, done }),
    /** @param {Asked} message @param {Pending["undo"]} [undo] @returns {string} the `requestId` of the answer */
    quietly: (message, undo = () => {}) => send(message, { what: "quiet", undo, done: () => {} }),
    /** @param {string | undefined} requestId */
    answered: (requestId) => taken(requestId)?.done(),
    failed: taken,
    ...createEntering(() => post({ type: "portlet:enter" })),
  }
}
