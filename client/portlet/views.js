/** What the views around the conversation show, from the session's state. Pure. */

import { whetherItAsks } from "./options.js"
import { workingSince } from "./rows.js"
import { isSending, isWaiting } from "./sends.js"
import { isLate } from "./standing.js"
import { launchWords, statusOf, troubleOf } from "./status.js"
import {
  lastFailure,
  lastModel,
  lastOwnMessage,
  openPermissions,
  ownMessages,
  planOf,
  runningTurn,
} from "./transcript.js"
import { setupToShow } from "./workspace-cards.js"

/** @import { Comment, ErrorBody } from "../contract.js" */
/** @import { ShellState } from "../shared/bridge.js" */
/** @import { ChangesFacts } from "./changes-state.js" */
/** @import { ComposerState } from "./composer.js" */
/** @import { GoingBackState } from "./going-back.js" */
/** @import { HeaderState } from "./header.js" */
/** @import { InfoState } from "./info-state.js" */
/** @import { Send } from "./sends.js" */
/** @import { Standing } from "./standing.js" */
/** @import { Transcript } from "./transcript.js" */

/** @typedef {object} PortletState
 * @property {Transcript} transcript
 * @property {Send[]} sends
 * @property {boolean} isStopping  The user asked to stop the running turn.
 * @property {ShellState | null} shell
 * @property {{ open: ErrorBody | null, last: ErrorBody | null }} failures  Why the session could not be opened, and why
 *   the last request failed.
 * @property {string} agent  Its name. */

/** @param {ShellState | null} shell */
const pathOf = (shell) => shell?.session?.worktree?.path ?? shell?.project?.path ?? ""

/** @param {PortletState} now @returns {InfoState} */
export const infoOf = ({ transcript, shell, agent }) => ({
  agent,
  isNamed: shell?.compared === true,
  facts: transcript.facts,
  model: lastModel(transcript),
  path: pathOf(shell),
})

/** @param {PortletState} now @param {number} time @returns {HeaderState} */
export const headerOf = ({ transcript, shell }, time) => ({
  status: statusOf(shell, time),
  // The control below shows it already.
  model: transcript.facts.options.some(({ category }) => category === "model") ? "" : lastModel(transcript),
  project: shell?.project?.name ?? "",
  path: pathOf(shell),
  branch: shell?.session?.worktree?.branch ?? "",
  workspace: transcript.facts.workspace ?? null,
})

/** @param {PortletState} now @param {number} time @returns {Standing} */
export function standingOf({ transcript, sends, shell, failures, agent }, time) {
  const { known, runs, facts, policy } = transcript
  return {
    launching: launchWords(shell, agent),
    trouble: troubleOf(shell, failures.open, agent, lastFailure(transcript)),
    failure: failures.last,
    planned: facts.continueAt ?? null,
    elsewhere: facts.elsewhere,
    late: isLate(facts.continueAt ?? null, time),
    transcript: !known ? "loading" : runs.length === 0 && sends.length === 0 ? "empty" : "some",
    agent,
    project: shell?.project?.name ?? "",
    asks: whetherItAsks(facts, policy),
    workspace: facts.workspace ?? null,
    setup: setupToShow(facts.setup ?? null, runningTurn(transcript) !== null || runs.length === 0),
  }
}

/** One value, so that nothing is drawn again. @type {readonly Comment[]} */
const noComments = []

/** @param {PortletState} now @returns {ChangesFacts} */
export const changesOf = ({ transcript: { facts }, shell }) => ({
  comments: facts.comments ?? noComments,
  workspace: facts.workspace ?? null,
  counts: shell?.session?.counts ?? null,
  state: shell?.session?.state,
})

/** @param {PortletState} now @returns {ComposerState} */
export function composerOf({ transcript, sends, isStopping, shell, agent }) {
  const { facts } = transcript
  const running = runningTurn(transcript)
  return {
    agent,
    work: isStopping ? "stopping" : running ? "working" : isSending(sends) ? "sending" : "idle",
    since: running ? workingSince(transcript, running) : null,
    waits: openPermissions(transcript).length > 0,
    plan: running ? planOf(transcript, running.turnId) : [],
    elsewhere: facts.elsewhere,
    queued: facts.queue.messages.length + sends.filter(isWaiting).length,
    connected: shell?.connection === "open",
    takesPictures: facts.takesPictures !== false,
    commands: facts.commands,
    own: ownMessages(transcript),
  }
}

/** What sending a message of the queue does now. `waits`: a permission is open.
 * @param {Transcript} transcript @param {boolean} waits */
export const sendsBy = (transcript, waits) =>
  runningTurn(transcript) === null ? "idle" : waits ? "refuse" : transcript.facts.steers

/** @param {Transcript} transcript */
export const canCompact = (transcript) =>
  runningTurn(transcript) === null && transcript.facts.commands.some(({ name }) => name === "compact")

/** @param {PortletState} now @returns {GoingBackState} */
export function goingBackOf({ transcript, shell, agent }) {
  const place = transcript.facts.workspace?.state
  return {
    session: shell?.session ?? null,
    agent,
    last: transcript.runs.at(-1)?.items.at(-1)?.itemId ?? null,
    own: transcript.facts.elsewhere ? undefined : lastOwnMessage(transcript),
    works: runningTurn(transcript) !== null,
    hasGit: place === "ok" || place === "busy",
  }
}
