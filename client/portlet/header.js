/** The line above the conversation: the agent's status, model and project. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @import { Workspace } from "../contract.js" */
/** @import { Tone } from "./status.js" */

/** @typedef {object} HeaderState
 * @property {{ tone: Tone, word: string }} status
 * @property {string} model
 * @property {string} project
 * @property {string} path  Where it works.
 * @property {string} branch  Of a worktree of its own; else empty.
 * @property {Workspace | null} workspace  As git knows it. */

/** @param {HTMLElement} root */
export function mountHeader(root) {
  const dot = el("i", { class: "status-dot" })
  const info = el("div", { class: "info" })
  const word = el("span", { class: "status-word", role: "status" })
  const [model, project] = [el("span"), el("span")]
  const about = el("span", { class: "header-about" }, model, project)
  const branch = el("span", { class: "header-branch-name" })
  const apart = el("span", { class: "header-apart" })
  const worktree = el("span", { class: "header-branch", hidden: true }, icon("branch"), branch, apart)
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
      setText(model, state.model)
      setText(project, state.project)
      setAttribute(about, "title", state.path)
      const { branch: current, base, ahead = 0, behind = 0, state: found } = state.workspace ?? {}
      const shown = state.workspace?.kind === "project" ? (current ?? "") : state.branch || (current ?? "")
      const isMissing = found === "missing"
      worktree.hidden = shown === "" && !isMissing
      const isDiscarded = state.workspace?.discarded !== undefined
      setAttribute(worktree, "data-tone", isMissing && !isDiscarded ? "bad" : found === "busy" ? "warn" : null)
      setText(branch, isDiscarded ? "discarded" : isMissing ? "missing" : shown.replace(/^liminal\//, ""))
      setText(apart, isMissing ? "" : [ahead > 0 ? `↑${ahead}` : "", behind > 0 ? `↓${behind}` : ""].join(" ").trim())
      const from = base === undefined ? "" : `, from ${base}, ${ahead} ahead, ${behind} behind`
      const doing = state.workspace?.doing === undefined ? "" : `, in the middle of a ${state.workspace.doing}`
      setAttribute(worktree, "title", `${shown}${from}${doing} in ${state.workspace?.path ?? state.path}`)
    },
    destroy: () => root.replaceChildren(),
  }
}
