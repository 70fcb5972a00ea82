/** One session in Now: what waits as a card, anything else as a few lines. */

import { agentName, updateAgentMark } from "../shared/agents.js"
import { countsOf } from "../shared/counts.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { mountSteps } from "../shared/steps.js"
import { age, fullTime } from "../shared/time.js"
import { mountPermission } from "../portlet/permission.js"
import { clock, until } from "../portlet/words.js"
import { isWorking } from "./state.js"

/** @import { Agent, NowRow } from "../contract.js" */
/** @import { PermissionDeps } from "../portlet/row.js" */
/** @import { Item } from "../portlet/rows.js" */

/** @typedef {object} RowState
 * @property {NowRow} row
 * @property {string} project
 * @property {Agent[]} agents */

/** @typedef {object} NowRowDeps
 * @property {(id: string) => void} open
 * @property {(row: NowRow) => void} retry
 * @property {(row: NowRow) => PermissionDeps} permission
 * @property {() => number} now */

/** The dot of a row, as in the sidebar. @param {NowRow} row */
const moodOf = ({ state, until }) =>
  until !== undefined ? "paused" : state === "idle" ? "unread" : state === "starting" ? "running" : state

/** @param {NowRowDeps} deps */
function mountHead(deps) {
  const mark = el("span", { class: "agent-mark", "aria-hidden": "true" })
  const title = el("button", { class: "now-title", type: "button" })
  const project = el("span", { class: "now-project" })
  const counts = el("span", { class: "now-counts", title: "Changed lines" })
  const time = el("time", { class: "now-time" })
  const element = el("div", { class: "now-row-head" }, el("i", { class: "dot" }), mark, title, project, counts, time)
  /** @type {NowRow | null} */
  let shown = null
  title.addEventListener("click", () => shown && deps.open(shown.id))
  function tick() {
    if (!shown) return
    const passed = deps.now() - Date.parse(shown.since)
    const ago = age(shown.since, deps.now())
    if (shown.until !== undefined) setText(time, `until ${until(shown.until, deps.now())}`)
    else if (isWorking(shown)) setText(time, clock(passed))
    else setText(time, shown.state === "waiting" || ago === "now" ? ago : `${ago} ago`)
  }
  return {
    element,
    tick,
    /** @param {RowState} state */
    update({ row, project: name, agents }) {
      shown = row
      updateAgentMark(mark, row.cliType, agentName(row.cliType, agents))
      setText(title, row.title)
      setText(project, name)
      counts.replaceChildren(...countsOf(row.counts))
      setAttribute(time, "datetime", row.since)
      setAttribute(time, "title", fullTime(row.since))
      tick()
    },
  }
}

/** @param {RowState} first @param {NowRowDeps} deps */
export function mountNowRow(first, deps) {
  const head = mountHead(deps)
  const line = el("p", { class: "now-line" })
  const steps = mountSteps()
  const retry = el("button", { class: "now-act", type: "button", text: "Retry" })
  const element = el(
    "li",
    { class: "now-row", tabindex: -1, "data-id": first.row.id },
    head.element,
    el("div", { class: "now-row-body" }, line, steps.element, retry),
  )
  let { row } = first
  retry.addEventListener("click", () => deps.retry(row))
  const view = {
    element,
    tick: head.tick,
    /** @param {RowState} state */
    update(state) {
      row = state.row
      head.update(state)
      setAttribute(element, "data-mood", moodOf(row))
      setText(line, row.line ?? (row.state === "starting" ? "Starting…" : ""))
      steps.update(isWorking(row) ? row.plan : [])
      retry.hidden = row.prompt === undefined
    },
  }
  view.update(first)
  return view
}

/** @param {RowState} first @param {NowRowDeps} deps */
export function mountNowCard(first, deps) {
  const head = mountHead(deps)
  const card = first.row.card && mountPermission(asItem(first.row), deps.permission(first.row))
  // Not committed yet: the card follows at once.
  const box = card?.element ?? el("section", { class: "ask" }, el("p", { text: "Waiting for you…" }))
  box.prepend(head.element)
  const element = el("li", { class: "now-card", "data-id": first.row.id, "data-mood": "waiting" }, box)
  const view = {
    element,
    tick: head.tick,
    /** @param {RowState} state */
    update(state) {
      head.update(state)
      if (card) card.update(asItem(state.row))
    },
    destroy: () => card?.destroy(),
  }
  view.update(first)
  return view
}

/** @param {NowRow} row */
const asItem = ({ card }) => ({ item: /** @type {Item<"permission">} */ (card) })
