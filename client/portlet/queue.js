/**
 * The messages that wait for their turn, as rows in the tray: edit, remove, reorder (drag, Alt with an arrow key, or
 * the menu on a touch screen), send now. The server owns the queue; a row changes when the server says so. While an
 * editor is open, the server sends nothing from the queue.
 */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { openMenu } from "../shared/menu.js"
import { attachmentOf } from "./attachments.js"
import { mountChips } from "./chips.js"
import { mountEditor } from "./queue-editor.js"

/** @import { Attachment, MessageQueue, QueueAct, QueuedMessage, Steers } from "../contract.js" */
/** @import { ChipDeps } from "./chips.js" */
/** @import { Send } from "./sends.js" */

/** @typedef {object} QueueOwnDeps
 * @property {(message: string, act: QueueAct, onFailure?: () => void) => void} act
 * @property {() => void} resume
 * @property {(text: string) => void} restore  Puts words into the composer that came too late for their row.
 * @property {() => void} explain  Says that the row of these words is gone.
 * @property {() => void} leave  Moves the focus to the composer. */

/** @typedef {QueueOwnDeps & ChipDeps} QueueDeps */

/** A message that the server has not queued yet has no id. @typedef {{ key: string, queued: QueuedMessage | null,
 *   content: string, attachments: Attachment[], isFirst: boolean, how: Sending, isConnected: boolean }} Row */

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
  /** @type {Map<string, ReturnType<typeof mountRow>>} */
  const views = new Map()
  /** @type {MessageQueue["heldBy"]} */
  let heldBy
  go.addEventListener("click", () => {
    // To continue with an editor open is to send what it says.
    if (heldBy === "editing") for (const view of views.values()) view.save()
    deps.resume()
  })
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
      canMove: (message, step) => order.includes(message) && order[order.indexOf(message) + step] !== undefined,
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
    /** @param {MessageQueue} queue @param {Send[]} sends not queued yet @param {Sending} how
     * @param {boolean} isConnected */
    update(queue, sends, how, isConnected) {
      heldBy = queue.heldBy
      order = queue.messages.filter(({ handed }) => !handed).map(({ message }) => message)
      held.hidden = queue.held === undefined
      setText(why, `Queue paused. ${queue.held ?? ""}`)
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
      ].map((row, at) => ({ ...row, isFirst: at === 0, how: howToSend(how, row.content), isConnected }))
      const hadFocus = list.contains(document.activeElement)
      list.hidden = rows.length === 0
      keyed(list, views, rows, ({ key }) => key, mount)
      // The row was sent or removed.
      if (hadFocus && !list.contains(document.activeElement)) deps.leave()
    },
  }
}

/** @typedef {QueueDeps & { move(message: string, step: number): void,
 *   canMove(message: string, step: number): boolean, drag(message: string): void,
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
  const more = el(
    "button",
    { class: "icon-button", type: "button", "aria-label": "More", title: "More", "aria-haspopup": "menu" },
    icon("more"),
  )
  const acts = el("span", { class: "acts" }, now, edit, remove, more)
  const element = el("li", { class: "queued", tabindex: 0 }, when, mountChips(row.attachments, deps), text, acts)
  let current = row
  /** @type {ReturnType<typeof mountEditor> | null} */
  let editor = null
  /** Whether the server must still be told that the message is edited, or no longer is.
   * @type {"hold" | "release" | null} */
  let owed = null

  const id = () => current.queued?.message ?? ""

  /** Offline, or if the connection is lost on the way, it is told when the connection is back.
   * @param {"hold" | "release"} act */
  function tell(act) {
    owed = current.isConnected ? null : act
    if (owed === null) deps.act(id(), { act }, () => (owed ??= act))
  }

  function startEditing() {
    if (editor || acts.hidden) return
    const was = current.content
    editor = mountEditor(was, {
      save(content) {
        if (!current.isConnected) return
        finish()
        if (content.trim() === "") deps.act(id(), { act: "remove" })
        else if (content === was) tell("release")
        else
          deps.act(id(), { act: "edit", was, content }, () => {
            deps.restore(content)
            tell("release")
          })
      },
      cancel() {
        finish()
        tell("release")
      },
    })
    tell("hold")
    text.replaceWith(editor.element)
    setAttribute(element, "data-editing", true)
    update(current)
    editor.open()
  }

  function finish() {
    editor?.element.replaceWith(text)
    editor = null
    setAttribute(element, "data-editing", false)
    update(current)
    deps.leave()
  }

  /** @param {Row} next */
  function update(next) {
    const isBack = next.isConnected && !current.isConnected
    current = next
    if (isBack && owed !== null) tell(owed)
    editor?.update(next.isConnected)
    const isHanded = next.queued?.handed === true
    setText(when, whenOf(next))
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
  more.addEventListener("click", () =>
    openMenu(more, "Message", [
      ...(deps.canMove(id(), -1) ? [{ label: "Move up", run: () => deps.move(id(), -1) }] : []),
      ...(deps.canMove(id(), 1) ? [{ label: "Move down", run: () => deps.move(id(), 1) }] : []),
      { label: "Remove", run: () => remove.click() },
    ]),
  )
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
    /** What the open editor says. */
    save: () => editor?.save(),
    destroy() {
      // The message was sent or removed while it was being edited: the words must not be lost.
      if (!editor || editor.text() === current.content) return
      deps.restore(editor.text())
      deps.explain()
    },
  }
}

/** When it is sent. Offline nobody knows what a message that the server doesn't have will meet there: if the turn is
 * over by then, it is sent at once, before those of a held queue.
 * @param {Row} row */
const whenOf = ({ queued, isFirst, isConnected }) =>
  queued?.handed ? "Sent, not read yet" : !queued && !isConnected ? "On reconnect" : isFirst ? "Next" : "Then"
