/** Acts on changes: what their dialog says, and which lines a block has. Pure. */

/** @import { ActPath, BranchFate, ChangeAct, Frame, PathFate, Workspace } from "../contract.js" */
/** @import { ChangesList, ScopeKind } from "./changes-state.js" */

/** @typedef {Extract<Frame, { type: "changes:preview" }>} ActPreview */
/** @typedef {Extract<Frame, { type: "changes:done" }>} ActDone */
/** @typedef {ChangeAct["kind"]} ActKind */

/** The dialog's title, its button, and what heads the list of files.
 * @type {Record<ActKind, { title: string, button: string, files: string }>} */
export const actWords = {
  "revert-file": { title: "Revert this file?", button: "Revert", files: "What happens" },
  "revert-hunk": { title: "Revert these lines?", button: "Revert", files: "What happens" },
  "undo-turn": { title: "Undo this turn?", button: "Undo turn", files: "Files to put back" },
  "undo-act": { title: "Undo it?", button: "Undo", files: "What happens" },
  commit: { title: "Commit", button: "Commit", files: "Files to commit" },
  land: { title: "Land", button: "Land", files: "Files" },
  "start-merge": { title: "Merge the base here?", button: "Merge", files: "Files" },
  "abort-merge": { title: "Abort the merge?", button: "Abort merge", files: "Files" },
  "restore-files": { title: "Put files back too?", button: "Put back when sent", files: "Files to put back" },
  "pull-request": { title: "Open a pull request", button: "Open pull request", files: "Files" },
  "discard-workspace": { title: "Discard this worktree?", button: "Discard", files: "Uncommitted files" },
  "bring-back": { title: "Bring the worktree back?", button: "Bring back", files: "Files" },
}

/** The dialog's title. @param {ChangeAct} act @param {string | undefined} base what a worktree lands in */
export const titleOf = (act, base) =>
  act.kind === "land" && base !== undefined ? `Land into ${base}` : actWords[act.kind].title

/** What the panel shows, as far as it tells what there is to do.
 * @typedef {{ scope: ScopeKind, list: ChangesList | null, workspace: Workspace | null, isMerging: boolean }} Shown */

/** Why an act has nothing to do, as far as the panel can tell; empty if it may have something.
 * @param {"undo-turn" | "commit" | "land" | "pull-request"} kind @param {Shown} shown */
export function whyNothing(kind, { scope, list, workspace, isMerging }) {
  if (list === null || isMerging) return ""
  const isEmpty = list.files.length === 0 && list.notes.length === 0
  const isSame = scope === "branch" && isEmpty && workspace?.state === "ok" && (workspace.ahead ?? 0) === 0
  switch (kind) {
    case "undo-turn":
      return list.undone === true ? "The files are as they were before this turn." : ""
    case "commit":
      return isSame || (scope === "uncommitted" && list.files.length === 0) ? "There is nothing to commit." : ""
    case "land":
    case "pull-request":
      return isSame ? `${list.base ?? "The base"} has everything that this branch has.` : ""
  }
}

/** @type {Record<PathFate, string>} */
export const fateWords = {
  restore: "put back",
  create: "comes back",
  remove: "removed",
  merge: "put back, later changes stay",
  commit: "to be committed",
  save: "kept with it",
  leave: "left as it is",
  conflict: "conflict",
}

/** Whether the user can choose files. @param {ChangeAct} act */
export const hasTicks = (act) => act.kind === "undo-turn" || act.kind === "commit" || act.kind === "restore-files"

/** Whether the act needs a message. @param {ActPreview} preview */
export const needsMessage = ({ act, paths }) =>
  act.kind === "commit" ||
  act.kind === "pull-request" ||
  (act.kind === "land" && (act.how === "squash" || paths.some(isToCommit)))

/** @param {ActPath} path */
const isToCommit = ({ what }) => what === "commit"

/** The files in conflict. @param {ActPreview} preview */
export const conflictsOf = ({ paths }) => paths.filter(({ what }) => what === "conflict").map(({ path }) => path)

/** Whether the act can be carried out as it is shown. @param {ActPreview} preview @param {readonly string[]} ticked */
export const isPossible = ({ act, paths, cannot }, ticked) =>
  hasTicks(act)
    ? // A merge that was resolved to this side is committed without files; the server knows whether it is one.
      ticked.length > 0 || (act.kind === "commit" && paths.length === 0)
    : act.kind === "land" || act.kind === "pull-request"
      ? cannot.length === 0 && !paths.some(({ what }) => what === "conflict")
      : paths.length === 0 || paths.some(({ what }) => what !== "leave")

/** What the user chose in the dialog.
 * @typedef {{ ticked: string[], title: string, message: string, how: "squash" | "merge",
 *   branch: BranchFate }} Chosen */

/** The act with what the user chose in the dialog. @param {ChangeAct} act @param {Chosen} chosen
 * @returns {ChangeAct} */
export function chosenAct(act, { ticked, title, message, how, branch }) {
  switch (act.kind) {
    case "undo-turn":
    case "restore-files":
      return { ...act, paths: ticked }
    case "commit":
      return { ...act, paths: ticked, message }
    case "land":
      return { ...act, how, message }
    case "pull-request":
      return { ...act, title, body: message }
    case "discard-workspace":
      return { ...act, branch }
    default:
      return act
  }
}

/** A message as its first line and the rest. @param {string} message @returns {{ title: string, body: string }} */
export function titleAndBody(message) {
  const [title = "", ...rest] = message.split("\n")
  return { title, body: rest.join("\n").trim() }
}

/** What the agent is asked for a commit message. @param {readonly string[]} paths */
export const messageRequest = (paths) =>
  `Write a commit message for the changes in ${paths.length === 1 ? "this file" : "these files"}, ` +
  `and answer with nothing but the message:\n${paths.map((path) => `- ${path}`).join("\n")}`

/** What the agent is asked after a merge that left conflicts. @param {string} base @param {readonly string[]} paths */
export const resolveRequest = (base, paths) =>
  `I began to merge ${base} into this branch. These files have conflicts: ${paths.join(", ")}. ` +
  "Resolve them so that both sides' intent is kept, and remove the conflict markers. Don't commit."

/** A message without the fence or the quotes that agents put around it. @param {string} answer */
export const messageFrom = (answer) =>
  answer
    .trim()
    .replace(/^```[^\n]*\n([\s\S]*?)\n?```$/, "$1")
    .trim()
