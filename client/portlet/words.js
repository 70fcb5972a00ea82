/** Figures as people read them. Pure. */

/** @import { Turn, Usage } from "../contract.js" */

/** How long, in the roughest unit that still tells: `0.4 s`, `12 s`, `1 min 12 s`, `2 h 5 min`. @param {number} milliseconds */
export function duration(milliseconds) {
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return ""
  if (milliseconds < 9_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** @param {string} from @param {string} to */
export const between = (from, to) => duration(Date.parse(to) - Date.parse(from))

/** As a stop-watch shows it. @param {number} milliseconds */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = String(seconds % 60).padStart(2, "0")
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`
}

/** @param {number} count */
export function compact(count) {
  if (count < 1000) return String(count)
  if (count < 999_950) return `${trimmed(count / 1000)}k`
  return `${trimmed(count / 1_000_000)}M`
}

/** @param {number} number */
const trimmed = (number) => number.toFixed(number < 100 ? 1 : 0).replace(/\.0$/, "")

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  return `${trimmed(bytes / 1024 / 1024)} MB`
}

/** @param {number} dollars */
const money = (dollars) => dollars > 0 && dollars < 0.01 ? "<$0.01" : `$${dollars.toFixed(2)}`

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`

/** What a turn took, in short. @param {Turn} turn */
export function turnFigures({ startedAt, endedAt, usage }) {
  return [
    endedAt === undefined ? "" : between(startedAt, endedAt),
    usage && usage.inputTokens + usage.outputTokens > 0 ? `${compact(usage.inputTokens + usage.outputTokens)} tokens` : "",
    usage?.costUsd ? money(usage.costUsd) : "",
  ].filter((word) => word !== "").join(" · ")
}

/** All that is known of what a turn took, for who asks. @param {Usage | undefined} usage @param {string | undefined} model */
export function usageInFull(usage, model) {
  if (!usage) return model ?? ""
  const number = (/** @type {number | undefined} */ count) => (count ?? 0).toLocaleString("en-US")
  return [
    model ?? "",
    `${number(usage.inputTokens)} tokens read, ${number(usage.outputTokens)} written`,
    usage.cacheReadInputTokens || usage.cacheCreationInputTokens ? `${number(usage.cacheReadInputTokens)} from the cache, ${number(usage.cacheCreationInputTokens)} into it` : "",
    usage.contextSize ? `context: ${number(usage.contextUsed)} of ${number(usage.contextSize)}` : "",
  ].filter((line) => line !== "").join("\n")
}

/** Made once and when first needed: making one takes as long as a thousand uses. @param {Intl.DateTimeFormatOptions} options */
function formatter(options) {
  /** @type {Intl.DateTimeFormat | undefined} */
  let made
  return (/** @type {string} */ at) => {
    const date = new Date(at)
    return Number.isNaN(date.getTime()) ? "" : (made ??= new Intl.DateTimeFormat(undefined, options)).format(date)
  }
}

/** The time of day, as the user's place writes it. @type {(at: string) => string} */
export const timeOfDay = formatter({ hour: "2-digit", minute: "2-digit" })

/** To the second. @type {(at: string) => string} */
export const exactTime = formatter({ dateStyle: "full", timeStyle: "medium" })

/** The day, by its nearness. @param {string} at @param {number} now */
export function dayName(at, now) {
  const day = new Date(at)
  const days = Math.round((startOfDay(new Date(now)) - startOfDay(day)) / 86_400_000)
  if (days === 0) return "Today"
  if (days === 1) return "Yesterday"
  const sameYear = day.getFullYear() === new Date(now).getFullYear()
  return day.toLocaleDateString(undefined, { weekday: days < 7 && days > 0 ? "long" : "short", ...(days < 7 && days > 0 ? {} : { day: "numeric", month: "long" }), ...(sameYear ? {} : { year: "numeric" }) })
}

/** @param {Date} date */
const startOfDay = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()

/** The day a time falls on here, to compare. @param {string} at */
export const dayOf = (at) => new Date(at).toDateString()

/** The first line that says something, without Markdown's marks. @param {string} text */
export const firstLine = (text) => text.slice(0, 2000).split("\n").map((line) => line.replace(/^[\s#>*-]+/, "").replace(/\*\*|__|`/g, "").trim()).find((line) => line !== "") ?? ""
