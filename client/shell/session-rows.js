/** The rows of one project's sessions. Those of a long list are in groups, of which only the ones near the view are
 * drawn: to look at each of a thousand rows would take most of a frame. */

import { arrange, el, elementsOf, keepingFocus } from "../shared/dom.js"
import { mountSessionRow } from "./session-row.js"

/** @import { SessionRow, SessionRowDeps } from "./session-row.js" */

/** From this many rows on, they are in groups, */
const LONG = 60

/** of so many. */
const GROUP = 20

/** @param {Element} list @param {SessionRowDeps} deps */
export function mountSessionRows(list, deps) {
  /** @type {Map<string, ReturnType<typeof mountSessionRow>>} */
  const views = new Map()
  /** @type {HTMLElement[]} */
  let groups = []

  /** @param {Element[]} rows */
  function group(rows) {
    const count = rows.length > LONG ? Math.ceil(rows.length / GROUP) : 0
    const former = groups
    groups = Array.from({ length: count }, (_, at) => former[at] ?? el("div", { class: "session-group", role: "none" }))
    arrange(list, count > 0 ? groups : rows)
    groups.forEach((each, at) => {
      const own = rows.slice(at * GROUP, (at + 1) * GROUP)
      if (each.style.getPropertyValue("--rows") !== String(own.length))
        each.style.setProperty("--rows", String(own.length))
      arrange(each, own)
    })
    for (const empty of former.slice(count)) empty.remove()
  }

  return {
    /** @param {SessionRow[]} rows */
    update(rows) {
      keepingFocus(list, () =>
        group(
          elementsOf(
            views,
            rows,
            (row) => row.session.id,
            (row) => mountSessionRow(row, deps),
          ),
        ),
      )
    },
    tick() {
      for (const row of views.values()) row.tick()
    },
  }
}
