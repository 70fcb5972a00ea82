/**
 * From tails back to whole items. The server sends a growing item as what came after what it sent last; here it becomes
 * the whole upsert again. Pure. Offsets count UTF-16 units, which is what JavaScript strings count anyway.
 */

/** @import { Frame, UpsertObject } from "../contract.js" */
/** @typedef {Extract<Frame, {type: "session:tail"}>} Tail */

/** The whole item after the tail, or null when the tail does not fit what we have: then the session must be opened
 * again without a cursor.
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
