/** The selected file: a line with its name and what can be done with it, its difference with the comments on the lines,
 * and the bar that sends them. */

import { countsOf } from "../shared/counts.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { editorAddress, editors, readingFrom } from "../shared/reading.js"
import { mountComments } from "./changes-comments.js"
import { mountDiff } from "./changes-diff.js"
import { fileRequest, isUndone, isViewed, selectedFile } from "./changes-state.js"
import { mountCommentsBar } from "./comments-bar.js"

/** @import { ErrorBody } from "../contract.js" */
/** @import { ChangesFacts, ChangesState } from "./changes-state.js" */
/** @import { ChangesRequest } from "./changes.js" */

/** @typedef {object} SelectedFileDeps
 * @property {Storage} storage
 * @property {() => ChangesState} state
 * @property {() => ChangesFacts} facts
 * @property {(request: ChangesRequest, refused?: (error: ErrorBody) => void) => string} request  Returns the
 *   `requestId` of the answer.
 * @property {import("./typed.js").Typed} typed
 * @property {HTMLElement} revert  The button that reverts the file.
 * @property {(part: HTMLElement) => void} decorate  The rows of a part are about to be arranged.
 * @property {() => void} more  More lines around the changes are wanted.
 * @property {() => void} markViewed
 * @property {{ split?: unknown, space?: unknown }} kept  How differences were shown last,
 * @property {(how: { split: boolean } | { space: boolean }) => void} keep  and how from now on. */

/** @param {HTMLElement} root @param {SelectedFileDeps} deps */
export function mountSelectedFile(root, deps) {
  const split = toggleButton("Side by side", deps.kept.split === true)
  setAttribute(split, "data-split", true)
  const phone = matchMedia("(max-width: 500px)")
  const space = toggleButton("Ignore whitespace", deps.kept.space === true)
  const open = el("a", { class: "panel-tool", hidden: true })
  const viewed = toggleButton("Viewed", false, "Mark as viewed, next file (v)")
  const directory = el("span", { class: "changed-directory" })
  const name = el("span", { class: "panel-name" })
  const path = el("span", { class: "panel-path" }, directory, name)
  const counts = el("span", { class: "counts" })
  const tools = el("div", { class: "panel-tools" }, path, counts, split, space, open, deps.revert, viewed)
  const diff = el("div", { class: "part panel-diff", "data-kind": "diff", tabindex: "0" })
  const bar = el("div", { class: "comments-bar", hidden: true })
  root.append(tools, diff, bar)
  const difference = mountDiff(diff, { ...deps, drawn: showComments, ask: (from) => ask({ from }) })
  const focus = () => diff.focus({ preventScroll: true })
  const comments = mountComments(diff, {
    keep: (comment, refused) => deps.request({ type: "changes:comment", comment }, refused),
    remove: (commentId) => deps.request({ type: "changes:uncomment", commentId }),
    left: focus,
    cancelled: showComments,
    isAway: difference.isAway,
    typed: deps.typed,
  })
  const sendComments = () => deps.request({ type: "changes:send-comments" })
  const commentsBar = mountCommentsBar(bar, {
    send: sendComments,
    discard: () => deps.request({ type: "changes:uncomment" }),
    restore(all) {
      for (const { id: _gone, ...comment } of all) deps.request({ type: "changes:comment", comment })
    },
  })
  /** What the comments were drawn with. */
  let shown = { facts: deps.facts(), list: deps.state().list }

  /** The last request for the file as it is, and those before it whose answers have not come. */
  let awaited = ""
  /** @type {Set<string>} */
  const overtaken = new Set()

  /** Asks for a part of what is shown, or for the file as it is now. @param {{ from: number }} [part] */
  function ask(part) {
    const how = { split: isPressed(split) && !phone.matches, ignoreWhitespace: isPressed(space) }
    const request = fileRequest(deps.state(), how, part)
    if (request === null) return
    const requestId = deps.request(request)
    if ((part?.from ?? 0) > 0) return
    if (awaited !== "") overtaken.add(awaited)
    awaited = requestId
  }

  function showComments() {
    const { selected, list } = deps.state()
    comments.update(selected ?? "", deps.facts().comments, list?.moved ?? [])
  }

  function showTools() {
    const file = selectedFile(deps.state())
    tools.hidden = file === null
    if (file === null) return
    viewed.hidden = isUndone(deps.state().list)
    setAttribute(viewed, "aria-pressed", String(isViewed(deps.state(), file)))
    // What has no lines has no other way to show them.
    split.hidden = space.hidden = file.added === undefined
    const slash = file.path.lastIndexOf("/") + 1
    setText(directory, file.path.slice(0, slash))
    setText(name, file.path.slice(slash))
    setAttribute(path, "title", file.from === undefined ? file.path : `${file.from} → ${file.path}`)
    counts.replaceChildren(...countsOf(file))
    const { editor } = readingFrom(deps.storage)
    const address = addressAt(1)
    open.hidden = address === null || file.status === "deleted"
    setAttribute(open, "href", address)
    if (editor !== "") setText(open, `Open in ${editors[editor].name}`)
  }

  /** What opens the file in the editor. @param {number} line */
  function addressAt(line) {
    const { list, selected } = deps.state()
    return editorAddress(readingFrom(deps.storage).editor, `${list?.root ?? ""}/${selected}`, line)
  }

  split.addEventListener("click", () => {
    deps.keep({ split: press(split) })
    ask({ from: 0 })
  })
  space.addEventListener("click", () => {
    deps.keep({ space: press(space) })
    ask()
  })
  open.addEventListener("click", () => setAttribute(open, "href", addressAt(difference.line())))
  viewed.addEventListener("click", deps.markViewed)

  return {
    ask,
    /** Whether an answer was asked for before another one: they come in any order. @param {string} [requestId] */
    isOvertaken(requestId = "") {
      if (requestId === awaited) awaited = ""
      return overtaken.delete(requestId)
    },
    receive: difference.receive,
    retry: difference.retry,
    focus,
    comment: comments.write,
    sendComments,
    update() {
      showTools()
      const next = { facts: deps.facts(), list: deps.state().list }
      if (difference.update(deps.state().file) || shown.facts !== next.facts || shown.list !== next.list) showComments()
      shown = next
      commentsBar.update(next.facts.comments)
    },
  }
}

/** @param {string} text @param {boolean} isOn @param {string} [title] */
const toggleButton = (text, isOn, title) =>
  el("button", { class: "panel-tool", type: "button", "aria-pressed": String(isOn), text, title })

/** @param {Element} button */
const isPressed = (button) => button.getAttribute("aria-pressed") === "true"

/** @param {Element} button */
function press(button) {
  const next = !isPressed(button)
  setAttribute(button, "aria-pressed", String(next))
  return next
}
