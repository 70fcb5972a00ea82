/** How long ago: as short as the sidebar needs, or the full date and time. */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** @param {string} at ISO 8601 @param {number} now milliseconds @returns {string} */
export function age(at, now) {
  const passed = now - Date.parse(at)
  if (Number.isNaN(passed)) return ""
  if (passed < minute) return "now"
  if (passed < hour) return `${Math.floor(passed / minute)}m`
  if (passed < day) return `${Math.floor(passed / hour)}h`
  if (passed < 7 * day) return `${Math.floor(passed / day)}d`
  if (passed < 60 * day) return `${Math.floor(passed / (7 * day))}w`
  if (passed < 365 * day) return `${Math.floor(passed / (30 * day))}mo`
  return `${Math.floor(passed / (365 * day))}y`
}

/** Shared, because a formatter for each of a thousand rows costs a tenth of a second. */
const inFull = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })

/** @param {string} at ISO 8601 */
export const fullTime = (at) => (Number.isNaN(Date.parse(at)) ? "" : inFull.format(new Date(at)))
