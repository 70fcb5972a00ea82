/** Below the conversation: the composer with its draft, the queue, the controls and the meter in it, and going back. */

import { keys } from "../shared/storage.js"
import { mountComposer } from "./composer.js"
import { mountControls } from "./controls.js"
import { draftOf, keepDraft, keepingOf } from "./drafts.js"
import { mountGoingBack } from "./going-back.js"
import { mountMeter } from "./meter.js"
import { waitingCard } from "./permission.js"
import { mountQueue } from "./queue.js"
import { isWaiting } from "./sends.js"
import { lastUsage, runningTurn } from "./transcript.js"
import { LEFT } from "./typed.js"
import { canCompact, composerOf, goingBackOf, sendsBy } from "./views.js"

/** @import { ErrorBody } from "../contract.js" */
/** @import { ToShell } from "../shared/bridge.js" */
/** @import { Store } from "../shared/storage.js" */
/** @import { Typed } from "./typed.js" */
/** @import { GoingBackDeps } from "./going-back.js" */
/** @import { createPictures } from "./pictures.js" */
/** @import { createRequests } from "./requests.js" */
/** @import { createSending } from "./sending.js" */
/** @import { SessionCommand } from "./session-commands.js" */
/** @import { PortletState } from "./views.js" */

/** @typedef {object} FooterOwnDeps
 * @property {string} sessionId
 * @property {() => Store | null} drafts  Null until the shell has said how they are sealed.
 * @property {Typed} typed
 * @property {(message: ToShell) => void} post
 * @property {GoingBackDeps["chooseFiles"]} chooseFiles
 * @property {(error: ErrorBody) => void} complain  Shows it until it is dismissed.
 * @property {(pages: number) => void} scroll */

/** @type {ErrorBody} */
const queueGone = {
  code: "QUEUE_GONE",
  message: "The message you were editing was sent or removed in the meantime. What you wrote is in the composer.",
  retryable: false,
}

/** @typedef {FooterOwnDeps & ReturnType<typeof createPictures> & ReturnType<typeof createRequests>
 *   & ReturnType<typeof createSending>} FooterDeps */

/** @param {HTMLElement} root @param {FooterDeps} deps */
export function mountFooter(root, deps) {
  const keep = keepingOf((draft) => {
    const drafts = deps.drafts()
    if (drafts) keepDraft(drafts, deps.sessionId, ...goingBack.toKeep(draft))
  }, window)
  const composer = mountComposer(root, {
    ...deps,
    keepDraft(draft) {
      keep(draft)
      if (draft.text !== "" || draft.attachments.length > 0) deps.post({ type: "portlet:kept" })
    },
    send: (content, attachments) => (goingBack.isEditing() ? goingBack.submit : deps.send)(content, attachments),
    findFiles: (query) => deps.quietly({ type: "files:find", query, limit: 50 }),
    toQuestion: () => waitingCard()?.focus(),
  })
  const goingBack = mountGoingBack(root, {
    ...composer,
    open: (target) => deps.post({ type: "portlet:open", target }),
    chooseFiles: deps.chooseFiles,
    branch: (message, onDone, onFailure) => deps.ask({ type: "session:branch", ...message }, onFailure, onDone),
  })
  /** After something was chosen. On a touch screen it would open the keyboard. */
  const focusToWrite = () => {
    if (matchMedia("(hover: hover)").matches) composer.focus()
  }
  const controls = mountControls(composer.controls, { request: deps.ask, chosen: focusToWrite })
  const meter = mountMeter(composer.meter, { compact: () => deps.sendIfIdle("/compact") })
  const queue = mountQueue(composer.queue, {
    ...deps,
    act(message, act, onFailure) {
      // What a row tells about its editor is no request of the user's: if it fails, there is nothing to do for them.
      const ask = act.act === "hold" || act.act === "release" ? deps.quietly : deps.ask
      ask({ type: "session:queue", message, ...act }, () => onFailure?.())
    },
    resume: () => deps.ask({ type: "session:queue-resume" }),
    restore: composer.restore,
    explain: () => deps.complain(queueGone),
    leave: composer.focus,
  })

  /** Takes the words that Now left here. The message that is being edited is not their place. */
  function takeLeft() {
    const left = deps.typed.of(LEFT)
    if (left === "" || goingBack.isEditing()) return
    deps.typed.keep(LEFT, "")
    const { text, attachments } = composer.draft()
    composer.put({ text: text === "" ? left : `${left}\n\n${text}`, attachments })
  }
  window.addEventListener("storage", ({ key }) => {
    if (key === keys.drafts) takeLeft()
  })

  return {
    composer,
    goingBack,
    focusToWrite,
    /** @param {Store} drafts */
    continueDraft(drafts) {
      const draft = draftOf(drafts, deps.sessionId)
      composer.continue(draft)
      goingBack.resume(draft.edit)
      takeLeft()
    },
    /** For the palette. @param {PortletState} now @returns {SessionCommand[]} */
    commands: ({ transcript }) => [
      ...goingBack.commands(),
      ...(runningTurn(transcript) && !transcript.facts.elsewhere ? [{ label: "Stop", run: deps.stop }] : []),
      ...(canCompact(transcript) ? [{ label: "Compact", run: () => deps.send("/compact") }] : []),
      ...controls.commands(),
    ],
    /** @param {PortletState} now */
    update(now) {
      const { known, facts, policy } = now.transcript
      const composing = composerOf(now)
      queue.update(
        facts.queue,
        now.sends.filter(isWaiting),
        sendsBy(now.transcript, composing.waits),
        composing.connected,
      )
      controls.update({ facts, policy: known ? policy : null })
      composer.update(composing)
      meter.update({ usage: facts.usage, turn: lastUsage(now.transcript), canCompact: canCompact(now.transcript) })
      goingBack.update(goingBackOf(now))
    },
  }
}
