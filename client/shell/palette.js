/**
 * Search as you type: the text of every session, and sessions, projects and commands by name. Arrows choose, Enter
 * opens, Escape closes.
 */

import { agentMark } from "../shared/agents.js"
import { el, pathText, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { age } from "../shared/time.js"
import { show } from "../shared/dialog.js"
import { bestFits } from "./matching.js"
import { moodWords } from "./model.js"

/** @import { Hit, OutsideSession, SessionListItem } from "../contract.js" */
/** @import { IconName } from "../shared/icons.js" */
/** @import { Mood } from "./model.js" */

/** `behind`: the index is not up to date yet, and another answer to the same query follows.
 * @typedef {{ query: string, hits: Hit[], more: boolean, behind: boolean }} SearchResult */

/** @typedef {{ label: string, path?: string, icon: IconName, keys?: string, run(): void }} Command */

/** @typedef {{ session: SessionListItem, project: string, mood: Mood }} ListedSession */

/** @typedef {object} PaletteDeps
 * @property {() => Command[]} commands  Projects are among them.
 * @property {() => ListedSession[]} sessions  Newest first.
 * @property {(query: string) => Promise<SearchResult>} search
 * @property {(query: string) => Promise<OutsideSession[]>} findOutside  Made in a terminal and not here.
 * @property {(session: OutsideSession) => void} openOutside
 * @property {(projectId: string) => string} projectName
 * @property {(sessionId: string) => void} openSession
 * @property {(hit: Hit) => void} openHit
 * @property {() => number} now */

/** @typedef {{ key: string, group: string, element: HTMLElement, run(): void }} PaletteRow */

/** The group of what was found by the server. */
const IN_CONVERSATIONS = "In conversations"

/** @param {PaletteDeps} deps @param {() => void} onClose */
export function openPalette(deps, onClose) {
  const input = el("input", {
    class: "palette-input",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": "Search everything",
    placeholder: "Search everything",
    autocomplete: "off",
    spellcheck: "false",
    autofocus: true,
  })
  const list = el("div", { class: "palette-list", id: "palette-list", role: "listbox", "aria-label": "Results" })
  const note = el("p", { class: "palette-note", role: "status" })
  const dialog = el(
    "dialog",
    { class: "dialog palette", "aria-label": "Search everything" },
    el("div", { class: "palette-field" }, icon("search"), input, el("kbd", { text: "Esc" })),
    list,
    note,
  )
  /** @type {PaletteRow[]} */
  let rows = []
  let chosen = 0
  let asked = ""
  const nothing = { query: "", hits: [], more: false, behind: false, problem: "" }
  /** The server's newest answer. It stays until the next arrives, so that the list does not jump while typing.
   * @type {SearchResult & { problem: string }} */
  let found = nothing
  /** Made in a terminal; of the same query. @type {OutsideSession[]} */
  let outside = []
  let isSearching = false
  /** Whether Enter was pressed before the answer came. */
  let isHurried = false
  /** While a row is pressed the rows stay as they are, because a click needs the same element until its end. */
  let isPressed = false
  let isDue = false

  async function changed() {
    const query = input.value.trim()
    asked = query
    chosen = 0
    isHurried = false
    isSearching = query.length >= 2
    if (query.length < 2) [found, outside] = [nothing, []]
    render(query)
    if (!isSearching) return
    deps.findOutside(query).then(
      (sessions) => {
        if (asked !== query || !dialog.open) return
        outside = sessions
        render(query)
      },
      () => {}, // the other results are shown
    )
    try {
      const answer = await deps.search(query)
      if (asked !== query) return
      found = { ...answer, problem: "" }
    } catch (reason) {
      if (asked !== query) return
      found = { ...nothing, problem: /** @type {{ message?: string }} */ (reason).message ?? "Search failed." }
    }
    isSearching = false
    if (!dialog.open) return
    render(query)
    if (isHurried) take(chosen)
  }

  /** A second answer, after one from an index that was behind. @param {SearchResult} answer */
  function answeredAgain(answer) {
    if (answer.query !== asked || !dialog.open) return
    found = { ...answer, problem: "" }
    const { scrollTop } = list
    const key = rows[chosen]?.key
    render(asked)
    choose(
      Math.max(
        0,
        rows.findIndex((row) => row.key === key),
      ),
    )
    list.scrollTop = scrollTop
  }

  /** @param {string} query */
  function render(query) {
    isDue = isPressed
    if (isDue) return
    const sessions =
      query === ""
        ? deps.sessions().slice(0, 8)
        : bestFits(query, deps.sessions(), ({ session, project }) => `${session.title} ${project}`, 8)
    const commands = bestFits(
      query,
      deps.commands(),
      (command) => `${command.label} ${command.path ?? ""}`,
      query === "" ? 20 : 8,
    )
    rows = [
      ...sessions.map((each) => sessionRow(each, deps)),
      ...commands.map(commandRow),
      ...found.hits.map((hit) => hitRow(hit, deps)),
      ...outside.map((session) => outsideRow(session, deps)),
    ]
    rows.forEach((row, n) => {
      row.element.id = `palette-${n}`
      row.element.addEventListener("click", () => take(n))
      row.element.addEventListener("pointermove", () => {
        if (chosen !== n) choose(n)
      })
    })
    /** @type {HTMLElement[]} */
    const groups = []
    for (const row of rows) {
      let group = groups.at(-1)
      if (group?.dataset.group !== row.group) {
        groups.push(
          (group = el(
            "div",
            { class: "palette-group", role: "group", "aria-label": row.group, "data-group": row.group },
            el("div", { class: "palette-heading", "aria-hidden": "true", text: row.group }),
          )),
        )
      }
      group.append(row.element)
    }
    list.replaceChildren(...groups)
    note.textContent =
      found.problem !== ""
        ? found.problem
        : isSearching
          ? ""
          : found.behind
            ? "Recent messages are still being indexed."
            : found.more
              ? "There are more results. Add words to narrow them down."
              : rows.length === 0
                ? `No results for “${query}”.`
                : ""
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
    // After the focus has returned to where it was: the action may move it.
    dialog.addEventListener("close", () => row.run(), { once: true })
    dialog.close()
  }

  function released() {
    isPressed = false
    if (isDue && dialog.open) render(asked)
  }

  list.addEventListener("pointerdown", () => {
    isPressed = true
    // The click belongs to the task of the release.
    for (const type of ["pointerup", "pointercancel"])
      window.addEventListener(type, () => setTimeout(released), { once: true })
  })
  input.addEventListener("input", changed)
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return
    switch (event.key) {
      case "ArrowDown":
        choose((chosen + 1) % Math.max(1, rows.length))
        break
      case "ArrowUp":
        choose((chosen - 1 + rows.length) % Math.max(1, rows.length))
        break
      case "Enter": {
        const group = rows[chosen]?.group
        // What is listed of the conversations may still be for fewer letters.
        if (isSearching && (group === undefined || group === IN_CONVERSATIONS)) isHurried = true
        else take(chosen)
        break
      }
      default:
        return
    }
    event.preventDefault()
  })
  show(dialog, onClose)
  changed()
  return { close: () => dialog.close(), answeredAgain }
}

