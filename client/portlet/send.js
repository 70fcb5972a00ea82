/** A message being sent: shown immediately and marked as sending; if it was refused, why, and what to do. */

import { el, setAttribute } from "../shared/dom.js"
import { failureParts } from "../shared/failure.js"
import { attachmentOf } from "./attachments.js"
import { mountChips } from "./chips.js"

/** @import { Row } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {Extract<Row, {kind: "send"}>} first @param {RowDeps} deps */
export function mountSend(first, deps) {
  const { requestId, content, attachments } = first.send
  const text = el("div", { class: "rendered plain", text: content })
  const state = el("div", { class: "send-state", role: "status" }, el("span", { class: "spinner" }), "Sending")
  const failure = el("div", { class: "send-failure", role: "alert", hidden: true })
  const element = el(
    "article",
    { class: "message", "data-origin": "user", "data-sending": true, "aria-label": "You" },
    content.trim() !== "" && text,
    mountChips(attachments.map(attachmentOf), deps),
    state,
    failure,
  )
  /** @type {unknown} */
  let shown = null

  /** @param {Extract<Row, {kind: "send"}>} row */
  function update({ send: { error } }) {
    state.hidden = error !== null
    failure.hidden = error === null
    setAttribute(element, "data-refused", error !== null)
    if (!error || error === shown) return
    shown = error
    const again = el("button", { class: "button", type: "button", text: "Send again" })
    const edit = el("button", { class: "button", "data-kind": "quiet", type: "button", text: "Edit" })
    again.addEventListener("click", () => {
      deps.forget(requestId)
      deps.resend(content, attachments)
    })
    edit.addEventListener("click", () => deps.takeBack(requestId))
    failure.replaceChildren(
      el("strong", { text: "Not sent" }),
      ...failureParts(error),
      el("div", { class: "actions" }, again, edit),
    )
  }
  update(first)
  return { element, update }
}
