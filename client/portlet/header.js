/** The line above the conversation: how the agent is, which model, which project, and whether it asks before it acts. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @import { Policy } from "../contract.js" */
/** @import { Tone } from "./status.js" */

/** @typedef {object} HeaderState
 * @property {string} agent
 * @property {{ tone: Tone, word: string }} status
 * @property {string} model
 * @property {string} project
 * @property {string} path
 * @property {Policy | null} policy  Null until the session is known. */

/** @param {HTMLElement} root @param {{ setPolicy(policy: Policy): void }} deps */
export function mountHeader(root, deps) {
  const dot = el("i", { class: "status-dot" })
  const name = el("span", { class: "header-agent" })
  const word = el("span", { class: "status-word", role: "status" })
  const about = el("span", { class: "header-about" })
  const chipWord = el("span")
  const chipIcon = el("span", { class: "policy-icon" })
  const chip = el("button", { class: "policy", type: "button", hidden: true }, chipIcon, chipWord)
  root.append(el("div", { class: "header-status" }, dot, name, word), about, chip)
  /** @type {Policy} */
  let policy = "ask"
  chip.addEventListener("click", () => deps.setPolicy(policy === "ask" ? "auto" : "ask"))

  return {
    /** @param {HeaderState} state */
    update(state) {
      setAttribute(dot, "data-tone", state.status.tone)
      setText(name, state.agent)
      setText(word, state.status.word)
      setAttribute(word, "data-tone", state.status.tone)
      setText(about, [state.model, state.project].filter((part) => part !== "").join(" · "))
      setAttribute(about, "title", state.path)
      chip.hidden = state.policy === null
      if (state.policy === null || (state.policy === policy && chipWord.textContent !== "")) return
      policy = state.policy
      setText(chipWord, policy === "ask" ? "Ask before acting" : "Acts without asking")
      setAttribute(chip, "data-policy", policy)
      setAttribute(chip, "title", policy === "ask" ? "The agent asks before it acts. Press to let it act without asking." : "The agent acts without asking. Press to have it ask first.")
      chipIcon.replaceChildren(icon(policy === "ask" ? "lock" : "alert"))
    },
    destroy: () => root.replaceChildren(),
  }
}
