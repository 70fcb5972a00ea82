/** Shown while there is no project: which agents are ready, and the directories they worked in before, ready to be
 * added. */

import { agentMark } from "../shared/agents.js"
import { el, pathText } from "../shared/dom.js"
import { commandLine } from "../shared/failure.js"
import { counted } from "../shared/phrases.js"
import { age, fullTime } from "../shared/time.js"

/** @import { Agent, OutsideDirectory } from "../contract.js" */

/** @typedef {object} WelcomeDeps
 * @property {(paths: string[]) => Promise<void>} addProjects
 * @property {() => void} addProject  Opens the form.
 * @property {() => Promise<void>} tryDemo  Starts a session with the built-in agent.
 * @property {() => Promise<void>} lookAgain  Asks which agents there are now.
 * @property {() => number} now */

/** More than anyone ticks one by one; the others are found by their path. */
const MOST_DIRECTORIES = 8
/** Directories used this recently are ticked, in milliseconds. */
const RECENT = 30 * 24 * 60 * 60 * 1000

/** @param {HTMLElement} root @param {WelcomeDeps} deps */
export function mountWelcome(root, deps) {
  const agentList = el("ul", { class: "first-list", "aria-label": "Agents" })
  const directoryList = el("ul", { class: "first-list", "aria-label": "Directories" })
  /** @param {string} text */
  const quiet = (text) => el("button", { class: "button", "data-kind": "quiet", type: "button", text })
  const [again, another, demo] = [quiet("Look again"), quiet("Another directory…"), quiet("Try the demo")]
  const ready = el("span")
  /** @param {string} title @param {...(HTMLElement | string)} rest */
  const head = (title, ...rest) => el("div", { class: "first-head" }, el("strong", { text: title }), ...rest)
  const found = head("Projects", el("span", { text: "found in your earlier terminal sessions" }), another)
  const add = el("button", { class: "button", "data-kind": "main", type: "button" })
  const first = el("button", { class: "button", "data-kind": "main", type: "button", text: "Add a project" })
  const along = el("span", { class: "welcome-along" })
  const element = el(
    "div",
    { class: "welcome", hidden: true },
    el(
      "div",
      { class: "first-start" },
      el("h2", {}, el("i", { class: "brand-mark" }), "Welcome to Liminal Builder"),
      el("p", { text: "It runs your coding agents side by side. Everything stays on this machine." }),
      head("Agents", ready, again),
      agentList,
      found,
      directoryList,
      el("div", { class: "welcome-actions" }, add, first, demo, along),
    ),
  )
  /** @type {Set<string>} */
  const ticked = new Set()
  /** @type {Agent[] | null} */
  let agents = null
  /** @type {readonly OutsideDirectory[] | null} */
  let directories = null

  function showButtons() {
    add.hidden = ticked.size === 0
    add.textContent = `Add ${counted(ticked.size, "project")}`
    first.hidden = (directories?.length ?? 0) > 0
    const chosen = (directories ?? []).filter(({ path }) => ticked.has(path))
    const count = chosen.reduce((sum, directory) => sum + directory.count, 0)
    const whose = chosen.length === 1 ? "Its" : "Their"
    const sessions = count === 1 ? "terminal session" : `${count} terminal sessions`
    along.textContent = count === 0 ? "" : `${whose} ${sessions} can be opened from the sidebar.`
  }

  /** @param {OutsideDirectory} directory */
  function directoryRow({ path, count, changed }) {
    const tick = el("input", { type: "checkbox", checked: ticked.has(path) })
    tick.addEventListener("change", () => {
      if (tick.checked) ticked.add(path)
      else ticked.delete(path)
      showButtons()
    })
    const name = path.split("/").findLast((part) => part !== "") ?? path
    return el(
      "li",
      {},
      el(
        "label",
        { title: path },
        tick,
        el("span", { class: "first-name", text: name }),
        pathText(path, "first-path"),
        el("span", { text: counted(count, "session") }),
        el("time", { datetime: changed, title: fullTime(changed), text: age(changed, deps.now()) }),
      ),
    )
  }

  /** Once at a time. @param {HTMLButtonElement} button @param {() => Promise<void>} act */
  const onClick = (button, act) =>
    button.addEventListener("click", async () => {
      button.disabled = true
      await act()
      button.disabled = false
    })
  onClick(add, () => deps.addProjects([...ticked]))
  onClick(demo, deps.tryDemo)
  onClick(again, deps.lookAgain)
  for (const button of [first, another]) button.addEventListener("click", () => deps.addProject())
  root.append(element)
  return {
    /** @param {{ shown: boolean, agents: Agent[], directories: readonly OutsideDirectory[] }} state */
    update(state) {
      element.hidden = !state.shown
      if (!state.shown) return
      if (state.agents !== agents) {
        agents = state.agents
        const offered = agents.filter(({ cliType, offered }) => offered && cliType !== "demo")
        agentList.replaceChildren(...offered.map(agentRow))
        ready.textContent = `${offered.filter(isReady).length} of ${offered.length} are ready`
      }
      if (state.directories === directories) return
      directories = state.directories
      const shown = directories.slice(0, MOST_DIRECTORIES)
      ticked.clear()
      for (const { path, changed } of shown) if (deps.now() - Date.parse(changed) < RECENT) ticked.add(path)
      directoryList.replaceChildren(...shown.map(directoryRow))
      found.hidden = directoryList.hidden = shown.length === 0
      showButtons()
    },
    destroy: () => element.remove(),
  }
}

/** @param {Agent} agent */
const isReady = ({ ready, loggedIn }) => ready !== "missing" && loggedIn !== false

/** @param {Agent} agent */
const agentRow = ({ cliType, name, ready, version, loggedIn, login, install }) =>
  el(
    "li",
    { class: "first-agent" },
    agentMark(cliType, name),
    el("span", { class: "first-name", text: name }),
    el("span", {
      class: "first-path",
      text: ready === "missing" ? "not installed" : loggedIn === false ? "not logged in" : (version ?? ""),
    }),
    ready === "missing" && install
      ? commandLine(install)
      : loggedIn === false && login
        ? commandLine(login)
        : el("span", { class: "first-ready", text: loggedIn ? "logged in" : "ready" }),
  )
