/** The session's info: a button with the agent's name, and a panel with its version and account, what it runs beside
 * the conversation, and its MCP servers. */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { counted } from "../shared/phrases.js"
import { infoLines, serverActs, serverWord, sortedTasks, taskActs, taskWord } from "./info-state.js"

/** @import { AgentTask, ErrorBody, McpAct, McpServer, TaskAct } from "../contract.js" */
/** @import { InfoState } from "./info-state.js" */

/** @typedef {(
 *   | { type: "session:task", taskId: string, act: TaskAct }
 *   | { type: "session:mcp", server: string, act: McpAct }
 * )} InfoRequest */

/** @typedef {object} InfoDeps
 * @property {(message: InfoRequest, onFailure: (error: ErrorBody) => boolean) => void} request
 *   `onFailure` returns whether it took care of the error. */

const actNames = {
  stop: "Stop",
  background: "Run in background",
  output: "Output",
  reconnect: "Reconnect",
  enable: "Turn on",
  disable: "Turn off",
}

/** @param {HTMLElement} root @param {InfoDeps} deps */
export function mountInfo(root, deps) {
  const ending = new AbortController()
  const { signal } = ending
  const name = el("span", { class: "header-agent" })
  const count = el("span", { class: "info-count", hidden: true })
  const button = el("button", { class: "info-button", type: "button", "aria-expanded": "false" }, name, count)
  const lines = el("dl", { class: "info-lines" })
  const tasks = section("Tasks")
  const servers = section("MCP servers")
  const failure = el("p", { class: "info-failure", role: "alert", hidden: true })
  const panel = el(
    "div",
    { class: "info-panel", role: "group", "aria-label": "Session info", hidden: true },
    lines,
    failure,
    tasks.element,
    servers.element,
  )
  root.append(button, panel)
  /** @type {InfoState | null} */
  let state = null
  let shownLines = ""
  /** @type {Map<string, ReturnType<typeof taskRow>>} */
  const taskRows = new Map()
  /** @type {Map<string, ReturnType<typeof serverRow>>} */
  const serverRows = new Map()

  const isOpen = () => !panel.hidden
  /** @param {boolean} opens */
  function open(opens) {
    panel.hidden = !opens
    setAttribute(button, "aria-expanded", String(opens))
    fail(null)
    if (opens) show()
  }

  /** @param {ErrorBody | null} error */
  function fail(error) {
    failure.hidden = error === null
    setText(failure, error?.message ?? "")
  }

  /** @param {InfoRequest} message */
  function request(message) {
    fail(null)
    deps.request(message, (error) => {
      if (isOpen()) fail(error)
      return isOpen()
    })
  }

  /** @param {string} taskId @param {TaskAct} act */
  function onTask(taskId, act) {
    const row = taskRows.get(taskId)
    if (act === "output" && row?.closeOutput()) return
    request({ type: "session:task", taskId, act })
  }

  /** @param {AgentTask} task */
  function taskRow(task) {
    const entry = mountEntry((act) => onTask(task.id, /** @type {TaskAct} */ (act)))
    const row = {
      ...entry,
      /** @param {AgentTask} next */
      update: (next) =>
        entry.update(next.name || "Task", taskWord(next, Date.now()), next.state, undefined, taskActs(next)),
    }
    row.update(task)
    return row
  }

  /** @param {McpServer} server */
  function serverRow(server) {
    const entry = mountEntry((act) =>
      request({ type: "session:mcp", server: server.name, act: /** @type {McpAct} */ (act) }),
    )
    const row = {
      ...entry,
      /** @param {McpServer} next */
      update(next) {
        const acts = state?.facts.agent.controlsMcp ? serverActs(next) : []
        entry.update(next.name, serverWord(next), next.state, next.error, acts)
      },
    }
    row.update(server)
    return row
  }

  function show() {
    if (!state) return
    const { facts } = state
    const running = facts.tasks.filter((task) => task.state === "running").length
    setText(name, state.isNamed ? "Info" : state.agent)
    setText(count, counted(running, "task"))
    count.hidden = running === 0
    const label = `Session info: ${state.agent}${running > 0 ? `, ${count.textContent} running` : ""}`
    setAttribute(button, "aria-label", label)
    if (!isOpen()) return
    showLines(infoLines(state))
    tasks.element.hidden = facts.tasks.length === 0
    servers.element.hidden = facts.agent.mcp.length === 0
    keyed(tasks.list, taskRows, sortedTasks(facts.tasks), ({ id }) => id, taskRow)
    keyed(servers.list, serverRows, facts.agent.mcp, (server) => server.name, serverRow)
  }

  /** A selected text stays selected while it is the same. @param {string[][]} told */
  function showLines(told) {
    const key = JSON.stringify(told)
    if (key === shownLines) return
    shownLines = key
    lines.replaceChildren(...told.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]))
  }

  button.addEventListener("click", () => open(!isOpen()), { signal })
  root.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !isOpen()) return
      event.stopPropagation()
      open(false)
      button.focus()
    },
    { signal },
  )
  document.addEventListener(
    "pointerdown",
    (event) => {
      if (isOpen() && !root.contains(/** @type {Node} */ (event.target))) open(false)
    },
    { signal },
  )

  return {
    /** @param {InfoState} next */
    update(next) {
      state = next
      show()
    },
    /** Shows what a task wrote. @param {{ taskId: string, text: string, cut: boolean }} output */
    output({ taskId, text, cut }) {
      taskRows.get(taskId)?.showOutput((cut ? "…\n" : "") + (text || "Nothing yet."))
    },
    /** The time of what runs. */
    tick() {
      if (isOpen() && state?.facts.tasks.some((task) => task.state === "running")) show()
    },
    destroy() {
      ending.abort()
      root.replaceChildren()
    },
  }
}

