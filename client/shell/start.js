/**
 * The dialog that starts a session, or several to compare: the prompt first, then agents with their options, project
 * and workspace. Enter starts. Below it are the sessions from the terminal, which can be continued instead.
 */

import { agentMark } from "../shared/agents.js"
import { show } from "../shared/dialog.js"
import { el, pathText, setText } from "../shared/dom.js"
import { isSubmit } from "../shared/enter.js"
import { icon } from "../shared/icons.js"
import { age } from "../shared/time.js"
import { mountWriting } from "../portlet/writing.js"
import { mountStartAgents } from "./start-agents.js"
import { mountStartWhere } from "./start-where.js"
import { hasTwins } from "./start-state.js"

/** @import { AgentOffer, Attachment, ErrorBody, Frame, OutsideSession, Policy, Project } from "../contract.js" */
/** @import { ChipDeps } from "../portlet/chips.js" */
/** @import { AgentChoice } from "./agent-choice.js" */
/** @import { Draft } from "../portlet/drafts.js" */
/** @import { Member } from "./start-state.js" */
/** @import { Offer } from "./start-where.js" */

/** @typedef {object} Start
 * @property {string} prompt
 * @property {Attachment[]} attachments
 * @property {string} projectId
 * @property {readonly Member[]} members  Several are compared.
 * @property {import("../contract.js").WorkspaceChoice} workspace */

/** @typedef {object} StartDeps
 * @property {Project[]} projects
 * @property {(projectId: string) => AgentChoice[]} choices  The most likely first.
 * @property {(projectId: string) => "project" | "worktree"} where  As last time.
 * @property {Policy} policy  The default.
 * @property {(projectId: string) => Promise<AgentOffer[]>} offers
 * @property {(projectId: string) => Promise<Offer | string>} workspaces
 * @property {(projectId: string) => Promise<OutsideSession[]>} outside
 * @property {(projectId: string, session: OutsideSession | null) => void} continueOutside  Null: shows all of them.
 * @property {(projectId: string, query: string) => Promise<Extract<Frame, { type: "files:found" }>>} findFiles
 * @property {(bytes: Blob, name: string) => Promise<Attachment>} upload
 * @property {(start: Start) => Promise<() => void>} start  Rejects if it can't start, and the dialog stays. Resolves
 *   with what moves the focus there, once the dialog is closed.
 * @property {(draft: Draft) => void} keep  The words, until they are sent. */

/** How many sessions from the terminal are shown. */
const OUTSIDE = 5

