/** What several settings have in common: a row with buttons, and the words for a failure. */

import { el } from "../shared/dom.js"

/** @param {{ name: string, title?: string, details: string }} what @param {...HTMLElement} buttons */
export const settingsRow = ({ name, title, details }, ...buttons) =>
  el(
    "li",
    { class: "settings-agent settings-row" },
    el(
      "div",
      { class: "settings-agent-line" },
      el("span", { class: "settings-agent-name", text: name, title }),
      el("span", { class: "settings-agent-state" }, ...buttons),
    ),
    el("span", { class: "settings-agent-version settings-wraps", text: details }),
  )

/** @param {unknown} reason */
export const wordsOf = (reason) => /** @type {{ message?: string }} */ (reason).message ?? "The server gave no reason."
