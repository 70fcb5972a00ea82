/** What the text before the caret asks for: a command after `/`, a file after `@`. Pure. */

/** @typedef {object} Trigger
 * @property {"command" | "file"} kind
 * @property {string} query
 * @property {number} start  Where the `/` or `@` is.
 * @property {number} end  The caret. */

/** How far back a command or a mention may begin (characters): a long message is not searched at every key. */
const LONGEST = 1000

/** A command is only at the start of a message; an `@` inside a word, as in an address, mentions nothing.
 * @param {string} text @param {number} caret @returns {Trigger | null} */
export function triggerAt(text, caret) {
  const from = Math.max(0, caret - LONGEST)
  const before = text.slice(from, caret)
  const command = from === 0 ? /^\/(\S*)$/.exec(before) : null
  if (command) return { kind: "command", query: command[1] ?? "", start: 0, end: caret }
  const file = /(?:^|[\s([{"'`])@(?:"([^"\n]*)|([^\s"]*))$/.exec(before)
  // At the beginning of the part that is searched, nobody knows what stands before the sign.
  if (!file || (from > 0 && file.index === 0 && before.startsWith("@"))) return null
  const query = file[1] ?? file[2] ?? ""
  const length = query.length + (file[1] === undefined ? 1 : 2)
  return { kind: "file", query, start: caret - length, end: caret }
}

/** How a path is written in a message. @param {string} path */
export const mentionOf = (path) => (/[\s"]/.test(path) ? `@"${path.replace(/["\\]/g, "\\$&")}"` : `@${path}`)

/** Which characters of a name match, and how well: a beginning beats the start of a word, that beats any other part,
 * and that beats scattered letters. Null if the name lacks a letter.
 * @param {string} query @param {string} name @returns {{ score: number, match: number[] } | null} */
export function fuzzy(query, name) {
  const [wanted, text] = [query.toLowerCase(), name.toLowerCase()]
  const at = text.indexOf(wanted)
  if (at >= 0) {
    const rank = at === 0 ? 3000 : /[^\p{L}\p{N}]/u.test(text[at - 1] ?? "") ? 2000 : 1000
    return { score: rank - text.length, match: Array.from(wanted, (_, n) => at + n) }
  }
  /** @type {number[]} */
  const match = []
  for (const letter of wanted) {
    const next = text.indexOf(letter, (match.at(-1) ?? -1) + 1)
    if (next < 0) return null
    match.push(next)
  }
  return { score: (match[0] ?? 0) - (match.at(-1) ?? 0), match }
}

/** The best matches first; equal ones keep their order.
 * @template T @param {string} query @param {T[]} all @param {(each: T) => string} nameOf
 * @returns {{ each: T, match: number[] }[]} */
export const ranked = (query, all, nameOf) =>
  all
    .flatMap((each) => {
      const found = fuzzy(query, nameOf(each))
      return found ? { each, ...found } : []
    })
    .sort((a, b) => b.score - a.score)
