/** The agents at the foot of the sidebar: the state and version of each, restarting it, and how to install it. */

import { agentMark } from "../shared/agents.js"
import { confirmed } from "../shared/dialog.js"
import { copied } from "../shared/failure.js"
import { openMenu } from "../shared/menu.js"
import { quoted } from "../shared/phrases.js"
import { agentChoices, offeredFirst } from "./agent-choice.js"
import { isAtWork } from "./model.js"

/** @import { ActionsDeps, Failed } from "./actions.js" */
/** @import { AgentChoice } from "./agent-choice.js" */
/** @import { MenuItem } from "../shared/menu.js" */

/** @param {string} agent its name @param {string} text what the restart interrupts */
export const confirmRestart = (agent, text) =>
  confirmed({ title: `Restart ${agent}?`, text, action: "Restart", kind: "danger" })

/** @param {Pick<ActionsDeps, "shell" | "socket" | "toasts"> & { failed: Failed }} deps */
export function createAgentsMenu({ shell, socket, toasts, failed }) {
  /** @param {AgentChoice} choice */
  async function restart({ agent }) {
    const { sessions } = shell().model
    const titles = [...sessions.values()]
      .filter((session) => session.cliType === agent.cliType && isAtWork(session))
      .map(({ title }) => title)
    const yes = titles.length === 0 || (await confirmRestart(agent.name, `This interrupts ${quoted(titles)}.`))
    if (!yes) return
    socket
      .request({ type: "session:reconnect", cliType: agent.cliType })
      .then(() => toasts.show({ text: `${agent.name} restarts.` }), failed(`Could not restart ${agent.name}`))
  }

  /** @param {string} todo */
  async function copy(todo) {
    toasts.show({ text: (await copied(todo)) ? `Copied to the clipboard: ${todo}` : `Run in a terminal: ${todo}` })
  }

  /** @param {AgentChoice} choice @returns {MenuItem} */
  function itemOf(choice) {
    const { agent, state, word, todo } = choice
    const isDown = agent.status === "disconnected"
    return {
      label: agent.name,
      icon: agentMark(agent.cliType, agent.name),
      aside: [isDown ? "stopped" : word, agent.version ?? ""].filter((each) => each !== "").join(" · "),
      ...(todo ? { note: todo } : agent.status === "idle" ? {} : { note: "Restart" }),
      ...(state === "missing" ? { kind: "muted" } : isDown ? { kind: "warn" } : {}),
      run() {
        if (todo) copy(todo)
        else if (agent.status === "idle")
          toasts.show({ text: `${agent.name} isn't running. It starts with the next message.` })
        else restart(choice)
      },
    }
  }

  /** @param {HTMLElement} anchor */
  return function agentsMenu(anchor) {
    const fill = () => {
      const { agents, logins } = shell().model
      return offeredFirst(agentChoices(agents, logins, { preferred: null, lastUsed: [] })).offered.map(itemOf)
    }
    const menu = openMenu(anchor, "Agents", fill(), { className: "agent-picker" })
    socket.request({ type: "agents:list" }).then(
      () => menu.update(fill()),
      () => {},
    )
  }
}
