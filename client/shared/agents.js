/** Names of agents until the server sends them, and their two-letter marks. */

import { el, setAttribute, setText } from "./dom.js"

/** @type {Record<string, [name: string, mark: string]>} */
const known = {
  "claude-code": ["Claude Code", "CC"],
  codex: ["Codex", "CX"],
  gemini: ["Gemini", "GM"],
  opencode: ["OpenCode", "OC"],
  demo: ["Demo", "DM"],
  compare: ["Comparison", "VS"],
}

/** @param {string} cliType @param {{ cliType: string, name: string }[]} [agents] as the server listed them */
export const agentName = (cliType, agents = []) =>
  agents.find((agent) => agent.cliType === cliType)?.name ?? known[cliType]?.[0] ?? cliType

/** @param {string} cliType */
export const markOf = (cliType) =>
  known[cliType]?.[1] ??
  (cliType
    .replace(/[^A-Za-z0-9]/g, "")
    .slice(0, 2)
    .toUpperCase() ||
    "AG")

/** The agent of a session. Only the server parses a `SessionId`, but the contract promises the part before the first
 * colon. @param {string} sessionId */
export const agentOf = (sessionId) => sessionId.slice(0, Math.max(0, sessionId.indexOf(":")))

/** A mark in the agent's colour, with the agent's name as its title. @param {string} cliType @param {string} [name] */
export function agentMark(cliType, name = agentName(cliType)) {
  const mark = el("span", { class: "agent-mark" })
  updateAgentMark(mark, cliType, name)
  return mark
}

/** @param {HTMLElement} mark @param {string} cliType @param {string} name */
export function updateAgentMark(mark, cliType, name) {
  setText(mark, markOf(cliType))
  setAttribute(mark, "data-agent", cliType)
  setAttribute(mark, "title", name)
}
