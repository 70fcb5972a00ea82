/**
 * The messages that wait for their turn, as rows in the tray: edit, remove, reorder (drag, or Alt with an arrow key),
 * send now. The server owns the queue; a row changes when the server says so.
 */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { attachmentOf } from "./attachments.js"
import { mountChips } from "./chips.js"

/** @import { Attachment, MessageQueue, QueueAct, QueuedMessage, Steers } from "../contract.js" */
/** @import { ChipDeps } from "./chips.js" */
/** @import { Send } from "./sends.js" */

/** @typedef {object} QueueOwnDeps
 * @property {(message: string, act: QueueAct) => void} act
 * @property {() => void} resume
 * @property {(text: string) => void} restore  Puts words into the composer whose row is gone.
 * @property {() => void} leave  Moves the focus to the composer. */

/** @typedef {QueueOwnDeps & ChipDeps} QueueDeps */

/** A message that the server has not queued yet has no id. @typedef {{ key: string, queued: QueuedMessage | null,
 *   content: string, attachments: Attachment[], isFirst: boolean, how: Sending }} Row */

/** What sending a message now does.
 * @typedef {Steers | "idle" | "refuse"} Sending */

/** The label of the button, and what it does. @type {Record<Sending, { label: string, title: string }>} */
const SENDING = {
  idle: { label: "Send now", title: "Sends this message only" },
  stop: { label: "Stop and send", title: "Stops the agent and sends this" },
  "after-step": { label: "Send after this step", title: "The agent reads this as soon as its current step is done" },
  "at-once": {
    label: "Interrupt and send",
    title: "The agent stops in the middle of its sentence and reads this",
  },
  refuse: { label: "Refuse and send this", title: "Refuses what the agent asks for and sends this" },
}

/** A command can't reach a running turn: the agent would read it as words.
 * @param {Sending} how @param {string} content @returns {Sending} */
const howToSend = (how, content) =>
  content.trimStart().startsWith("/") && (how === "after-step" || how === "at-once") ? "stop" : how

/** @param {HTMLElement} root @param {QueueDeps} deps */
export function mountQueue(root, deps) {
  const why = el("span", { class: "queue-why" })
  const go = el("button", { class: "text-button", type: "button", text: "Continue" })
  const held = el("div", { class: "tray-row queue-held", hidden: true }, why, go)
  const list = el("ol", { class: "queue", "aria-label": "Messages waiting to be sent" })
  root.append(held, list)
  go.addEventListener("click", deps.resume)
  /** @type {Map<string, ReturnType<typeof mountRow>>} */
  const views = new Map()
  /** The messages in order. @type {string[]} */
  let order = []
  /** The message that is dragged. */
  let dragged = ""

  /** @param {string} message @param {number} step */
  function move(message, step) {
    const at = order.indexOf(message)
    const to = at + step
    if (at < 0 || to < 0 || to >= order.length) return
    moveBefore(message, step < 0 ? order[to] : order[to + 1])
  }

  /** @param {string} message @param {string | undefined} before */
  const moveBefore = (message, before) =>
    deps.act(message, { act: "move", ...(before === undefined ? {} : { before }) })

  /** @param {Row} row */
  const mount = (row) =>
    mountRow(row, {
      ...deps,
      move,
      drag: (message) => {
        dragged = message
      },
      drop(onto) {
        const [from, to] = [order.indexOf(dragged), order.indexOf(onto)]
        if (from >= 0 && to >= 0 && from !== to) moveBefore(dragged, from < to ? order[to + 1] : onto)
        dragged = ""
      },
    })

  return {
    /** @param {MessageQueue} queue @param {Send[]} sends not queued yet @param {Sending} how */
    update(queue, sends, how) {
      order = queue.messages.filter(({ handed }) => !handed).map(({ message }) => message)
      held.hidden = queue.held === undefined
      setText(why, `Paused. ${queue.held ?? ""}`)
      const rows = [
        // A message that the server queues keeps its row, and with it the focus: the key is its send's.
        ...queue.messages.map((queued) => ({
          key: queued.requestId ?? queued.message,
          queued,
          content: queued.content,
          attachments: queued.attachments ?? [],
        })),
        ...sends.map(({ requestId, content, attachments }) => ({
          key: requestId,
          queued: null,
          content,
          attachments: attachments.map(attachmentOf),
        })),
      ].map((row, at) => ({ ...row, isFirst: at === 0, how: howToSend(how, row.content) }))
      const hadFocus = list.contains(document.activeElement)
      list.hidden = rows.length === 0
      keyed(list, views, rows, ({ key }) => key, mount)
      // The row was sent or removed.
      if (hadFocus && !list.contains(document.activeElement)) deps.leave()
    },
  }
}

