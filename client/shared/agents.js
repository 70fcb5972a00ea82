/** How agents are named where the server has not told yet, and their two-letter marks. */

import { el, setAttribute, setText } from "./dom.js"

/** @type {Record<string, [name: string, mark: string]>} */
const known = {
  "claude-code": ["Claude Code", "CC"],
  codex: ["Codex", "CX"],
  gemini: ["Gemini", "GM"],
  opencode: ["OpenCode", "OC"],
  demo: ["Demo", "DM"],
}

/** @param {string} cliType @param {{ cliType: string, name: string }[]} [agents] what the server said */
export const agentName = (cliType, agents = []) => agents.find((agent) => agent.cliType === cliType)?.name ?? known[cliType]?.[0] ?? cliType

/** @param {string} cliType */
export const markOf = (cliType) => known[cliType]?.[1] ?? (cliType.replace(/[^A-Za-z0-9]/g, "").slice(0, 2).toUpperCase() || "AG")

/** The agent of a session. `SessionId` is the server's to parse; its part before the first colon is the contract's. @param {string} sessionId */
export const agentOf = (sessionId) => sessionId.slice(0, Math.max(0, sessionId.indexOf(":")))

/** A mark, in the agent's colour, with its name for who can't see it. @param {string} cliType @param {string} [name] */
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
