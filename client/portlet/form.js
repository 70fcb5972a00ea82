/** The rules for the fields of an agent's form. The server checks them again, except for patterns and formats. */

/** @import { AnswerValue, FormField } from "../contract.js" */

/** What is wrong with an answer, for the user; empty if nothing is.
 * @param {FormField} field @param {AnswerValue} answer @returns {string} */
export function problem(field, answer) {
  if (answer.length === 0) return field.required ? "Needs an answer." : ""
  const { least, most } = field
  if (typeof answer !== "string") return outside(answer.length, least, most, " choices")
  switch (field.kind) {
    case "number":
    case "integer": {
      const number = Number(answer)
      if (answer.trim() === "" || !Number.isFinite(number)) return "Must be a number."
      if (field.kind === "integer" && !Number.isInteger(number)) return "Must be a whole number."
      return outside(number, least, most, "")
    }
    case "text":
      return outside([...answer].length, least, most, " characters") || malformed(field, answer)
    default:
      return ""
  }
}

/** @param {number} size @param {number | undefined} least @param {number | undefined} most @param {string} unit */
function outside(size, least, most, unit) {
  if (least !== undefined && size < least) return `Must be at least ${least}${unit}.`
  if (most !== undefined && size > most) return `Must be at most ${most}${unit}.`
  return ""
}

/** @param {FormField} field @param {string} answer */
function malformed({ format, pattern }, answer) {
  if (format === "email" && !/^[^\s@]+@[^\s@]+$/.test(answer)) return "Must be an email address."
  if (format === "uri" && !URL.canParse(answer)) return "Must be a full address, such as https://example.com."
  if ((format === "date" || format === "date-time") && Number.isNaN(Date.parse(answer))) return "Must be a date."
  return pattern === undefined || matches(pattern, answer) ? "" : `Must match the pattern ${pattern}`
}

/** Patterns come from the agent, and some take for ever. Only those that can't are tried here; the agent checks the
 * answer itself. @param {string} pattern */
const isQuick = (pattern) => !/[(|]/.test(pattern) && (pattern.match(/[*+?{]/g) ?? []).length <= 2

/** A pattern that is not tried, or that browsers can't read, rules nothing out.
 * @param {string} pattern @param {string} answer */
function matches(pattern, answer) {
  if (!isQuick(pattern) || answer.length > 2000) return true
  try {
    return new RegExp(pattern, "u").test(answer)
  } catch {
    return true
  }
}
