/** What the user tells the agent: messages until each is in the transcript, and that the running turn must stop. */

import { uuid } from "../shared/ids.js"
import { sendsFromStore, storeSends } from "../shared/unsent.js"
import { refsOf } from "./attachments.js"
import { isSending, stillUnderWay, withoutSend, withRefusal, withSend } from "./sends.js"
import { lastOwnMessage, runningTurn } from "./transcript.js"

/** @import { AttachmentRef, Frame } from "../contract.js" */
/** @import { PendingSend, ToShell } from "../shared/bridge.js" */
/** @import { Store } from "../shared/storage.js" */
/** @import { Send } from "./sends.js" */
/** @import { Transcript } from "./transcript.js" */

/** @typedef {object} SendingDeps
 * @property {string} sessionId
 * @property {() => Transcript} transcript
 * @property {(message: ToShell) => void} post
 * @property {() => Store | null} unsent  What the shell keeps until the server has answered.
 * @property {(message: { type: "session:cancel" }, onFailure: () => void) => void} ask
 * @property {(waits: boolean) => void} sent  A message has left; `waits`: into the queue.
 * @property {() => void} show
 * @property {(content: string, attachments: AttachmentRef[]) => void} restore  Puts a message into the composer. */

/** @param {SendingDeps} deps */
export function createSending({ sessionId, transcript, ...deps }) {
  /** @type {Send[]} */
  let sends = []
  /** The turn the user asked to stop. */
  let stopping = ""

  const isBusy = () => isSending(sends) || runningTurn(transcript()) !== null

  /** @param {string} content @param {AttachmentRef[]} [attachments] */
  function send(content, attachments = []) {
    const requestId = uuid()
    const waits = isBusy()
    sends = withSend(sends, { requestId, content, attachments }, new Date().toISOString(), waits)
    // The shell does this too, but gets the message later: the page may be left before that.
    const unsent = deps.unsent()
    if (unsent) storeSends(unsent, [...sendsFromStore(unsent), { sessionId, content, attachments, requestId }])
    deps.post({ type: "session:send", sessionId, content, attachments, requestId })
    // The shell is on the same thread: it sends the message before this draws it.
    deps.sent(waits)
  }

  /** @param {string} content @param {AttachmentRef[]} [attachments] */
  function sendIfIdle(content, attachments) {
    if (!isBusy()) send(content, attachments)
  }

  /** Drops what arrived and what ended. Call it when the transcript changed. */
  function settle() {
    sends = stillUnderWay(sends, transcript())
    if (stopping !== "" && runningTurn(transcript())?.turnId !== stopping) stopping = ""
  }

  /** A message that was refused. @param {string} requestId */
  function forget(requestId) {
    sends = withoutSend(sends, requestId)
  }

  return {
    isBusy,
    send,
    sendIfIdle,
    settle,
    forget,
    state: () => ({ sends, isStopping: stopping !== "" }),
    sendLastAgain() {
      const last = lastOwnMessage(transcript())
      if (last) sendIfIdle(last.content, refsOf(last.attachments ?? []))
    },
    /** One that was refused goes back into the composer. @param {string} requestId */
    takeBack(requestId) {
      const found = sends.find((each) => each.requestId === requestId)
      forget(requestId)
      deps.show()
      if (found) deps.restore(found.content, found.attachments)
    },
    /** Those of an earlier page that are still unanswered. @param {PendingSend[]} pending */
    resume(pending) {
      for (const each of pending) sends = withSend(sends, each, new Date().toISOString(), isBusy())
      settle()
    },
    /** Whether it was one of the messages that failed. @param {Extract<Frame, { type: "error" }>} error */
    refused(error) {
      // The user can try to stop again.
      if (error.code === "INTERRUPT_FAILED") stopping = ""
      const { requestId = "" } = error
      if (!sends.some((each) => each.requestId === requestId)) return false
      sends = withRefusal(sends, requestId, error)
      return true
    },
    stop() {
      const turn = runningTurn(transcript())
      if (!turn || stopping === turn.turnId) return
      stopping = turn.turnId
      deps.ask({ type: "session:cancel" }, () => {
        stopping = ""
      })
      deps.show()
    },
  }
}
