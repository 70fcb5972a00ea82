/**
 * The form that adds a project: a path, with suggestions from the server. Tab and the arrows complete it, and Tab
 * leaves the field only if there is nothing to complete; Enter adds, Escape cancels. Until the user adds it, only
 * requests for suggestions are sent.
 */

import { el, pathText, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { completion, isPath, onceEach, withTilde } from "./completion.js"

/** @typedef {{ entries: string[], home?: string }} Completions  `home`: what `~` stands for. */

/** @typedef {object} AddProjectDeps
 * @property {(prefix: string) => Promise<Completions>} complete
 * @property {() => string[]} places  Directories that hold projects already, the newest first.
 * @property {() => string[]} recent  Projects that were removed, the last one first; then where agents worked before.
 * @property {(path: string) => Promise<void>} add  Rejects with an `ErrorBody`.
 * @property {() => void} closed */

/** @param {HTMLElement} root @param {AddProjectDeps} deps */
export function mountAddProject(root, deps) {
  const input = el("input", {
    class: "field",
    id: "add-project-path",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": "add-project-list",
    "aria-describedby": "add-project-problem",
    placeholder: "~/path/to/project",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  })
  const list = el("ul", {
    class: "path-list",
    id: "add-project-list",
    role: "listbox",
    "aria-label": "Directories",
    hidden: true,
  })
  const problem = el("p", { class: "problem", id: "add-project-problem", role: "alert" })
  const submit = el("button", { class: "button", "data-kind": "main", type: "submit", text: "Add" })
  const cancel = el("button", { class: "button", type: "button", text: "Cancel" })
  const form = el(
    "form",
    { class: "add-project", "aria-label": "Add project" },
    el("label", { for: "add-project-path", text: "Project directory" }),
    list,
    input,
    problem,
    el("div", { class: "add-project-actions" }, cancel, submit),
  )
  /** @type {string[]} */
  let entries = []
  let chosen = -1
  let destroyed = false
  /** The text that the suggestions are for. */
  let suggestedFor = ""

  /** A name without a path is looked for beside other projects and at home. @param {string} typed */
  const pathsFor = (typed) =>
    typed === "" || isPath(typed)
      ? [typed === "" ? "~/" : typed]
      : [...deps.places().slice(0, 8), "~/"].map((place) => `${place}${typed}`)

  /** Suggests completions of the current text; answers to earlier text are ignored. */
  async function suggest() {
    const prefix = input.value
    /** @type {Completions} */
    const none = { entries: [] }
    const found = await Promise.all(pathsFor(prefix).map((path) => deps.complete(path).catch(() => none)))
    if (destroyed || input.value !== prefix) return
    const chosenMeanwhile = entries[chosen]
    suggestedFor = prefix
    const known = prefix === "" ? [...deps.recent(), ...deps.places()] : []
    const all = [...known, ...found.flatMap((each) => each.entries)]
    const home = found.find((each) => each.home !== undefined)?.home
    // A path that is being typed goes on as it began.
    entries = onceEach(isPath(prefix) ? all : all.map((path) => withTilde(path, home))).slice(0, 50)
    list.replaceChildren(
      ...entries.map((entry, n) => {
        const option = el(
          "li",
          { class: "path-option", role: "option", id: `path-option-${n}`, title: entry },
          icon("folder"),
          el("span", { class: "path-name", text: entry.replace(/\/$/, "").split("/").at(-1) ?? entry }),
          pathText(entry.replace(/[^/]*\/?$/, ""), "path-parent"),
        )
        option.addEventListener("pointerdown", (event) => event.preventDefault()) // keeps the caret in the field
        option.addEventListener("click", () => take(entry))
        return option
      }),
    )
    list.hidden = entries.length === 0
    setAttribute(input, "aria-expanded", String(entries.length > 0))
    choose(chosenMeanwhile === undefined ? -1 : entries.indexOf(chosenMeanwhile))
  }

  /** @param {number} n */
  function choose(n) {
    chosen = n
    ;[...list.children].forEach((option, at) => setAttribute(option, "aria-selected", at === n ? "true" : "false"))
    const option = list.children[n]
    setAttribute(input, "aria-activedescendant", option?.id ?? null)
    option?.scrollIntoView({ block: "nearest" })
  }

  /** @param {string} path */
  function take(path) {
    input.value = path
    input.setSelectionRange(path.length, path.length)
    input.scrollLeft = input.scrollWidth
    changed()
  }

  /** Completes the text or, if several directories could follow, chooses the first. False if there is nothing. */
  function complete() {
    if (destroyed || entries.length === 0) return false
    const done = completion(input.value, chosen >= 0 ? entries.slice(chosen, chosen + 1) : entries)
    if (done === null) choose((chosen + 1) % entries.length)
    else take(done)
    return true
  }

  /** The text changed, so the chosen suggestion no longer applies. */
  function changed() {
    showProblem("")
    choose(-1)
    suggest()
  }

  /** @param {string} text */
  function showProblem(text) {
    problem.textContent = text
    setAttribute(input, "aria-invalid", text === "" ? null : "true")
  }

  input.addEventListener("input", changed)
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (entries.length === 0) return
      const by = event.key === "ArrowDown" ? 1 : -1
      choose(chosen < 0 ? (by > 0 ? 0 : entries.length - 1) : (chosen + by + entries.length) % entries.length)
    } else if (event.key === "Tab" && !event.shiftKey) {
      if (input.value !== suggestedFor) suggest().then(complete)
      else if (!complete()) return // Tab moves the focus as usual
    } else if (event.key === "Enter" && chosen >= 0) {
      take(completion(input.value, entries.slice(chosen, chosen + 1)) ?? entries[chosen] ?? input.value)
    } else return
    event.preventDefault()
  })
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return
    event.preventDefault()
    event.stopPropagation()
    deps.closed()
  })
  cancel.addEventListener("click", () => deps.closed())
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    const path = input.value.trim()
    if (path === "") return showProblem("Type the path of a directory.")
    submit.disabled = true
    try {
      await deps.add(path)
      deps.closed()
    } catch (reason) {
      showProblem(/** @type {{ message?: string }} */ (reason).message ?? "Could not add the project.")
      input.focus()
    } finally {
      submit.disabled = false
    }
  })

  root.append(form)
  input.focus()
  suggest()
  return {
    destroy() {
      destroyed = true
      form.remove()
    },
  }
}
