/** The line between two days. */

import { el } from "../shared/dom.js"
import { dayName } from "./words.js"

/** @import { Row } from "./rows.js" */

/** @param {Extract<Row, {kind: "day"}>} row */
export function mountDay({ at }) {
  const element = el(
    "div",
    { class: "day" },
    el("time", {
      datetime: at,
      text: dayName(at, Date.now()),
      title: new Date(at).toLocaleDateString(undefined, { dateStyle: "full" }),
    }),
  )
  return { element, update() {} }
}
