/** The choice of agents: last used first, each with its state and what it needs. Pure. */

/** @import { Agent, ErrorBody } from "../contract.js" */

/** @typedef {object} AgentChoice
 * @property {Agent} agent
 * @property {"ready" | "missing" | "login"} state
 * @property {string} word  One or two words about its state.
 * @property {string} [todo]  The command to run before it can be used. */

/** The most likely choice first: the user's default, then the last used, then ready ones, then the rest.
 * @param {Agent[]} agents
 * @param {ReadonlyMap<string, ErrorBody>} logins
 * @param {{ preferred: string | null, lastUsed: readonly string[] }} preferences
 * @returns {AgentChoice[]} */
export function agentChoices(agents, logins, { preferred, lastUsed }) {
  const choices = agents.map((agent) => choiceOf(agent, logins.get(agent.cliType)))
  /** @param {AgentChoice} choice */
  const rank = ({ agent, state }) => {
    const used = lastUsed.indexOf(agent.cliType)
    return (state === "missing" ? 10_000 : 0) + (agent.cliType === preferred ? -1 : used >= 0 ? used : 1000)
  }
  return choices
    .map((choice, at) => ({ choice, at }))
    .sort((a, b) => rank(a.choice) - rank(b.choice) || a.at - b.at)
    .map(({ choice }) => choice)
}

/** @param {Agent} agent @param {ErrorBody | undefined} login @returns {AgentChoice} */
function choiceOf(agent, login) {
  if (agent.ready === "missing")
    return { agent, state: "missing", word: "not installed", ...(agent.install ? { todo: agent.install } : {}) }
  if (login) {
    const todo = login.details?.command ?? agent.login
    return { agent, state: "login", word: "needs login", ...(todo ? { todo } : {}) }
  }
  const running =
    agent.status === "connected"
      ? "running"
      : agent.status === "starting"
        ? "starting"
        : agent.status === "reconnecting"
          ? "reconnecting"
          : "ready"
  return { agent, state: "ready", word: agent.ready === "unknown" ? "" : running }
}

/** The agents to show first, and those behind "More agents". @param {AgentChoice[]} choices */
export const offeredFirst = (choices) => ({
  offered: choices.filter(({ agent }) => agent.offered),
  more: choices.filter(({ agent }) => !agent.offered),
})

/** The agents used last, the newest first. @param {readonly string[]} lastUsed @param {string} cliType */
export const withUsed = (lastUsed, cliType) => [cliType, ...lastUsed.filter((other) => other !== cliType)].slice(0, 10)
