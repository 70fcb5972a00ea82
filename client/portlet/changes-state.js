/** What is known of the session's changes, and what the panel says about them: pure, so that it can be tested without a
 * page. */

/** @import { ChangeCounts, ChangedFile, ChangeScope, Comment, DiffSide, ErrorBody } from "../contract.js" */
/** @import { Frame, SessionState, Workspace } from "../contract.js" */
/** @import { ChangesRequest } from "./changes.js" */

/** @typedef {Extract<Frame, { type: "changes:list" }>} ChangesList */
/** @typedef {Extract<Frame, { type: "changes:file" }>} ChangesFile */
/** @typedef {ChangeScope["kind"]} ScopeKind */

/** Unchanged lines around a change: at first, after one request for more, and then all. */
const contexts = /** @type {const} */ ([3, 25, 1_000_000])

/** @typedef {object} ChangesState
 * @property {ScopeKind} scope
 * @property {ChangesList | null} list  Null until the first answer.
 * @property {string | null} selected  The path that is shown.
 * @property {ChangesFile | null} file  The difference in it; null while it is loading.
 * @property {number} context  How many unchanged lines are shown around a change in it.
 * @property {ErrorBody | null} failure  Why the last request failed.
 * @property {Readonly<Record<string, string>>} viewed  The version that was viewed, by scope and path. */

/** What the session itself knows. `counts`: everything it changed, as its tab and the sidebar show it.
 * @typedef {{ comments: readonly Comment[], workspace: Workspace | null, counts: ChangeCounts | null,
 *   state: SessionState | undefined }} ChangesFacts */

/** @type {ChangesState} */
export const noChanges = {
  scope: "uncommitted",
  list: null,
  selected: null,
  file: null,
  context: contexts[0],
  failure: null,
  viewed: {},
}

/** @type {readonly [ScopeKind, string][]} */
export const scopes = [
  ["turn", "This turn"],
  ["since-looked", "Since I looked"],
  ["uncommitted", "Uncommitted"],
  ["branch", "Branch"],
]

/** @param {unknown} value @returns {ScopeKind} */
export const scopeFrom = (value) => scopes.find(([kind]) => kind === value)?.[0] ?? noChanges.scope

/** Where to look, one after the other, if the panel opens with a scope that is empty although the session changed
 * files; at last back where it began.
 * @param {Workspace | null} workspace @param {ScopeKind} first @returns {ScopeKind[]} */
export const scopesToTry = (workspace, first) =>
  /** @type {ScopeKind[]} */ ([...(workspace?.kind === "worktree" ? ["branch"] : []), "turn"])
    .filter((scope) => scope !== first)
    .concat(first)

/** Another scope has other files. @param {ChangesState} now @param {ScopeKind} scope @returns {ChangesState} */
export const withScope = (now, scope) =>
  scope === now.scope ? now : { ...now, scope, list: null, file: null, failure: null }

/** A selected file that is no longer listed gives way to the one that took its place. A list of another scope is
 * dropped.
 * @param {ChangesState} now @param {ChangesList} list @returns {ChangesState} */
export function withList(now, list) {
  if (list.scope.kind !== now.scope) return now
  const { files } = list
  const isStill = files.some(({ path }) => path === now.selected)
  const at = Math.max(now.list?.files.findIndex(({ path }) => path === now.selected) ?? 0, 0)
  const selected = isStill ? now.selected : (files[Math.min(at, files.length - 1)]?.path ?? null)
  return { ...now, list, selected, file: isStill ? now.file : null, failure: null }
}

/** @param {ChangesState} now @param {string} path @returns {ChangesState} */
export const withSelected = (now, path) =>
  path === now.selected ? now : { ...now, selected: path, file: null, context: contexts[0] }

/** @param {ChangesState} now @returns {ChangesState} */
export const withMoreContext = (now) => ({
  ...now,
  context: contexts.find((context) => context > now.context) ?? now.context,
})

/** An answer for a file that is no longer selected, or of another scope, is dropped.
 * @param {ChangesState} now @param {ChangesFile} file @returns {ChangesState} */
export const withFile = (now, file) =>
  file.path === now.selected && file.scope.kind === now.scope ? { ...now, file, failure: null } : now

/** What asks for a part of what is shown, or for the selected file as it is now; null if none is selected.
 * @param {ChangesState} now @param {{ split: boolean, ignoreWhitespace: boolean }} how
 * @param {{ from: number }} [part] @returns {Extract<ChangesRequest, { type: "changes:file" }> | null} */
export function fileRequest(now, { split, ignoreWhitespace }, part) {
  if (now.selected === null) return null
  const listed = selectedFile(now)?.version
  return {
    type: "changes:file",
    scope: { kind: now.scope },
    path: now.selected,
    ...(listed === undefined ? {} : { listed }),
    ...(now.context === contexts[0] ? {} : { context: now.context }),
    ...(ignoreWhitespace ? { ignoreWhitespace } : {}),
    ...(split ? { split } : {}),
    ...(part && now.file?.version !== undefined ? { ...part, version: now.file.version } : {}),
  }
}

/** Which part of a difference has a line, if any has: the last that begins at or before it.
 * @param {ChangesFile} file @param {DiffSide} side @param {number} line */
