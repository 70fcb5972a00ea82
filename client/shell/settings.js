/** Settings: this browser's preferences, the agents, the logged-in browsers, and where the data is stored. */

import { agentMark } from "../shared/agents.js"
import { el } from "../shared/dom.js"
import { offeredFirst } from "./agent-choice.js"
import { openDialog } from "../shared/dialog.js"
import { commandLine } from "../shared/failure.js"
import { fullTime } from "../shared/time.js"
import { editors } from "../shared/reading.js"
import { mountCheckpointsField } from "./checkpoints-field.js"
import { mountDiscardedList } from "./discarded-list.js"
import { settingsRow, wordsOf } from "./settings-row.js"

/** @import { Policy } from "../contract.js" */
/** @import { Reading } from "../shared/reading.js" */
/** @import { ThemeChoice } from "../shared/theme.js" */
/** @import { AgentChoice } from "./agent-choice.js" */
/** @import { Defaults } from "./defaults.js" */
/** @import { LoggedInBrowser } from "../shared/door.js" */

/** @typedef {{ version: string, dataDir: string }} About */

/** @typedef {object} SettingsState
 * @property {ThemeChoice} theme
 * @property {Reading} reading
 * @property {Defaults} defaults
 * @property {AgentChoice[]} agents
 * @property {"granted" | "denied" | "default" | "missing"} notifications */

/** @typedef {object} SettingsDeps
 * @property {() => SettingsState} now
 * @property {(choice: ThemeChoice) => void} setTheme
 * @property {(change: Partial<Reading>) => void} setReading
 * @property {(change: Partial<Defaults>) => void} setDefaults
 * @property {() => Promise<boolean>} allowNotifications
 * @property {(most?: number) => Promise<{ bytes: number, most: number }>} storage
 * @property {import("./discarded-list.js").DiscardedDeps} discarded
 * @property {boolean} keepsOutside  Whether sessions made in a terminal are kept automatically.
 * @property {(on: boolean) => Promise<void>} keepOutside
 * @property {() => Promise<About>} about
 * @property {() => Promise<LoggedInBrowser[]>} browsers
 * @property {(browser: LoggedInBrowser) => Promise<unknown>} logOut */

