/** What is known about the agent of a session, as text. Pure. */

import { counted } from "../shared/phrases.js"
import { clock } from "./words.js"

/** @import { AgentTask, McpAct, McpServer, SessionFacts, TaskAct } from "../contract.js" */

/** @typedef {object} InfoState
 * @property {string} agent  Its name.
 * @property {boolean} isNamed  Whether the head of a comparison already names it.
 * @property {SessionFacts} facts
 * @property {string} model
 * @property {string} path  Where it works. */

/** Pairs of a name and a value. @param {InfoState} state @returns {[string, string][]} */
export function infoLines({ agent, facts, model, path }) {
  /** @type {[string, string | undefined][]} */
  const lines = [
    ["Agent", agent],
    ["Version", facts.agent.version],
    ["Account", facts.agent.account],
    ["Model", model],
    ["Directory", path],
  ]
  return lines.flatMap(([name, value]) => (value ? [[name, value]] : []))
}

/** @type {Record<McpServer["state"], string>} */
const serverStates = {
  connected: "Connected",
  connecting: "Connecting…",
  failed: "Failed",
  needs_login: "Needs a login",
  disabled: "Off",
  unreported: "Passed to the agent",
  unsupported: "Not supported by this agent",
}

/** @param {McpServer} server */
export function serverWord({ state, tools }) {
  const many = state === "connected" && tools !== undefined ? ` · ${counted(tools, "tool")}` : ""
  return serverStates[state] + many
}

/** What the user can do with a server. @param {McpServer} server @returns {McpAct[]} */
export function serverActs({ state }) {
  if (state === "disabled") return ["enable"]
  return state === "connecting" ? ["disable"] : ["reconnect", "disable"]
}

/** @type {Record<AgentTask["state"], string>} */
const taskStates = {
  running: "Running",
  completed: "Done",
  failed: "Failed",
  stopped: "Stopped",
  lost: "Ended with the agent",
}

/** @param {AgentTask} task @param {number} now */
export function taskWord({ state, startedAt, endedAt, inTurn }, now) {
  const time = clock((endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt))
  return `${taskStates[state]}${state === "running" && inTurn ? " in this turn" : ""} · ${time}`
}

/** What the user can do with a task. @param {AgentTask} task @returns {TaskAct[]} */
export function taskActs({ state, kind, inTurn }) {
  /** @type {TaskAct[]} */
  const acts = []
  if (kind === "command" && state !== "lost" && !(state === "running" && inTurn)) acts.push("output")
  if (state === "running" && inTurn) acts.push("background")
  if (state === "running") acts.push("stop")
  return acts
}

/** The newest first, those that run before the others. @param {AgentTask[]} tasks */
export const sortedTasks = (tasks) =>
  tasks.toReversed().toSorted((a, b) => Number(b.state === "running") - Number(a.state === "running"))
