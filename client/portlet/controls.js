/** The session's controls in the composer's bar: one menu for permissions, one control for each other option. In a
 * narrow bar, and for more options than fit, the options are behind one control. */

import { confirmed } from "../shared/dialog.js"
import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { openMenu } from "../shared/menu.js"
import { neverAsks, otherOptions, permissions, toggled, valueName } from "./options.js"
import { noFacts } from "./transcript.js"

/** @import { ErrorBody, OptionValue, Policy, SessionFacts, SessionOption } from "../contract.js" */
/** @import { MenuItem } from "../shared/menu.js" */
/** @import { Permission } from "./options.js" */

/** @typedef {(
 *   | { type: "session:policy", policy: Policy, confirmed?: boolean }
 *   | { type: "session:option", id: string, value: OptionValue, confirmed?: boolean }
 * )} ControlRequest */

/** @typedef {object} ControlsDeps
 * @property {(message: ControlRequest, onFailure: (error: ErrorBody) => boolean) => void} request
 *   `onFailure` returns whether it took care of the error.
 * @property {() => void} [chosen]  The user chose in a menu. */

/** How many options have a control of their own. */
const INLINE = 4

/** @param {HTMLElement} root @param {ControlsDeps} deps */
export function mountControls(root, deps) {
  /** @type {SessionFacts} */
  let facts = noFacts
  /** @type {Policy} */
  let policy = "ask"
  /** @type {string | undefined} */
  let askMode
  const permission = mountControl("lock", () => {
    openMenu(permission.element, "Permissions", permissions(facts, policy, askMode).map(permissionItem), choiceMenu)
  })
  setAttribute(permission.element, "class", "control permission")
  const options = el("span", { class: "controls-inline" })
  const more = mountControl("settings", () => {
    const items = otherOptions(facts).map((option) => ({
      label: option.name,
      aside: valueName(option),
      run: () => choose(option.id, more.element),
    }))
    openMenu(more.element, "Options", items, choiceMenu)
  })
  setAttribute(more.element, "class", "control control-more")
  root.append(permission.element, options, more.element)
  /** @type {Map<string, ReturnType<typeof mountOption>>} */
  const views = new Map()

  /** @param {SessionOption} option */
  function mountOption(option) {
    const control = mountControl(null, () => choose(option.id, control.element))
    const view = {
      element: control.element,
      /** @param {SessionOption} next */
      update(next) {
        const name = typeof next.value === "boolean" ? next.name : valueName(next)
        control.update(name, `${next.name}: ${valueName(next)}`, titleOf(next))
        setAttribute(control.element, "data-pending", next.pending === true)
        setAttribute(control.element, "data-error", next.error !== undefined)
        setAttribute(control.element, "aria-pressed", typeof next.value === "boolean" ? String(next.value) : null)
      },
    }
    view.update(option)
    return view
  }

  /** Toggles a flag, or opens the choices. @param {string} id @param {HTMLElement} anchor */
  function choose(id, anchor) {
    const option = facts.options.find((each) => each.id === id)
    if (!option) return
    if (typeof option.value === "boolean") return setOption(option.id, toggled(option.value))
    /** @type {MenuItem[]} */
    const items = option.choices.map((choice) => ({
      label: choice.name,
      ...(choice.description === undefined ? {} : { note: choice.description }),
      ...(choice.group === undefined ? {} : { group: choice.group }),
      checked: choice.value === option.value,
      run() {
        setOption(option.id, choice.value)
        deps.chosen?.()
      },
    }))
    openMenu(anchor, option.name, items, choiceMenu)
  }

  /** @param {string} id @param {OptionValue} value */
  const setOption = (id, value) => deps.request({ type: "session:option", id, value }, () => false)

  /** @param {Permission} entry @returns {MenuItem} */
  const permissionItem = (entry) => ({
    label: entry.name,
    note: entry.note,
    checked: entry.isChosen,
    ...(entry.skips ? { kind: "warn", icon: "alert" } : {}),
    run() {
      permit(entry)
      deps.chosen?.()
    },
  })

  /** @param {Permission} entry */
  function permit(entry) {
    if (entry.isChosen) return
    if (policy !== entry.policy && entry.policy === "ask")
      deps.request({ type: "session:policy", policy: "ask" }, () => false)
    /** @type {ControlRequest | null} */
    const message =
      entry.policy === "auto"
        ? { type: "session:policy", policy: "auto", confirmed: false }
        : entry.mode && { type: "session:option", ...entry.mode }
    if (!message) return
    deps.request(message, ({ code }) => {
      if (code !== "OPTION_UNCONFIRMED") return false
      void confirmed(question(entry)).then((isSure) => {
        if (isSure) deps.request({ ...message, confirmed: true }, () => false)
      })
      return true
    })
  }

  return {
    /** Every other choice, as a command. */
    commands: () =>
      root.hidden
        ? []
        : [
            ...(neverAsks(facts) ? [] : permissions(facts, policy, askMode))
              .filter(({ isChosen }) => !isChosen)
              .map((entry) => ({ label: `Permissions: ${entry.name}`, run: () => permit(entry) })),
            ...otherOptions(facts).flatMap(({ id, name, value, choices }) =>
              typeof value === "boolean"
                ? [{ label: `${name}: ${value ? "off" : "on"}`, run: () => setOption(id, toggled(value)) }]
                : choices
                    .filter((choice) => choice.value !== value)
                    .map((choice) => ({
                      label: `${name}: ${choice.name}`,
                      run: () => setOption(id, choice.value),
                    })),
            ),
          ],
    /** A null policy: nothing is known yet. `askMode`: what the agent calls the mode in which it asks.
     * @param {{ facts: SessionFacts, policy: Policy | null, askMode?: string | undefined }} next */
    update(next) {
      root.hidden = next.policy === null
      if (next.policy === null) return
      facts = next.facts
      policy = next.policy
      askMode = next.askMode
      const all = permissions(facts, policy, askMode)
      const chosen = all.find(({ isChosen }) => isChosen) ?? all[0]
      const never = neverAsks(facts)
      const name = never ? "Acts without asking" : (chosen?.name ?? "")
      const note = never ? "This agent acts without asking for permission." : (chosen?.note ?? "")
      permission.update(name, name, note)
      permission.element.disabled = never
      setAttribute(permission.element, "data-skips", never || chosen?.skips === true)
      const others = otherOptions(facts)
      const inline = others.slice(0, INLINE)
      keyed(options, views, inline, ({ id }) => id, mountOption)
      more.update("Options", "Options", "The agent's own options")
      setAttribute(more.element, "data-always", others.length > INLINE)
      more.element.hidden = others.length === 0
    },
  }
}

