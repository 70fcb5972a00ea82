/**
 * The card of a permission. Shows everything the agent wants to do, and the agent's options as buttons with keys: each
 * digit means the same on every card, and Escape means no; in a question, digits choose among its answers. Nothing can
 * be allowed before the user could read all of it.
 * Keys are ignored while the user types, and just after the card appears, unless the user just opened the session.
 * Letters belong into a message: they go to the composer.
 */

import { isInDialog } from "../shared/dialog.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { isSubmit } from "../shared/enter.js"
import { icon } from "../shared/icons.js"
import { isQuestion } from "../shared/questions.js"
import { showParts } from "./parts.js"
import { mountQuestions } from "./questions.js"
import { keepTyped } from "./typed.js"
import { mountWhole } from "./whole.js"
import { exactTime, timeOfDay } from "./words.js"

/** @import { AnswerValue, AskOption, Part } from "../contract.js" */
/** @import { Item, Row, WorkEntry } from "./rows.js" */
/** @import { PermissionDeps } from "./row.js" */

/** A key pressed this soon after the card took the focus was meant for something else (milliseconds). */
const GRACE = 350

/** When a key last answered a card; the next one takes none just after it. */
let answeredAt = -Infinity

/** The first card that waits for an answer. */
export const waitingCard = () => /** @type {HTMLElement | null} */ (document.querySelector(".ask:not([aria-busy])"))

