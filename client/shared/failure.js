/** How a failure is shown: what happened, what to do next, and the evidence, collapsed. */

import { el } from "./dom.js"
import { icon } from "./icons.js"

/** @import { ErrorBody } from "../contract.js" */

/** @param {Pick<ErrorBody, "message" | "details">} error @returns {HTMLElement[]} */
export function failureParts({ message, details }) {
  return [
    el("p", { class: "failure-message", text: message }),
    ...(details?.hint ? [el("p", { class: "failure-hint", text: details.hint })] : []),
    ...(details?.authMethods ?? []).flatMap((method) => [
      el("p", {
        class: "failure-hint",
        text: method.description ? `${method.name}: ${method.description}` : method.name,
      }),
      ...(method.command && method.command !== details?.command ? [commandLine(method.command)] : []),
    ]),
    ...(details?.command ? [commandLine(details.command)] : []),
    ...(details?.stderrTail
      ? [
          el(
            "details",
            { class: "failure-evidence" },
            el("summary", { text: "Agent output" }),
            el("pre", { text: details.stderrTail, tabindex: 0 }),
          ),
        ]
      : []),
  ]
}

/** A command to run in a terminal, with a button that copies it. @param {string} command */
export function commandLine(command) {
  const copy = el(
    "button",
    { class: "icon-button", type: "button", "aria-label": "Copy the command", title: "Copy" },
    icon("copy"),
  )
  copy.addEventListener("click", async () => {
    if (await copied(command)) copy.replaceChildren(icon("check"))
  })
  return el("div", { class: "command-line" }, el("code", { text: command }), copy)
}

/** Puts text on the clipboard; false if the browser refuses. @param {string} text */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
