/** The changes beside the conversation: the list of files, and the difference in the selected one. */

import { countsOf, countsText } from "../shared/counts.js"
import { el, setAttribute, setText } from "../shared/dom.js"
import { mountEdge } from "../shared/edge.js"
import { icon } from "../shared/icons.js"
import { editorAddress, editors, readingFrom } from "../shared/reading.js"
import { keys, loadRecord, save } from "../shared/storage.js"
import { mountComments } from "./changes-comments.js"
import { mountActs } from "./acts.js"
import { mountDiff } from "./changes-diff.js"
import { mountFiles } from "./changes-files.js"
import {
  isViewed,
  isWorthAsking,
  fileNamed,
  nextUnviewed,
  noChanges,
  pathAt,
  scopeFrom,
  scopes,
  scopesToTry,
  selectedFile,
  withFile,
  withList,
  withScope,
  withSelected,
  withViewed,
} from "./changes-state.js"
import { mountCommentsBar } from "./comments-bar.js"
import { keepViewed, viewedOf } from "./viewed.js"

/** @import { ChangeCounts, ChangedFile, ClientMessage, Comment, ErrorBody, Workspace } from "../contract.js" */
/** @import { ActsDeps } from "./acts.js" */
/** @import { ActDone, ActPreview } from "./acts-state.js" */
/** @import { ChangesFile, ChangesList, ScopeKind } from "./changes-state.js" */

/** @typedef {"changes:comment" | "changes:uncomment" | "changes:send-comments"} CommentRequest */
/** @typedef {"changes:list" | "changes:file" | "session:looked" | CommentRequest} Asking */
/** @typedef {Extract<ClientMessage, { type: Asking }>} ChangesRequest */
/** @typedef {ChangesRequest extends infer R ? R extends ChangesRequest ? Omit<R, "sessionId"> : never : never} Asked */

/** What the session itself knows. `counts`: everything it changed, as its tab and the sidebar show it.
 * @typedef {{ comments: readonly Comment[], workspace: Workspace | null, counts: ChangeCounts | null }} ChangesFacts */

/** @typedef {object} ChangesDeps
 * @property {string} sessionId
 * @property {Storage} storage
 * @property {(request: Asked) => void} request
 * @property {ActsDeps} acts
 * @property {(open: boolean) => void} toggled
 * @property {() => void} focusComposer */

