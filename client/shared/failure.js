/** How a failure looks: what happened, what to do next, and the evidence folded away. */

import { el } from "./dom.js"
import { icon } from "./icons.js"

/** @import { ErrorBody } from "../contract.js" */

/** @param {Pick<ErrorBody, "message" | "details">} error @returns {HTMLElement[]} */
export function failureParts({ message, details }) {
  return [
    el("p", { class: "failure-message", text: message }),
    ...(details?.hint ? [el("p", { class: "failure-hint", text: details.hint })] : []),
    ...(details?.authMethods ?? []).map((method) => el("p", { class: "failure-hint", text: method.description ? `${method.name}: ${method.description}` : method.name })),
    ...(details?.command ? [commandLine(details.command)] : []),
    ...(details?.stderrTail ? [el("details", { class: "failure-evidence" }, el("summary", { text: "What the agent wrote" }), el("pre", { text: details.stderrTail, tabindex: 0 }))] : []),
  ]
}

/** Something to type in a terminal, with a button that copies it. @param {string} command */
export function commandLine(command) {
  const copy = el("button", { class: "icon-button", type: "button", "aria-label": "Copy the command", title: "Copy" }, icon("copy"))
  copy.addEventListener("click", async () => {
    if (await copied(command)) copy.replaceChildren(icon("check"))
  })
  return el("div", { class: "command-line" }, el("code", { text: command }), copy)
}

/** Puts text on the clipboard; false where the browser does not let us. @param {string} text */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
