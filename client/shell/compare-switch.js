/** On a phone a comparison shows one session at a time: which there are, how far each is, and the way to it. */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { stateWords } from "./compare-head.js"

/** @import { ComparedPane, Pane } from "./panes.js" */

/** @typedef {{ id: string, active: boolean, at: number, compared: ComparedPane }} Member */

/** @param {HTMLElement} holder what scrolls from one session to the next */
export function mountCompareSwitch(holder) {
  const element = el("nav", { class: "compare-switch", "aria-label": "Compared sessions", hidden: true })
  /** @type {Map<string, ReturnType<typeof mountMember>>} */
  const views = new Map()
  let shown = ""

  /** @param {number} at @param {ScrollBehavior} behavior */
  const go = (at, behavior) => holder.scrollTo({ left: holder.clientWidth * at, behavior })

  function mark() {
    const current = Math.round(holder.scrollLeft / Math.max(1, holder.clientWidth))
    for (const view of views.values()) view.mark(current)
  }
  holder.addEventListener("scroll", mark, { passive: true })

  return {
    element,
    /** @param {Pane[]} panes */
    update(panes) {
      const members = panes
        .flatMap(({ id, active, column, compared }) =>
          column && compared ? [{ id, active, at: column.at, compared }] : [],
        )
        .sort((a, b) => a.at - b.at)
      element.hidden = members.length < 2
      keyed(
        element,
        views,
        members,
        ({ id }) => id,
        (member) => mountMember(member, (at) => go(at, "smooth")),
      )
      const next = members.map(({ id }) => id).join(" ")
      const front = members.find(({ active }) => active)
      if (next !== shown && front && element.checkVisibility()) go(front.at, "instant")
      shown = next
      mark()
    },
  }
}

/** @param {Member} member @param {(at: number) => void} go */
function mountMember(member, go) {
  const name = el("span")
  const state = el("span", { class: "visually-hidden" })
  const element = el("button", { class: "compare-member", type: "button" }, el("i", { class: "dot" }), name, state)
  element.addEventListener("click", () => go(member.at))
  const view = {
    element,
    /** @param {Member} next */
    update(next) {
      member = next
      const { agent, choices, mood } = next.compared
      setText(name, [agent, choices].filter(Boolean).join(" "))
      setText(state, `, ${stateWords[mood]}`)
      setAttribute(element, "data-mood", mood)
    },
    /** @param {number} current */
    mark: (current) => setAttribute(element, "aria-current", member.at === current ? "true" : null),
  }
  view.update(member)
  return view
}
