/** The dialog that starts a session: the prompt first, then the agent and the project. Enter starts. */

import { agentMark } from "../shared/agents.js"
import { show } from "../shared/dialog.js"
import { el, pathText, setAttribute } from "../shared/dom.js"
import { copied } from "../shared/failure.js"
import { offeredFirst } from "./agent-choice.js"

/** @import { Project } from "../contract.js" */
/** @import { AgentChoice } from "./agent-choice.js" */

/** @typedef {{ prompt: string, projectId: string, cliType: string }} Start */

/** @typedef {object} StartDeps
 * @property {Project[]} projects
 * @property {(projectId: string) => AgentChoice[]} choices  The most likely first.
 * @property {(start: Start) => void} start
 * @property {(prompt: string) => void} closed  Without a start; the words are kept. */

/** @param {{ prompt: string, projectId: string }} first @param {StartDeps} deps */
export function openStart(first, deps) {
  const prompt = el("textarea", {
    class: "start-prompt",
    rows: 3,
    "aria-label": "What should be done?",
    placeholder: "What should be done?",
    autofocus: true,
  })
  prompt.value = first.prompt
  const agents = el("div", { class: "start-agents", role: "radiogroup", "aria-label": "Agent" })
  const more = el("button", { class: "start-more", type: "button", text: "More agents" })
  const todo = el("p", { class: "start-todo", role: "status" })
  const project = el(
    "select",
    { class: "field start-project", "aria-label": "Project" },
    ...deps.projects.map(({ id, name }) => el("option", { value: id, text: name })),
  )
  project.value = first.projectId
  const path = el("span", { class: "start-path" })
  const cancel = el("button", { class: "button", type: "button", text: "Cancel" })
  const begin = el(
    "button",
    { class: "button", "data-kind": "main", type: "submit" },
    "Start",
    el("kbd", { text: "Enter" }),
  )
  const form = el(
    "form",
    { method: "dialog" },
    prompt,
    el("div", { class: "start-row" }, el("span", { text: "Agent" }), el("div", {}, agents, more, todo)),
    el("label", { class: "start-row" }, el("span", { text: "Project" }), el("div", {}, project, path)),
    el("footer", { class: "start-foot" }, cancel, begin),
  )
  const dialog = el("dialog", { class: "dialog start", "aria-label": "New session" }, form)
  /** The user's choice; until there is one, the most likely agent. @type {string | null} */
  let chosen = null
  let showsMore = false
  let isStarted = false

  /** @returns {AgentChoice | undefined} */
  function current() {
    const choices = deps.choices(project.value)
    return choices.find(({ agent }) => agent.cliType === chosen) ?? choices.find(({ state }) => state !== "missing")
  }

  function update() {
    const { offered, more: others } = offeredFirst(deps.choices(project.value))
    const now = current()
    const focused = document.activeElement?.getAttribute("data-agent-choice")
    agents.replaceChildren(...[...offered, ...(showsMore ? others : [])].map((choice) => radio(choice, now)))
    if (focused)
      agents
        .querySelector(`[data-agent-choice="${CSS.escape(focused)}"]`)
        ?.querySelector("input")
        ?.focus()
    more.hidden = showsMore || others.length === 0
    const isMissing = now?.state === "missing"
    todo.hidden = !now?.todo
    todo.replaceChildren(...(now?.todo ? todoParts(now) : []))
    begin.disabled = now === undefined || isMissing
    path.replaceChildren(pathText(deps.projects.find(({ id }) => id === project.value)?.path ?? ""))
  }

  /** @param {AgentChoice} choice @param {AgentChoice | undefined} now */
  function radio({ agent, state, word }, now) {
    const input = el("input", { type: "radio", name: "agent", value: agent.cliType, class: "visually-hidden" })
    input.checked = now?.agent.cliType === agent.cliType
    input.addEventListener("change", () => {
      chosen = agent.cliType
      update()
      const again = agents.querySelector(`input[value="${CSS.escape(agent.cliType)}"]`)
      if (again instanceof HTMLElement) again.focus()
    })
    return el(
      "label",
      { class: "start-agent", "data-state": state },
      input,
      agentMark(agent.cliType, agent.name),
      el("span", { text: agent.name }),
      word === "" || word === "ready" ? null : el("span", { class: "start-word", text: word }),
    )
  }

  prompt.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    if (!begin.disabled) form.requestSubmit()
  })
  project.addEventListener("change", update)
  more.addEventListener("click", () => {
    showsMore = true
    update()
    agents.querySelector("input")?.focus()
  })
  cancel.addEventListener("click", () => dialog.close())
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const now = current()
    if (!now || now.state === "missing") return
    isStarted = true
    dialog.close()
    deps.start({ prompt: prompt.value.trim(), projectId: project.value, cliType: now.agent.cliType })
  })
  update()
  setAttribute(more, "aria-expanded", "false")
  show(dialog, () => {
    if (!isStarted) deps.closed(prompt.value)
  })
  return { update }
}

/** @param {AgentChoice} choice */
function todoParts({ agent, state, todo = "" }) {
  const copy = el("button", { class: "start-more", type: "button", text: "Copy" })
  copy.addEventListener("click", async () => {
    copy.textContent = (await copied(todo)) ? "Copied" : "Could not copy"
  })
  const words = state === "missing" ? `${agent.name} is not installed. Run ` : `${agent.name} needs a login. Run `
  return [words, el("code", { text: todo }), copy]
}
