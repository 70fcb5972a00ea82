/**
 * The composer: the text, a bar with the session's controls, and behind both a tray that shows what the agent is doing.
 * The text grows; `shared/enter.js` says when Enter sends. Keys that belong to an input method are left to it.
 */

import { isInDialog } from "../shared/dialog.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { isSubmit, isTouch } from "../shared/enter.js"
import { icon } from "../shared/icons.js"
import { mountSteps } from "../shared/steps.js"
import { attachmentOf, refsOf } from "./attachments.js"
import { keepWhole } from "./room.js"
import { clock } from "./words.js"
import { mountWriting } from "./writing.js"

/** @import { Attachment, AttachmentRef, PlanEntry, SlashCommand } from "../contract.js" */
/** @import { ChipDeps } from "./chips.js" */
/** @import { Draft } from "./drafts.js" */

/** @typedef {object} ComposerState
 * @property {string} agent
 * @property {"idle" | "sending" | "working" | "stopping"} work
 * @property {string | null} since  When the work began.
 * @property {boolean} waits  A permission is open.
 * @property {PlanEntry[]} plan  Of the running turn.
 * @property {boolean} elsewhere  Somebody works on the session in a terminal: nothing can be sent.
 * @property {number} queued  How many messages wait for their turn.
 * @property {boolean} connected
 * @property {boolean} takesPictures
 * @property {SlashCommand[]} commands
 * @property {string[]} own  The user's earlier messages, newest first. */

/** @typedef {object} ComposerOwnDeps
 * @property {(draft: Draft) => void} keepDraft
 * @property {(text: string, attachments: AttachmentRef[]) => void} send
 * @property {(bytes: Blob, name: string) => Promise<Attachment>} upload
 * @property {() => void} stop
 * @property {(query: string) => void} findFiles  For a mention; the answer goes to `found`.
 * @property {() => void} toQuestion  Moves the focus to the open permission.
 * @property {(pages: number) => void} scroll */

/** @typedef {ComposerOwnDeps & ChipDeps} ComposerDeps */

/** A second Escape within this time stops the turn (milliseconds). */
const TWICE = 1500

/** What the agent does now, or else does next. @param {PlanEntry[]} plan */
const currentStep = (plan) =>
  (plan.find(({ status }) => status === "in_progress") ?? plan.find(({ status }) => status === "pending"))?.text ?? ""

