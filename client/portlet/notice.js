/** A notice from the server about the turn, with buttons for what the user can do. */

import { el, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { failureParts } from "../shared/failure.js"

/** @import { NoticeAction } from "../contract.js" */
/** @import { Row } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @type {Record<NoticeAction, string>} */
const labels = { cancel: "Stop the turn", restart: "Restart the agent", retry: "Retry" }

/** @param {Extract<Row, {kind: "notice"}>} first @param {RowDeps} deps */
export function mountNotice(first, deps) {
  const text = el("div", { class: "notice-text" })
  const element = el(
    "section",
    { class: "notice", "data-item": first.item.itemId, "aria-label": "Notice" },
    icon(first.item.severity === "info" ? "message" : "alert"),
    text,
  )
  /** @type {unknown} */
  let shown = null
  let [wasOpen, wasUndone] = [false, false]

  /** @param {Extract<Row, {kind: "notice"}>} row */
  function update({ item, live, isUndone }) {
    const isOpen = live && item.status !== "complete" && item.status !== "error"
    setAttribute(element, "data-severity", item.severity)
    setAttribute(element, "data-over", isUndone || (!isOpen && item.actions.length > 0))
    if (item === shown && isOpen === wasOpen && isUndone === wasUndone) return
    shown = item
    ;[wasOpen, wasUndone] = [isOpen, isUndone]
    // Only a retry still makes sense once the notice is over.
    const actions = isOpen || item.actions.includes("retry") ? item.actions : []
    text.replaceChildren(...failureParts({ message: item.text, ...(item.details ? { details: item.details } : {}) }))
    const { undo, link } = item.details ?? {}
    if (link?.startsWith("https://"))
      text.append(el("p", {}, el("a", { href: link, target: "_blank", rel: "noreferrer", text: link })))
    if (isUndone) text.append(el("p", { text: "Undone since." }))
    else if (undo !== undefined) {
      const button = el("button", { class: "button", type: "button", text: "Undo" })
      button.addEventListener("click", () => deps.undo(undo))
      text.append(el("div", { class: "actions" }, button))
    }
    if (actions.length === 0) return
    text.append(
      el(
        "div",
        { class: "actions" },
        ...actions.map((action) => {
          const button = el("button", { class: "button", type: "button", text: labels[action] })
          button.addEventListener("click", () => deps.act(action))
          return button
        }),
      ),
    )
  }
  update(first)
  return { element, update }
}
