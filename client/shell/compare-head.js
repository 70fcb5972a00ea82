/** The head of one session in a comparison: who answers, how far it is, what it took; opening it, keeping it. */

import { updateAgentMark } from "../shared/agents.js"
import { countsOf } from "../shared/counts.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { between, clock, money } from "../portlet/words.js"

/** @import { Figures } from "../shared/bridge.js" */
/** @import { Mood } from "./model.js" */
/** @import { ComparedPane } from "./panes.js" */

/** @type {Record<Mood, string>} */
export const stateWords = {
  waiting: "waiting for you",
  running: "working",
  failed: "failed",
  interrupted: "interrupted",
  unread: "done",
  idle: "done",
}

/** @param {{ open(): void, keep(): void, now(): number }} deps */
export function mountCompareHead(deps) {
  const mark = el("span", { class: "agent-mark", "aria-hidden": "true" })
  const name = el("strong", { class: "compare-name" })
  const choices = el("span", { class: "compare-choices" })
  const place = el("span", { class: "compare-place" })
  const dot = el("i", { class: "dot" })
  const state = el("span", { class: "compare-state" })
  const time = el("span", { class: "compare-figure", title: "Time" })
  const cost = el("span", { class: "compare-figure", title: "Cost" })
  const changes = el("span", { class: "compare-figure counts", title: "Changes against the base" })
  const open = el(
    "button",
    { class: "icon-button", type: "button", "aria-label": "Open in a tab", title: "Open in a tab" },
    icon("column"),
  )
  const keep = el("button", { class: "button compare-keep", type: "button" })
  const element = el(
    "header",
    { class: "compare-head" },
    el("div", { class: "compare-who" }, mark, name, choices, place, open),
    el("div", { class: "compare-how" }, dot, state, time, changes, cost, keep),
  )
  open.addEventListener("click", deps.open)
  keep.addEventListener("click", deps.keep)
  /** @type {Figures | null} */
  let figures = null

  function tick() {
    const { startedAt, endedAt, costUsd } = figures ?? {}
    if (startedAt === undefined) setText(time, "")
    else setText(time, endedAt ? between(startedAt, endedAt) : clock(deps.now() - Date.parse(startedAt)))
    setText(cost, costUsd === undefined ? "" : money(costUsd))
  }
  /** Set while the session is compared. @type {ReturnType<typeof setInterval> | undefined} */
  let ticking

  return {
    element,
    /** @param {Figures} next */
    figure(next) {
      figures = next
      tick()
    },
    /** @param {ComparedPane | null} next */
    update(next) {
      element.hidden = next === null
      if (!next) {
        clearInterval(ticking)
        ticking = undefined
        return
      }
      ticking ??= setInterval(tick, 1000)
      updateAgentMark(mark, next.cliType, next.agent)
      setText(name, next.agent)
      setText(choices, next.choices)
      setText(place, next.place)
      setAttribute(element, "data-mood", next.mood)
      setText(state, stateWords[next.mood])
      changes.replaceChildren(...countsOf(next.counts))
      keep.hidden = !next.canKeep && !next.isKept
      keep.disabled = next.isKept
      setText(keep, next.isKept ? "Kept" : "Keep this one")
      tick()
    },
    destroy: () => clearInterval(ticking),
  }
}
