/** Changed lines in short, such as “+3 −1”. What is none is not said. */

import { el } from "./dom.js"

/** @typedef {{ added?: number | undefined, removed?: number | undefined }} Counts */

/** As text. @param {Counts | null | undefined} counts */
export const countsText = (counts) =>
  partsOf(counts)
    .map(({ text }) => text)
    .join(" ")

/** In their colours. @param {Counts | null | undefined} counts */
export const countsOf = (counts) => partsOf(counts).map((part) => el("span", part))

/** @param {Counts | null | undefined} counts */
function partsOf(counts) {
  const { added = 0, removed = 0 } = counts ?? {}
  return [
    ...(added > 0 ? [{ class: "count-added", text: `+${added}` }] : []),
    ...(removed > 0 ? [{ class: "count-removed", text: `−${removed}` }] : []),
  ]
}
