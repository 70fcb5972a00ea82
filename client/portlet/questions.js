/** The agent's questions: choices or a free-text answer, or the fields of a form. */

import { el } from "../shared/dom.js"
import { mountField } from "./field.js"
import { keepTyped } from "./typed.js"

/** @import { AnswerValue, Question } from "../contract.js" */
/** @import { Typed } from "./typed.js" */

/** @typedef {object} Asked
 * @property {HTMLElement} element
 * @property {string} key  of its answer
 * @property {() => AnswerValue} value
 * @property {() => boolean} isRight  Says what is wrong, if anything is, and moves the focus there. */

/** The choices are counted through the whole card, so that a digit means one of them.
 * @param {Question[]} questions @param {string} title of the card @param {string} name unique to the card
 * @param {(answers: Record<string, AnswerValue>) => void} answer @param {Typed} typed @param {AbortSignal} signal */
export function mountQuestions(questions, title, name, answer, typed, signal) {
  const isForm = questions.some(({ field }) => field !== undefined)
  const fields = questions.map((question, at) => {
    const isTitle = question.question === title
    return question.field
      ? mountField(question, question.field, `${name}-${at}`, isTitle)
      : mountQuestion(question, `${name}-${at}`, isTitle)
  })
  const text = isForm ? "Send" : "Answer"
  const send = el("button", { class: "button", "data-kind": "main", type: "submit", text, disabled: !isForm })
  send.append(el("kbd", { text: "Enter", "aria-hidden": "true" }))
  const actions = el("div", { class: "actions" }, send)
  const list = el("div", { class: "question-list" }, ...fields.map((field) => field.element))
  const element = el("form", { class: "questions", novalidate: true }, list, actions)
  const choices = /** @type {HTMLInputElement[]} */ ([...list.querySelectorAll(".choice input")])
  choices.slice(0, 9).forEach((choice, at) => {
    choice.setAttribute("aria-keyshortcuts", `${at + 1}`)
    choice.parentElement?.append(el("kbd", { text: `${at + 1}`, "aria-hidden": "true" }))
  })
  // Never a password.
  const texts = /** @type {HTMLInputElement[]} */ ([...list.querySelectorAll("input[type=text]")])
  const kept = texts.map((text, at) => keepTyped(text, typed, `${name}-${at}`, signal))
  const look = () => {
    send.disabled = fields.some((field) => !field.isRight())
  }
  if (!isForm) {
    look()
    element.addEventListener("input", look)
  }
  element.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!send.disabled && fields.every((field) => field.isRight()))
      answer(Object.fromEntries(fields.map((field) => [field.key, field.value()])))
  })
  return {
    element,
    actions,
    kept,
    /** Chooses what has this digit, or takes it back where several may be chosen. @param {string} digit */
    choose(digit) {
      const choice = choices[Number(digit) - 1]
      choice?.click()
      choice?.focus()
      return choice !== undefined
    },
  }
}

/** @param {Question} asked @param {string} name @param {boolean} isTitle  The title of the card already asks it.
 * @returns {Asked} */
function mountQuestion({ question, header, options, multiple }, name, isTitle) {
  const own = el("input", {
    class: "field",
    type: "text",
    placeholder: options.length > 0 ? "Something else" : "Your answer",
    "aria-label": `${header ?? question}: your own answer`,
  })
  const choices = options.map(({ label, description }) => {
    const input = el("input", { type: multiple ? "checkbox" : "radio", name, value: label })
    return {
      input,
      element: el(
        "label",
        { class: "choice" },
        input,
        el(
          "span",
          {},
          el("strong", { text: label }),
          description ? el("span", { class: "choice-about", text: description }) : null,
        ),
      ),
    }
  })
  // Only one answer: free text replaces the choice, and the other way round.
  if (!multiple) {
    own.addEventListener("input", () => {
      if (own.value !== "")
        choices.forEach(({ input }) => {
          input.checked = false
        })
    })
    choices.forEach(({ input }) =>
      input.addEventListener("input", () => {
        own.value = ""
        own.dispatchEvent(new Event("input"))
      }),
    )
  }
  const element = el(
    "fieldset",
    { class: "question" },
    el(
      "legend",
      { class: isTitle ? "visually-hidden" : null },
      header ? el("span", { class: "question-header", text: header }) : null,
      question,
    ),
    ...choices.map((choice) => choice.element),
    own,
  )
  const value = () =>
    [...choices.filter(({ input }) => input.checked).map(({ input }) => input.value), own.value.trim()]
      .filter((word) => word !== "")
      .join(", ")
  return { element, key: question, value, isRight: () => value() !== "" }
}
