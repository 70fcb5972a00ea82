/** What is shown when no session is open: an invitation to the next step. */

import { el } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { keysOf, shortcuts } from "../shared/keys.js"

/** @typedef {{ shown: boolean, projects: number | null }} WelcomeState */

/** @param {HTMLElement} root @param {{ addProject(): void, newSession(anchor: HTMLElement): void }} deps */
export function mountWelcome(root, deps) {
  const title = el("h2")
  const text = el("p")
  const add = el("button", { class: "button", "data-kind": "main", type: "button" }, icon("add"), el("span", { text: "Add a project" }))
  const start = el("button", { class: "button", "data-kind": "main", type: "button", "aria-haspopup": "menu" }, icon("add"), el("span", { text: "New session" }))
  const keys = el("dl", { class: "welcome-keys" }, ...shortcuts.filter(({ name }) => name === "search" || name === "new-session").flatMap((shortcut) => [
    el("dt", {}, ...keysOf(shortcut).map((key) => el("kbd", { text: key }))), el("dd", { text: shortcut.label })]))
  const box = el("div", { class: "welcome" }, el("i", { class: "brand-mark" }), title, text, el("div", { class: "welcome-actions" }, add, start), keys)
  add.addEventListener("click", () => deps.addProject())
  start.addEventListener("click", () => deps.newSession(start))
  root.append(box)
  return {
    /** @param {WelcomeState} state */
    update({ shown, projects }) {
      box.hidden = !shown || projects === null
      title.textContent = projects === 0 ? "Welcome" : "No session is open"
      text.textContent = projects === 0
        ? "Liminal Builder runs your coding agents side by side. Add a directory that they should work in. What is said there is kept on this machine."
        : "Choose one on the left, or start a new one."
      add.hidden = projects !== 0
      start.hidden = keys.hidden = projects === 0
    },
    destroy: () => box.remove(),
  }
}
