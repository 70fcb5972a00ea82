/**
 * Where messages are written. Grows with its text, Enter sends, Shift+Enter breaks, keys of an input method are its own.
 * While a turn runs it says so and stops it; what is typed meanwhile stays.
 */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { clock } from "./words.js"

/** @typedef {object} ComposerState
 * @property {string} agent
 * @property {"idle" | "sending" | "working" | "stopping"} work
 * @property {string | null} since  When the work began.
 * @property {boolean} waits  The agent waits for an answer.
 * @property {boolean} connected
 * @property {string[]} own  What the user wrote before, newest first. */

/** @typedef {object} ComposerDeps
 * @property {string} draft
 * @property {(text: string) => void} keepDraft
 * @property {(text: string) => void} send
 * @property {() => void} stop
 * @property {() => void} toQuestion  Puts the focus on what the agent asks.
 * @property {(pages: number) => void} scroll */

/** How soon a second Escape must follow the first to stop the turn. */
const TWICE = 1500

/** @param {HTMLElement} root @param {ComposerDeps} deps */
export function mountComposer(root, deps) {
  const ending = new AbortController()
  const { signal } = ending
  const input = el("textarea", { class: "composer-input", rows: 1, "aria-label": "Message", autocomplete: "off", spellcheck: "true" })
  const pulse = el("span", { class: "composer-work", hidden: true }, el("i", { class: "pulse" }), el("span"))
  const words = /** @type {HTMLElement} */ (pulse.lastElementChild)
  const hint = el("span", { class: "composer-hint", text: "Enter to send, Shift+Enter for a new line" })
  const send = el("button", { class: "composer-go", type: "button", "aria-label": "Send", title: "Send (Enter)" }, icon("up"))
  const stop = el("button", { class: "composer-go", "data-kind": "stop", type: "button", "aria-label": "Stop", title: "Stop (Escape twice)", hidden: true }, icon("stop"))
  const box = el("div", { class: "composer" }, input, el("div", { class: "composer-bar" }, pulse, hint, send, stop))
  root.append(box)

  /** @type {ComposerState} */
  let state = { agent: "the agent", work: "idle", since: null, waits: false, connected: false, own: [] }
  /** Which of the user's earlier messages is shown; -1 is none. */
  let recalled = -1
  let escapedAt = -Infinity
  /** When an Escape was last meant for a question of the agent. */
  let answeredAt = -Infinity

  const canSend = () => state.work === "idle" && input.value.trim() !== ""

  function show() {
    const isBusy = state.work !== "idle"
    pulse.hidden = !isBusy
    send.disabled = !canSend()
    send.hidden = isBusy && state.work !== "sending"
    stop.hidden = !isBusy || state.work === "sending"
    stop.disabled = state.work === "stopping"
    setAttribute(box, "data-work", state.work)
    setAttribute(box, "data-waits", isBusy && state.waits)
    setAttribute(input, "placeholder", `Message ${state.agent}…`)
    setText(hint, hintOf(performance.now() - escapedAt < TWICE))
    tick()
  }

  /** @param {boolean} escaped */
  function hintOf(escaped) {
    if (!state.connected) return state.work === "idle" || state.work === "sending" ? "No connection; what you send goes out when it is back" : "No connection"
    if (state.work === "idle" || state.work === "sending") return "Enter to send, Shift+Enter for a new line"
    return state.work === "stopping" || state.waits ? "" : escaped ? "Escape again to stop" : "Escape twice to stop"
  }

  /** Also called by the clock. */
  function tick() {
    if (state.work === "idle") return
    const elapsed = state.since === null ? "" : ` ${clock(Date.now() - Date.parse(state.since))}`
    setText(words, state.work === "sending" ? "Sending" : state.work === "stopping" ? "Stopping" : `${state.waits ? "Waiting for you" : "Working"}${elapsed}`)
  }

  /** @param {string} text */
  function put(text) {
    input.value = text
    grow()
    deps.keepDraft(text)
    show()
  }

  function grow() {
    input.style.setProperty("block-size", "auto")
    input.style.setProperty("block-size", `${input.scrollHeight}px`)
  }

  function submit() {
    if (!canSend()) return
    const text = input.value
    recalled = -1
    put("")
    deps.send(text)
    input.focus()
  }

  /** Walks through what the user wrote before, from an empty box. @param {KeyboardEvent} event @param {number} step */
  function recall(event, step) {
    const isRecalled = recalled >= 0 && input.value === state.own[recalled]
    if (input.value !== "" && !isRecalled) return
    const next = (isRecalled ? recalled : -1) + step
    if (next < -1 || next >= state.own.length) return
    event.preventDefault()
    recalled = next
    put(next < 0 ? "" : state.own[next] ?? "")
    input.setSelectionRange(input.value.length, input.value.length)
  }

  input.addEventListener("input", () => put(input.value), { signal })
  input.addEventListener("keydown", (event) => {
    // 229 is what some browsers send for the Enter that ends a composition.
    if (event.isComposing || event.keyCode === 229) return
    const isBare = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault()
      submit()
    } else if (event.key === "ArrowUp" && isBare) recall(event, 1)
    else if (event.key === "ArrowDown" && isBare) recall(event, -1)
    else if ((event.key === "PageUp" || event.key === "PageDown") && isBare) {
      event.preventDefault()
      deps.scroll(event.key === "PageUp" ? -1 : 1)
    }
  }, { signal })
  document.addEventListener("keydown", (event) => {
    // A key held down is pressed once.
    if (event.key !== "Escape" || event.isComposing || event.repeat || state.work !== "working") return
    if (state.waits) {
      // With a question open, Escape is an answer and never half of a stop: not this one, nor one more in the same breath.
      answeredAt = event.timeStamp
      escapedAt = -Infinity
      if (event.target === input) deps.toQuestion()
    } else if (event.timeStamp - answeredAt >= TWICE) {
      if (event.timeStamp - escapedAt < TWICE) deps.stop()
      escapedAt = event.timeStamp
    }
    show()
  }, { signal })
  send.addEventListener("click", submit, { signal })
  stop.addEventListener("click", deps.stop, { signal })
  // A click anywhere in the box is meant for the text.
  box.addEventListener("pointerdown", (event) => {
    if (event.target === input || (event.target instanceof Element && event.target.closest("button"))) return
    event.preventDefault()
    input.focus()
  }, { signal })
  new ResizeObserver(grow).observe(root)

  input.value = deps.draft
  grow()
  show()
  return {
    /** @param {ComposerState} next */
    update(next) {
      // What was pressed before a question came was not about what comes after it.
      if (next.waits) escapedAt = -Infinity
      state = next
      show()
    },
    tick: show,
    focus: () => input.focus({ preventScroll: true }),
    /** Whether nobody is writing in it. */
    isIdle: () => input.value === "" && (document.activeElement === input || document.activeElement === document.body),
    /** Puts a text back, before what is there. @param {string} text */
    restore(text) {
      put(input.value === "" ? text : `${text}\n\n${input.value}`)
      input.focus()
    },
    destroy() {
      ending.abort()
      root.replaceChildren()
    },
  }
}
