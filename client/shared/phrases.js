/** Parts of sentences that several views need. Pure. */

/** `1 file`, `2 files`. @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`

/** `“A”, “B”, and “C”`. @param {readonly string[]} titles */
export const quoted = (titles) => new Intl.ListFormat("en").format(titles.map((title) => `“${title}”`))