/** @typedef {QueueDeps & { move(message: string, step: number): void, drag(message: string): void,
 *   drop(onto: string): void }} RowDeps */

/** @param {Row} row @param {RowDeps} deps */
function mountRow(row, deps) {
  const when = el("span", { class: "when" })
  const text = el("span", { class: "queued-text" })
  const nowWords = el("span", { text: "Send now" })
  const now = el("button", { class: "text-button", type: "button" }, icon("up"), nowWords)
  const edit = el("button", { class: "icon-button", type: "button", "aria-label": "Edit", title: "Edit" }, icon("edit"))
  const remove = el(
    "button",
    { class: "icon-button", type: "button", "aria-label": "Remove", title: "Remove" },
    icon("close"),
  )
  const acts = el("span", { class: "acts" }, now, edit, remove)
  const element = el("li", { class: "queued", tabindex: 0 }, when, mountChips(row.attachments, deps), text, acts)
  let current = row
  /** @type {HTMLTextAreaElement | null} */
  let editor = null

  const id = () => current.queued?.message ?? ""

  function startEditing() {
    if (editor || acts.hidden) return
    const was = current.content
    const box = el("textarea", { class: "queued-editor", rows: 1, "aria-label": "Edit the message" })
    editor = box
    box.value = was
    box.addEventListener("input", () => fit(box))
    box.addEventListener("keydown", (event) => {
      if (event.isComposing) return
      if (event.key === "Escape") finish()
      else if (event.key === "Enter" && !event.shiftKey) {
        const content = box.value
        finish()
        if (content.trim() === "") deps.act(id(), { act: "remove" })
        else if (content !== was) deps.act(id(), { act: "edit", was, content })
      } else return
      event.preventDefault()
      event.stopPropagation()
    })
    text.replaceWith(box)
    setAttribute(element, "data-editing", true)
    setAttribute(element, "draggable", false)
    fit(box)
    box.focus()
  }

  function finish() {
    editor?.replaceWith(text)
    editor = null
    setAttribute(element, "data-editing", false)
    update(current)
    deps.leave()
  }

  /** @param {Row} next */
  function update(next) {
    current = next
    const isHanded = next.queued?.handed === true
    setText(when, isHanded ? "Sent, not read yet" : next.isFirst ? "Next" : "Then")
    setText(text, next.content)
    setAttribute(text, "title", next.content)
    // Nobody changes a message that the server has not queued yet, or that the agent has.
    const isOurs = next.queued === null || isHanded
    setAttribute(element, "data-handed", isHanded)
    acts.hidden = isOurs
    setAttribute(element, "aria-busy", isOurs && "true")
    setAttribute(element, "draggable", !isOurs && !editor && "true")
    setAttribute(element, "aria-keyshortcuts", isOurs ? null : "Alt+ArrowUp Alt+ArrowDown")
    const { label, title } = SENDING[next.how]
    setAttribute(now, "title", title)
    setAttribute(now, "aria-label", label)
    setText(nowWords, label)
  }

  now.addEventListener("click", () => deps.act(id(), { act: "steer" }))
  edit.addEventListener("click", startEditing)
  remove.addEventListener("click", () => {
    deps.act(id(), { act: "remove" })
    deps.leave()
  })
  text.addEventListener("dblclick", startEditing)
  element.addEventListener("keydown", (event) => {
    if (event.target !== element) return
    const step = !event.altKey ? 0 : event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0
    const isRemoval = event.key === "Delete" || event.key === "Backspace"
    if (step === 0 && !isRemoval && event.key !== "Enter") return
    // Even if the row can't be changed, these keys don't do what they do elsewhere.
    event.preventDefault()
    if (acts.hidden) return
    if (step !== 0) deps.move(id(), step)
    else if (isRemoval) remove.click()
    else startEditing()
  })
  element.addEventListener("dragstart", (event) => {
    event.dataTransfer?.setData("text/plain", current.content)
    deps.drag(id())
  })
  element.addEventListener("dragover", (event) => event.preventDefault())
  element.addEventListener("drop", (event) => {
    event.preventDefault()
    deps.drop(id())
  })
  update(row)
  return {
    element,
    update,
    destroy() {
      // The message was sent or removed while it was being edited: the words must not be lost.
      if (editor && editor.value !== current.content) deps.restore(editor.value)
    },
  }
}

/** @param {HTMLTextAreaElement} box */
function fit(box) {
  box.style.setProperty("block-size", "auto")
  box.style.setProperty("block-size", `${box.scrollHeight}px`)
}
