/**
 * Merges tails into whole items. For a growing item the server sends only what was added; here it becomes the whole
 * upsert again. Pure. Offsets count UTF-16 units, as JavaScript strings do.
 */

/** @import { Frame, UpsertObject } from "../contract.js" */
/** @typedef {Extract<Frame, {type: "session:tail"}>} Tail */

/** The whole item with the tail, or null if the tail does not fit.
 * @param {UpsertObject} item @param {Tail} tail @returns {UpsertObject | null} */
export function applyTail(item, tail) {
  if (item.type === "message" || item.type === "thinking") {
    const content = withTail(item.content, tail)
    const blocks = withBlocks(item.blocks, tail)
    return content === null || blocks === null ? null : { ...item, status: "update", content, blocks }
  }
  return null
}

/** @param {string} text @param {Tail} tail @returns {string | null} */
function withTail(text, tail) {
  return tail.from > text.length ? null : text.slice(0, tail.from) + tail.text
}

/** Blocks before `blocksFrom` stay; of that one, its first `keep` units stay and the first new piece follows them.
 * @param {string[]} blocks @param {Tail} tail @returns {string[] | null} */
function withBlocks(blocks, tail) {
  if (tail.blocksFrom > blocks.length) return null
  const kept = blocks.slice(0, tail.blocksFrom)
  const changing = blocks[tail.blocksFrom] ?? ""
  if (tail.keep > changing.length) return null
  const [first, ...rest] = tail.blocks
  if (first === undefined) return tail.keep === 0 ? kept : [...kept, changing.slice(0, tail.keep)]
  return [...kept, changing.slice(0, tail.keep) + first, ...rest]
}
