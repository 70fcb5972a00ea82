/**
 * The agent asks. Shows all of what it wants to do, and its own options as buttons, with keys: 1 to 9, and Escape for no.
 * Keys count only where nothing is being typed, and not in the instant the card appears.
 */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { showParts } from "./parts.js"
import { mountQuestions } from "./questions.js"

/** @import { AskOption, Outcome, Part } from "../contract.js" */
/** @import { Item, Row, WorkEntry } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** A key pressed sooner than this after the card took the focus was meant for what had it before. */
const GRACE = 350

/** @param {Extract<Row, {kind: "ask"}>} first @param {RowDeps} deps */
export function mountPermission(first, deps) {
  const { item } = first
  const titleId = `ask-${item.index}`
  const title = el("span")
  const parts = el("div", { class: "parts" })
  const questions = item.questions && item.questions.length > 0
    ? mountQuestions(item.questions, item.title, item.itemId, (answers) => settle(acceptingOption(item.options), answers))
    : null
  const buttons = questions?.actions ?? el("div", { class: "actions" })
  const element = el("section", { class: "ask", "data-item": item.itemId, role: "group", "aria-labelledby": titleId, tabindex: -1 },
    el("h3", { class: "ask-title", id: titleId }, icon(questions ? "help" : "lock"), title), parts, questions?.element ?? buttons)
  /** @type {Part[]} */
  let held = []
  let settled = false
  let shownAt = performance.now()

  /** @param {boolean} isSettled */
  function setSettled(isSettled) {
    settled = isSettled
    setAttribute(element, "aria-busy", isSettled ? "true" : null)
    element.inert = isSettled
  }

  /** @param {AskOption | null} option @param {Record<string, string>} [answers] */
  function settle(option, answers) {
    if (settled) return
    setSettled(true)
    deps.answer(item.itemId, option?.optionId, answers, () => setSettled(false))
    deps.focusComposer()
  }

  const shown = questions ? item.options.filter(({ kind }) => kind.startsWith("reject")) : item.options
  shown.forEach((option, at) => {
    const button = el("button", { class: "button", type: "button", "data-kind": at === 0 && option.kind.startsWith("allow") ? "main" : null, "data-answer": option.kind },
      option.name, questions ? el("kbd", { text: "Esc" }) : at < 9 ? el("kbd", { text: String(at + 1) }) : null)
    button.addEventListener("click", () => settle(option))
    buttons.append(button)
  })
  if (shown.every(({ kind }) => !kind.startsWith("reject"))) {
    const no = el("button", { class: "button", type: "button", "data-kind": "quiet" }, questions ? "Do not answer" : "Cancel", el("kbd", { text: "Esc" }))
    no.addEventListener("click", () => settle(null))
    buttons.append(no)
  }

  const ending = new AbortController()
  document.addEventListener("keydown", (event) => {
    if (settled || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.timeStamp - shownAt < GRACE) return
    const isWithin = element.contains(/** @type {Node} */ (event.target))
    if (!isWithin && (isTyping(event.target) || document.querySelector(".ask:not([aria-busy])") !== element)) return
    const option = event.key === "Escape" ? item.options.find(({ kind }) => kind === "reject_once") ?? null
      : questions || isTyping(event.target) || !/^[1-9]$/.test(event.key) ? undefined : item.options[Number(event.key) - 1]
    if (option === undefined) return
    event.preventDefault()
    event.stopPropagation()
    settle(option)
  }, { signal: ending.signal })

  element.addEventListener("focus", () => { shownAt = performance.now() }, { signal: ending.signal })
  // The card takes the focus from an empty composer, never from someone who types, and only when it is in front.
  queueMicrotask(() => {
    if (element.isConnected && deps.isVisible() && document.hasFocus() && deps.composerIsIdle()) element.focus({ preventScroll: true })
  })

  const view = {
    element,
    /** @param {Extract<Row, {kind: "ask"}>} row */
    update(row) {
      showParts(parts, held, row.item.parts, deps)
      held = row.item.parts
      // A command that stands there in full is not said twice.
      const command = row.item.toolKind === "execute" ? parts.querySelector(".code pre")?.textContent?.trim() : undefined
      setText(title, command?.startsWith(row.item.title.replace(/…$/, "")) ? "Run this command?" : row.item.title)
    },
    destroy() {
      ending.abort()
      if (element.contains(document.activeElement)) deps.focusComposer()
    },
  }
  view.update(first)
  return view
}

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof Element && target.matches("textarea, input:not([type=radio], [type=checkbox]), select")

/** The option that lets the agent go on, for questions answered in a form. @param {AskOption[]} options */
const acceptingOption = (options) => options.find(({ kind }) => kind === "allow_once") ?? options.find(({ kind }) => kind === "allow_always") ?? null

/** A question that is over, on a line of its own: that about no call of this page. @param {Extract<WorkEntry, {kind: "answered"}>} first */
export function mountAnswered(first) {
  const what = el("span", { class: "line-what" })
  const answer = mountAnswer()
  const element = el("div", { class: "asked" }, el("div", { class: "line" }, el("span", { class: "line-icon" }, icon("help")), what, el("span", { class: "line-end" }, answer.element)))
  /** @param {Extract<WorkEntry, {kind: "answered"}>} entry */
  function update({ item }) {
    what.textContent = item.title
    answer.update(item)
  }
  update(first)
  return { element, update }
}

/** How a question was answered, in a word. */
export function mountAnswer() {
  const mark = el("span", { class: "answered-mark" })
  const word = el("span", { class: "answered-word" })
  const element = el("span", { class: "answered" }, mark, word)
  return {
    element,
    /** @param {Item<"permission">} item */
    update(item) {
      const [tone, text] = outcomeWords(item, item.outcome)
      setAttribute(element, "data-item", item.itemId)
      setAttribute(element, "data-outcome", tone)
      setAttribute(element, "title", `${item.title}: ${text}`)
      mark.replaceChildren(icon(item.questions?.length ? "help" : "lock"))
      setText(word, text)
    },
  }
}

/** @param {Item<"permission">} item @param {Outcome | undefined} outcome @returns {["yes" | "no" | "void", string]} */
function outcomeWords(item, outcome) {
  if (!outcome) return ["void", "not answered"]
  if (outcome.by === "agent-left") return ["void", "the agent left before an answer"]
  const option = item.options.find(({ optionId }) => optionId === outcome.optionId)
  if (outcome.by === "cancel" || !option) return ["no", outcome.by === "user" && item.questions?.length ? "answered" : "cancelled"]
  const name = item.questions?.length && option.kind.startsWith("allow") ? "answered" : option.name
  return [option.kind.startsWith("reject") ? "no" : "yes", outcome.by === "policy" ? `${name}, by your setting` : name]
}
