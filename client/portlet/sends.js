/** Messages that are not in the transcript yet: being sent, or refused. Pure. */

/** @import { ErrorBody } from "../contract.js" */
/** @import { PendingSend } from "../shared/bridge.js" */
/** @import { Transcript } from "./transcript.js" */

/** `waits`: when it was sent, a turn was running or another message was on its way, so it belongs into the queue.
 * @typedef {PendingSend & { at: string, error: ErrorBody | null, waits: boolean }} Send */

/** @param {Send[]} sends @param {PendingSend} send @param {string} at @param {boolean} [waits] @returns {Send[]} */
export function withSend(sends, { requestId, content, attachments }, at, waits = false) {
  return sends.some((each) => each.requestId === requestId)
    ? sends
    : [...sends, { requestId, content, attachments, at, error: null, waits }]
}

/** @param {Send[]} sends @param {string} requestId @param {ErrorBody} error */
export const withRefusal = (sends, requestId, error) =>
  sends.map((each) => (each.requestId === requestId ? { ...each, error } : each))

/** @param {Send[]} sends @param {string} requestId */
export const withoutSend = (sends, requestId) => sends.filter((each) => each.requestId !== requestId)

/** Without those that are in the transcript or in the queue now, or were removed from it.
 * @param {Send[]} sends @param {Transcript} transcript @returns {Send[]} */
export function stillUnderWay(sends, transcript) {
  if (sends.length === 0) return sends
  const arrived = new Set([
    ...transcript.runs
      .slice(-20)
      .flatMap(({ items }) => items.flatMap((item) => (item.type === "message" ? (item.requestId ?? []) : []))),
    ...transcript.facts.queue.messages.flatMap(({ requestId }) => requestId ?? []),
    ...(transcript.facts.queue.removed ?? []).map(({ requestId }) => requestId),
  ])
  return sends.some(({ requestId }) => arrived.has(requestId))
    ? sends.filter(({ requestId }) => !arrived.has(requestId))
    : sends
}

/** Whether it is on its way into the queue. @param {Send} send */
export const isWaiting = ({ error, waits }) => waits && error === null

/** Whether any is being sent. @param {Send[]} sends */
export const isSending = (sends) => sends.some(({ error, waits }) => error === null && !waits)
