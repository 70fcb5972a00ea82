/** One field of a form: its label, its control, and the problem with the answer, if there is one. */

import { el, setText } from "../shared/dom.js"
import { problem } from "./form.js"

/** @import { AnswerValue, FormField, Question } from "../contract.js" */
/** @import { Asked } from "./questions.js" */

/** With more choices than this, they are in a list that opens. */
const MOST_SHOWN = 8

/** @param {Question} asked @param {FormField} field @param {string} name unique to the field
 * @param {boolean} isTitle  The title of the card already asks it. @returns {Asked} */
export function mountField(asked, field, name, isTitle) {
  const { controls, elements, value } = mountControl(asked, field, name)
  const wrong = el("span", { class: "question-problem", id: `${name}-wrong`, role: "alert" })
  const element = el(
    "fieldset",
    { class: "question", "data-field": field.id },
    el(
      "legend",
      { class: isTitle ? "visually-hidden" : null },
      asked.question,
      field.required ? null : el("span", { class: "question-header", text: "optional" }),
    ),
    field.description ? el("span", { class: "question-about", text: field.description }) : null,
    ...elements,
    wrong,
  )
  /** @param {string} words */
  function say(words) {
    setText(wrong, words)
    for (const control of controls) {
      control.setAttribute("aria-invalid", String(words !== ""))
      control.setAttribute("aria-describedby", wrong.id)
    }
  }
  element.addEventListener("input", () => {
    if (wrong.textContent !== "") say(problem(field, value()))
  })
  element.addEventListener("change", () => say(problem(field, value())))
  return {
    element,
    key: field.id,
    value,
    isRight() {
      const words = problem(field, value())
      say(words)
      if (words !== "") controls[0]?.focus()
      return words === ""
    },
  }
}

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/** @param {Question} asked @param {FormField} field @param {string} name
 * @returns {{ controls: Control[], elements: HTMLElement[], value: () => AnswerValue }} */
function mountControl({ question, options }, field, name) {
  const given = field.value
  const choices = options.map(({ label, value, description }) => ({ label, value: value ?? label, description }))
  switch (field.kind) {
    case "boolean": {
      const input = el("input", { type: "checkbox", checked: given === "true", "aria-label": question })
      return {
        controls: [input],
        elements: [el("label", { class: "choice" }, input, el("strong", { text: "Yes" }))],
        value: () => String(input.checked),
      }
    }
    case "several": {
      const boxes = choices.map((choice) =>
        mountChoice("checkbox", name, choice, given?.includes(choice.value) ?? false),
      )
      return {
        controls: boxes.map(({ input }) => input),
        elements: boxes.map(({ element }) => element),
        value: () => boxes.filter(({ input }) => input.checked).map(({ input }) => input.value),
      }
    }
    case "choice": {
      const none = { label: "No answer", value: "", description: undefined }
      const all = field.required ? choices : [...choices, none]
      const first = given ?? (field.required ? null : "")
      if (choices.length <= MOST_SHOWN) {
        const radios = all.map((choice) => mountChoice("radio", name, choice, choice.value === first))
        return {
          controls: radios.map(({ input }) => input),
          elements: radios.map(({ element }) => element),
          value: () => radios.find(({ input }) => input.checked)?.input.value ?? "",
        }
      }
      const select = el(
        "select",
        { class: "field", "aria-label": question },
        ...(field.required ? [el("option", { value: "", text: "Choose" })] : []),
        ...all.map(({ label, value }) => el("option", { value, text: label })),
      )
      select.value = typeof given === "string" ? given : ""
      return { controls: [select], elements: [select], value: () => select.value }
    }
    default: {
      const isNumber = field.kind !== "text"
      const input = el("input", {
        class: "field",
        type: field.secret ? "password" : isNumber ? "number" : inputType(field.format),
        step: isNumber ? "any" : null,
        value: typeof given === "string" ? given : "",
        autocomplete: "off",
        "aria-label": question,
      })
      // A number that can't be read has an empty value.
      const typed = () => (input.validity.badInput ? "?" : input.value)
      const value = () => (input.type === "datetime-local" && input.value !== "" ? instant(input.value) : typed())
      return { controls: [input], elements: [input], value }
    }
  }
}

/** @param {"radio" | "checkbox"} type @param {string} name
 * @param {{ label: string, value: string, description: string | undefined }} choice @param {boolean} checked */
function mountChoice(type, name, { label, value, description }, checked) {
  const input = el("input", { type, name, value, checked })
  const about = description ? el("span", { class: "choice-about", text: description }) : null
  const element = el("label", { class: "choice" }, input, el("span", {}, el("strong", { text: label }), about))
  return { input, element }
}

/** @param {FormField["format"]} format */
const inputType = (format) =>
  format === "email"
    ? "email"
    : format === "uri"
      ? "url"
      : format === "date"
        ? "date"
        : format
          ? "datetime-local"
          : "text"

/** A local date and time, with its time zone. @param {string} local */
const instant = (local) => new Date(local).toISOString()
