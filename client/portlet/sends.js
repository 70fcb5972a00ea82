/** Messages that were sent and are not in the transcript yet: under way, or refused. Pure. */

/** @import { ErrorBody } from "../contract.js" */
/** @import { PendingSend } from "../shared/bridge.js" */
/** @import { Transcript } from "./transcript.js" */

/** @typedef {PendingSend & { at: string, error: ErrorBody | null }} Send */

/** @param {Send[]} sends @param {PendingSend} send @param {string} at @returns {Send[]} */
export function withSend(sends, { requestId, content }, at) {
  return sends.some((each) => each.requestId === requestId) ? sends : [...sends, { requestId, content, at, error: null }]
}

/** @param {Send[]} sends @param {string} requestId @param {ErrorBody} error */
export const withRefusal = (sends, requestId, error) => sends.map((each) => each.requestId === requestId ? { ...each, error } : each)

/** @param {Send[]} sends @param {string} requestId */
export const withoutSend = (sends, requestId) => sends.filter((each) => each.requestId !== requestId)

/** Without those that the transcript has by now. @param {Send[]} sends @param {Transcript} transcript @returns {Send[]} */
export function stillUnderWay(sends, transcript) {
  if (sends.length === 0) return sends
  const arrived = new Set(transcript.runs.slice(-20).flatMap(({ items }) => items.flatMap((item) => item.type === "message" ? item.requestId ?? [] : [])))
  return sends.some(({ requestId }) => arrived.has(requestId)) ? sends.filter(({ requestId }) => !arrived.has(requestId)) : sends
}

/** Whether any is on its way. @param {Send[]} sends */
export const isSending = (sends) => sends.some(({ error }) => error === null)