/** Unchanged lines around a change: at first, */
const usualContext = 3
/** after one request for more, and then all. */
const contexts = [usualContext, 25, 1_000_000]

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
  const tabs = el("div", { class: "panel-scopes", role: "radiogroup", "aria-label": "Which changes" })
  const seen = el("span", { class: "panel-seen" })
  const refresh = el("button", { class: "icon-button", type: "button", "aria-label": "Refresh" }, icon("reload"))
  const close = el("button", { class: "icon-button", type: "button", "aria-label": "Close changes" }, icon("close"))
  const where = el("span", { class: "panel-where" })
  const place = el("div", { class: "panel-place" }, el("span", { class: "panel-branch" }, icon("branch"), where))
  const list = el("div", { class: "changed-files", role: "listbox", "aria-label": "Changed files", tabindex: "0" })
  const more = el("p", { class: "panel-note", hidden: true })
  const note = el("p", { class: "panel-note", role: "status", hidden: true })
  const split = toggleButton("Side by side")
  const space = toggleButton("Ignore whitespace")
  const open = el("a", { class: "panel-tool", hidden: true })
  const viewed = toggleButton("Viewed", "Mark as viewed, next file (v)")
  const pathDirectory = el("span", { class: "changed-directory" })
  const pathName = el("span", { class: "panel-name" })
  const path = el("span", { class: "panel-path" }, pathDirectory, pathName)
  const pathCounts = el("span", { class: "counts" })
  const acts = mountActs({ ...deps.acts, refresh: () => askForList() })
  const tools = el("div", { class: "panel-tools" }, path, pathCounts, split, space, open, acts.revert, viewed)
  const diff = el("div", { class: "part panel-diff", "data-kind": "diff", tabindex: "0" })
  const bar = el("div", { class: "comments-bar", hidden: true })
  const head = el("div", { class: "panel-head" }, tabs, seen, refresh, close)
  root.append(edge, head, acts.around(place), list, more, note, tools, diff, bar)
  const files = mountFiles(list)
  const difference = mountDiff(diff, {
    decorate: (part) => acts.decorate(part),
    drawn: () => showComments(),
    more() {
      context = contexts[contexts.indexOf(context) + 1] ?? context
      askForFile()
    },
    ask: (from) => askForFile({ from }),
  })

  const comments = mountComments(diff, {
    keep: (comment) => deps.request({ type: "changes:comment", comment }),
    remove: (commentId) => deps.request({ type: "changes:uncomment", commentId }),
    left: () => diff.focus({ preventScroll: true }),
    isAway: difference.isAway,
  })
  const sendComments = () => deps.request({ type: "changes:send-comments" })
  const commentsBar = mountCommentsBar(bar, {
    send: sendComments,
    discard: () => deps.request({ type: "changes:uncomment" }),
    restore(all) {
      for (const { id: _gone, ...comment } of all) deps.request({ type: "changes:comment", comment })
    },
  })
  /** @type {ChangesFacts} */
  let facts = { comments: [], workspace: null, counts: null }

  const kept = () => loadRecord(deps.storage, keys.panel)
  /** @param {Record<string, unknown>} change */
  const keep = (change) => save(deps.storage, keys.panel, { ...kept(), ...change })
  let state = { ...noChanges, scope: scopeFrom(kept().scope), viewed: viewedOf(deps.storage, deps.sessionId) }
  let isOpen = false
  /** Scopes to look in until one has files, after the panel was opened. Null once the user chose one here.
   * @type {ScopeKind[] | null} */
  let untried = []
  /** A path to select once the list is here. */
  let wanted = ""
  let context = usualContext
  setAttribute(split, "aria-pressed", kept().split === true ? "true" : "false")
  setAttribute(space, "aria-pressed", kept().space === true ? "true" : "false")
  mountEdge(edge, kept().width, {
    narrowest: 360,
    widest: 1600,
    usual: 640,
    side: "after",
    show: (width) => root.style.setProperty("--panel", `${width}px`),
    keep: (width) => keep({ width }),
  })
  const branchBase = el("span", { class: "panel-scope-base" })
  for (const [kind, name] of scopes) {
    const number = el("span", { class: "panel-scope-count" })
    const words = el("span", {}, name, kind === "branch" && branchBase)
    tabs.append(
      el("button", { class: "panel-scope", type: "button", role: "radio", "data-scope": kind }, words, number),
    )
  }

  const isDiscarded = () => facts.workspace?.discarded !== undefined
  function askForList() {
    if (!isDiscarded()) deps.request({ type: "changes:list", scope: scopeOf(state.scope) })
  }
  /** Asks for a part of what is shown, or for the file as it is now. @param {{ from: number }} [part] */
  function askForFile(part) {
    if (state.selected === null) return
    const listed = selectedFile(state)?.version
    deps.request({
      type: "changes:file",
      scope: scopeOf(state.scope),
      path: state.selected,
      ...(listed === undefined ? {} : { listed }),
      ...(context === usualContext ? {} : { context }),
      ...(isPressed(space) ? { ignoreWhitespace: true } : {}),
      ...(isPressed(split) ? { split: true } : {}),
      ...(part && state.file?.version !== undefined ? { ...part, version: state.file.version } : {}),
    })
  }

  /** What the panel showed counts as looked at. */
  function looked() {
    if (state.list?.state !== undefined) deps.request({ type: "session:looked", state: state.list.state })
  }

  /** @param {boolean} next */
  function toggle(next) {
    if (isOpen && !next) looked()
    isOpen = next
    root.hidden = !next
    setAttribute(button, "aria-expanded", String(next))
    deps.toggled(next)
    if (next) untried &&= scopesToTry(facts.workspace, state.scope)
    if (next) {
      if (state.file === null) askForFile()
      askForList()
      root.focus({ preventScroll: true })
    } else deps.focusComposer()
    show()
  }

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
    if (path !== state.selected) context = usualContext
    state = withSelected(state, path)
    if (state.file === null) askForFile()
    show()
    list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }

  /** Marks the file, and goes on to the next that is not marked. */
  function markViewed() {
    const file = selectedFile(state)
    if (file === null) return
    state = withViewed(state, file)
    keepViewed(deps.storage, deps.sessionId, state.viewed)
    show()
    if (isViewed(state, file)) select(nextUnviewed(state))
  }

  function show() {
    const all = state.list?.files ?? []
    button.hidden = !isOpen && !isWorthAsking(state, facts.workspace)
    const changed = facts.counts?.files ?? 0
    setAttribute(button, "title", `This session changed ${changed === 1 ? "1 file" : `${changed} files`}`)
    counts.replaceChildren(...countsOf(facts.counts))
    if (!isOpen) return
    for (const tab of tabs.children) {
      const isChosen = tab.getAttribute("data-scope") === state.scope
      setAttribute(tab, "aria-checked", String(isChosen))
      setAttribute(tab, "tabindex", isChosen ? "0" : "-1")
      const number = tab.querySelector(".panel-scope-count")
      if (number) setText(number, isChosen && state.list !== null ? String(all.length) : "")
    }
    const base = state.list?.base ?? facts.workspace?.base
    setText(branchBase, base === undefined ? "" : ` vs ${base}`)
    const viewedFiles = all.filter((file) => isViewed(state, file)).length
    setText(seen, all.length === 0 ? "" : `${viewedFiles} of ${all.length} viewed`)
    setText(where, placeWords(state.list, facts.workspace))
    setAttribute(where, "title", facts.workspace?.path ?? state.list?.root ?? "")
    files.update(state, facts.comments)
    // An open panel has the focus, and so has its list once there is one.
    if (document.activeElement === root && !list.hidden) list.focus({ preventScroll: true })
    const hidden = state.list?.more ?? 0
    const others = state.list?.others ?? []
    const notes = [
      ...(hidden === 0 ? [] : [`${hidden} more files are not listed.`]),
      ...(others.length === 0
        ? []
        : [`Other sessions in this directory: ${others.map((each) => `“${each}”`).join(", ")}.`]),
      ...(state.list?.notes ?? []),
    ]
    more.hidden = notes.length === 0
    setText(more, notes.join(" "))
    showNote(all.length)
    acts.update(scopeOf(state.scope), selectedFile(state), all.length > 0, facts.workspace?.state !== "missing")
    showTools()
    if (difference.update(state.file) || shownFacts !== facts || shownList !== state.list) showComments()
    shownFacts = facts
    shownList = state.list
    commentsBar.update(facts.comments)
  }
  function showComments() {
    comments.update(state.selected ?? "", facts.comments, state.list?.moved ?? [])
  }
  /** What the comments were drawn with. */
  let shownFacts = facts
  let shownList = state.list

  function showTools() {
    const file = selectedFile(state)
    tools.hidden = file === null
    if (file === null) return
    setAttribute(viewed, "aria-pressed", String(isViewed(state, file)))
    // What has no lines has no other way to show them.
    split.hidden = space.hidden = file.added === undefined
    const name = file.path.lastIndexOf("/") + 1
    setText(pathDirectory, file.path.slice(0, name))
    setText(pathName, file.path.slice(name))
    setAttribute(path, "title", file.from === undefined ? file.path : `${file.from} → ${file.path}`)
    pathCounts.replaceChildren(...countsOf(file))
    const { editor } = readingFrom(deps.storage)
    const address = addressOf(file, 1)
    open.hidden = address === null || file.status === "deleted"
    if (address !== null && editor !== "") {
      setAttribute(open, "href", address)
      setText(open, `Open in ${editors[editor].name}`)
    }
  }

  /** What opens a file in the editor. @param {ChangedFile} file @param {number} line */
  const addressOf = (file, line) =>
    editorAddress(readingFrom(deps.storage).editor, `${state.list?.root ?? ""}/${file.path}`, line)

  /** @param {number} files */
  function showNote(files) {
    const text = isDiscarded()
      ? "Discarded. Bring it back to see its changes."
      : (state.failure?.message ??
        (state.list === null
          ? "Reading the changes…"
          : files === 0
            ? state.list.notes.length === 0
              ? nothing[state.scope]
              : ""
            : (state.file?.note ?? "")))
    note.hidden = text === ""
    setText(note, text)
  }

  button.addEventListener("click", () => toggle(!isOpen))
  close.addEventListener("click", () => toggle(false))
  refresh.addEventListener("click", askForList)
  tabs.addEventListener("click", ({ target }) => {
    const scope = target instanceof Element && target.closest("[data-scope]")
    if (scope) choose(scopeFrom(scope.getAttribute("data-scope")))
  })
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    const at = scopes.findIndex(([kind]) => kind === state.scope) + step
    const [next] = scopes.at(at % scopes.length) ?? []
    if (next) choose(next)
    const chosen = tabs.querySelector('[aria-checked="true"]')
    if (chosen instanceof HTMLElement) chosen.focus()
    event.preventDefault()
  })
  split.addEventListener("click", () => {
    keep({ split: press(split) })
    askForFile({ from: 0 })
  })
  space.addEventListener("click", () => {
    keep({ space: press(space) })
    askForFile()
  })
  open.addEventListener("click", () => {
    const file = selectedFile(state)
    if (file) setAttribute(open, "href", addressOf(file, difference.line()))
  })
  viewed.addEventListener("click", markViewed)
  list.addEventListener("click", (event) => {
    const row = /** @type {Element} */ (event.target).closest(".changed-file")
    if (row instanceof HTMLElement) select(row.dataset["path"] ?? null)
  })
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      if (facts.comments.length > 0) sendComments()
      return
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const inList = event.target === list
    if (event.key === "n" || (inList && event.key === "ArrowDown")) select(pathAt(state, 1))
    else if (event.key === "p" || (inList && event.key === "ArrowUp")) select(pathAt(state, -1))
    else if (inList && event.key === "Enter") diff.focus({ preventScroll: true })
    else if (event.key === "v") markViewed()
    else if (event.key === "c") comments.write()
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
    if (isOpen && (state.file === null || selectedFile(state)?.version !== before)) askForFile()
    else difference.retry()
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
          if (frame.from > 0) return void (difference.receive(frame) || askForFile())
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

