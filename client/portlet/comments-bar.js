/** The bar below the changes: how many comments wait, and the buttons that send or discard them. */

import { el, setText } from "../shared/dom.js"
import { onMac } from "../shared/keys.js"
import { counted } from "../shared/phrases.js"
import { commentWords } from "./comments-state.js"

/** @import { Comment } from "../contract.js" */

/** @param {HTMLElement} root
 * @param {{ send(): void, discard(): void, restore(comments: readonly Comment[]): void }} deps */
export function mountCommentsBar(root, deps) {
  const words = el("span", { class: "comments-count", role: "status" })
  const discard = el("button", { class: "button", type: "button", text: "Discard" })
  const undo = el("button", { class: "button", type: "button", text: "Undo" })
  const label = el("span")
  const send = el(
    "button",
    { class: "button", "data-kind": "main", type: "button" },
    el("span", {}, label, el("span", { class: "comments-to", text: " to the agent" })),
    el("kbd", { text: onMac ? "⌘ Shift Enter" : "Ctrl Shift Enter", "aria-hidden": "true" }),
  )
  root.append(words, discard, undo, send)
  /** @type {readonly Comment[]} */
  let shown = []
  /** What was discarded last, as long as nothing was written since. @type {readonly Comment[]} */
  let discarded = []

  send.addEventListener("click", deps.send)
  discard.addEventListener("click", () => {
    discarded = shown
    deps.discard()
  })
  undo.addEventListener("click", () => {
    deps.restore(discarded)
    discarded = []
  })

  return {
    /** @param {readonly Comment[]} comments */
    update(comments) {
      shown = comments
      const isNone = comments.length === 0
      if (!isNone && discarded !== comments) discarded = []
      root.hidden = isNone && discarded.length === 0
      setText(words, isNone ? `Discarded ${counted(discarded.length, "comment")}.` : commentWords(comments))
      setText(label, `Send ${counted(comments.length, "comment")}`)
      discard.hidden = send.hidden = isNone
      undo.hidden = !isNone
    },
  }
}
