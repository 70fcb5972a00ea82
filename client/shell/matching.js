/** Finding by typing: which names fit what was typed, the best first. Pure. */

/** How well a name fits: 0 not at all; more is better. Every word typed must begin somewhere in it or, failing that, occur.
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

/** Those that fit, best first; equals stay in their order. @template T @param {string} query @param {T[]} all @param {(each: T) => string} nameOf @param {number} most @returns {T[]} */
export function bestFits(query, all, nameOf, most) {
  return all.map((each) => ({ each, score: fit(query, nameOf(each)) })).filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score).slice(0, most).map(({ each }) => each)
}

/** @param {string} text */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
