/** A quiet bar while the connection to the server is not good. A drop that heals at once is not worth a word, so it waits a moment. */

import { el } from "../shared/dom.js"

/** @import { Status } from "../shared/socket.js" */

const patience = 400

/** @param {HTMLElement} root @param {{ retry(): void }} deps */
export function mountConnectionBar(root, deps) {
  const words = el("span")
  const retry = el("button", { class: "connection-retry", type: "button", text: "Try now" })
  const bar = el("div", { class: "connection-bar", role: "status", hidden: true }, el("span", { class: "spinner" }), words, retry)
  retry.addEventListener("click", () => deps.retry())
  root.append(bar)
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  return {
    /** @param {Status} status */
    update({ connection, stranger }) {
      if (connection !== "lost") {
        clearTimeout(timer)
        timer = undefined
        bar.hidden = true
        return
      }
      words.textContent = stranger
        ? "Something else answers at this address: not the server this page knows. Nothing is sent to it. If you changed the token, open the new link from the terminal."
        : "The connection to the server is lost. What you see is kept, and it comes back by itself."
      if (stranger) bar.hidden = false
      timer ??= setTimeout(() => { bar.hidden = false }, patience)
    },
    destroy() {
      clearTimeout(timer)
      bar.remove()
    },
  }
}
