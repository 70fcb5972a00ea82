/** The changes beside the conversation: the list of files, and the difference in the selected one. */

import { countsOf, countsText } from "../shared/counts.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { mountEdge } from "../shared/edge.js"
import { icon } from "../shared/icons.js"
import { counted } from "../shared/phrases.js"
import { keys, loadRecord, save } from "../shared/storage.js"
import { mountActs } from "./acts.js"
import { mountFiles } from "./changes-files.js"
import { mountHead } from "./changes-head.js"
import { mountSelectedFile } from "./changes-selected.js"
import {
  fileNamed,
  isUndone,
  isViewed,
  isWorthAsking,
  listWords,
  nextUnviewed,
  noChanges,
  noteWords,
  othersWords,
  pathAt,
  placeWords,
  scopeFrom,
  scopesToTry,
  selectedFile,
  withFile,
  withList,
  withMoreContext,
  withScope,
  withSelected,
  withViewed,
} from "./changes-state.js"
import { keepViewed, viewedOf } from "./viewed.js"

/** @import { ErrorBody } from "../contract.js" */
/** @import { ActsDeps } from "./acts.js" */
/** @import { ActDone, ActPreview } from "./acts-state.js" */
/** @import { Asked } from "./requests.js" */
/** @import { ChangesFacts, ChangesFile, ChangesList, ScopeKind } from "./changes-state.js" */

/** @typedef {"changes:list" | "changes:file" | "changes:comment" | "changes:uncomment" | "changes:send-comments"
 *   | "session:looked"} RequestKind */
/** @typedef {Extract<Asked, { type: RequestKind }>} ChangesRequest */

/** @typedef {object} ChangesDeps
 * @property {string} sessionId
 * @property {Storage} storage
 * @property {(request: ChangesRequest, refused?: (error: ErrorBody) => void) => string} request  Returns the
 *   `requestId` of the answer.
 * @property {ActsDeps} acts
 * @property {import("./typed.js").Typed} typed  Comments that were not added.
 * @property {(open: boolean) => void} toggled
 * @property {() => void} focusComposer */

