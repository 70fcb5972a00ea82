/** Completing a typed path with Tab. Pure. */

/** The path after Tab, or null if there is nothing to complete: a single suggestion with a slash added, else the start
 * that all suggestions share. Suggestions are whole paths and may have `~` expanded. Those for a name without a path
 * lie in several directories and share nothing useful.
 * @param {string} typed @param {string[]} entries @returns {string | null} */
export function completion(typed, entries) {
  const [first, ...rest] = entries
  if (first === undefined || (rest.length > 0 && !isPath(typed))) return null
  const done = rest.length === 0 ? `${first.replace(/\/+$/, "")}/` : commonStart(first, rest)
  return done === typed || (done.length < typed.length && !typed.startsWith("~")) ? null : done
}

/** Not only a name. @param {string} typed */
export const isPath = (typed) => /^~|\//.test(typed)

/** Each directory once, as it is spelled first: with a slash or without one. @param {string[]} paths */
export function onceEach(paths) {
  /** @type {Map<string, string>} */
  const known = new Map()
  for (const path of paths) if (!known.has(path.replace(/\/$/, ""))) known.set(path.replace(/\/$/, ""), path)
  return [...known.values()]
}

/** A path as everyone writes it. @param {string} path @param {string} [home] */
export const withTilde = (path, home = "") =>
  home.length > 1 && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path

/** @param {string} first @param {string[]} rest */
function commonStart(first, rest) {
  let length = first.length
  for (const other of rest) while (!other.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}
