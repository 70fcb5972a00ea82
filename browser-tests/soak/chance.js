/** Random choices from a seed, so that a run can be repeated. */

/** Numbers from 0 to 1 (mulberry32). @param {number} seed */
export function chanceOf(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  return {
    /** @param {number} count */
    below: (count) => Math.floor(next() * count),
    /** @template T @param {T[]} list @returns {T} */
    of: (list) => list[Math.floor(next() * list.length)],
    /** A random name, with the given weights. @param {Record<string, number>} weights */
    weighed(weights) {
      let left = next() * Object.values(weights).reduce((sum, weight) => sum + weight, 0)
      for (const [name, weight] of Object.entries(weights)) if ((left -= weight) < 0) return name
      return Object.keys(weights)[0]
    },
  }
}