/** What is said about a scope without changes. @type {Record<ScopeKind, string>} */
const nothing = {
  turn: "This turn changed no files.",
  "since-looked": "Nothing has changed since you looked.",
  uncommitted: "Nothing has changed since the last commit.",
  branch: "This branch is the same as its base.",
}

/** @param {ScopeKind} kind @returns {import("../contract.js").ChangeScope} */
const scopeOf = (kind) => ({ kind })

/** Where the changes are: the branch, what it came from, and how far both went since.
 * @param {ChangesList | null} list @param {Workspace | null} workspace */
function placeWords(list, workspace) {
  if (list === null) return ""
  const { ahead = 0, behind = 0, doing } = workspace ?? {}
  const base = list.base ?? workspace?.base
  return [
    list.branch ?? "No branch",
    ...(base === undefined ? [] : [`from ${base}`]),
    ...(ahead === 0 ? [] : [`${ahead} ahead`]),
    ...(behind === 0 ? [] : [`${behind} behind`]),
    ...(doing === undefined ? [] : [`in the middle of a ${doing}`]),
  ].join(" · ")
}

/** @param {string} text @param {string} [title] */
const toggleButton = (text, title) =>
  el("button", { class: "panel-tool", type: "button", "aria-pressed": "false", text, title })

/** @param {Element} button */
const isPressed = (button) => button.getAttribute("aria-pressed") === "true"

/** @param {Element} button */
function press(button) {
  const next = !isPressed(button)
  setAttribute(button, "aria-pressed", String(next))
  return next
}
