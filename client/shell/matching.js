/** Which names match the typed text, best first. Pure. */

/** How well a name matches: 0 means not at all, more is better. Every typed word must occur; the start of a word counts
 * more.
 * @param {string} query @param {string} name @returns {number} */
export function fit(query, name) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const text = name.toLowerCase()
  let score = 1
  for (const word of words) {
    const at = text.indexOf(word)
    if (at < 0) return 0
    const begins = at === 0 || new RegExp(`[^\\p{L}\\p{N}]${escaped(word)}`, "u").test(text)
    score += at === 0 ? 4 : begins ? 3 : 1
  }
  return score
}

/** The best matches first; equal ones keep their order.
 * @template T @param {string} query @param {T[]} all @param {(each: T) => string} nameOf @param {number} limit
 * @returns {T[]} */
export function bestFits(query, all, nameOf, limit) {
  return all
    .map((each) => ({ each, score: fit(query, nameOf(each)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ each }) => each)
}

/** @param {string} text */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
