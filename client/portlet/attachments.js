/** What goes with a message: pictures, files, lines of files, long pastes. Pure. */

import { counted } from "../shared/phrases.js"
import { size } from "./words.js"

/** @import { Attachment, AttachmentRef } from "../contract.js" */

/** A longer paste becomes an attachment (lines, bytes). */
const LONGEST_LINES = 40
const LONGEST_BYTES = 4096

/** @param {string} text */
export const isLong = (text) =>
  new Blob([text]).size > LONGEST_BYTES || text.trimEnd().split("\n", LONGEST_LINES + 1).length > LONGEST_LINES

/** As a message refers to it. A file that the text mentions is found there. @param {Attachment[]} attachments
 * @returns {AttachmentRef[]} */
export const refsOf = (attachments) =>
  attachments.flatMap(({ kind, id, name, path, lines, mentioned }) => {
    if (mentioned) return []
    const place = { ...(path === undefined ? {} : { path }), ...(lines === undefined ? {} : { lines }) }
    if (id !== undefined) return { id, name, ...(kind === "lines" ? place : {}) }
    return path === undefined ? [] : { path, ...place }
  })

/** As it is shown before the server has answered. @param {AttachmentRef} ref @returns {Attachment} */
export function attachmentOf(ref) {
  const lines = ref.lines === undefined ? {} : { lines: ref.lines }
  if (!("id" in ref))
    return { kind: ref.lines ? "lines" : "file", name: nameOf(ref.path, ref.lines), path: ref.path, ...lines }
  const kind = ref.path !== undefined ? "lines" : ref.id.endsWith(".txt") ? "paste" : "image"
  const path = ref.path === undefined ? {} : { path: ref.path }
  return { kind, name: ref.name ?? "", id: ref.id, url: `/api/attachment/${ref.id}`, ...path, ...lines }
}

/** @param {string} path @param {[number, number] | undefined} lines */
const nameOf = (path, lines) => (lines ? `${path}:${lines[0]}-${lines[1]}` : path)

/** A second line: how much it is. @param {Attachment} attachment */
export function detailOf({ kind, lines, bytes }) {
  const count = lines ? lines[1] - lines[0] + 1 : 0
  const many = count === 0 ? "" : counted(count, "line")
  return kind === "file" ? "" : [many, bytes === undefined ? "" : size(bytes)].filter(Boolean).join(", ")
}

/** Those that a stored draft has. @param {unknown} stored @returns {Attachment[]} */
export const attachmentsIn = (stored) =>
  Array.isArray(stored)
    ? stored.filter((each) => typeof each?.kind === "string" && typeof each.name === "string" && (each.id || each.path))
    : []