/** @param {SettingsDeps} deps @param {() => void} onClose */
export function openSettings(deps, onClose) {
  const { theme, reading, defaults, agents, notifications } = deps.now()
  const about = el("div", { class: "settings-about" })
  const agentList = el("ul", { class: "settings-agents" })
  const moreList = el("ul", { class: "settings-agents" })
  const moreAgents = el("details", { class: "settings-more" }, el("summary", { text: "More agents" }), moreList)
  const browserList = el("ul", { class: "settings-agents" })
  const browserNote = el("p", { class: "settings-note", role: "status", text: "Loading…" })
  const notify = el("input", { type: "checkbox", id: "set-notify", role: "switch", class: "switch" })
  const notifyNote = el("p", { class: "settings-note", role: "status" })
  notify.checked = defaults.notifications && notifications === "granted"
  notify.disabled = notifications === "missing"
  if (notifications === "missing") notifyNote.textContent = "This browser does not offer notifications at this address."
  notify.addEventListener("change", async () => {
    notifyNote.textContent = ""
    const wanted = notify.checked
    const allowed = !wanted || (await deps.allowNotifications())
    notify.checked = wanted && allowed
    if (!allowed)
      notifyNote.textContent =
        "The browser blocks notifications from this address. Allow them in its site settings first."
    deps.setDefaults({ notifications: wanted && allowed })
  })

  const outside = el("input", { type: "checkbox", id: "set-outside", role: "switch", class: "switch" })
  outside.checked = deps.keepsOutside
  outside.addEventListener("change", () => deps.keepOutside(outside.checked))

  const wrap = el("input", { type: "checkbox", id: "set-wrap", role: "switch", class: "switch" })
  wrap.checked = reading.wrap
  wrap.addEventListener("change", () => deps.setReading({ wrap: wrap.checked }))

  const checkpoints = mountCheckpointsField(deps.storage)
  const discarded = mountDiscardedList(deps.discarded)

  openDialog(
    "Settings",
    [
      el(
        "section",
        { class: "settings-group" },
        el("h3", { text: "This browser" }),
        field(
          "Theme",
          "set-theme",
          select(
            "set-theme",
            [
              ["system", "System"],
              ["dark", "Dark"],
              ["light", "Light"],
            ],
            theme,
            (value) => deps.setTheme(/** @type {ThemeChoice} */ (value)),
          ),
        ),
        field(
          "Text size",
          "set-size",
          select(
            "set-size",
            [
              ["small", "Small"],
              ["normal", "Normal"],
              ["large", "Large"],
            ],
            reading.size,
            (value) => deps.setReading({ size: /** @type {Reading["size"]} */ (value) }),
          ),
        ),
        field(
          "Density",
          "set-density",
          select(
            "set-density",
            [
              ["normal", "Normal"],
              ["compact", "Compact"],
            ],
            reading.density,
            (value) => deps.setReading({ density: /** @type {Reading["density"]} */ (value) }),
          ),
        ),
        field("Wrap long lines of code", "set-wrap", el("span", { class: "settings-switch" }, wrap)),
        field(
          "Open files in",
          "set-editor",
          select(
            "set-editor",
            [
              ["", "No editor"],
              ...Object.entries(editors).map(([id, { name }]) => /** @type {[string, string]} */ ([id, name])),
            ],
            reading.editor,
            (value) => deps.setReading({ editor: /** @type {Reading["editor"]} */ (value) }),
          ),
        ),
        field(
          "Permissions in new sessions",
          "set-policy",
          select(
            "set-policy",
            [
              ["", "Server default"],
              ["ask", "Ask before acting"],
              ["auto", "Approve everything"],
            ],
            defaults.policy ?? "",
            (value) => deps.setDefaults({ policy: value === "" ? null : /** @type {Policy} */ (value) }),
          ),
        ),
        field(
          "Agent for new sessions",
          "set-agent",
          select(
            "set-agent",
            [
              ["", "Last used"],
              ...offeredFirst(agents).offered.map(
                ({ agent }) => /** @type {[string, string]} */ ([agent.cliType, agent.name]),
              ),
            ],
            defaults.agent ?? "",
            (value) => deps.setDefaults({ agent: value === "" ? null : value }),
          ),
        ),
        field("Desktop notifications", "set-notify", el("span", { class: "settings-switch" }, notify)),
        notifyNote,
      ),
      el("section", { class: "settings-group" }, el("h3", { text: "Agents" }), agentList, moreAgents),
      el(
        "section",
        { class: "settings-group" },
        el("h3", { text: "Sessions made in a terminal" }),
        field("Keep new ones automatically", "set-outside", el("span", { class: "settings-switch" }, outside)),
        el("p", {
          class: "settings-note",
          text: "From all projects, whenever the page is opened. Applies to every browser.",
        }),
      ),
      el("section", { class: "settings-group" }, el("h3", { text: "Logged-in browsers" }), browserList, browserNote),
      el("section", { class: "settings-group" }, el("h3", { text: "Discarded worktrees" }), ...discarded.elements),
      el("section", { class: "settings-group" }, el("h3", { text: "Data" }), checkpoints.element, about),
    ],
    { className: "settings", onClose },
  )

  /** @param {AgentChoice[]} list */
  function showAgents(list) {
    const { offered, more } = offeredFirst(list)
    agentList.replaceChildren(...offered.map(agentRow))
    moreList.replaceChildren(...more.map(agentRow))
    moreAgents.hidden = more.length === 0
  }
  showAgents(agents)

  async function showBrowsers() {
    try {
      const list = await deps.browsers()
      browserList.replaceChildren(...list.map(browserRow))
      browserNote.textContent = ""
    } catch (reason) {
      browserNote.textContent = wordsOf(reason)
    }
  }

  /** @param {LoggedInBrowser} browser */
  function browserRow(browser) {
    const { name, origin, firstSeen, lastSeen, isCurrent, isLasting } = browser
    const remove = el("button", { class: "button", type: "button", text: "Log out", "aria-label": `Log out ${name}` })
    remove.addEventListener("click", async () => {
      remove.disabled = true
      await deps.logOut(browser).catch((reason) => {
        browserNote.textContent = wordsOf(reason)
      })
      await showBrowsers()
    })
    const until = isLasting ? "" : " · until the page is closed"
    const times = `${origin} · since ${fullTime(firstSeen)}, last seen ${fullTime(lastSeen)}${until}`
    return settingsRow({ name: isCurrent ? `${name} (this browser)` : name, details: times }, remove)
  }
  showBrowsers()
  about.textContent = "Loading…"
  deps.about().then(
    ({ version, dataDir }) =>
      about.replaceChildren(
        el("p", { text: "Projects, sessions and transcripts are stored in" }),
        commandLine(dataDir),
        el("p", { class: "settings-note", text: `Liminal Builder ${version}. Agents keep their own files elsewhere.` }),
      ),
    (reason) => {
      about.textContent = wordsOf(reason)
    },
  )

  return {
    update: () => showAgents(deps.now().agents),
  }
}

/** @param {AgentChoice} choice */
const agentRow = ({ agent, state, word, todo }) =>
  el(
    "li",
    { class: "settings-agent", "data-state": state },
    el(
      "div",
      { class: "settings-agent-line" },
      agentMark(agent.cliType, agent.name),
      el("span", { class: "settings-agent-name", text: agent.name }),
      agent.version && el("span", { class: "settings-agent-version", text: agent.version }),
      el("span", { class: "settings-agent-state", text: word }),
    ),
    todo && commandLine(todo),
  )

/** @param {string} label @param {string} id @param {HTMLElement} control */
const field = (label, id, control) =>
  el("div", { class: "settings-field" }, el("label", { for: id, text: label }), control)

/** @param {string} id @param {[value: string, label: string][]} options @param {string} chosen
 * @param {(value: string) => void} onChange */
function select(id, options, chosen, onChange) {
  const control = el(
    "select",
    { class: "field", id },
    ...options.map(([value, label]) => el("option", { value, text: label, selected: value === chosen })),
  )
  control.addEventListener("change", () => onChange(control.value))
  return control
}