/** @param {string} title */
function section(title) {
  const list = el("ul", { class: "info-list" })
  const element = el("section", { class: "info-section", hidden: true }, el("h2", { text: title }), list)
  return { element, list }
}

/** One task or server: its name, its state, and what can be done. @param {(act: string) => void} run */
function mountEntry(run) {
  const dot = el("i", { class: "info-dot" })
  const name = el("span", { class: "info-name" })
  const word = el("span", { class: "info-word" })
  const acts = el("span", { class: "info-acts" })
  const error = el("p", { class: "info-error", hidden: true })
  const output = el("pre", { class: "info-output", tabindex: 0, hidden: true })
  const element = el("li", { class: "info-entry" }, dot, name, word, acts, error, output)
  /** @type {string} */
  let offered = ""

  return {
    element,
    /** @param {string} label @param {string} about @param {string} state @param {string | undefined} failure
     * @param {(keyof typeof actNames)[]} offers */
    update(label, about, state, failure, offers) {
      setText(name, label)
      setAttribute(name, "title", label)
      setText(word, about)
      setAttribute(dot, "data-state", state)
      error.hidden = failure === undefined
      setText(error, failure ?? "")
      if (offers.join() === offered) return
      offered = offers.join()
      const hadFocus = acts.contains(document.activeElement)
      acts.replaceChildren(
        ...offers.map((act) => {
          const button = el(
            "button",
            { class: "info-act", type: "button", "aria-label": `${actNames[act]}: ${label}` },
            act === "stop" ? icon("stop") : null,
            actNames[act],
          )
          button.addEventListener("click", () => run(act))
          return button
        }),
      )
      if (hadFocus) /** @type {HTMLElement | null} */ (acts.querySelector("button"))?.focus()
    },
    /** @param {string} text */
    showOutput(text) {
      output.hidden = false
      setText(output, text)
    },
    /** Returns whether it was open. */
    closeOutput() {
      const wasOpen = !output.hidden
      output.hidden = true
      return wasOpen
    },
  }
}
