/** Questions of the agent, as a form: choices, or words of one's own. */

import { el } from "../shared/dom.js"

/** @import { Question } from "../contract.js" */

/** @param {Question[]} questions @param {string} title of the card @param {string} name unique to it @param {(answers: Record<string, string>) => void} answer */
export function mountQuestions(questions, title, name, answer) {
  const fields = questions.map((question, at) => mountQuestion(question, `${name}-${at}`, question.question === title))
  const send = el("button", { class: "button", "data-kind": "main", type: "submit", text: "Answer", disabled: true })
  const actions = el("div", { class: "actions" }, send)
  const element = el("form", { class: "questions" }, ...fields.map((field) => field.element), actions)
  element.addEventListener("input", () => { send.disabled = fields.some((field) => field.value() === "") })
  element.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!send.disabled) answer(Object.fromEntries(fields.map((field) => [field.question, field.value()])))
  })
  return { element, actions }
}

/** @param {Question} asked @param {string} name @param {boolean} isTitle  The card says it already. */
function mountQuestion({ question, header, options, multiple }, name, isTitle) {
  const own = el("input", { class: "field", type: "text", placeholder: options.length > 0 ? "Something else" : "Your answer", "aria-label": `${header ?? question}: your own words` })
  const choices = options.map(({ label, description }) => {
    const input = el("input", { type: multiple ? "checkbox" : "radio", name, value: label })
    return { input, element: el("label", { class: "choice" }, input, el("span", {}, el("strong", { text: label }), description ? el("span", { class: "choice-about", text: description }) : null)) }
  })
  // One answer: words of one's own replace the choice, and the other way round.
  if (!multiple) {
    own.addEventListener("input", () => { if (own.value !== "") choices.forEach(({ input }) => { input.checked = false }) })
    choices.forEach(({ input }) => input.addEventListener("input", () => { own.value = "" }))
  }
  const element = el("fieldset", { class: "question" }, el("legend", { class: isTitle ? "visually-hidden" : null }, header ? el("span", { class: "question-header", text: header }) : null, question), ...choices.map((choice) => choice.element), own)
  const value = () => [...choices.filter(({ input }) => input.checked).map(({ input }) => input.value), own.value.trim()].filter((word) => word !== "").join(", ")
  return { element, question, value }
}
