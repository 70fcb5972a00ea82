/** Comments on lines, as far as they need no page: which lines a comment is about, and where it is shown. */

import { counted } from "../shared/phrases.js"

/** @import { Comment, DiffSide, MovedComment } from "../contract.js" */

/** Lines of one version of a file.
 * @typedef {{ side: DiffSide, first: number, last: number }} LineRange */

/** A line of the difference, as its row says.
 * @typedef {{ old: number | null, new: number | null, text: string }} DiffLine */

/** The range that two lines span, and its text: of the new version, unless both are removed lines.
 * @param {DiffLine[]} lines in the order shown @param {number} from @param {number} to
 * @returns {(LineRange & { snippet: string }) | null} */
export function rangeOf(lines, from, to) {
  const chosen = lines.slice(Math.min(from, to), Math.max(from, to) + 1)
  const side = chosen.every((line) => line.new === null) ? "old" : "new"
  const own = chosen.filter((line) => line[side] !== null)
  const [first, last] = [own.at(0)?.[side], own.at(-1)?.[side]]
  if (first === undefined || first === null || last === undefined || last === null) return null
  return { side, first, last, snippet: own.map(({ text }) => text).join("\n") }
}

/** The last line of a comment where it is now, or null if its code has changed.
 * @param {Comment} comment @param {readonly MovedComment[]} moved */
export function lastLine(comment, moved) {
  const [first, last] = comment.lines
  const found = moved.find(({ id }) => id === comment.id)
  if (found === undefined) return last
  return found.line === undefined ? null : found.line + last - first
}

/** What is said about a comment whose lines are elsewhere; empty if they are where they were.
 * @param {Comment} comment @param {readonly MovedComment[]} moved */
export function movedWords(comment, moved) {
  const found = moved.find(({ id }) => id === comment.id)
  if (found === undefined) return ""
  return found.line === undefined ? "The code has changed" : `Moved to line ${found.line}`
}

/** @param {LineRange} range */
export const rangeWords = ({ side, first, last }) =>
  `${side === "old" ? "Removed line" : "Line"}${first === last ? ` ${first}` : `s ${first}–${last}`}`

/** @param {readonly Comment[]} comments */
export function commentWords(comments) {
  const files = new Set(comments.map(({ path }) => path)).size
  return [counted(comments.length, "comment"), files < 2 ? "" : `in ${files} files`].filter(Boolean).join(" ")
}
