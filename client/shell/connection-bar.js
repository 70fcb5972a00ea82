/** The bar shown while the server can't be reached. It waits a moment first, because most drops heal at once. */

import { el } from "../shared/dom.js"

/** @import { Status } from "../shared/socket.js" */

const showAfterMs = 400

/** @param {HTMLElement} root @param {{ retry(): void }} deps */
export function mountConnectionBar(root, deps) {
  const words = el("span")
  const retry = el("button", { class: "connection-retry", type: "button", text: "Try now" })
  const bar = el(
    "div",
    { class: "connection-bar", role: "status", hidden: true },
    el("span", { class: "spinner" }),
    words,
    retry,
  )
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
        ? "This browser was logged out, or another program is running at this address. Nothing is sent to it. " +
          "To log in again, open the link from the terminal."
        : "Connection to the server lost. Reconnecting… Nothing on this page is lost."
      if (stranger) bar.hidden = false
      timer ??= setTimeout(() => {
        bar.hidden = false
      }, showAfterMs)
    },
    destroy() {
      clearTimeout(timer)
      bar.remove()
    },
  }
}
