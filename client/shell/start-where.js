/** Where a new session works: in the project's directory, or in a new worktree with its base, its name, whether
 * uncommitted files come along, and the command that prepares it. */

import { el, setText } from "../shared/dom.js"

/** @import { Frame, WorkspaceChoice } from "../contract.js" */

/** What worktrees can be made from. @typedef {Extract<Frame, { type: "workspace:offer" }>} Offer */

/** @typedef {object} StartWhereDeps
 * @property {(projectId: string) => Promise<Offer | string>} offer  Words if there can be none.
 * @property {() => void} changed */

/** @param {StartWhereDeps} deps */
export function mountStartWhere(deps) {
  const here = choice("project", "This directory")
  const worktree = choice("worktree", "New worktree")
  const group = el(
    "div",
    { class: "segments", role: "radiogroup", "aria-label": "Where" },
    here.element,
    worktree.element,
  )
  const base = el("select", { class: "field start-base", "aria-label": "Based on" })
  const name = el("input", {
    class: "field start-name",
    "aria-label": "Name of the worktree",
    placeholder: "Name (automatic)",
    autocomplete: "off",
    spellcheck: "false",
  })
  const bring = el("input", { type: "checkbox", checked: true })
  const setup = el("input", {
    class: "field start-setup",
    "aria-label": "Setup command",
    placeholder: "Setup command, for example npm install",
    title: "Runs in each new worktree of this project. The first message waits for it.",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 4000,
  })
  const bringWords = el("span")
  const bringing = el("label", { class: "start-bring" }, bring, bringWords)
  const note = el("span", { class: "start-note" })
  const each = el("span", { class: "start-note", text: "one for each agent" })
  const details = el(
    "div",
    { class: "start-worktree" },
    el("span", { text: "from" }),
    base,
    name,
    each,
    setup,
    bringing,
  )
  const element = el("div", { class: "start-where" }, group, details, note)
  let project = ""
  let isComparing = false
  /** @type {Offer | string | null} */
  let offer = null

  const isOffered = () => offer !== null && typeof offer !== "string"
  const isWorktree = () => isComparing || worktree.input.checked

  function show() {
    const known = typeof offer === "string" ? null : offer
    here.input.disabled = isComparing
    worktree.input.disabled = typeof offer === "string"
    if (isComparing) worktree.input.checked = true
    else if (typeof offer === "string") here.input.checked = true
    details.hidden = !isWorktree() || known === null
    name.hidden = isComparing
    each.hidden = !isComparing
    const isCurrent = base.value === ""
    bringing.hidden = !known || known.uncommitted === 0 || !isCurrent
    setText(
      bringWords,
      known?.uncommitted === 1
        ? "bring 1 uncommitted file along"
        : `bring ${known?.uncommitted} uncommitted files along`,
    )
    note.hidden = typeof offer !== "string"
    setText(note, typeof offer === "string" ? offer : "")
  }

  for (const input of [here.input, worktree.input, base])
    input.addEventListener("change", () => {
      show()
      deps.changed()
    })

  return {
    element,
    /** Why it can't start like this; empty if it can. */
    trouble: () =>
      isComparing && typeof offer === "string"
        ? "Agents can only be compared in a git repository: each gets a worktree."
        : "",
    /** @param {{ projectId: string, isComparing: boolean, preferred: "project" | "worktree" }} now */
    update(now) {
      isComparing = now.isComparing
      if (now.projectId !== project) {
        project = now.projectId
        offer = null
        worktree.input.checked = now.preferred === "worktree"
        here.input.checked = !worktree.input.checked
        deps.offer(project).then((answer) => {
          if (now.projectId !== project) return
          offer = answer
          base.replaceChildren(...(typeof answer === "string" ? [] : basesOf(answer)))
          setup.value = setupOf(answer)
          show()
          deps.changed()
        })
      }
      show()
    },
    /** @param {string} prompt  What a worktree without a name is named after.
     * @returns {{ kind: "project" } | Extract<WorkspaceChoice, { kind: "worktree" }>} */
    value(prompt) {
      if (!isWorktree() || typeof offer === "string") return { kind: "project" }
      const wanted = name.value.trim() || beginningOf(prompt)
      return {
        kind: "worktree",
        ...(base.value === "" ? {} : { base: base.value }),
        ...(name.hidden || wanted === "" ? {} : { name: wanted }),
        ...(isOffered() && !bringing.hidden && bring.checked ? { bring: true } : {}),
        ...(setup.value.trim() === setupOf(offer) ? {} : { setup: setup.value.trim() }),
      }
    },
  }
}

/** In characters. */
const LONGEST_NAME = 40

/** The first words of a prompt. @param {string} prompt */
function beginningOf(prompt) {
  const line = prompt.trim().split("\n", 1)[0] ?? ""
  return line.length <= LONGEST_NAME ? line : line.slice(0, LONGEST_NAME).replace(/\s+\S*$/, "")
}

/** The command that the project has. @param {Offer | string | null} offer */
const setupOf = (offer) => (offer === null || typeof offer === "string" ? "" : (offer.setup ?? ""))

/** @param {Offer} offer */
const basesOf = ({ current, branches }) => [
  el("option", { value: "", text: current ?? "The last commit" }),
  ...branches.filter((branch) => branch !== current).map((text) => el("option", { value: text, text })),
]

/** @param {string} value @param {string} label */
function choice(value, label) {
  const input = el("input", { type: "radio", name: "where", value, class: "visually-hidden" })
  return { input, element: el("label", { class: "segment" }, input, el("span", { text: label })) }
}
