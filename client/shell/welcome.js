/** Shown while there is no project: which agents are ready, and the directories they worked in before, ready to be
 * added. */

import { agentMark } from "../shared/agents.js"
import { el, pathText } from "../shared/dom.js"
import { commandLine } from "../shared/failure.js"
import { age, fullTime } from "../shared/time.js"

/** @import { Agent, OutsideDirectory } from "../contract.js" */

/** @typedef {object} WelcomeDeps
 * @property {(paths: string[]) => Promise<void>} addProjects
 * @property {() => void} addProject  Opens the form.
 * @property {() => number} now */

/** More than anyone ticks one by one; the others are found by their path. */
const MOST_DIRECTORIES = 8
/** Directories used this recently are ticked, in milliseconds. */
const RECENT = 30 * 24 * 60 * 60 * 1000

/** @param {HTMLElement} root @param {WelcomeDeps} deps */
export function mountWelcome(root, deps) {
  const agentList = el("ul", { class: "first-list", "aria-label": "Agents" })
  const directoryList = el("ul", { class: "first-list", "aria-label": "Directories" })
  const found = el("p", { class: "first-head" }, el("strong", { text: "Projects" }), " found in your terminal sessions")
  const add = el("button", { class: "button", "data-kind": "main", type: "button" })
  const other = el("button", { class: "button", type: "button" })
  const element = el(
    "div",
    { class: "welcome", hidden: true },
    el("i", { class: "brand-mark" }),
    el("h2", { text: "Welcome" }),
    el("p", { text: "Liminal Builder runs your coding agents side by side. Everything stays on this machine." }),
    el(
      "div",
      { class: "first-start" },
      el("p", { class: "first-head" }, el("strong", { text: "Agents" })),
      agentList,
      found,
      directoryList,
    ),
    el("div", { class: "welcome-actions" }, add, other),
  )
  /** @type {Set<string>} */
  const ticked = new Set()
  /** @type {Agent[] | null} */
  let agents = null
  /** @type {readonly OutsideDirectory[] | null} */
  let directories = null

  function showButtons() {
    add.hidden = ticked.size === 0
    add.textContent = ticked.size === 1 ? "Add 1 project" : `Add ${ticked.size} projects`
    other.textContent = directories?.length ? "Another directory…" : "Add a project"
    if (ticked.size === 0) other.dataset.kind = "main"
    else delete other.dataset.kind
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
        el("span", { text: count === 1 ? "1 session" : `${count} sessions` }),
        el("time", { datetime: changed, title: fullTime(changed), text: age(changed, deps.now()) }),
      ),
    )
  }

  add.addEventListener("click", async () => {
    add.disabled = true
    await deps.addProjects([...ticked])
    add.disabled = false
  })
  other.addEventListener("click", () => deps.addProject())
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
