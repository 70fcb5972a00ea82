/** The demo names what one can type in its tables; here that can be clicked too. */

import { setAttribute } from "../shared/dom.js"

const COMMANDS = '.message[data-origin="agent"] td code'

/** @param {HTMLElement} root @param {(text: string) => void} send @param {AbortSignal} signal */
export function mountCommands(root, send, signal) {
  /** @param {Event} event */
  const take = (event) => {
    const command = event.target instanceof Element ? event.target.closest(COMMANDS) : null
    if (!command || (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ")) return
    event.preventDefault()
    send(command.textContent ?? "")
  }
  root.addEventListener("click", take, { signal })
  root.addEventListener("keydown", take, { signal })
  return {
    /** Call it when the conversation changed. */
    update() {
      for (const command of root.querySelectorAll(COMMANDS)) {
        setAttribute(command, "role", "button")
        setAttribute(command, "tabindex", 0)
        setAttribute(command, "title", "Send this")
      }
    },
  }
}
