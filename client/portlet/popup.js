/**
 * The popup above the composer: the agent's commands after `/`, the files of the workspace after `@`. The text keeps
 * the focus; arrows choose, Tab completes, Enter takes, Escape closes.
 */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { mentionOf, ranked, triggerAt } from "./trigger.js"

/** @import { FileEntry, Frame, SlashCommand } from "../contract.js" */
/** @import { Trigger } from "./trigger.js" */

/** @typedef {object} PopupDeps
 * @property {(query: string) => void} findFiles  The answer comes back through `found`.
 * @property {(start: number, end: number, text: string) => void} replace  Changes a part of the text.
 * @property {() => void} send */

/** @typedef {{ element: HTMLElement, take(how: "complete" | "take"): void }} Row */

/** @param {HTMLElement} root the composer @param {HTMLTextAreaElement} input @param {PopupDeps} deps
 * @param {AbortSignal} signal */
export function mountPopup(root, input, deps, signal) {
  const title = el("span")
  const count = el("span")
  const list = el("div", { class: "popup-list", role: "listbox", id: "composer-popup", "aria-label": "Suggestions" })
  const foot = el("div", { class: "popup-foot" }, key("↑↓", "choose"), key("Tab", "complete"), key("Enter", "insert"))
  foot.append(key("Esc", "close"))
  const popup = el(
    "div",
    { class: "popup", hidden: true },
    el("div", { class: "popup-head" }, title, count),
    list,
    foot,
  )
  root.append(popup)

  /** @type {{ agent: string, commands: SlashCommand[] }} */
  let offered = { agent: "", commands: [] }
  /** @type {Trigger | null} */
  let trigger = null
  /** The files of the last answer. @type {{ query: string, entries: FileEntry[], more: boolean } | null} */
  let files = null
  /** The query that was asked for last; null when none is. @type {string | null} */
  let asked = null
  /** Where the user closed the popup: it stays closed there. */
  let closedAt = -1
  /** @type {Row[]} */
  let rows = []
  /** What the rows show. They stay while it is the same, so that a click under way is not lost. */
  let shown = ""
  let chosen = 0

  function look() {
    // In a long text the browser takes milliseconds to tell where the selection is.
    const caret = document.activeElement === input ? input.selectionStart : -1
    trigger = caret < 0 ? null : triggerAt(input.value, caret)
    if (trigger !== null && caret !== input.selectionEnd) trigger = null
    if (trigger?.start !== closedAt) closedAt = -1
    if (trigger === null || closedAt >= 0) return close()
    if (trigger.kind === "file" && asked !== trigger.query) {
      asked = trigger.query
      deps.findFiles(trigger.query)
    }
    fill(trigger)
  }

  /** @param {Trigger} now */
  function fill(now) {
    // The last answer stays until the next one comes, so that the list doesn't flicker.
    const entries = now.kind === "file" ? (files?.entries ?? []) : []
    const found = now.kind === "file" ? [] : ranked(now.query, offered.commands, ({ name }) => name)
    const key = JSON.stringify([entries, found])
    if (key === shown) return
    shown = key
    if (now.kind === "file") {
      rows = entries.map(fileRow)
      setText(title, "Files and directories")
      setText(count, files?.more ? "keep typing for more" : "")
    } else {
      rows = found.map(({ each, match }) => commandRow(each, match))
      setText(title, offered.agent)
      setText(count, `${rows.length} of ${offered.commands.length}`)
    }
    popup.hidden = rows.length === 0
    if (popup.hidden) return close()
    rows.forEach(({ element }, n) => {
      element.id = `composer-popup-${n}`
      element.addEventListener("pointermove", () => choose(n))
      // Keeps the focus in the text.
      element.addEventListener("pointerdown", (event) => event.preventDefault())
      element.addEventListener("click", () => rows[n]?.take("take"))
    })
    list.replaceChildren(...rows.map(({ element }) => element))
    setAttribute(input, "role", "combobox")
    setAttribute(input, "aria-expanded", "true")
    setAttribute(input, "aria-controls", list.id)
    choose(0)
  }

  /** @param {number} n */
  function choose(n) {
    chosen = n
    rows.forEach(({ element }, at) => setAttribute(element, "aria-selected", at === n ? "true" : "false"))
    setAttribute(input, "aria-activedescendant", `composer-popup-${n}`)
    rows[n]?.element.scrollIntoView({ block: "nearest" })
  }

  function close() {
    popup.hidden = true
    rows = []
    shown = ""
    if (trigger === null) asked = files = null
    for (const name of ["role", "aria-expanded", "aria-controls", "aria-activedescendant"]) input.removeAttribute(name)
  }

  /** @param {SlashCommand} command @param {number[]} match @returns {Row} */
  function commandRow(command, match) {
    const name = el("span", { class: "popup-name" }, "/", ...marked([...command.name], match))
    if (command.hint) name.append(el("span", { class: "popup-hint", text: command.hint }))
    const element = row(name, el("span", { class: "popup-what", text: command.description }))
    return {
      element,
      take(how) {
        // One that takes words waits for them.
        const isWhole = how === "take" && !command.hint
        put(isWhole ? `/${command.name}` : `/${command.name} `)
        if (isWhole) deps.send()
      },
    }
  }

  /** @param {FileEntry} entry @returns {Row} */
  function fileRow(entry) {
    const letters = [...entry.path]
    const split = letters.lastIndexOf("/") + 1
    const isIn = entry.match.filter((at) => at >= split).map((at) => at - split)
    const name = el("span", { class: "popup-name" }, ...marked(letters.slice(split), isIn))
    const directory = el(
      "span",
      { class: "popup-hint" },
      ...marked(letters.slice(0, Math.max(0, split - 1)), entry.match),
    )
    const isDirectory = entry.kind === "directory"
    const element = row(icon(isDirectory ? "folder" : "read"), name, directory)
    return {
      element,
      take(how) {
        const isStep = isDirectory && how === "complete" && !/[\s"]/.test(entry.path)
        put(isStep ? `@${entry.path}/` : `${mentionOf(entry.path)} `)
      },
    }
  }

  /** In place of what was typed. @param {string} text */
  function put(text) {
    if (trigger) deps.replace(trigger.start, trigger.end, text)
  }

  input.addEventListener("blur", () => close(), { signal })
  document.addEventListener("selectionchange", () => document.activeElement === input && look(), { signal })

  return {
    look,
    /** @param {string} agent @param {SlashCommand[]} commands */
    offer(agent, commands) {
      if (offered.agent === agent && offered.commands === commands) return
      offered = { agent, commands }
      if (trigger?.kind === "command") look()
    },
    /** @param {Extract<Frame, {type: "files:found"}>} found */
    found({ query, entries, more }) {
      if (asked !== query) return
      files = { query, entries, more }
      look()
    },
    /** Whether the key was for the popup. @param {KeyboardEvent} event */
    key(event) {
      if (popup.hidden || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false
      if (event.key === "ArrowDown") choose((chosen + 1) % rows.length)
      else if (event.key === "ArrowUp") choose((chosen + rows.length - 1) % rows.length)
      else if (event.key === "Tab") rows[chosen]?.take("complete")
      else if (event.key === "Enter") rows[chosen]?.take("take")
      else if (event.key === "Escape") {
        closedAt = trigger?.start ?? -1
        close()
      } else return false
      event.preventDefault()
      // An Escape for the popup must not count towards stopping the turn.
      event.stopPropagation()
      return true
    },
  }
}

/** @param {...Node} inside */
const row = (...inside) => el("div", { class: "popup-row", role: "option" }, ...inside)

/** @param {string} name @param {string} does */
const key = (name, does) => el("span", {}, el("kbd", { text: name }), ` ${does}`)

/** The letters, with those that match in bold. @param {string[]} letters @param {number[]} match @returns {Node[]} */
function marked(letters, match) {
  const bold = new Set(match)
  /** @type {Node[]} */
  const nodes = []
  for (let at = 0; at < letters.length;) {
    const isBold = bold.has(at)
    let end = at
    while (end < letters.length && bold.has(end) === isBold) end += 1
    const text = letters.slice(at, end).join("")
    nodes.push(isBold ? el("b", { text }) : document.createTextNode(text))
    at = end
  }
  return nodes
}
