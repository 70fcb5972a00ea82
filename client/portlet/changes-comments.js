/** The comments among the lines of a difference, and the form to write one. */

import { el, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { onMac } from "../shared/keys.js"
import { lastLine, movedWords, rangeOf, rangeWords } from "./comments-state.js"
import { keepTyped } from "./typed.js"

/** @import { Comment, DiffSide, ErrorBody, MovedComment, NewComment } from "../contract.js" */
/** @import { DiffLine } from "./comments-state.js" */
/** @import { Typed } from "./typed.js" */

/** @typedef {object} CommentDeps
 * @property {(comment: NewComment, refused: (error: ErrorBody) => void) => void} keep
 * @property {(id: string) => void} remove
 * @property {() => void} left  The form was closed.
 * @property {() => void} cancelled  A comment that was being edited is to be shown again, as it was.
 * @property {Typed} typed  Those that were not kept.
 * @property {(side: DiffSide, line: number) => boolean} isAway  Whether the row of a line is not drawn now. */

/** A comment that is being written.
 * @typedef {{ about: NewComment, form: HTMLElement, text: HTMLTextAreaElement }} Writing */

/** @param {HTMLElement} root the difference @param {CommentDeps} deps */
export function mountComments(root, deps) {
  const plus = el(
    "button",
    { class: "comment-plus", type: "button", tabindex: "-1", "aria-label": "Comment on this line", hidden: true },
    icon("add"),
  )
  /** @type {Writing | null} */
  let writing = null
  /** The others: in files that are not shown now, or refused while another one was being written. @type {Writing[]} */
  const unsaved = []
  let path = ""
  /** The rows that are chosen, from one to another. @type {{ from: HTMLElement, to: HTMLElement } | null} */
  let chosen = null
  let isChoosing = false
  /** The row that the button is at. @type {HTMLElement | null} */
  let pointed = null

  const rows = () => /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".rows :is(.same, .add, .del)")])

  /** @param {HTMLElement} row @returns {DiffLine} */
  const lineOf = (row) => ({
    old: numberOf(row.dataset["old"]),
    new: numberOf(row.dataset["new"]),
    text: row.textContent ?? "",
  })

  /** @param {{ from: HTMLElement, to: HTMLElement } | null} next */
  function choose(next) {
    chosen = next
    const all = rows()
    const ends = next === null ? [] : [all.indexOf(next.from), all.indexOf(next.to)]
    const [from, to] = [Math.min(...ends), Math.max(...ends)]
    all.forEach((row, at) => setAttribute(row, "data-chosen", at >= from && at <= to))
  }

  /** Opens the form below the chosen lines. */
  function write() {
    if (chosen === null || isKept()) return choose(null)
    const all = rows()
    const [from, to] = [all.indexOf(chosen.from), all.indexOf(chosen.to)]
    choose(null)
    // The file was drawn again meanwhile.
    if (from === -1 || to === -1) return
    const range = rangeOf(all.map(lineOf), from, to)
    if (range === null) return
    const { side, first, last, snippet } = range
    open({ path, side, lines: [first, last], snippet, text: "" })
  }

  /** Whether a comment has words that closing it would lose. */
  const isUnsaved = () => writing !== null && writing.text.value !== writing.about.text

  /** Nothing else is opened then: the focus goes back to them. */
  function isKept() {
    if (writing === null || !isUnsaved()) return false
    // Its lines may be in a part of the file that is not drawn.
    if (!writing.form.isConnected) root.prepend(writing.form)
    writing.text.focus()
    return true
  }

  /** @param {NewComment} about */
  function open(about) {
    close()
    writing = formFor(about, about.text)
    show()
  }

  function show() {
    if (writing === null) return
    put(writing.form, writing.about.side, writing.about.lines[1])
    writing.text.focus()
  }

  /** Goes on with one that is not kept yet. */
  function resume() {
    const at = unsaved.findIndex(({ about }) => about.path === path)
    if (writing === null && at !== -1) writing = unsaved.splice(at, 1)[0] ?? null
  }

  /** @param {NewComment} about @param {string} words @param {string} [problem] @returns {Writing} */
  function formFor(about, words, problem) {
    const text = el("textarea", {
      class: "comment-text",
      rows: "2",
      placeholder: "What should the agent know or do here?",
      "aria-label": "Comment",
    })
    text.value = words
    const typed = keepTyped(text, deps.typed, placeOf(about))
    const cancel = el(
      "button",
      { class: "button", type: "button" },
      "Cancel",
      el("kbd", { text: "Esc", "aria-hidden": "true" }),
    )
    const keep = el(
      "button",
      { class: "button", "data-kind": "main", type: "submit" },
      about.id === undefined ? "Add comment" : "Save",
      el("kbd", { text: onMac ? "⌘ Enter" : "Ctrl Enter", "aria-hidden": "true" }),
    )
    const [first, last] = about.lines
    const lines = el("span", { class: "comment-lines", text: rangeWords({ side: about.side, first, last }) })
    const form = el(
      "form",
      { class: "comment-form" },
      text,
      problem && el("p", { class: "comment-problem", role: "alert", text: problem }),
      el("div", { class: "comment-actions" }, lines, cancel, keep),
    )
    const leave = () => {
      close()
      resume()
      if (writing === null) deps.left()
      else show()
    }
    const submit = () => {
      if (text.value.trim() === "") return text.focus()
      deps.keep({ ...about, text: text.value.trim() }, ({ message }) => {
        typed.keep()
        takeBack(about, text.value, message)
      })
      typed.drop()
      leave()
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault()
      submit()
    })
    cancel.addEventListener("click", () => {
      leave()
      deps.cancelled()
    })
    form.addEventListener("keydown", (event) => {
      // The panel's own keys are letters here.
      event.stopPropagation()
      if (event.key === "Escape") cancel.click()
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit()
      else return
      event.preventDefault()
    })
    return { about, form, text }
  }

  /** The server did not take a comment: it is still to be kept.
   * @param {NewComment} about @param {string} words @param {string} problem */
  function takeBack(about, words, problem) {
    const refused = formFor(about, words, problem)
    unsaved.push(refused)
    if (about.path === path && !isUnsaved()) close()
    resume()
    if (writing !== refused) return
    put(refused.form, about.side, about.lines[1])
    // The user may write elsewhere by now.
    const focused = document.activeElement
    if (focused === document.body || root.contains(focused)) refused.text.focus()
  }

  function close() {
    writing?.form.remove()
    writing = null
  }

  /** Puts an element below a line; above all lines if that one is not shown.
   * @param {HTMLElement} element @param {DiffSide} side @param {number | null} line */
  function put(element, side, line) {
    const row = line === null ? undefined : rows().find((row) => lineOf(row)[side] === line)
    if (row === undefined) return root.prepend(element)
    let after = row.closest(".pair") ?? row
    while (after.nextElementSibling?.matches(".comment, .comment-form")) after = after.nextElementSibling
    after.after(element)
  }

  root.addEventListener("pointerover", ({ target, pointerType }) => {
    const row = target instanceof Element ? rowAt(target) : null
    if (row === null || pointerType === "touch") return
    if (isChoosing && chosen !== null) return choose({ from: chosen.from, to: row })
    showPlus(row)
  })
  root.addEventListener("pointerleave", () => {
    plus.hidden = true
  })
  root.addEventListener("click", ({ target }) => {
    const row = target instanceof Element ? rowAt(target) : null
    if (row !== null && writing === null && document.getSelection()?.isCollapsed !== false) showPlus(row)
  })
  plus.addEventListener("pointerdown", (event) => {
    if (pointed !== null) begin(pointed, event)
  })
  root.addEventListener("pointerdown", (event) => {
    const row = event.target instanceof Element ? rowAt(event.target) : null
    if (row !== null && event.button === 0 && event.pointerType !== "touch" && isBeforeText(row, event.clientX))
      begin(row, event)
  })

  /** Chooses lines until the pointer is released, then opens the form.
   * @param {HTMLElement} row @param {PointerEvent} event */
  function begin(row, event) {
    event.preventDefault()
    if (isKept()) return
    isChoosing = true
    choose({ from: row, to: row })
    plus.hidden = true
    window.addEventListener(
      "pointerup",
      () => {
        isChoosing = false
        write()
      },
      { once: true },
    )
  }

  /** @param {HTMLElement} row */
  function showPlus(row) {
    plus.hidden = false
    pointed = row
    const box = row.getBoundingClientRect()
    plus.style.insetBlockStart = `${box.top - root.getBoundingClientRect().top + root.scrollTop}px`
    plus.style.insetInlineStart = `${root.scrollLeft}px`
  }

  return {
    /** Shows the comments on one file, after its difference was drawn.
     * @param {string} shownPath @param {readonly Comment[]} comments @param {readonly MovedComment[]} moved */
    update(shownPath, comments, moved) {
      const isOther = path !== shownPath
      if (isOther) {
        if (writing !== null && isUnsaved()) unsaved.push(writing)
        close()
        path = shownPath
        resume()
      }
      for (const each of root.querySelectorAll(".comment")) each.remove()
      const isPointing = !plus.hidden && pointed !== null
      // Moving it would have the browser look at the style of every row again.
      if (!plus.isConnected) root.append(plus)
      plus.hidden = true
      for (const row of root.querySelectorAll("[data-commented]")) row.removeAttribute("data-commented")
      for (const comment of comments.filter((each) => each.path === path && each.id !== writing?.about.id)) {
        const last = lastLine(comment, moved)
        if (last !== null && deps.isAway(comment.side, last)) continue
        const [first] = comment.lines
        const start = last === null ? null : last - (comment.lines[1] - first)
        for (const row of rows()) {
          const line = lineOf(row)[comment.side]
          if (line !== null && start !== null && last !== null && line >= start && line <= last)
            row.setAttribute("data-commented", "")
        }
        put(commentCard(comment, movedWords(comment, moved)), comment.side, last)
      }
      if (isPointing && pointed?.isConnected) showPlus(pointed)
      if (writing !== null && !writing.form.isConnected && !deps.isAway(writing.about.side, writing.about.lines[1])) {
        const { selectionStart, selectionEnd } = writing.text
        put(writing.form, writing.about.side, writing.about.lines[1])
        if (!isOther) writing.text.focus({ preventScroll: true })
        writing.text.setSelectionRange(selectionStart, selectionEnd)
      }
    },
    /** Comments on the lines that are selected, or on the first one that changed and is in view. */
    write() {
      const all = rows()
      const selection = document.getSelection()
      const at = (/** @type {Node | null | undefined} */ node) => {
        const element = node instanceof Element ? node : node?.parentElement
        const row = element ? rowAt(element) : null
        return row !== null && all.includes(row) ? row : null
      }
      const [from, to] = [at(selection?.anchorNode), at(selection?.focusNode)]
      if (selection?.isCollapsed === false && from !== null && to !== null) {
        selection.empty()
        choose({ from, to })
        return write()
      }
      const top = root.getBoundingClientRect().top
      const seen = all.filter((row) => row.getBoundingClientRect().top >= top)
      const first = seen.find((row) => !row.matches(".same")) ?? seen[0]
      if (first === undefined) return
      choose({ from: first, to: first })
      write()
    },
  }

  /** @param {Comment} comment @param {string} moved */
  function commentCard(comment, moved) {
    const edit = el("button", { class: "icon-button", type: "button", "aria-label": "Edit comment" }, icon("edit"))
    const remove = el("button", { class: "icon-button", type: "button", "aria-label": "Remove comment" }, icon("trash"))
    edit.addEventListener("click", () => {
      if (isKept()) return
      edit.closest(".comment")?.remove()
      open(comment)
    })
    remove.addEventListener("click", () => deps.remove(comment.id))
    const [first, last] = comment.lines
    const about = moved === "" ? "" : `${rangeWords({ side: comment.side, first, last })} · ${moved}`
    return el(
      "div",
      { class: "comment", role: "group", "aria-label": "Comment" },
      el("span", { class: "comment-badge", "data-moved": moved !== "", text: moved === "" ? "Pending" : moved }),
      el(
        "span",
        { class: "comment-words", title: about === "" ? null : about },
        comment.text,
        about !== "" && el("pre", { class: "comment-snippet", text: comment.snippet }),
      ),
      edit,
      remove,
    )
  }

  /** @param {Element} element */
  function rowAt(element) {
    const row = element.closest(".rows :is(.same, .add, .del)")
    return row instanceof HTMLElement && root.contains(row) ? row : null
  }
}

/** The name of what a comment is about. @param {NewComment} about */
const placeOf = ({ id, path, side, lines }) => `comment ${id ?? `${side} ${lines.join("-")} ${path}`}`

/** @param {string | undefined} padded */
function numberOf(padded) {
  const text = padded?.trim() ?? ""
  return text === "" ? null : Number(text)
}

/** Whether this is where a row's numbers are: they are generated, so nothing else says how wide they are.
 * @param {HTMLElement} row @param {number} x */
function isBeforeText(row, x) {
  const text = document.createRange()
  text.selectNodeContents(row)
  return x < text.getBoundingClientRect().left
}
