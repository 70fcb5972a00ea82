/** The context meter in the composer's bar: a ring with a percentage, and a panel with everything known about usage. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { compact, money, until } from "./words.js"

/** @import { SessionUsage, Usage } from "../contract.js" */

/** @typedef {object} MeterState
 * @property {SessionUsage | undefined} usage
 * @property {Usage | undefined} turn  Of the last turn that reported any.
 * @property {boolean} canCompact  The agent has the command, and could take it now. */

/** From this percentage on, the meter warns and offers to compact. */
const NEARLY_FULL = 80

/** How full the context is, in percent; null if the agent doesn't say. @param {SessionUsage | undefined} usage */
export function percentOf(usage) {
  if (!usage?.contextSize || usage.contextUsed === undefined) return null
  return Math.min(100, Math.round((usage.contextUsed / usage.contextSize) * 100))
}

/** What the panel lists, as pairs of a name and a value. @param {MeterState} state @param {number} now
 * @returns {[string, string][]} */
export function usageLines({ usage, turn }, now) {
  /** @type {[string, string][]} */
  const lines = []
  const percent = percentOf(usage)
  if (percent !== null)
    lines.push([
      "Context",
      `${compact(usage?.contextUsed ?? 0)} of ${compact(usage?.contextSize ?? 0)} tokens (${percent}%)`,
    ])
  if (usage?.costUsd !== undefined) lines.push(["Cost of the session", money(usage.costUsd)])
  if (turn?.costUsd !== undefined) lines.push(["Cost of the last turn", money(turn.costUsd)])
  if (turn && turn.inputTokens + turn.outputTokens > 0)
    lines.push(["Last turn", `${compact(turn.inputTokens)} tokens in, ${compact(turn.outputTokens)} out`])
  if (turn?.cacheReadInputTokens || turn?.cacheCreationInputTokens)
    lines.push([
      "Cache",
      `${compact(turn.cacheReadInputTokens ?? 0)} tokens read, ${compact(turn.cacheCreationInputTokens ?? 0)} written`,
    ])
  for (const { name, usedPercent, resetsAt } of usage?.limits ?? [])
    lines.push([name, `${Math.round(usedPercent)}% used${resetsAt ? `, resets ${until(resetsAt, now)}` : ""}`])
  return lines
}

/** @param {HTMLElement} root @param {{ compact(): void }} deps */
export function mountMeter(root, deps) {
  const ending = new AbortController()
  const { signal } = ending
  const [ring, arc] = ringAndArc()
  const word = el("span", { class: "meter-word" })
  const button = el("button", { class: "meter-button", type: "button", "aria-expanded": "false" }, ring, word)
  const list = el("dl", { class: "meter-lines" })
  const advice = el("p", { class: "meter-advice" })
  const panel = el("div", { class: "meter-panel", role: "group", "aria-label": "Usage" }, list, advice)
  const shorten = el("button", {
    class: "button meter-compact",
    type: "button",
    text: "Compact",
    title: "Sends /compact: the agent replaces the conversation so far with a summary",
    hidden: true,
  })
  const element = el("div", { class: "meter", hidden: true }, button, panel)
  root.append(shorten, element)
  /** @type {MeterState} */
  let state = { usage: undefined, turn: undefined, canCompact: false }

  /** @param {boolean} isOpen */
  function open(isOpen) {
    setAttribute(element, "data-open", isOpen)
    setAttribute(button, "aria-expanded", String(isOpen))
  }

  function show() {
    const lines = usageLines(state, Date.now())
    const percent = percentOf(state.usage)
    const isNearlyFull = percent !== null && percent >= NEARLY_FULL
    element.hidden = lines.length === 0
    setText(word, percent === null ? "Usage" : `${percent}%`)
    setAttribute(button, "aria-label", percent === null ? "Usage" : `Usage: context ${percent}% full`)
    setAttribute(element, "data-full", isNearlyFull)
    setAttribute(ring, "hidden", percent === null)
    setAttribute(arc, "stroke-dasharray", `${percent ?? 0} 100`)
    shorten.hidden = !isNearlyFull || !state.canCompact
    list.replaceChildren(...lines.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]))
    advice.hidden = !isNearlyFull
    setText(
      advice,
      state.canCompact
        ? "The context is nearly full. Compact replaces the conversation so far with a summary."
        : "The context is nearly full.",
    )
  }

  button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"), { signal })
  shorten.addEventListener("click", deps.compact, { signal })
  element.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || button.getAttribute("aria-expanded") !== "true") return
      event.stopPropagation()
      open(false)
    },
    { signal },
  )
  document.addEventListener(
    "pointerdown",
    (event) => {
      if (!element.contains(/** @type {Node} */ (event.target))) open(false)
    },
    { signal },
  )

  return {
    /** @param {MeterState} next */
    update(next) {
      if (next.usage === state.usage && next.turn === state.turn && next.canCompact === state.canCompact) return
      state = next
      show()
    },
    destroy() {
      ending.abort()
      root.replaceChildren()
    },
  }
}

/** The circumference counts 100, so that a dash is a percentage. @returns {[SVGSVGElement, SVGCircleElement]} */
function ringAndArc() {
  const make = (/** @type {"svg" | "circle"} */ name) => document.createElementNS("http://www.w3.org/2000/svg", name)
  const svg = /** @type {SVGSVGElement} */ (make("svg"))
  setAttribute(svg, "class", "meter-ring")
  setAttribute(svg, "viewBox", "0 0 16 16")
  setAttribute(svg, "aria-hidden", "true")
  const circles = ["meter-track", "meter-arc"].map((name) => {
    const circle = /** @type {SVGCircleElement} */ (make("circle"))
    for (const [attribute, value] of Object.entries({ class: name, cx: 8, cy: 8, r: 6, pathLength: 100 }))
      setAttribute(circle, attribute, value)
    return circle
  })
  svg.append(...circles)
  return [svg, /** @type {SVGCircleElement} */ (circles[1])]
}
