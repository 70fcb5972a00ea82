/** The rows of Now by section. Pure. */

/** @import { NowRow, Project } from "../contract.js" */
/** @import { ToNow } from "../shared/bridge.js" */

/** @typedef {ReadonlyMap<string, NowRow>} Rows */
/** @typedef {"waiting" | "working" | "done" | "stopped"} Section */

/** @type {readonly Section[]} */
export const sections = ["waiting", "working", "done", "stopped"]

/** @param {Rows} rows @param {Extract<ToNow, { type: "now:summary" }>} summary @returns {Rows} */
export function withSummary(rows, { sessions, gone, whole }) {
  const next = new Map(whole ? [] : rows)
  for (const id of gone) next.delete(id)
  for (const row of sessions) next.set(row.id, row)
  return next
}

/** @param {NowRow} row @returns {Section} */
function sectionOf({ state }) {
  switch (state) {
    case "waiting":
      return "waiting"
    case "starting":
    case "running":
      return "working"
    case "failed":
    case "interrupted":
      return "stopped"
    case "idle":
      return "done"
  }
}

/** @param {NowRow} row */
export const isWorking = (row) => sectionOf(row) === "working"

/** What has waited longest comes first, otherwise the newest. Rows of projects that are not listed are left out.
 * @param {Rows} rows @param {readonly Project[]} projects @returns {Record<Section, NowRow[]>} */
export function bySection(rows, projects) {
  const known = new Set(projects.map(({ id }) => id))
  /** @type {Record<Section, NowRow[]>} */
  const sorted = { waiting: [], working: [], done: [], stopped: [] }
  for (const row of rows.values()) if (known.has(row.projectId)) sorted[sectionOf(row)].push(row)
  for (const section of sections) sorted[section].sort((a, b) => b.since.localeCompare(a.since))
  sorted.waiting.reverse()
  return sorted
}

/** Stopped sessions whose last message can be sent again now. @param {readonly NowRow[]} stopped */
export const retryable = (stopped) => stopped.filter(({ prompt, until }) => prompt !== undefined && until === undefined)