/** @param {Pick<Extract<Row, {kind: "ask"}>, "item">} first @param {PermissionDeps} deps */
export function mountPermission(first, deps) {
  const { item } = first
  const titleId = `ask-${item.index}`
  const title = el("span")
  const parts = el("div", { class: "parts" })
  const ending = new AbortController()
  const accept = (/** @type {Record<string, AnswerValue>} */ answers) => settle(acceptingOption(item.options), answers)
  const questions =
    item.questions && item.questions.length > 0
      ? mountQuestions(item.questions, item.title, item.itemId, accept, deps.typed, ending.signal)
      : null
  const page = item.url !== undefined && /^https?:/i.test(item.url) ? item.url : null
  const buttons = questions?.actions ?? el("div", { class: "actions" })
  const seenKey = `whole:${item.itemId}`
  /** @type {HTMLButtonElement[]} */
  const allowing = []
  const whole = mountWhole(parts, deps.open.get(seenKey) ?? false, (isSeen) => {
    if (isSeen) deps.open.set(seenKey, true)
    for (const button of allowing) button.disabled = !isSeen
  })
  const refusal = item.options.find(({ kind }) => kind === "reject_once")
  const words =
    item.takesWords && refusal
      ? el("textarea", {
          class: "field ask-words",
          rows: 1,
          "aria-label": `Message sent with “${refusal.name}”`,
          placeholder: `What to do instead (sent with “${refusal.name}”)`,
        })
      : null
  const kept = questions?.kept ?? (words ? [keepTyped(words, deps.typed, item.itemId, ending.signal)] : [])
  words?.addEventListener("keydown", (event) => {
    // Some browsers send 229 for the Enter that ends a composition.
    if (!isSubmit(event) || event.isComposing || event.keyCode === 229 || words.value.trim() === "") return
    event.preventDefault()
    settle(refusal ?? null)
  })
  const element = el(
    "section",
    { class: "ask", "data-item": item.itemId, role: "group", "aria-labelledby": titleId, tabindex: -1 },
    el("h3", { class: "ask-title", id: titleId }, icon(signOf(item)), title),
    parts,
    page === null ? null : el("p", { class: "ask-url", dir: "ltr", text: page }),
    whole.element,
    questions?.element ?? buttons,
    words,
  )
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

  /** @param {AskOption | null} option @param {Record<string, AnswerValue>} [answers] */
  function settle(option, answers) {
    if (settled) return
    setSettled(true)
    const said = words?.value.trim() ?? ""
    const message = option === null || isRefusal(option) ? said : ""
    for (const field of kept) field.drop()
    deps.answer(
      item.itemId,
      {
        ...(option === null ? {} : { optionId: option.optionId }),
        ...(answers === undefined ? {} : { answers }),
        ...(message === "" ? {} : { message }),
      },
      () => {
        setSettled(false)
        for (const field of kept) field.keep()
      },
    )
    deps.focusComposer()
    // They were written for the agent, and no answer takes them there.
    if (words && said !== message) {
      words.value = ""
      deps.leave(said)
    }
  }

  const shown = questions ? item.options.filter(({ kind }) => kind.startsWith("reject")) : item.options
  const keys = keysOf(shown)
  shown.forEach((option, at) => {
    const key = item.dismissible ? "" : questions ? "Esc" : keys[at]
    const opens = page !== null && !isRefusal(option)
    const button = el(
      "button",
      {
        class: "button",
        type: "button",
        "data-kind": option.kind === "allow_once" ? "main" : null,
        "data-answer": option.kind,
      },
      option.name,
      key ? el("kbd", { text: key }) : null,
    )
    button.addEventListener("click", (event) => {
      // The second click of a double-click was meant for the card that was here.
      if (event.detail > 1) return
      if (opens) window.open(page, "_blank", "noopener,noreferrer")
      settle(option)
    })
    if (!isRefusal(option)) {
      button.disabled = !whole.isSeen()
      allowing.push(button)
    }
    buttons.append(button)
  })
  if (item.dismissible || shown.every(({ kind }) => !kind.startsWith("reject"))) {
    const no = el(
      "button",
      { class: "button", type: "button", "data-kind": "quiet" },
      questions && !item.dismissible ? "Don't answer" : "Cancel",
      el("kbd", { text: "Esc" }),
    )
    no.addEventListener("click", () => settle(null))
    buttons.append(no)
  }

  /** Whether a key is for this card: it is pressed in it, or in no place with keys of its own while this card is the
   * first that waits. @param {EventTarget | null} target */
  function isMeant(target) {
    if (!(target instanceof Element) || isInDialog()) return false
    const place = target.closest(".ask, .panel, .menu, .info-panel, .now-head, .now-sections")
    return place === element || (place === null && !isTyping(target) && waitingCard() === element)
  }

  /** Nothing is answered that the user can't see. */
  function isInView() {
    const view = (element.closest(".scroller, .now-sections") ?? document.documentElement).getBoundingClientRect()
    const { top, bottom } = buttons.getBoundingClientRect()
    return bottom > view.top && top < view.bottom
  }

  document.addEventListener(
    "keydown",
    (event) => {
      if (settled || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
      if (!isMeant(event.target)) return
      // The key is typed where the focus is after this.
      if (isLetter(event.key) && (event.target === element || event.target === document.body)) deps.write?.()
      const since = "opened" in element.dataset ? answeredAt : Math.max(answeredAt, shownAt)
      if (event.timeStamp - since < GRACE) return
      const isDigit = /^[1-9]$/.test(event.key) && !isTyping(event.target)
      if ((isDigit || event.key === "Escape") && !isInView()) {
        element.scrollIntoView({ block: "nearest" })
        delete element.dataset.opened
        shownAt = performance.now()
        event.preventDefault()
        return event.stopImmediatePropagation()
      }
      if (questions && isDigit) {
        if (!questions.choose(event.key)) return
        event.preventDefault()
        return event.stopImmediatePropagation()
      }
      const option =
        event.key === "Escape"
          ? (item.options.find(({ kind }) => kind === "reject_once" && !item.dismissible) ?? null)
          : isDigit
            ? shown[keys.indexOf(event.key)]
            : undefined
      if (option === undefined) return
      event.preventDefault()
      // One key answers one card, although the next one that waits listens too.
      event.stopImmediatePropagation()
      if (option && !isRefusal(option) && !whole.isSeen()) return whole.focus()
      answeredAt = event.timeStamp
      settle(option)
    },
    { signal: ending.signal },
  )

  element.addEventListener(
    "focus",
    () => {
      shownAt = performance.now()
    },
    { signal: ending.signal },
  )
  // The card takes the focus only from an empty composer, never while the user types, and only when it is visible.
  queueMicrotask(() => {
    if (element.isConnected && deps.isVisible() && document.hasFocus() && deps.composerIsIdle())
      element.focus({ preventScroll: true })
  })

  const view = {
    element,
    /** @param {Pick<Extract<Row, {kind: "ask"}>, "item">} row */
    update(row) {
      showParts(parts, held, row.item.parts, deps)
      if (held !== row.item.parts) whole.update()
      held = row.item.parts
      // A command that is shown in full is not repeated in the title.
      const command =
        row.item.toolKind === "execute" ? parts.querySelector(".code pre")?.textContent?.trim() : undefined
      setText(title, command?.startsWith(row.item.title.replace(/…$/, "")) ? "Run this command?" : row.item.title)
    },
    destroy() {
      ending.abort()
      whole.destroy()
      if (element.contains(document.activeElement)) deps.focusComposer()
    },
  }
  view.update(first)
  return view
}

/** @param {EventTarget | null} target */
export const isTyping = (target) =>
  target instanceof Element && target.matches("textarea, input:not([type=radio], [type=checkbox]), select")

/** Whether a key begins a message: `?` is a shortcut, and Space scrolls. @param {string} key */
const isLetter = (key) => key.length === 1 && !/[\d? ]/.test(key)

/** @param {AskOption} option */
const isRefusal = ({ kind }) => kind.startsWith("reject")

/** The keys of each kind, best first: 1 and 2 always allow, 3 and 4 always refuse.
 * @type {Record<AskOption["kind"], string>} */
const digits = { allow_once: "12", allow_always: "21", reject_once: "34", reject_always: "43", other: "" }

/** The key of each option: that of its kind, the same on every card. Further options of a kind get the other key of
 * their side if it is free, or 5 to 9. Those of a question, which refuse nothing and are all alike, are counted.
 * @param {AskOption[]} options @returns {string[]} */
export function keysOf(options) {
  const kinds = new Set(options.map(({ kind }) => digits[kind].charAt(0)))
  if (options.length > 2 && kinds.size === 1 && !options.some(isRefusal))
    return options.map((_, at) => (at < 9 ? String(at + 1) : ""))
  const left = ["5", "6", "7", "8", "9"]
  /** @type {Set<string>} */
  const taken = new Set()
  return options.map(({ kind }) => {
    const [own = "", other = ""] = digits[kind]
    const key = !taken.has(own) ? own : !kinds.has(other) && !taken.has(other) ? other : ""
    taken.add(key)
    return key || (left.shift() ?? "")
  })
}

/** The option that lets the agent continue, for questions answered in a form. @param {AskOption[]} options */
const acceptingOption = (options) =>
  options.find(({ kind }) => kind === "allow_once") ?? options.find(({ kind }) => kind === "allow_always") ?? null

/** A closed permission on its own line, because the page has no call that it belongs to.
 * @param {Extract<WorkEntry, {kind: "answered"}>} first */
export function mountAnswered(first) {
  const what = el("span", { class: "line-what" })
  const answer = mountAnswer()
  const list = el("dl", { class: "asked-answers", hidden: true })
  const element = el(
    "div",
    { class: "asked" },
    el(
      "div",
      { class: "line" },
      el("span", { class: "line-icon" }, icon("help")),
      what,
      el("span", { class: "line-end" }, answer.element),
    ),
    list,
  )
  /** @param {Extract<WorkEntry, {kind: "answered"}>} entry */
  function update({ item }) {
    const answers = item.outcome?.answers ?? []
    const isListed = answers.length > 1
    what.textContent = item.title
    answer.update(item, isListed ? "" : wordsOf(item))
    list.hidden = !isListed
    list.replaceChildren(
      ...(isListed ? answers.flatMap((it) => [el("dt", { text: it.question }), el("dd", { text: it.answer })]) : []),
    )
  }
  update(first)
  return { element, update }
}

/** The answer to a permission, as a fact. */
export function mountAnswer() {
  const mark = el("span", { class: "answered-mark" })
  const what = el("span")
  const who = el("span", { class: "answered-aside" })
  const time = el("time", { class: "answered-aside" })
  const words = el("span")
  const element = el(
    "span",
    { class: "answered" },
    mark,
    el("span", { class: "answered-word" }, what, who, time, words),
  )
  return {
    element,
    /** @param {Item<"permission">} item @param {string} [said]  The words that are shown with it. */
    update(item, said = wordsOf(item)) {
      const [tone, fact, by = ""] = answerOf(item)
      const option = item.options.find(({ optionId }) => optionId === item.outcome?.optionId)
      setAttribute(element, "data-item", item.itemId)
      setAttribute(element, "data-outcome", tone)
      const chosen = item.outcome?.answers ? wordsOf(item) : (option?.name ?? fact)
      setAttribute(element, "title", `${item.title}: ${chosen} (${exactTime(item.emittedAt)})`)
      mark.replaceChildren(icon(signOf(item)))
      setText(what, fact)
      setText(words, said === "" ? "" : `: ${said}`)
      setText(who, by)
      setAttribute(time, "datetime", item.emittedAt)
      setText(time, item.outcome ? `, ${timeOfDay(item.emittedAt)}` : "")
    },
  }
}

/** @param {Item<"permission">} item */
const signOf = (item) => (item.questions || isQuestion(item) ? "help" : "lock")

/** The user's words with a refusal, or their answers. @param {Item<"permission">} item */
function wordsOf({ outcome, questions }) {
  const answers = outcome?.answers ?? []
  // A single question stands in the title already.
  const isOnly = questions?.length === 1
  return outcome?.message ?? answers.map((it) => (isOnly ? it.answer : `${it.question}: ${it.answer}`)).join(" · ")
}

/** Whether the user left a question without an answer, which denies nothing.
 * @param {Pick<Item<"permission">, "outcome" | "options" | "questions" | "dismissible">} item */
export function isUnanswered({ outcome, options, questions, dismissible }) {
  if (outcome?.by !== "user" || !questions?.length || dismissible) return false
  const option = options.find(({ optionId }) => optionId === outcome.optionId)
  return option ? isRefusal(option) : !outcome.answers?.length
}

/** What was decided, and by whom.
 * @param {Item<"permission">} item @returns {[tone: "yes" | "no" | "void", what: string, who?: string]} */
function answerOf({ outcome, options, questions, url, dismissible }) {
  if (!outcome) return ["void", "Not answered"]
  if (outcome.by === "agent-left") return ["void", "The agent stopped before you answered"]
  const option = options.find(({ optionId }) => optionId === outcome.optionId)
  if (outcome.by === "user" && !option && dismissible) return ["no", "Cancelled", " by you"]
  if (isUnanswered({ outcome, options, questions, dismissible })) return ["void", "Not answered"]
  if (outcome.by === "cancel" || !option)
    return outcome.by === "user" && questions?.length ? ["yes", "Answered", " by you"] : ["no", "Cancelled"]
  const who = outcome.by === "policy" ? " automatically" : " by you"
  if (option.kind === "other") return ["yes", `“${option.name}” chosen`, who]
  if (isRefusal(option)) return ["no", dismissible ? "Declined" : "Denied", who]
  if (url || questions) return ["yes", url ? "Page opened" : "Answered", who]
  return ["yes", option.kind === "allow_always" ? `“${option.name}”` : "Allowed", who]
}
