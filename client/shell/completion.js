/** Completing a typed path with Tab. Pure. */

/** The path after Tab, or null if there is nothing to complete: a single suggestion with a slash added, else the start
 * that all suggestions share. Suggestions are whole paths and may have `~` expanded. Those for a name without a path
 * lie in several directories and share nothing useful.
 * @param {string} typed @param {string[]} entries @returns {string | null} */
export function completion(typed, entries) {
  const [first, ...rest] = entries
  if (first === undefined || (rest.length > 0 && !/^~|\//.test(typed))) return null
  const done = rest.length === 0 ? `${first.replace(/\/+$/, "")}/` : commonStart(first, rest)
  return done === typed || (done.length < typed.length && !typed.startsWith("~")) ? null : done
}

/** @param {string} first @param {string[]} rest */
function commonStart(first, rest) {
  let length = first.length
  for (const other of rest) while (!other.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}
