/** Finding text in the transcript, as it is shown and not as it was written. Pure. */

import { isOpenPermission } from "./transcript.js"

/** @import { Part, UpsertObject } from "../contract.js" */
/** @import { Transcript } from "./transcript.js" */

/** One occurrence: the `nth` within an item. @typedef {{ itemId: string, index: number, nth: number }} Hit */

/** The items that contain the text, in order, and how often all of them do.
 * @typedef {{ items: { itemId: string, index: number, count: number }[], total: number }} Found */

/** @type {Found} */
export const nothingFound = { items: [], total: 0 }

/** Matches regardless of case, and of how words are separated. Null if there is nothing to find.
 * @param {string} query @returns {RegExp | null} */
export function patternOf(query) {
  const words = query.split(/\s+/).filter((word) => word !== "")
  if (words.length === 0) return null
  return new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")).join("\\s+"), "gi")
}

/** Remembers the text of items, and how often the last pattern occurs in each. */
export function createFinder() {
  /** @type {WeakMap<UpsertObject, string>} */
  const texts = new WeakMap()
  /** @type {WeakMap<UpsertObject, number>} */
  let counts = new WeakMap()
  let counted = ""

  /** @param {UpsertObject} item @param {RegExp} pattern */
  function countIn(item, pattern) {
    const known = counts.get(item)
    if (known !== undefined) return known
    const text = texts.get(item) ?? textOf(item)
    texts.set(item, text)
    const count = text.match(pattern)?.length ?? 0
    counts.set(item, count)
    return count
  }

  /** @param {Transcript} transcript @param {RegExp | null} pattern @returns {Found} */
  return (transcript, pattern) => {
    if (pattern === null) return nothingFound
    if (counted !== pattern.source) counts = new WeakMap()
    counted = pattern.source
    const items = []
    let total = 0
    for (const run of transcript.runs)
      for (const item of run.items) {
        const count = countIn(item, pattern)
        if (count > 0) items.push({ itemId: item.itemId, index: item.index, count })
        total += count
      }
    return { items, total }
  }
}

/** What the page shows of an item. @param {UpsertObject} item @returns {string} */
export function textOf(item) {
  switch (item.type) {
    case "message":
    case "thinking":
    case "compaction":
      return htmlText(item.blocks)
    case "command_output":
      return `${item.command}\n${htmlText(item.blocks)}`
    case "tool_call":
      return `${item.title}\n${htmlText(partsHtml(item.parts))}`
    case "permission":
      // An answered one is part of its call.
      return isOpenPermission(item) ? `${item.title}\n${htmlText(partsHtml(item.parts))}` : ""
    case "plan":
      return item.entries.map(({ text }) => text).join("\n")
    case "notice":
      return item.text
    case "cleared":
      return ""
  }
}

/** @param {Part[]} parts */
const partsHtml = (parts) => parts.flatMap((part) => (part.kind === "image" ? [] : part.html))

/** @type {Record<string, string>} */
const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" }

/** The text in the server's HTML, which escapes every angle bracket that is not a tag's. @param {string[]} blocks */
const htmlText = (blocks) =>
  blocks
    .join("\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
      name !== undefined
        ? (entities[name] ?? whole)
        : String.fromCodePoint(Math.min(0x10ffff, hex !== undefined ? parseInt(hex, 16) : Number(decimal))),
    )

/** The first hit at or after an index, or else the last one. @param {Found} found @param {number} index
 * @returns {Hit | null} */
export function nearest({ items }, index) {
  const after = items.find((item) => item.index >= index)
  if (after) return { itemId: after.itemId, index: after.index, nth: 0 }
  const last = items.at(-1)
  return last ? { itemId: last.itemId, index: last.index, nth: last.count - 1 } : null
}

/** The hit after or before another one, wrapping around at the ends.
 * @param {Found} found @param {Hit} hit @param {1 | -1} by @returns {Hit | null} */
export function stepped({ items }, hit, by) {
  const at = items.findIndex(({ itemId }) => itemId === hit.itemId)
  const here = items[at]
  if (!here) return nearest({ items, total: 0 }, hit.index)
  const nth = Math.min(hit.nth, here.count - 1) + by
  if (nth >= 0 && nth < here.count) return { ...hit, nth }
  const next = items[(at + by + items.length) % items.length] ?? here
  return { itemId: next.itemId, index: next.index, nth: by > 0 ? 0 : next.count - 1 }
}

/** The number of a hit among all, from 1; 0 if it is gone. @param {Found} found @param {Hit} hit */
export function numberOf({ items }, hit) {
  let before = 0
  for (const item of items) {
    if (item.itemId === hit.itemId) return before + Math.min(hit.nth, item.count - 1) + 1
    before += item.count
  }
  return 0
}
