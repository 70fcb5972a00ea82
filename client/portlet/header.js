/** The line above the conversation: the agent's status, model and project. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @import { Tone } from "./status.js" */

/** @typedef {object} HeaderState
 * @property {{ tone: Tone, word: string }} status
 * @property {string} model
 * @property {string} project
 * @property {string} path  Where it works.
 * @property {string} branch  Of a worktree of its own; else empty. */

/** @param {HTMLElement} root */
export function mountHeader(root) {
  const dot = el("i", { class: "status-dot" })
  const info = el("div", { class: "info" })
  const word = el("span", { class: "status-word", role: "status" })
  const about = el("span", { class: "header-about" })
  const branch = el("span", { class: "header-branch-name" })
  const worktree = el("span", { class: "header-branch", hidden: true }, icon("branch"), branch)
  root.append(el("div", { class: "header-status" }, dot, info, word), about, worktree)

  return {
    /** For the agent's name and what is behind it. */
    info,
    /** @param {HeaderState} state */
    update(state) {
      setAttribute(dot, "data-tone", state.status.tone)
      // What is as it should be is not said again: the sidebar says that the page is connected.
      word.hidden = state.status.tone === "ok" || state.status.tone === "off"
      setAttribute(dot, "title", state.status.word)
      setText(word, state.status.word)
      setAttribute(word, "data-tone", state.status.tone)
      setText(about, [state.model, state.project].filter((part) => part !== "").join(" · "))
      setAttribute(about, "title", state.path)
      worktree.hidden = state.branch === ""
      setText(branch, state.branch.replace(/^liminal\//, ""))
      setAttribute(worktree, "title", `${state.branch} in ${state.path}`)
    },
    destroy: () => root.replaceChildren(),
  }
}
