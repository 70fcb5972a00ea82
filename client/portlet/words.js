/** Durations, sizes, costs and dates as text. Pure. */

import { formatter } from "../shared/time.js"

/** @import { Turn, Usage } from "../contract.js" */

/** At most two units: `8 ms`, `0.4 s`, `12 s`, `1 min 12 s`, `2 h 5 min`. @param {number} milliseconds */
export function duration(milliseconds) {
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return ""
  if (milliseconds < 95) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 9_950) return `${oneDecimal(milliseconds / 1000)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** In the user's locale. @param {number} number */
const oneDecimal = (number) => number.toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** @param {string} from @param {string} to */
export const between = (from, to) => duration(Date.parse(to) - Date.parse(from))

/** As on a stopwatch: `0:07`, `1:02:07`. @param {number} milliseconds */
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
export const money = (dollars) => (dollars > 0 && dollars < 0.01 ? "<$0.01" : `$${dollars.toFixed(2)}`)

/** Duration, tokens and cost of a turn, in short.
 * @param {Turn} turn @param {number} waited for the user, in milliseconds: not part of the duration */
export function turnFigures({ startedAt, endedAt, usage }, waited) {
  return [
    endedAt === undefined ? "" : duration(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt) - waited)),
    usage && usage.inputTokens + usage.outputTokens > 0
      ? `${compact(usage.inputTokens + usage.outputTokens)} tokens`
      : "",
    usage?.costUsd ? money(usage.costUsd) : "",
  ]
    .filter((word) => word !== "")
    .join(" · ")
}

/** Everything known about a turn's usage, for a tooltip.
 * @param {Usage | undefined} usage @param {string | undefined} model */
export function usageInFull(usage, model) {
  if (!usage) return model ?? ""
  const number = (/** @type {number | undefined} */ count) => (count ?? 0).toLocaleString()
  return [
    model ?? "",
    `${number(usage.inputTokens)} input tokens, ${number(usage.outputTokens)} output tokens`,
    usage.cacheReadInputTokens || usage.cacheCreationInputTokens
      ? `${number(usage.cacheReadInputTokens)} read from cache, ${number(usage.cacheCreationInputTokens)} written to it`
      : "",
    usage.contextSize ? `context: ${number(usage.contextUsed)} of ${number(usage.contextSize)}` : "",
  ]
    .filter((line) => line !== "")
    .join("\n")
}

/** The time of day in the user's locale. */
export const timeOfDay = formatter({ timeStyle: "short" })

/** Date and time, to the second. */
export const exactTime = formatter({ dateStyle: "full", timeStyle: "medium" })

/** A time to come: of day if it is within a day, else with the weekday. @param {string} at @param {number} now */
export function until(at, now) {
  const time = timeOfDay(at)
  if (time === "" || Date.parse(at) - now < 86_400_000) return time
  return `${new Date(at).toLocaleDateString(undefined, { weekday: "short" })} ${time}`
}

/** `Today`, `Yesterday`, the weekday within a week, else the date. @param {string} at @param {number} now */
export function dayName(at, now) {
  const day = new Date(at)
  const days = Math.round((startOfDay(new Date(now)) - startOfDay(day)) / 86_400_000)
  if (days === 0) return "Today"
  if (days === 1) return "Yesterday"
  const sameYear = day.getFullYear() === new Date(now).getFullYear()
  return day.toLocaleDateString(undefined, {
    weekday: days < 7 && days > 0 ? "long" : "short",
    ...(days < 7 && days > 0 ? {} : { day: "numeric", month: "long" }),
    ...(sameYear ? {} : { year: "numeric" }),
  })
}

/** @param {Date} date */
const startOfDay = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()

/** The local day of a time, for comparing. @param {string} at */
export const dayOf = (at) => new Date(at).toDateString()

/** The first line with text in it, without Markdown marks. @param {string} text */
export const firstLine = (text) =>
  text
    .slice(0, 2000)
    .split("\n")
    .map((line) =>
      line
        .replace(/^[\s#>*-]+/, "")
        .replace(/\*\*|__|`/g, "")
        .trim(),
    )
    .find((line) => line !== "") ?? ""