const choiceMenu = { className: "choice-menu" }

/** A button without a border. @param {"lock" | "settings" | null} sign @param {() => void} open */
function mountControl(sign, open) {
  const word = el("span", { class: "control-word" })
  const element = el(
    "button",
    { class: "control", type: "button", "aria-haspopup": "menu", "aria-expanded": "false" },
    sign && icon(sign),
    word,
    icon("collapse"),
  )
  element.addEventListener("click", open)
  return {
    element,
    /** @param {string} text @param {string} label @param {string} title */
    update(text, label, title) {
      setText(word, text)
      setAttribute(element, "aria-label", label)
      setAttribute(element, "title", title)
    },
  }
}

/** @param {SessionOption} option */
const titleOf = ({ name, description, error, pending }) =>
  error ?? (pending ? `${name}. Set before the next message.` : (description ?? name))

/** Red: from then on nobody looks at what the agent does. @param {Permission} entry */
const question = ({ name, note, mode }) => ({
  kind: /** @type {const} */ ("danger"),
  ...(mode
    ? { title: `${name}?`, text: `${note} You are asked once per project.`.trim(), action: name }
    : {
        title: "Approve everything?",
        text:
          "The agent will run commands and change files in this session without asking you. " +
          "A permission that is already open still waits for your answer.",
        action: "Approve everything",
      }),
})