/** @param {Draft & { projectId: string }} first @param {StartDeps & ChipDeps} deps */
export function openStart(first, deps) {
  const ending = new AbortController()
  const { signal } = ending
  const prompt = el("textarea", {
    class: "start-prompt",
    rows: 2,
    "aria-label": "What should be done?",
    placeholder: "What should be done?",
    autofocus: true,
    autocomplete: "off",
  })
  prompt.value = first.text
  const project = el(
    "select",
    { class: "field start-project", "aria-label": "Project" },
    ...deps.projects.map(({ id, name }) => el("option", { value: id, text: name })),
  )
  project.value = first.projectId
  const path = el("span", { class: "start-path" })
  /** What each agent offers in the chosen project. @type {Map<string, AgentOffer>} */
  let offers = new Map()
  const agents = mountStartAgents({
    choices: () => deps.choices(project.value),
    offer: (cliType) => offers.get(cliType),
    policy: deps.policy,
    changed: update,
  })
  const where = mountStartWhere({ offer: deps.workspaces, changed: update })
  const writingBox = el("div", { class: "start-writing" })
  const writing = mountWriting(
    writingBox,
    prompt,
    {
      ...deps,
      agent: () => deps.choices(project.value).find(({ agent }) => agent.cliType === only()?.cliType)?.agent.name ?? "",
      takesPictures: () => agents.members().every(({ cliType }) => offers.get(cliType)?.takesPictures !== false),
      findFiles: (query) => deps.findFiles(project.value, query).then(writing.popup.found, () => {}),
      changed() {
        deps.keep({ text: prompt.value, attachments: writing.attach.list() })
        update()
      },
      send: submit,
    },
    signal,
  )
  const who = el("span")
  const words = el("p", { class: "start-words", role: "status" })
  const cancel = el("button", { class: "button", type: "button" }, "Cancel", el("kbd", { text: "Esc" }))
  const beginWords = el("span")
  const begin = el(
    "button",
    { class: "button", "data-kind": "main", type: "submit" },
    beginWords,
    el("kbd", { text: "Enter" }),
  )
  const outside = el("section", { class: "start-outside", "aria-label": "Sessions from the terminal", hidden: true })
  writingBox.append(
    writing.attach.element,
    prompt,
    el(
      "div",
      { class: "start-tools" },
      writing.attach.button,
      tool("@", "File", () => writing.insert("@")),
      tool("/", "Command", () => {
        if (prompt.value === "") writing.insert("/")
      }),
    ),
  )
  const form = el(
    "form",
    { method: "dialog" },
    writingBox,
    el("div", { class: "start-row" }, who, agents.element),
    el("div", { class: "start-row" }, el("span", { text: "Project" }), el("div", {}, project, path)),
    el("div", { class: "start-row" }, el("span", { text: "Where" }), where.element),
    el("footer", { class: "start-foot" }, words, cancel, begin),
    outside,
  )
  const dialog = el("dialog", { class: "dialog start", "aria-label": "New session" }, form)
  let isStarting = false
  let focusStarted = () => {}

  const only = () => (agents.members().length === 1 ? agents.members()[0] : undefined)

  /** Why it can't start; empty if it can. */
  function trouble() {
    const count = agents.members().length
    if (agents.isComparing() && count < 2) return "Choose two or more agents, or one with two models."
    if (agents.isComparing() && prompt.value.trim() === "" && writing.attach.isEmpty()) return "Describe the task."
    if (agents.isComparing() && hasTwins(agents.members()))
      return "Two of these are identical. Choose another model or mode for one."
    if (writing.attach.isUploading()) return "Uploading…"
    return where.trouble()
  }

  function update() {
    agents.update()
    const isComparing = agents.isComparing()
    where.update({ projectId: project.value, isComparing, preferred: deps.where(project.value) })
    writing.popup.offer(
      deps.choices(project.value).find(({ agent }) => agent.cliType === only()?.cliType)?.agent.name ?? "",
      offers.get(only()?.cliType ?? "")?.commands ?? [],
    )
    setText(who, isComparing ? "Agents" : "Agent")
    const why = trouble()
    const count = agents.members().length
    const often = count === 2 ? "twice" : `${count} times`
    setText(words, why || (isComparing ? `The same task, ${often}. Keep the one you like best.` : ""))
    const compare = count < 2 ? "Compare" : `Compare ${count}`
    setText(beginWords, isStarting ? "Starting…" : isComparing ? compare : "Start")
    begin.disabled = isStarting || why !== "" || count === 0 || agents.missing().length > 0
    path.replaceChildren(pathText(deps.projects.find(({ id }) => id === project.value)?.path ?? ""))
  }

  /** Asks what the agents offer in the chosen project, and for its sessions from the terminal. */
  function ask() {
    const projectId = project.value
    const isCurrent = () => dialog.open && project.value === projectId
    deps.offers(projectId).then(
      (list) => {
        if (!isCurrent()) return
        offers = new Map(list.map((offer) => [offer.cliType, offer]))
        update()
      },
      () => {}, // then none are known
    )
    outside.hidden = true
    deps.outside(projectId).then(
      (sessions) => isCurrent() && showOutside(sessions),
      () => {},
    )
  }

  /** @param {OutsideSession[]} sessions */
  function showOutside(sessions) {
    outside.hidden = sessions.length === 0
    const all = el(
      "button",
      { class: "start-more", type: "button" },
      icon("search"),
      el("span", { text: `Find in ${sessions.length}` }),
    )
    all.addEventListener("click", () => leave(null))
    outside.replaceChildren(
      el("header", {}, el("h3", { text: "Continue a session made in the terminal" }), all),
      ...sessions.slice(0, OUTSIDE).map((session) => {
        const row = el(
          "button",
          { class: "start-outside-row", type: "button" },
          agentMark(session.cliType),
          el("span", { class: "start-outside-title", text: session.title }),
          el("span", { class: "start-outside-branch", text: session.branch ?? "" }),
          el("time", { text: age(session.changed, Date.now()) }),
        )
        row.addEventListener("click", () => leave(session))
        return row
      }),
    )
  }

  /** @param {OutsideSession | null} session */
  function leave(session) {
    dialog.close()
    deps.continueOutside(project.value, session)
  }

  async function submit() {
    update()
    if (begin.disabled) return
    isStarting = true
    update()
    const asked = prompt.value.trim()
    /** @type {Start} */
    const start = {
      prompt: asked,
      attachments: writing.attach.list(),
      projectId: project.value,
      members: agents.members(),
      workspace: where.value(asked),
    }
    try {
      focusStarted = await deps.start(start)
      dialog.close()
    } catch (reason) {
      isStarting = false
      update()
      setText(words, /** @type {ErrorBody} */ (reason).message)
    }
  }

  prompt.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || writing.popup.key(event)) return
    if (!isSubmit(event)) return
    event.preventDefault()
    submit()
  })
  project.addEventListener("change", () => {
    agents.forget()
    offers = new Map()
    ask()
    update()
  })
  cancel.addEventListener("click", () => dialog.close())
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    submit()
  })
  if (first.attachments.length > 0) writing.attach.put(first.attachments)
  update()
  show(dialog, () => {
    ending.abort()
    focusStarted()
  })
  writing.grow()
  prompt.setSelectionRange(prompt.value.length, prompt.value.length)
  ask()
  return { update }
}

/** @param {string} sign @param {string} label @param {() => void} run */
function tool(sign, label, run) {
  const button = el(
    "button",
    { class: "start-more", type: "button" },
    el("kbd", { text: sign, "aria-hidden": "true" }),
    el("span", { text: label }),
  )
  button.addEventListener("click", run)
  return button
}
