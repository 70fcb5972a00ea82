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

/** Creates the formatter on first use and keeps it: creating the first takes tens of milliseconds, and each other as
 * long as a thousand uses. @param {Intl.DateTimeFormatOptions} options @returns {(at: string) => string} */
export function formatter(options) {
  /** @type {Intl.DateTimeFormat | undefined} */
  let made
  return (at) => {
    const date = new Date(at)
    return Number.isNaN(date.getTime()) ? "" : (made ??= new Intl.DateTimeFormat(undefined, options)).format(date)
  }
}

/** Date and time, of an ISO 8601 text. */
export const fullTime = formatter({ dateStyle: "medium", timeStyle: "short" })
