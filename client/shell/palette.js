/**
 * Search everything: what was said in any session, and sessions, projects and commands by name, as one types. Arrows choose,
 * Enter opens, Escape leaves.
 */

import { agentMark } from "../shared/agents.js"
import { el, pathText, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { age } from "../shared/time.js"
import { show } from "./dialog.js"
import { bestFits } from "./matching.js"

/** @import { Hit, SessionListItem } from "../contract.js" */
/** @import { IconName } from "../shared/icons.js" */

/** @typedef {{ label: string, path?: string, icon: IconName, keys?: string, run(): void }} Command */

/** @typedef {object} PaletteDeps
 * @property {() => Command[]} commands  Projects are among them.
 * @property {() => { session: SessionListItem, project: string }[]} sessions  Newest first.
 * @property {(query: string) => Promise<{ hits: Hit[], more: boolean }>} search
 * @property {(projectId: string) => string} projectName
 * @property {(sessionId: string) => void} openSession
 * @property {(hit: Hit) => void} openHit
 * @property {() => number} now */

/** @typedef {{ group: string, element: HTMLElement, run(): void }} Row */

/** @param {PaletteDeps} deps @param {() => void} onClose */
export function openPalette(deps, onClose) {
  const input = el("input", {
    class: "palette-input", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list", "aria-label": "Search everything",
    placeholder: "Search everything", autocomplete: "off", spellcheck: "false", autofocus: true,
  })
  const list = el("div", { class: "palette-list", id: "palette-list", role: "listbox", "aria-label": "Results" })
  const note = el("p", { class: "palette-note", role: "status" })
  const dialog = el("dialog", { class: "dialog palette", "aria-label": "Search everything" },
    el("div", { class: "palette-field" }, icon("search"), input, el("kbd", { text: "Esc" })), list, note)
  /** @type {Row[]} */
  let rows = []
  let chosen = 0
  let asked = ""
  /** The newest answer of the server, shown until the next one is there, so that the list does not jump while typing.
   * @type {{ hits: Hit[], more: boolean, problem: string }} */
  let found = { hits: [], more: false, problem: "" }

  async function changed() {
    const query = input.value.trim()
    asked = query
    chosen = 0
    if (query.length < 2) found = { hits: [], more: false, problem: "" }
    render(query, query.length >= 2)
    if (query.length < 2) return
    try {
      const answer = await deps.search(query)
      if (asked !== query) return
      found = { ...answer, problem: "" }
    } catch (reason) {
      if (asked !== query) return
      found = { hits: [], more: false, problem: /** @type {{ message?: string }} */ (reason).message ?? "Searching failed." }
    }
    if (dialog.open) render(query, false)
  }

  /** @param {string} query @param {boolean} searching */
  function render(query, searching) {
    const sessions = query === "" ? deps.sessions().slice(0, 8) : bestFits(query, deps.sessions(), ({ session, project }) => `${session.title} ${project}`, 8)
    const commands = bestFits(query, deps.commands(), (command) => `${command.label} ${command.path ?? ""}`, query === "" ? 20 : 8)
    rows = [
      ...sessions.map((each) => sessionRow(each, deps)),
      ...commands.map(commandRow),
      ...found.hits.map((hit) => hitRow(hit, deps)),
    ]
    rows.forEach((row, n) => {
      row.element.id = `palette-${n}`
      row.element.addEventListener("click", () => take(n))
      row.element.addEventListener("pointermove", () => { if (chosen !== n) choose(n) })
    })
    /** @type {HTMLElement[]} */
    const groups = []
    for (const row of rows) {
      let group = groups.at(-1)
      if (group?.dataset.group !== row.group) {
        groups.push(group = el("div", { class: "palette-group", role: "group", "aria-label": row.group, "data-group": row.group }, el("div", { class: "palette-heading", "aria-hidden": "true", text: row.group })))
      }
      group.append(row.element)
    }
    list.replaceChildren(...groups)
    note.textContent = found.problem !== "" ? found.problem : searching ? "" : found.more ? "There are more. Type more words to narrow it down."
      : rows.length === 0 ? `Nothing found for “${query}”.` : ""
    note.hidden = note.textContent === ""
    choose(Math.min(chosen, rows.length - 1))
  }

  /** @param {number} n */
  function choose(n) {
    chosen = Math.max(0, n)
    rows.forEach((row, at) => setAttribute(row.element, "aria-selected", at === chosen ? "true" : "false"))
    setAttribute(input, "aria-activedescendant", rows[chosen]?.element.id ?? null)
    rows[chosen]?.element.scrollIntoView({ block: "nearest" })
  }

  /** @param {number} n */
  function take(n) {
    const row = rows[n]
    if (!row) return
    dialog.close()
    row.run()
  }

  input.addEventListener("input", changed)
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return
    switch (event.key) {
      case "ArrowDown": choose((chosen + 1) % Math.max(1, rows.length)); break
      case "ArrowUp": choose((chosen - 1 + rows.length) % Math.max(1, rows.length)); break
      case "Enter": take(chosen); break
      default: return
    }
    event.preventDefault()
  })
  show(dialog, onClose)
  changed()
  return { close: () => dialog.close() }
}

/** @param {{ session: SessionListItem, project: string }} each @param {PaletteDeps} deps @returns {Row} */
function sessionRow({ session, project }, deps) {
  return {
    group: "Sessions", run: () => deps.openSession(session.id),
    element: el("div", { class: "palette-row", role: "option" }, agentMark(session.cliType), el("span", { class: "palette-label", text: session.title }),
      el("span", { class: "palette-detail", text: `${project} · ${age(session.lastActiveAt, deps.now())}` })),
  }
}

/** @param {Command} command @returns {Row} */
function commandRow(command) {
  return {
    group: command.icon === "folder" ? "Projects" : "Commands", run: command.run,
    element: el("div", { class: "palette-row", role: "option" }, icon(command.icon), el("span", { class: "palette-label", text: command.label }),
      command.path && pathText(command.path, "palette-detail"), command.keys && el("kbd", { text: command.keys })),
  }
}

/** @param {Hit} hit @param {PaletteDeps} deps @returns {Row} */
function hitRow(hit, deps) {
  return {
    group: "In conversations", run: () => deps.openHit(hit),
    element: el("div", { class: "palette-row palette-hit", role: "option" }, agentMark(hit.cliType),
      el("span", { class: "palette-label" },
        el("span", { class: "palette-snippet" }, ...hit.snippet.map(({ text, match }) => match ? el("mark", { text }) : text)),
        el("span", { class: "palette-where", text: `${hit.title} · ${deps.projectName(hit.projectId)}` })),
      el("span", { class: "palette-detail", text: age(hit.at, deps.now()) })),
  }
}
