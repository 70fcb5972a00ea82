/** Settings: what this browser likes, and, to read, the agents and where the data lives. */

import { agentMark } from "../shared/agents.js"
import { el } from "../shared/dom.js"
import { openDialog } from "./dialog.js"
import { commandLine } from "../shared/failure.js"

/** @import { Policy } from "../contract.js" */
/** @import { ThemeChoice } from "../shared/theme.js" */
/** @import { AgentChoice } from "./agent-choice.js" */
/** @import { Defaults } from "./defaults.js" */

/** @typedef {{ version: string, dataDir: string }} About */

/** @typedef {object} SettingsDeps
 * @property {() => { theme: ThemeChoice, defaults: Defaults, agents: AgentChoice[], notifications: "granted" | "denied" | "default" | "missing" }} now
 * @property {(choice: ThemeChoice) => void} setTheme
 * @property {(change: Partial<Defaults>) => void} setDefaults
 * @property {() => Promise<boolean>} allowNotifications
 * @property {() => Promise<About>} about */

/** @param {SettingsDeps} deps @param {() => void} onClose */
export function openSettings(deps, onClose) {
  const { theme, defaults, agents, notifications } = deps.now()
  const about = el("div", { class: "settings-about" })
  const agentList = el("ul", { class: "settings-agents" })
  const notify = el("input", { type: "checkbox", id: "set-notify", role: "switch", class: "switch" })
  const notifyNote = el("p", { class: "settings-note", role: "status" })
  notify.checked = defaults.notifications && notifications === "granted"
  notify.disabled = notifications === "missing"
  if (notifications === "missing") notifyNote.textContent = "This browser shows none for this address."
  notify.addEventListener("change", async () => {
    notifyNote.textContent = ""
    const wanted = notify.checked
    const allowed = !wanted || await deps.allowNotifications()
    notify.checked = wanted && allowed
    if (!allowed) notifyNote.textContent = "The browser does not allow them for this address. Allow them in its site settings first."
    deps.setDefaults({ notifications: wanted && allowed })
  })

  openDialog("Settings", [
    el("section", { class: "settings-group" }, el("h3", { text: "This browser" }),
      field("Theme", "set-theme", select("set-theme", [["system", "As the system"], ["dark", "Dark"], ["light", "Light"]], theme, (value) => deps.setTheme(/** @type {ThemeChoice} */ (value)))),
      field("Permissions in new sessions", "set-policy", select("set-policy", [["", "As the server was started"], ["ask", "Ask before acting"], ["auto", "Allow everything"]], defaults.policy ?? "",
        (value) => deps.setDefaults({ policy: value === "" ? null : /** @type {Policy} */ (value) }))),
      field("Agent for new sessions", "set-agent", select("set-agent", [["", "The one used last"], ...agents.map(({ agent }) => /** @type {[string, string]} */ ([agent.cliType, agent.name]))], defaults.agent ?? "",
        (value) => deps.setDefaults({ agent: value === "" ? null : value }))),
      field("Desktop notifications", "set-notify", el("span", { class: "settings-switch" }, notify)), notifyNote),
    el("section", { class: "settings-group" }, el("h3", { text: "Agents" }), agentList),
    el("section", { class: "settings-group" }, el("h3", { text: "Data" }), about),
  ], { className: "settings", onClose })

  /** @param {AgentChoice[]} list */
  function showAgents(list) {
    agentList.replaceChildren(...list.map(({ agent, state, word, todo }) => el("li", { class: "settings-agent", "data-state": state },
      el("div", { class: "settings-agent-line" }, agentMark(agent.cliType, agent.name), el("span", { class: "settings-agent-name", text: agent.name }),
        agent.version && el("span", { class: "settings-agent-version", text: agent.version }), el("span", { class: "settings-agent-state", text: word })),
      todo && commandLine(todo))))
  }
  showAgents(agents)
  about.textContent = "Loading…"
  deps.about().then(({ version, dataDir }) => about.replaceChildren(
    el("p", { text: "Projects, sessions and every transcript live in" }), commandLine(dataDir),
    el("p", { class: "settings-note", text: `Liminal Builder ${version}. Agents keep their own files besides.` })),
  (reason) => { about.textContent = /** @type {{ message?: string }} */ (reason).message ?? "The server did not say." })

  return {
    /** The agents' states change while one looks. */
    update: () => showAgents(deps.now().agents),
  }
}

/** @param {string} label @param {string} id @param {HTMLElement} control */
const field = (label, id, control) => el("div", { class: "settings-field" }, el("label", { for: id, text: label }), control)

/** @param {string} id @param {[value: string, label: string][]} options @param {string} chosen @param {(value: string) => void} onChange */
function select(id, options, chosen, onChange) {
  const control = el("select", { class: "field", id }, ...options.map(([value, label]) => el("option", { value, text: label, selected: value === chosen })))
  control.addEventListener("change", () => onChange(control.value))
  return control
}