/** @param {HTMLElement} root @param {ComposerDeps} deps */
export function mountComposer(root, deps) {
  const ending = new AbortController()
  const { signal } = ending
  const input = el("textarea", {
    class: "composer-input",
    rows: 1,
    "aria-label": "Message",
    autocomplete: "off",
    spellcheck: "true",
  })
  const pulse = el("span", { class: "composer-work" }, el("i", { class: "dot" }), el("span"))
  const words = /** @type {HTMLElement} */ (pulse.lastElementChild)
  const hint = el("span", { class: "composer-hint" })
  const send = el("button", { class: "composer-go", type: "button", "aria-label": "Send" }, icon("up"))
  const stop = el(
    "button",
    {
      class: "composer-go",
      "data-kind": "stop",
      type: "button",
      "aria-label": "Stop",
      title: "Stop (Escape twice)",
      hidden: true,
    },
    icon("stop"),
  )
  const step = el("span", { class: "tray-step" })
  const steps = mountSteps()
  const status = el("div", { class: "tray-row" }, pulse, step, steps.element)
  const queue = el("div")
  const tray = el("div", { class: "tray", hidden: true }, status, queue)
  const controls = el("div", { class: "composer-controls" })
  const meter = el("div", { class: "composer-meter" })
  const box = el("div", { class: "composer" })
  const { attach, popup, grow, put, isEmpty } = mountWriting(
    box,
    input,
    {
      ...deps,
      agent: () => state.agent,
      takesPictures: () => state.takesPictures,
      changed() {
        deps.keepDraft({ text: input.value, attachments: attach.list() })
        show()
      },
      send: submit,
    },
    signal,
  )
  // Stop comes and goes. What is right of it stays where it is, so that nothing slides under the pointer.
  const end = el("div", { class: "composer-end" }, stop, meter, send)
  const bar = el("div", { class: "composer-bar" }, attach.button, controls, hint, end)
  box.append(attach.element, input, bar)
  root.append(tray, box)
  keepWhole(bar, controls, signal)

  /** @type {ComposerState} */
  let state = {
    agent: "the agent",
    work: "idle",
    since: null,
    waits: false,
    plan: [],
    elsewhere: false,
    queued: 0,
    connected: false,
    takesPictures: true,
    commands: [],
    own: [],
  }
  /** The index in `own` of the earlier message that is shown; -1 is none. */
  let recalled = -1
  let escapedAt = -Infinity
  /** Until when the work has been counted. */
  let countedTo = Date.now()
  /** When an Escape last answered a permission. */
  let answeredAt = -Infinity

  const canSend = () => !state.elsewhere && !isEmpty() && !attach.isUploading()

  function show() {
    const isBusy = state.work !== "idle"
    status.hidden = !isBusy
    tray.hidden = !isBusy && state.queued === 0
    send.disabled = !canSend()
    const isQueueing = isBusy && state.work !== "sending"
    setAttribute(send, "aria-label", isQueueing ? "Queue" : "Send")
    setAttribute(send, "title", `${isQueueing ? "Queue" : "Send"} (${isTouch() ? "Ctrl+Enter" : "Enter"})`)
    stop.hidden = !isBusy || state.elsewhere || state.work === "sending"
    input.readOnly = state.elsewhere
    setAttribute(box, "data-elsewhere", state.elsewhere)
    stop.disabled = state.work === "stopping"
    setAttribute(box, "data-work", state.work)
    setAttribute(pulse, "data-mood", isBusy && state.waits ? "waiting" : "running")
    setAttribute(input, "placeholder", state.elsewhere ? "In use in a terminal" : `Message ${state.agent}…`)
    setText(step, currentStep(state.plan))
    steps.update(state.plan.map(({ status }) => status))
    setText(hint, hintOf(performance.now() - escapedAt < TWICE))
    tick()
  }

  /** @param {boolean} escaped */
  function hintOf(escaped) {
    if (state.elsewhere) return ""
    if (!state.connected)
      return state.work === "idle" || state.work === "sending"
        ? "Offline. Messages are sent when you reconnect."
        : "Offline"
    if (state.work === "idle" || state.work === "sending")
      return isTouch() ? "" : "Enter to send, Shift Enter for a new line"
    if (state.work === "stopping" || state.waits) return ""
    if (attach.isUploading()) return "Uploading"
    if (!isEmpty())
      return isTouch() ? "Sent when the agent has finished" : "Enter to queue: it is sent when the agent has finished"
    return escaped ? "Escape again to stop" : "Escape twice to stop"
  }

  /** Called every second too. */
  function tick() {
    if (state.work === "idle") return
    // Offline nobody knows whether it still works.
    if (state.connected) countedTo = Date.now()
    const elapsed = state.since === null ? "" : ` ${clock(countedTo - Date.parse(state.since))}`
    setText(
      words,
      state.work === "sending"
        ? "Sending"
        : state.work === "stopping"
          ? "Stopping"
          : `${state.waits ? "Waiting for you" : "Working"}${elapsed}`,
    )
  }

  function submit() {
    if (!canSend()) return
    const [text, attachments] = [input.value, refsOf(attach.list())]
    recalled = -1
    input.value = ""
    attach.put([])
    deps.send(text, attachments)
    input.focus()
  }

  /** Steps through the user's earlier messages, starting from an empty box.
   * @param {KeyboardEvent} event @param {number} step */
  function recall(event, step) {
    const isRecalled = recalled >= 0 && input.value === state.own[recalled]
    if (input.value !== "" && !isRecalled) return
    const next = (isRecalled ? recalled : -1) + step
    if (next < -1 || next >= state.own.length) return
    event.preventDefault()
    recalled = next
    put(next < 0 ? "" : (state.own[next] ?? ""))
    input.setSelectionRange(input.value.length, input.value.length)
  }

  input.addEventListener(
    "keydown",
    (event) => {
      // Some browsers send 229 for the Enter that ends a composition.
      if (event.isComposing || event.keyCode === 229 || popup.key(event)) return
      const isBare = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey
      if (isSubmit(event)) {
        event.preventDefault()
        submit()
      } else if (event.key === "ArrowUp" && isBare) recall(event, 1)
      else if (event.key === "ArrowDown" && isBare) recall(event, -1)
      else if ((event.key === "PageUp" || event.key === "PageDown") && isBare) {
        event.preventDefault()
        deps.scroll(event.key === "PageUp" ? -1 : 1)
      }
    },
    { signal },
  )
  document.addEventListener(
    "keydown",
    (event) => {
      // Holding a key down counts as one press.
      if (event.key !== "Escape" || event.isComposing || event.repeat || state.work !== "working") return
      // It closes the dialog.
      if (isInDialog()) return
      if (state.waits) {
        // While a permission is open, Escape answers it and never counts towards stopping the turn. Neither does
        // another Escape right after it.
        answeredAt = event.timeStamp
        escapedAt = -Infinity
        if (event.target === input) deps.toQuestion()
      } else if (event.timeStamp - answeredAt >= TWICE) {
        if (event.timeStamp - escapedAt < TWICE) deps.stop()
        escapedAt = event.timeStamp
      }
      show()
    },
    { signal },
  )
  send.addEventListener("click", submit, { signal })
  stop.addEventListener("click", deps.stop, { signal })
  // A click anywhere in the box focuses the text.
  box.addEventListener(
    "pointerdown",
    (event) => {
      if (event.target === input || (event.target instanceof Element && event.target.closest("button"))) return
      event.preventDefault()
      input.focus()
    },
    { signal },
  )
  new ResizeObserver(grow).observe(root)

  grow()
  show()
  return {
    /** Where the session's controls and its context meter are mounted. */
    controls,
    meter,
    /** Where the messages that wait are mounted. */
    queue,
    /** @param {ComposerState} next */
    update(next) {
      // An Escape before the permission opened must not count towards a stop after it.
      if (next.waits) escapedAt = -Infinity
      state = next
      popup.offer(next.agent, next.commands)
      show()
    },
    tick() {
      if (state.work !== "idle") show()
    },
    found: popup.found,
    focus: () => input.focus({ preventScroll: true }),
    /** Whether the user is not writing, here or elsewhere on the page. */
    isIdle: () =>
      input.value === "" &&
      attach.isEmpty() &&
      (document.activeElement === input || document.activeElement === document.body),
    /** Shows the draft of an earlier page, unless the user is already writing. @param {Draft} draft */
    continue({ text, attachments }) {
      if (input.value === "") input.value = text
      if (attach.isEmpty() && attachments.length > 0) attach.put(attachments)
      grow()
      show()
    },
    /** @returns {Draft} */
    draft: () => ({ text: input.value, attachments: attach.list() }),
    /** Replaces the draft. @param {Draft} draft */
    put(draft) {
      attach.put(draft.attachments)
      put(draft.text)
    },
    /** Puts a message back, before the current one. @param {string} text @param {AttachmentRef[]} [attachments] */
    restore(text, attachments = []) {
      put(input.value === "" ? text : text === "" ? input.value : `${text}\n\n${input.value}`)
      if (attachments.length > 0) attach.put([...attachments.map(attachmentOf), ...attach.list()])
      input.focus()
    },
    destroy() {
      ending.abort()
      root.replaceChildren()
    },
  }
}
