/** The end of a turn: its time and cost, or why it failed and what to do. */

import { el } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { failureParts } from "../shared/failure.js"
import { refsOf } from "./attachments.js"
import { exactTime, timeOfDay, turnFigures, until, usageInFull } from "./words.js"

/** @import { Row } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {Extract<Row, {kind: "end"}>} first @param {RowDeps} deps */
export function mountTurnEnd(first, deps) {
  const element = el("div", { class: "turn-end" })
  /** @type {unknown[]} */
  let shown = []

  /** @param {Extract<Row, {kind: "end"}>} row */
  function update({ known, prompt, isSilent, waited }) {
    const next = [known, prompt, waited]
    if (next.every((part, at) => part === shown[at])) return
    shown = next
    const { turn } = known
    // The details arrive only with the failure itself; the remedy can be shown after a reload too.
    const details =
      known.details?.command === undefined ? { ...deps.remedy(turn.errorCode), ...known.details } : known.details
    element.dataset.outcome = turn.outcome
    const figures = turnFigures(turn, waited)
    const line = el("div", { class: "turn-line" })
    if (turn.endedAt)
      line.append(el("time", { datetime: turn.endedAt, text: timeOfDay(turn.endedAt), title: exactTime(turn.endedAt) }))
    if (figures)
      line.append(el("span", { class: "turn-figures", text: figures, title: usageInFull(turn.usage, turn.modelId) }))
    if (turn.outcome === "cancelled") line.prepend(el("span", { class: "turn-word" }, icon("stop"), "Stopped"))
    const unusual = stopWords[turn.stopReason ?? ""]
    const word = unusual ?? (isSilent ? "The agent finished without answering." : undefined)
    if (turn.outcome === "completed" && word) line.prepend(el("span", { class: "turn-word", text: word }))
    if (turn.outcome !== "failed" && turn.outcome !== "interrupted") return element.replaceChildren(line)

    const failure = el(
      "div",
      { class: "turn-failure", role: "group", "aria-label": "The turn failed" },
      el("strong", {}, icon("alert"), turn.outcome === "failed" ? "The turn failed" : "The turn was interrupted"),
      ...failureParts({
        message:
          turn.errorMessage ??
          (turn.outcome === "interrupted"
            ? "The server stopped before the agent finished. Everything up to then is saved."
            : "The agent gave no reason."),
        details,
      }),
    )
    const actions = el("div", { class: "actions" })
    if (prompt !== null) {
      const retry = el("button", { class: "button", type: "button", text: "Retry" })
      retry.addEventListener("click", () => {
        if (deps.canSend()) deps.resend(prompt.content, refsOf(prompt.attachments ?? []))
      })
      actions.append(retry)
    }
    const { resetsAt } = details ?? {}
    if (resetsAt !== undefined && Date.parse(resetsAt) > Date.now()) {
      failure.append(el("p", { text: `The limit resets at ${until(resetsAt, Date.now())}.` }))
      const later = el("button", {
        class: "button",
        type: "button",
        text: `Continue at ${until(resetsAt, Date.now())}`,
        title: "Sends “Continue.” automatically at that time",
      })
      later.addEventListener("click", () => deps.continueAt(resetsAt))
      actions.append(later)
    }
    if (actions.childElementCount > 0) failure.append(actions)
    element.replaceChildren(failure, line)
  }
  update(first)
  return { element, update }
}

/** Stop reasons of a completed turn that the user should know about. @type {Record<string, string>} */
const stopWords = {
  max_tokens: "Cut off at the model's token limit",
  max_turn_requests: "Stopped at the request limit",
  refusal: "The model refused to continue",
}
