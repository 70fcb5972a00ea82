/** One session in the sidebar: its state, title and age; archiving, its menu, and renaming it in place. */

import { agentName, markOf } from "../shared/agents.js"
import { countsText } from "../shared/counts.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { age, fullTime } from "../shared/time.js"
import { moodWords, stateWords } from "./model.js"

/** @import { SessionListItem } from "../contract.js" */
/** @import { Mood } from "./model.js" */

/** @typedef {object} SessionRow
 * @property {SessionListItem} session
 * @property {Mood} mood
 * @property {boolean} current  Its tab is active.
 * @property {boolean} editing  Its title is being changed.
 * @property {boolean} pinned */

/** @typedef {object} SessionRowDeps
 * @property {(sessionId: string) => void} open  In a tab that the next one replaces, until it is kept.
 * @property {(sessionId: string) => void} keep
 * @property {(sessionId: string) => void} archive
 * @property {(sessionId: string, anchor: HTMLElement, at?: { x: number, y: number }) => void} menu
 * @property {(sessionId: string, title: string | null) => void} renamed  Null: unchanged.
 * @property {() => number} now */

/** @param {SessionRow} row @param {SessionRowDeps} deps */
export function mountSessionRow(row, deps) {
  const id = row.session.id
  const isBranch = row.session.branchOf?.as === "branch"
  const dot = el("i", { class: "dot", "aria-hidden": "true" })
  const title = el("span", { class: "session-title" })
  const counts = el("span", { class: "session-counts", "aria-hidden": "true" })
  const mark = el("span", { class: "session-agent", "aria-hidden": "true" })
  const time = el("time", { class: "session-age" })
  const open = el(
    "button",
    { class: "session-open", type: "button", "data-session": id, "data-branch": isBranch, tabindex: -1 },
    dot,
    isBranch && icon("branch"),
    title,
    counts,
    mark,
    time,
  )
  const more = el(
    "button",
    { class: "icon-button session-more", type: "button", tabindex: -1, "aria-haspopup": "menu" },
    icon("more"),
  )
  const archive = el(
    "button",
    { class: "icon-button", type: "button", tabindex: -1, title: "Archive" },
    icon("archive"),
  )
  const element = el("li", { class: "session" }, open, el("span", { class: "session-actions" }, archive, more))
  /** @type {HTMLInputElement | null} */
  let field = null
  let drawn = false

  open.addEventListener("click", () => deps.open(id))
  open.addEventListener("dblclick", () => deps.keep(id))
  archive.addEventListener("click", () => deps.archive(id))
  more.addEventListener("click", () => deps.menu(id, more))
  element.addEventListener("contextmenu", (event) => {
    if (field) return
    event.preventDefault()
    deps.menu(id, more, { x: event.clientX, y: event.clientY })
  })

  function edit() {
    if (field) return
    const input = el("input", {
      class: "field session-rename",
      "aria-label": "Session title",
      maxlength: 200,
      value: row.session.title,
    })
    field = input
    let done = false
    /** @param {boolean} keep */
    const finish = (keep) => {
      if (done) return
      done = true
      const text = input.value.trim()
      const hadFocus = document.activeElement === input
      input.replaceWith(open)
      field = null
      if (hadFocus) open.focus()
      deps.renamed(id, keep && text !== "" && text !== row.session.title ? text : null)
    }
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return
      if (event.key === "Enter") finish(true)
      else if (event.key === "Escape") finish(false)
      else return
      event.preventDefault()
      event.stopPropagation()
    })
    input.addEventListener("blur", () => finish(true))
    open.replaceWith(input)
    input.focus()
    input.select()
  }

  const view = {
    element,
    /** @param {SessionRow} next */
    update(next) {
      if (drawn && same(row, next)) return // of a thousand rows, most have not changed
      drawn = true
      row = next
      const { session, mood, current } = next
      setText(title, session.title)
      const changed = countsText(session.counts)
      setAttribute(open, "title", changed === "" ? session.title : `${session.title}\n${changed}`)
      setText(counts, changed)
      setAttribute(element, "data-mood", mood)
      setAttribute(element, "data-pinned", next.pinned)
      setAttribute(element, "draggable", next.pinned ? "true" : null)
      setAttribute(dot, "title", stateWords(mood))
      setAttribute(open, "aria-current", current ? "true" : null)
      setText(mark, markOf(session.cliType))
      setAttribute(more, "aria-label", `Actions for ${session.title}`)
      setAttribute(archive, "aria-label", `Archive ${session.title}`)
      setAttribute(time, "datetime", session.lastActiveAt)
      setAttribute(time, "title", fullTime(session.lastActiveAt))
      view.tick()
      if (next.editing) edit()
    },
    tick() {
      const { session, mood, pinned } = row
      const since = age(session.lastActiveAt, deps.now())
      setText(time, since)
      // Words that only screen readers get would be a layer each: there may be a thousand rows.
      const kind = [isBranch ? "branch" : "", agentName(session.cliType)]
      const spoken = [session.title, ...kind, moodWords[mood], pinned ? "pinned" : "", since]
      setAttribute(open, "aria-label", spoken.filter(Boolean).join(", "))
    },
  }
  view.update(row)
  return view
}

/** @param {SessionRow} a @param {SessionRow} b */
const same = (a, b) =>
  a.session === b.session &&
  a.mood === b.mood &&
  a.current === b.current &&
  a.editing === b.editing &&
  a.pinned === b.pinned
