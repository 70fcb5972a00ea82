/** The form for a session in a worktree of its own: agent, base, name, whether uncommitted files come along, and the
 * command that prepares it. */

import { openDialog } from "../shared/dialog.js"
import { el } from "../shared/dom.js"

/** @import { Agent, Frame, WorkspaceChoice } from "../contract.js" */

/** @typedef {Extract<Frame, { type: "workspace:offer" }>} Offer */

/** @param {string} project its name @param {Agent[]} agents the likeliest first @param {Offer} offer
 * @param {(cliType: string, workspace: WorkspaceChoice) => void} create */
export function openWorktreeDialog(project, agents, offer, create) {
  const agent = choice(
    "worktree-agent",
    agents.map(({ cliType, name }) => [cliType, name]),
  )
  const others = offer.branches.filter((branch) => branch !== offer.current)
  const base = choice("worktree-base", [
    ["", offer.current ?? "The last commit"],
    ...others.map((name) => /** @type {[string, string]} */ ([name, name])),
  ])
  const name = el("input", {
    class: "field",
    id: "worktree-name",
    placeholder: "Chosen for you",
    autocomplete: "off",
    spellcheck: "false",
  })
  const bring = el("input", { type: "checkbox", id: "worktree-bring", role: "switch", class: "switch", checked: true })
  const files = offer.uncommitted === 1 ? "1 uncommitted file" : `${offer.uncommitted} uncommitted files`
  const bringField = field(`Bring ${files} along`, "worktree-bring", el("span", { class: "settings-switch" }, bring))
  const showBring = () => {
    bringField.hidden = offer.uncommitted === 0 || base.value !== ""
  }
  base.addEventListener("change", showBring)
  showBring()
  const setup = el("input", {
    class: "field",
    id: "worktree-setup",
    placeholder: "None, for example npm install",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 4000,
    value: offer.setup ?? "",
    title: "Runs in each new worktree of this project. The first message waits for it.",
  })
  const cancel = el("button", { class: "button", type: "button", text: "Cancel" })
  const submit = el("button", { class: "button", "data-kind": "main", type: "submit", text: "Create session" })
  const form = el(
    "form",
    { class: "worktree-form" },
    el("p", { text: "The agent gets its own copy of the files on a new branch. The project itself stays as it is." }),
    field("Agent", "worktree-agent", agent),
    field("Based on", "worktree-base", base),
    field("Name", "worktree-name", name),
    bringField,
    field("Setup command", "worktree-setup", setup),
    el("div", { class: "dialog-actions" }, cancel, submit),
  )
  const dialog = openDialog(`New session in a worktree of ${project}`, [form], { className: "worktree" })
  cancel.addEventListener("click", () => dialog.close())
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    dialog.close()
    create(agent.value, {
      kind: "worktree",
      ...(base.value === "" ? {} : { base: base.value }),
      ...(name.value.trim() === "" ? {} : { name: name.value.trim() }),
      ...(bringField.hidden || !bring.checked ? {} : { bring: true }),
      ...(setup.value.trim() === (offer.setup ?? "") ? {} : { setup: setup.value.trim() }),
    })
  })
  agent.focus()
}

/** @param {string} label @param {string} id @param {HTMLElement} control */
const field = (label, id, control) =>
  el("div", { class: "settings-field" }, el("label", { for: id, text: label }), control)

/** @param {string} id @param {[value: string, label: string][]} options */
const choice = (id, options) =>
  el("select", { class: "field", id }, ...options.map(([value, label]) => el("option", { value, text: label })))