/** @param {HTMLElement} root @param {HTMLElement} header the button is put at its end @param {ChangesDeps} deps */
export function mountChanges(root, header, deps) {
  const counts = el("span", { class: "counts" })
  const button = el(
    "button",
    { class: "header-button", type: "button", "aria-expanded": "false", hidden: true },
    icon("diff"),
    el("span", { class: "header-button-word", text: "Changes" }),
    counts,
  )
  header.append(button)

  const edge = el("div", {
    class: "panel-edge",
    role: "separator",
    tabindex: "0",
    "aria-orientation": "vertical",
    "aria-label": "Width of the changes",
  })
  const where = el("span", { class: "panel-where" })
  const place = el("div", { class: "panel-place" }, el("span", { class: "panel-branch" }, icon("branch"), where))
  const list = el("div", { class: "changed-files", role: "listbox", "aria-label": "Changed files", tabindex: "0" })
  const undone = el("p", {
    class: "panel-note",
    hidden: true,
    text: "This turn is undone: its files are as they were before it. This is what it had changed.",
  })
  const more = el("p", { class: "panel-note", hidden: true })
  const otherNames = el("span")
  const allOthers = el("button", { class: "text-button", type: "button", title: "Name them all" })
  const others = el("p", { class: "panel-note", hidden: true }, otherNames, " ", allOthers)
  const note = el("p", { class: "panel-note", role: "status", hidden: true })
  const acts = mountActs({ ...deps.acts, refresh: askForList })
  const headBar = el("div", { class: "panel-head" })
  root.append(edge, headBar, acts.around(place), undone, list, more, others, note)
  const head = mountHead(headBar, { choose, refresh: askForList, close: () => toggle(false) })
  const files = mountFiles(list, select)
  /** @type {ChangesFacts} */
  let facts = { comments: [], workspace: null, counts: null, state: undefined }
  const kept = () => loadRecord(deps.storage, keys.panel)
  /** @param {Record<string, unknown>} change */
  const keep = (change) => save(deps.storage, keys.panel, { ...kept(), ...change })
  let state = { ...noChanges, scope: scopeFrom(kept().scope), viewed: viewedOf(deps.storage, deps.sessionId) }
  let isOpen = false
  /** The user asked for the names of all other sessions in the directory. */
  let namesAll = false
  /** Scopes to look in until one has files, after the panel was opened. Null once the user chose one here.
   * @type {ScopeKind[] | null} */
  let untried = []
  /** A path to select once the list is here. */
  let wanted = ""
  const shown = mountSelectedFile(root, {
    ...deps,
    revert: acts.revert,
    decorate: acts.decorate,
    state: () => state,
    facts: () => facts,
    more() {
      state = withMoreContext(state)
      shown.ask()
    },
    markViewed,
    kept: kept(),
    keep,
  })
  mountEdge(edge, kept().width, {
    narrowest: 360,
    widest: 1600,
    usual: 640,
    side: "after",
    show: (width) => root.style.setProperty("--panel", `${width}px`),
    keep: (width) => keep({ width }),
  })

  const isDiscarded = () => facts.workspace?.discarded !== undefined
  function askForList() {
    if (!isDiscarded()) deps.request({ type: "changes:list", scope: { kind: state.scope } })
  }

  /** What the panel showed counts as looked at. */
  function looked() {
    if (state.list?.state !== undefined) deps.request({ type: "session:looked", state: state.list.state })
  }

  /** @param {boolean} next */
  function setOpen(next) {
    if (isOpen && !next) looked()
    isOpen = next
    root.hidden = !next
    setAttribute(button, "aria-expanded", String(next))
    deps.toggled(next)
  }

  /** @param {boolean} next */
  function toggle(next) {
    setOpen(next)
    if (next) untried &&= scopesToTry(facts.workspace, state.scope)
    if (next) {
      if (state.file === null) shown.ask()
      askForList()
      root.focus({ preventScroll: true })
    } else deps.focusComposer()
    show()
  }

  // Opened beside the conversation, it must not cover it once there is no more room beside it: another session took it.
  matchMedia("(max-width: 860px)").addEventListener("change", ({ matches }) => {
    if (!matches || !isOpen) return
    const hadFocus = root.contains(document.activeElement)
    setOpen(false)
    if (hadFocus && document.hasFocus()) deps.focusComposer()
    show()
  })

  /** @param {ScopeKind} scope */
  function choose(scope) {
    untried = null
    if (scope === state.scope) return
    state = withScope(state, scope)
    keep({ scope })
    askForList()
    show()
  }

  /** @param {string | null} path */
  function select(path) {
    if (path === null) return
    state = withSelected(state, path)
    if (state.file === null) shown.ask()
    show()
    list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }

  /** Marks the file, and goes on to the next that is not marked. */
  function markViewed() {
    const file = selectedFile(state)
    if (file === null || isUndone(state.list)) return
    state = withViewed(state, file)
    keepViewed(deps.storage, deps.sessionId, state.viewed)
    show()
    if (isViewed(state, file)) select(nextUnviewed(state))
  }

  function showOthers() {
    const words = othersWords(state.list, namesAll)
    others.hidden = words.text === ""
    setText(otherNames, words.text)
    setText(allOthers, `and ${words.more} more`)
    allOthers.hidden = words.more === 0
  }

  function show() {
    button.hidden = !isOpen && !isWorthAsking(state, facts.workspace)
    const changed = facts.counts?.files ?? 0
    setAttribute(button, "title", `This session changed ${counted(changed, "file")}`)
    counts.replaceChildren(...countsOf(facts.counts))
    setAttribute(button, "aria-label", `Changes ${countsText(facts.counts)}`.trim())
    if (!isOpen) return
    head.update(state, facts.workspace)
    setText(where, placeWords(state.list, facts.workspace))
    setAttribute(where, "title", facts.workspace?.path ?? state.list?.root ?? "")
    files.update(state, facts.comments)
    // An open panel has the focus, and so has its list once there is one.
    if (document.activeElement === root && !list.hidden) list.focus({ preventScroll: true })
    undone.hidden = !isUndone(state.list)
    setAttribute(root, "data-undone", isUndone(state.list))
    setText(more, listWords(state.list))
    more.hidden = more.textContent === ""
    showOthers()
    setText(note, noteWords(state, facts.workspace))
    note.hidden = note.textContent === ""
    acts.update(state, selectedFile(state), facts.workspace)
    shown.update()
  }

  button.addEventListener("click", () => toggle(!isOpen))
  allOthers.addEventListener("click", () => {
    namesAll = true
    showOthers()
    root.focus({ preventScroll: true })
  })
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      if (facts.comments.length > 0) shown.sendComments()
      return
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const inList = event.target === list
    if (event.key === "n" || (inList && event.key === "ArrowDown")) select(pathAt(state, 1))
    else if (event.key === "p" || (inList && event.key === "ArrowUp")) select(pathAt(state, -1))
    else if (inList && event.key === "Enter") shown.focus()
    else if (event.key === "v") markViewed()
    else if (event.key === "c") shown.comment()
    else if (event.key === "Escape") toggle(false)
    else return
    event.preventDefault()
    // The conversation takes Escape for a stop.
    event.stopPropagation()
  })
  root.hidden = true
  setAttribute(root, "tabindex", "-1")

  /** @param {ChangesList} frame */
  function listed(frame) {
    const before = selectedFile(state)?.version
    state = withList(state, frame)
    const isElsewhere = state.list === frame && frame.files.length === 0 && (facts.counts?.files ?? 0) > 0
    const next = isElsewhere ? untried?.shift() : undefined
    if (next !== undefined && next !== state.scope) {
      state = withScope(state, next)
      return askForList()
    }
    if (state.list === frame) untried &&= []
    const found = wanted === "" ? null : fileNamed(state, wanted)
    wanted = ""
    if (found !== null) return select(found)
    if (isOpen && (state.file === null || selectedFile(state)?.version !== before)) shown.ask()
    else shown.retry()
    // The request leaves first: this page and the one that sends it share a thread.
    setTimeout(show)
  }

  return {
    /** @param {ChangesList | ChangesFile | ActPreview | ActDone} frame */
    receive(frame) {
      switch (frame.type) {
        case "changes:list":
          return listed(frame)
        case "changes:file":
          if (frame.from > 0) return void (shown.receive(frame) || shown.ask())
          if (shown.isOvertaken(frame.requestId)) return
          state = withFile(state, frame)
          return show()
        case "changes:preview":
          return acts.previewed(frame)
        case "changes:done":
          return acts.done(frame)
      }
    },
    /** @param {ErrorBody} failure */
    failed(failure) {
      state = { ...state, failure }
      show()
    },
    toggle: () => toggle(!isOpen),
    /** @param {ChangesFacts} next */
    update(next) {
      acts.follow(next.state)
      if (
        next.comments === facts.comments &&
        next.workspace === facts.workspace &&
        countsText(next.counts) === countsText(facts.counts)
      )
        return
      const wasDiscarded = isDiscarded()
      facts = next
      if (isDiscarded()) state = { ...state, list: null, selected: null, file: null, failure: null }
      else if (wasDiscarded && isOpen) askForList()
      show()
    },
    /** Whether a path of the conversation is that of a changed file. @param {string} named */
    knows: (named) => fileNamed(state, named) !== null,
    /** Shows a file that the conversation named. @param {string} named */
    reveal(named) {
      wanted = named
      if (isOpen) askForList()
      else toggle(true)
    },
    undoAct: acts.undoAct,
    bringBack: acts.bringBack,
    chooseFiles: acts.chooseFiles,
    /** Asks again, if that can tell anything new. Without a panel only the counts in the header follow. */
    refresh: () => (isOpen || isWorthAsking(state, facts.workspace)) && askForList(),
    isOpen: () => isOpen,
  }
}
