/** What is said about the place where a session works: its setup command, and a worktree that vanished. */

import { el, need, setText } from "../shared/dom.js"
import { fullTime } from "../shared/time.js"

/** @import { Setup, SetupAct, Workspace } from "../contract.js" */

/** The setup command as far as it matters: while it runs or failed, and until the agent works.
 * @param {Setup | null} setup @param {boolean} isBeginning the first message is not answered yet
 * @returns {Setup | null} */
export function setupToShow(setup, isBeginning) {
  if (setup === null) return null
  if (setup.state === "running" || setup.state === "failed") return setup
  return isBeginning ? setup : null
}

const words = {
  running: "Preparing the worktree. Your first message waits until this is done.",
  done: "The worktree is ready.",
  failed: "The setup command failed. Your first message waits.",
  skipped: "Started without waiting for the setup command.",
}

/** @param {Setup} setup @param {(act: SetupAct) => void} act */
export function setupCard(setup, act) {
  const button = (/** @type {string} */ text, /** @type {SetupAct} */ what) => {
    const made = el("button", { class: "button", type: "button", text })
    made.addEventListener("click", () => act(what))
    return made
  }
  const code = setup.exitCode === undefined || setup.exitCode === 0 ? "" : ` (exit code ${setup.exitCode})`
  return el(
    "section",
    { class: "setup", "data-state": setup.state, role: "status", "aria-label": "Setup command" },
    el(
      "div",
      { class: "setup-head" },
      setup.state === "running" && el("span", { class: "spinner" }),
      el("span", { text: `${words[setup.state]}${code}` }),
    ),
    el("code", { class: "setup-command", text: setup.command }),
    el("pre", { class: "setup-output", tabindex: "0", hidden: true }),
    (setup.state === "running" || setup.state === "failed") &&
      el(
        "div",
        { class: "actions" },
        setup.state === "failed" && button("Run again", "again"),
        button("Start anyway", "skip"),
      ),
  )
}

/** Shows the output so far. @param {HTMLElement} card @param {Setup} setup */
export function growSetup(card, { output }) {
  const box = need(card, ".setup-output", HTMLElement)
  if (box.textContent === output) return
  const isAtEnd = box.hidden || box.scrollHeight - box.clientHeight - box.scrollTop < 4
  box.hidden = output === ""
  setText(box, output)
  if (isAtEnd) requestAnimationFrame(() => (box.scrollTop = box.scrollHeight))
}

/** @param {Workspace} workspace @param {{ renew(): void, bringBack(saved: string): void }} deps */
export function missingCard(workspace, { renew, bringBack }) {
  const { discarded } = workspace
  const isWorktree = workspace.kind === "worktree"
  const button = el("button", {
    class: "button",
    "data-kind": "main",
    type: "button",
    text: discarded ? "Bring back" : "Make it again",
  })
  button.addEventListener("click", () => (discarded ? bringBack(discarded.saved) : renew()))
  return el(
    "section",
    { class: "trouble", role: discarded ? "status" : "alert" },
    el("h3", {
      text: discarded
        ? "The worktree was discarded"
        : isWorktree
          ? "The worktree no longer exists"
          : "The directory no longer exists",
    }),
    el("p", {
      text: discarded
        ? `Everything that was in ${discarded.path} is kept until ${fullTime(discarded.until)}. ` +
          "Bring it back to continue."
        : isWorktree
          ? `${workspace.path} is gone. The conversation is kept, and so are the commits of its branch. ` +
            "Make the worktree again to continue."
          : `${workspace.path} is gone. The conversation is kept. Restore the directory to continue.`,
    }),
    isWorktree && el("div", { class: "actions" }, button),
  )
}