/** @param {ListedSession} each @param {PaletteDeps} deps @returns {PaletteRow} */
function sessionRow({ session, project, mood }, deps) {
  return {
    key: session.id,
    group: "Sessions",
    run: () => deps.openSession(session.id),
    element: el(
      "div",
      { class: "palette-row", role: "option", "data-mood": mood },
      agentMark(session.cliType),
      el("span", { class: "palette-label", text: session.title }),
      mood !== "idle" && el("span", { class: "palette-state" }, el("i", { class: "dot" }), moodWords[mood]),
      el("span", { class: "palette-detail", text: `${project} · ${age(session.lastActiveAt, deps.now())}` }),
    ),
  }
}

/** @param {Command} command @returns {PaletteRow} */
function commandRow(command) {
  return {
    key: command.label,
    group: command.icon === "folder" ? "Projects" : "Commands",
    run: command.run,
    element: el(
      "div",
      { class: "palette-row", role: "option" },
      icon(command.icon),
      el("span", { class: "palette-label", text: command.label }),
      command.path && pathText(command.path, "palette-detail"),
      command.keys && el("kbd", { text: command.keys }),
    ),
  }
}

/** @param {OutsideSession} session @param {PaletteDeps} deps @returns {PaletteRow} */
function outsideRow(session, deps) {
  const project = deps.projectName(session.projectId ?? "")
  return {
    key: `${session.cliType}:${session.ref}`,
    group: "From the terminal",
    run: () => deps.openOutside(session),
    element: el(
      "div",
      { class: "palette-row", role: "option" },
      agentMark(session.cliType),
      el("span", { class: "palette-label", text: session.title }),
      el("span", { class: "palette-detail", text: `${project} · ${age(session.changed, deps.now())}` }),
    ),
  }
}

/** @param {Hit} hit @param {PaletteDeps} deps @returns {PaletteRow} */
function hitRow(hit, deps) {
  return {
    key: `${hit.sessionId} ${hit.itemId}`,
    group: IN_CONVERSATIONS,
    run: () => deps.openHit(hit),
    element: el(
      "div",
      { class: "palette-row palette-hit", role: "option" },
      agentMark(hit.cliType),
      el(
        "span",
        { class: "palette-label" },
        el(
          "span",
          { class: "palette-snippet" },
          ...hit.snippet.map(({ text, match }) => (match ? el("mark", { text }) : text)),
        ),
        el("span", { class: "palette-where", text: `${hit.title} · ${deps.projectName(hit.projectId)}` }),
      ),
      el("span", { class: "palette-detail", text: age(hit.at, deps.now()) }),
    ),
  }
}
