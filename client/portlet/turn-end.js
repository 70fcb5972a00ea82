/** The end of a turn: what it took, or how it failed and what to do. */

import { el } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { failureParts } from "../shared/failure.js"
import { exactTime, timeOfDay, turnFigures, usageInFull } from "./words.js"

/** @import { Row } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {Extract<Row, {kind: "end"}>} first @param {RowDeps} deps */
export function mountTurnEnd(first, deps) {
  const element = el("div", { class: "turn-end" })
  /** @type {unknown} */
  let shown = null

  /** @param {Extract<Row, {kind: "end"}>} row */
  function update({ known, prompt }) {
    if (known === shown) return
    shown = known
    const { turn } = known
    // The evidence was told with the failure; what to do can be told again after a reload.
    const details = known.details?.command === undefined ? { ...deps.remedy(turn.errorCode), ...known.details } : known.details
    element.dataset.outcome = turn.outcome
    const figures = turnFigures(turn)
    const line = el("div", { class: "turn-line" })
    if (turn.endedAt) line.append(el("time", { datetime: turn.endedAt, text: timeOfDay(turn.endedAt), title: exactTime(turn.endedAt) }))
    if (figures) line.append(el("span", { class: "turn-figures", text: figures, title: usageInFull(turn.usage, turn.modelId) }))
    if (turn.outcome === "cancelled") line.prepend(el("span", { class: "turn-word" }, icon("stop"), "Stopped"))
    const unusual = stopWords[turn.stopReason ?? ""]
    if (turn.outcome === "completed" && unusual) line.prepend(el("span", { class: "turn-word", text: unusual }))
    if (turn.outcome !== "failed" && turn.outcome !== "interrupted") return element.replaceChildren(line)

    const failure = el("div", { class: "turn-failure", role: "group", "aria-label": "The turn failed" },
      el("strong", {}, icon("alert"), turn.outcome === "failed" ? "The turn failed" : "The turn was interrupted"),
      ...failureParts({ message: turn.errorMessage ?? (turn.outcome === "interrupted" ? "The server stopped before the agent was done. What was said until then is kept." : "The agent gave no reason."), details }))
    if (prompt !== null) {
      const retry = el("button", { class: "button", type: "button", text: "Retry" })
      retry.addEventListener("click", () => { if (deps.canSend()) deps.resend(prompt) })
      failure.append(el("div", { class: "actions" }, retry))
    }
    element.replaceChildren(failure, line)
  }
  update(first)
  return { element, update }
}

/** Why a turn that completed may still not be what the user wanted. @type {Record<string, string>} */
const stopWords = {
  max_tokens: "Cut at the model's limit",
  max_turn_requests: "Stopped at the limit of requests",
  refusal: "The model declined to go on",
}
