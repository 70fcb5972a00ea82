/** The agents in the dialog that starts a session: one, or several to compare; and the options of each. */

import { agentMark } from "../shared/agents.js"
import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { copied } from "../shared/failure.js"
import { icon } from "../shared/icons.js"
import { mountControls } from "../portlet/controls.js"
import { offeredFirst } from "./agent-choice.js"
import { MOST_MEMBERS, factsOf, modeName, newMember, skips, withAnother } from "./start-state.js"

/** @import { AgentOffer, Policy } from "../contract.js" */
/** @import { AgentChoice } from "./agent-choice.js" */
/** @import { Member } from "./start-state.js" */

/** @typedef {object} StartAgentsDeps
 * @property {() => AgentChoice[]} choices  Of the chosen project; the most likely first.
 * @property {(cliType: string) => AgentOffer | undefined} offer
 * @property {Policy} policy  The default.
 * @property {() => void} changed */

/** @param {StartAgentsDeps} deps */
export function mountStartAgents(deps) {
  const chips = el("div", { class: "start-agents" })
  const more = el("button", { class: "start-more", type: "button", text: "More agents", "aria-expanded": "false" })
  const compare = el(
    "button",
    {
      class: "start-more",
      type: "button",
      title: "Several agents get the same task, each in a worktree of its own",
    },
    icon("columns"),
    el("span", { text: "Compare" }),
  )
  const rows = el("div", { class: "start-members" })
  const todo = el("p", { class: "start-todo", role: "status" })
  const element = el("div", { class: "start-who" }, chips, more, compare, rows, todo)
  /** Empty until the user chooses: then it is the most likely agent. @type {readonly Member[]} */
  let members = []
  let isComparing = false
  let showsMore = false
  /** @type {Map<string, ReturnType<typeof mountChip>>} */
  const chipViews = new Map()
  /** @type {Map<string, ReturnType<typeof mountMember>>} */
  const views = new Map()

  /** @param {string} cliType */
  const choiceOf = (cliType) => deps.choices().find(({ agent }) => agent.cliType === cliType)

  function settle() {
    if (members.length > 0) return
    const likely = deps.choices().find(({ state }) => state !== "missing")
    if (likely) members = [newMember(likely.agent.cliType, [])]
  }

  /** @param {string} cliType @param {boolean} isChosen */
  function choose(cliType, isChosen) {
    if (!isComparing) members = [newMember(cliType, [])]
    else if (!isChosen) members = members.filter((member) => member.cliType !== cliType)
    else if (members.length < MOST_MEMBERS) members = [...members, newMember(cliType, members)]
    deps.changed()
  }

  /** @param {Member} next */
  function put(next) {
    members = members.map((member) => (member.key === next.key ? next : member))
    deps.changed()
  }

  /** A chip stays the same element while the list changes around it: a click may be under way.
   * @param {AgentChoice} choice */
  function mountChip(choice) {
    const { cliType, name } = choice.agent
    const input = el("input", { name: "agent", value: cliType, class: "visually-hidden" })
    input.addEventListener("change", () => choose(cliType, input.checked))
    const word = el("span", { class: "start-word" })
    const element = el(
      "label",
      { class: "start-agent" },
      input,
      agentMark(cliType, name),
      el("span", { text: name }),
      word,
    )
    /** @param {AgentChoice} next */
    function update(next) {
      input.type = isComparing ? "checkbox" : "radio"
      input.checked = members.some((member) => member.cliType === cliType)
      input.disabled = isComparing && next.state === "missing"
      setAttribute(element, "data-state", next.state)
      // That its process runs already would read as if it were busy.
      word.hidden = ["", "ready", "running"].includes(next.word)
      setText(word, word.hidden ? "" : next.word)
    }
    update(choice)
    return { element, update }
  }

  /** @param {Member} member */
  function mountMember(member) {
    const name = el("span", { class: "start-member-name" })
    const controls = el("div", { class: "composer-controls" })
    const another = button("add", "Add it again, with other options")
    const remove = button("close", "Remove")
    const element = el(
      "div",
      { class: "start-member", role: "group" },
      agentMark(member.cliType),
      name,
      controls,
      another,
      remove,
    )
    const view = mountControls(controls, {
      request(message, onFailure) {
        const sure = message.confirmed === true
        const isRisky =
          message.type === "session:policy"
            ? message.policy === "auto"
            : skips(factsOf(member, deps.offer(member.cliType)), message.id, message.value)
        if (isRisky && !sure) {
          onFailure({ code: "OPTION_UNCONFIRMED", message: "", retryable: false })
          return
        }
        const confirmed = member.confirmed || (isRisky && message.type === "session:option")
        if (message.type === "session:policy") put({ ...member, policy: message.policy })
        else put({ ...member, confirmed, options: { ...member.options, [message.id]: message.value } })
      },
    })
    another.addEventListener("click", () => {
      members = withAnother(members, member.key)
      deps.changed()
    })
    remove.addEventListener("click", () => {
      members = members.filter(({ key }) => key !== member.key)
      deps.changed()
      compare.focus()
    })
    /** @param {Member} next */
    function update(next) {
      member = next
      const label = choiceOf(next.cliType)?.agent.name ?? next.cliType
      setText(name, label)
      setAttribute(element, "aria-label", label)
      setAttribute(element, "data-comparing", isComparing)
      another.hidden = remove.hidden = !isComparing
      another.disabled = members.length >= MOST_MEMBERS
      view.update({
        facts: factsOf(next, deps.offer(next.cliType)),
        policy: next.policy ?? deps.policy,
        askMode: modeName(choiceOf(next.cliType)?.agent.askMode),
      })
    }
    update(member)
    return { element, update }
  }

  more.addEventListener("click", () => {
    showsMore = true
    deps.changed()
    chips.querySelector("input")?.focus()
  })
  compare.addEventListener("click", () => {
    isComparing = !isComparing
    if (!isComparing) members = members.slice(0, 1)
    deps.changed()
    compare.focus()
  })

  return {
    element,
    isComparing: () => isComparing,
    members: () => members,
    /** Those that can't be used now. */
    missing: () => members.filter(({ cliType }) => choiceOf(cliType)?.state === "missing"),
    /** The project changed: what was chosen for the other one doesn't count. */
    forget() {
      members = isComparing ? members.map((member) => ({ ...member, options: {}, policy: null })) : []
    },
    update() {
      settle()
      const { offered, more: others } = offeredFirst(deps.choices())
      setAttribute(chips, "role", isComparing ? "group" : "radiogroup")
      setAttribute(chips, "aria-label", isComparing ? "Agents to compare" : "Agent")
      keyed(chips, chipViews, [...offered, ...(showsMore ? others : [])], ({ agent }) => agent.cliType, mountChip)
      more.hidden = showsMore || others.length === 0
      setAttribute(compare, "aria-pressed", String(isComparing))
      keyed(rows, views, members, ({ key }) => key, mountMember)
      const needs = members.flatMap(({ cliType }) => {
        const choice = choiceOf(cliType)
        return choice?.todo === undefined ? [] : [choice]
      })
      todo.hidden = needs.length === 0
      todo.replaceChildren(...needs.flatMap(todoParts))
    },
  }
}

/** @param {"add" | "close"} sign @param {string} label */
const button = (sign, label) =>
  el("button", { class: "icon-button", type: "button", "aria-label": label, title: label }, icon(sign))

/** @param {AgentChoice} choice */
function todoParts({ agent, state, todo = "" }) {
  const copy = el("button", { class: "start-more", type: "button", text: "Copy" })
  copy.addEventListener("click", async () => {
    copy.textContent = (await copied(todo)) ? "Copied" : "Could not copy"
  })
  const words = state === "missing" ? `${agent.name} is not installed. Run ` : `${agent.name} needs a login. Run `
  return [words, el("code", { text: todo }), copy]
}