export const partOf = ({ parts = [] }, side, line) =>
  Math.max(
    parts.findLastIndex((part) => part[side] <= line),
    0,
  )

/** @param {ChangesState} now @param {ChangedFile} file */
export const isViewed = (now, file) => now.viewed[`${now.scope} ${file.path}`] === file.version

/** Marks a file as viewed, or takes the mark away. @param {ChangesState} now @param {ChangedFile} file */
export function withViewed(now, file) {
  const { [`${now.scope} ${file.path}`]: _mark, ...others } = now.viewed
  const viewed = isViewed(now, file) ? others : { ...others, [`${now.scope} ${file.path}`]: file.version }
  return { ...now, viewed }
}

/** @param {ChangesState} now */
export const selectedFile = (now) => now.list?.files.find(({ path }) => path === now.selected) ?? null

/** The path `step` files further, or null at either end. @param {ChangesState} now @param {number} step */
export function pathAt(now, step) {
  const files = now.list?.files ?? []
  const at = files.findIndex(({ path }) => path === now.selected)
  return files[at + step]?.path ?? null
}

/** The listed file that a path of the conversation means: that one, or the one it ends with.
 * @param {ChangesState} now @param {string} named */
export function fileNamed(now, named) {
  const root = now.list?.root ?? ""
  const path = named.startsWith(`${root}/`) ? named.slice(root.length + 1) : named.replace(/^\.\//, "")
  const files = now.list?.files ?? []
  const found = files.find((file) => file.path === path) ?? files.find((file) => file.path.endsWith(`/${path}`))
  return found?.path ?? null
}

/** Whether to ask by ourselves. Where there is no repository, only the user's look can tell that there is one by now.
 * @param {ChangesState} now @param {Workspace | null} workspace */
export const isWorthAsking = (now, workspace) =>
  (workspace?.state === "ok" || workspace?.state === "busy") && now.failure?.code !== "NOT_A_REPOSITORY"

/** The first file after the selected one, or before it, that was not viewed. @param {ChangesState} now */
export function nextUnviewed(now) {
  const files = now.list?.files ?? []
  const at = files.findIndex(({ path }) => path === now.selected) + 1
  return [...files.slice(at), ...files.slice(0, at)].find((file) => !isViewed(now, file))?.path ?? null
}

/** Where the changes are: the branch, what it came from, and how far both went since.
 * @param {ChangesList | null} list @param {Workspace | null} workspace */
export function placeWords(list, workspace) {
  if (list === null) return ""
  const { ahead = 0, behind = 0, doing } = workspace ?? {}
  const base = list.base ?? workspace?.base
  return [
    list.branch ?? "No branch",
    ...(base === undefined ? [] : [`from ${base}`]),
    ...(ahead === 0 ? [] : [`${ahead} ahead`]),
    ...(behind === 0 ? [] : [`${behind} behind`]),
    ...(doing === undefined ? [] : [`in the middle of a ${doing}`]),
  ].join(" · ")
}

/** What is said below the list. @param {ChangesList | null} list */
export function listWords(list) {
  const { more = 0, notes = [] } = list ?? {}
  return [...(more === 0 ? [] : [`${more} more files are not listed.`]), ...notes].join(" ")
}

/** There is nothing to undo or revert: the list is of what the turn had changed. @param {ChangesList | null} list */
export const isUndone = (list) => list?.undone === true

/** Of so many other sessions the titles are said, each not longer than this. */
const NAMED = 2
const LONGEST_TITLE = 32

/** Who else may have changed these files: those that named one of them, then those that were at work last. `more`: how
 * many are not named, unless all are. Nobody is asked about where nothing changed.
 * @param {ChangesList | null} list @param {boolean} all */
export function othersWords(list, all) {
  const { others = [], files = [] } = list ?? {}
  if (list === null || files.length === 0 || isUndone(list) || others.length === 0) return { text: "", more: 0 }
  const hasNamed = (/** @type {string} */ title) => files.some(({ by }) => by === title)
  const sorted = [...others.filter(hasNamed), ...others.filter((title) => !hasNamed(title))]
  const named = all ? sorted : sorted.slice(0, NAMED).map(shortened)
  const words = `Other sessions in this directory: ${named.map((each) => `“${each}”`).join(", ")}`
  const more = sorted.length - named.length
  return { text: more > 0 || /[.!?…]”$/.test(words) ? words : `${words}.`, more }
}

/** @param {string} title */
const shortened = (title) =>
  [...title].length <= LONGEST_TITLE
    ? title
    : `${[...title]
        .slice(0, LONGEST_TITLE - 1)
        .join("")
        .trimEnd()}…`

/** What is said about a scope without changes. @type {Record<ScopeKind, string>} */
const nothing = {
  turn: "This turn changed no files.",
  "since-looked": "Nothing has changed since you looked.",
  uncommitted: "Nothing has changed since the last commit.",
  branch: "This branch is the same as its base.",
}

/** What is said instead of a difference, or above it. @param {ChangesState} now @param {Workspace | null} workspace */
export function noteWords({ failure, list, file, scope }, workspace) {
  if (workspace?.discarded) return "Discarded. Bring it back to see its changes."
  if (failure) return failure.message
  if (list === null) return "Reading the changes…"
  if (list.files.length > 0) return file?.note ?? ""
  return list.notes.length === 0 ? nothing[scope] : ""
}
