/** What Tab makes of a typed path. Pure. */

/** The path after Tab, or null when there is nothing to complete: the one suggestion with a slash behind it, else what all
 * suggestions begin with. Suggestions are whole paths and may spell `~` out.
 * @param {string} typed @param {string[]} entries @returns {string | null} */
export function completion(typed, entries) {
  const [first, ...rest] = entries
  if (first === undefined) return null
  const done = rest.length === 0 ? `${first.replace(/\/+$/, "")}/` : commonStart(first, rest)
  return done === typed || done.length < typed.length && !typed.startsWith("~") ? null : done
}

/** @param {string} first @param {string[]} rest */
function commonStart(first, rest) {
  let length = first.length
  for (const other of rest) while (!other.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}
