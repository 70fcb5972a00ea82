/** The changes beside the conversation: the list of files, and the difference in the selected one. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { mountEdge } from "../shared/edge.js"
import { icon } from "../shared/icons.js"
import { editorAddress, editors, readingFrom } from "../shared/reading.js"
import { keys, loadRecord, save } from "../shared/storage.js"
import { mountActs } from "./acts.js"
import { mountDiff } from "./changes-diff.js"
import {
  isViewed,
  isWorthAsking,
  nextUnviewed,
  noChanges,
  pathAt,
  scopeFrom,
  scopes,
  selectedFile,
  totalOf,
  withFile,
  withList,
  withScope,
  withSelected,
  withViewed,
} from "./changes-state.js"
import { keepViewed, viewedOf } from "./viewed.js"

/** @import { ChangedFile, ClientMessage, ErrorBody } from "../contract.js" */
/** @import { ActsDeps } from "./acts.js" */
/** @import { ActDone, ActPreview } from "./acts-state.js" */
/** @import { ChangesFile, ChangesList, ScopeKind } from "./changes-state.js" */

/** @typedef {Extract<ClientMessage, { type: "changes:list" | "changes:file" | "session:looked" }>} ChangesRequest */
/** @typedef {ChangesRequest extends infer R ? R extends ChangesRequest ? Omit<R, "sessionId"> : never : never} Asked */

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

/** One letter for each kind of change, as git writes them, and what screen readers say. */
const kinds = {
  added: ["A", "added"],
  modified: ["M", "modified"],
  deleted: ["D", "deleted"],
  renamed: ["R", "renamed"],
  submodule: ["S", "submodule changed"],
  unmerged: ["U", "in conflict"],
}

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
  const about = el("span", { class: "panel-about" })
  const refresh = el("button", { class: "icon-button", type: "button", "aria-label": "Refresh" }, icon("reload"))
  const close = el("button", { class: "icon-button", type: "button", "aria-label": "Close changes" }, icon("close"))
  const list = el("div", { class: "changed-files", role: "listbox", "aria-label": "Changed files", tabindex: "0" })
  const more = el("p", { class: "panel-note", hidden: true })
  const note = el("p", { class: "panel-note", role: "status", hidden: true })
  const split = toggleButton("Side by side")
  const space = toggleButton("Ignore whitespace")
  const open = el("a", { class: "panel-tool", hidden: true })
  const viewed = toggleButton("Viewed", "Mark as viewed and go on (v)")
  const acts = mountActs({ ...deps.acts, refresh: () => askForList() })
  const tools = el("div", { class: "panel-tools" }, split, space, open, acts.revert, viewed)
  const diff = el("div", { class: "part panel-diff", "data-kind": "diff", tabindex: "0" })
  root.append(
    edge,
    el("div", { class: "panel-head" }, tabs, refresh, close),
    acts.around(about),
    list,
    more,
    note,
    tools,
    diff,
  )
  const difference = mountDiff(diff, {
    shown: (root) => !isPressed(space) && acts.decorate(root),
    more() {
      context = contexts[contexts.indexOf(context) + 1] ?? context
      askForFile()
    },
  })

  const kept = () => loadRecord(deps.storage, keys.panel)
  /** @param {Record<string, unknown>} change */
  const keep = (change) => save(deps.storage, keys.panel, { ...kept(), ...change })
  let state = { ...noChanges, scope: scopeFrom(kept().scope), viewed: viewedOf(deps.storage, deps.sessionId) }
  let isOpen = false
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
  for (const [kind, name] of scopes)
    tabs.append(el("button", { class: "panel-scope", type: "button", role: "radio", "data-scope": kind, text: name }))

  const askForList = () => deps.request({ type: "changes:list", scope: scopeOf(state.scope) })
  function askForFile() {
    if (state.selected === null) return
    deps.request({
      type: "changes:file",
      scope: scopeOf(state.scope),
      path: state.selected,
      ...(context === usualContext ? {} : { context }),
      ...(isPressed(space) ? { ignoreWhitespace: true } : {}),
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
    if (next) {
      askForList()
      list.focus({ preventScroll: true })
    } else deps.focusComposer()
    show()
  }

  /** @param {ScopeKind} scope */
  function choose(scope) {
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
    const files = state.list?.files ?? []
    const { added, removed } = totalOf(files)
    button.hidden = state.list === null && state.failure === null && !isOpen
    setAttribute(button, "title", files.length === 1 ? "1 changed file" : `${files.length} changed files`)
    counts.replaceChildren(...(files.length === 0 ? [] : countsOf(added, removed)))
    if (!isOpen) return
    for (const tab of tabs.children)
      setAttribute(tab, "aria-checked", String(tab.getAttribute("data-scope") === state.scope))
    setText(about, aboutOf(state.list, files.filter((file) => isViewed(state, file)).length))
    showFiles(files)
    const hidden = state.list?.more ?? 0
    const notes = [...(hidden === 0 ? [] : [`${hidden} more files are not listed.`]), ...(state.list?.notes ?? [])]
    more.hidden = notes.length === 0
    setText(more, notes.join(" "))
    showNote(files.length)
    acts.update(scopeOf(state.scope), selectedFile(state), files.length > 0)
    showTools()
    difference.update(state.file, isPressed(split))
  }

  function showTools() {
    const file = selectedFile(state)
    tools.hidden = file === null
    if (file === null) return
    setAttribute(viewed, "aria-pressed", String(isViewed(state, file)))
    const { editor } = readingFrom(deps.storage)
    const address = editorAddress(editor, `${state.list?.root ?? ""}/${file.path}`, 1)
    open.hidden = address === null || file.status === "deleted"
    if (address !== null && editor !== "") {
      setAttribute(open, "href", address)
      setText(open, `Open in ${editors[editor].name}`)
    }
  }

  /** @param {number} files */
  function showNote(files) {
    const text =
      state.failure?.message ??
      (state.list === null
        ? "Reading the changes…"
        : files === 0
          ? state.list.notes.length === 0
            ? nothing[state.scope]
            : ""
          : (state.file?.note ?? ""))
    note.hidden = text === ""
    setText(note, text)
  }

  /** @param {ChangedFile[]} files */
  function showFiles(files) {
    list.hidden = files.length === 0
    const own = files.filter((file) => !file.meanwhile)
    const others = files.filter((file) => file.meanwhile)
    list.replaceChildren(
      ...own.map((file) => rowOf(file, file.path === state.selected, isViewed(state, file))),
      ...(others.length === 0
        ? []
        : [el("div", { class: "changed-heading", text: "Changed meanwhile, perhaps not by this agent" })]),
      ...others.map((file) => rowOf(file, file.path === state.selected, isViewed(state, file))),
    )
  }

  button.addEventListener("click", () => toggle(!isOpen))
  close.addEventListener("click", () => toggle(false))
  refresh.addEventListener("click", askForList)
  tabs.addEventListener("click", ({ target }) => {
    if (target instanceof HTMLElement && target.dataset["scope"]) choose(scopeFrom(target.dataset["scope"]))
  })
  split.addEventListener("click", () => {
    keep({ split: press(split) })
    show()
  })
  space.addEventListener("click", () => {
    keep({ space: press(space) })
    askForFile()
  })
  viewed.addEventListener("click", markViewed)
  list.addEventListener("click", (event) => {
    const row = /** @type {Element} */ (event.target).closest(".changed-file")
    if (row instanceof HTMLElement) select(row.dataset["path"] ?? null)
  })
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const inList = event.target === list
    if (event.key === "n" || (inList && event.key === "ArrowDown")) select(pathAt(state, 1))
    else if (event.key === "p" || (inList && event.key === "ArrowUp")) select(pathAt(state, -1))
    else if (event.key === "v") markViewed()
    else if (event.key === "Escape") toggle(false)
    else return
    event.preventDefault()
    // The conversation takes Escape for a stop.
    event.stopPropagation()
  })
  root.hidden = true

  /** @param {ChangesList} frame */
  function listed(frame) {
    const before = selectedFile(state)?.version
    state = withList(state, frame)
    if (isOpen && (state.file === null || selectedFile(state)?.version !== before)) askForFile()
    show()
  }

  return {
    /** @param {ChangesList | ChangesFile | ActPreview | ActDone} frame */
    receive(frame) {
      switch (frame.type) {
        case "changes:list":
          return listed(frame)
        case "changes:file":
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
      // Without a repository there is nothing to open.
      if (failure.code === "NOT_A_REPOSITORY" && !isOpen) return
      state = { ...state, failure }
      show()
    },
    toggle: () => toggle(!isOpen),
    undoAct: acts.undoAct,
    /** Asks again, if that can tell anything new. Without a panel only the counts in the header follow. */
    refresh: () => isWorthAsking(state, isOpen) && askForList(),
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

/** @param {ChangesList | null} list @param {number} viewed */
function aboutOf(list, viewed) {
  if (list === null) return ""
  const files = list.files.length
  const branch = list.base === undefined ? list.branch : `${list.branch ?? "detached"}, from ${list.base}`
  return [branch, files === 0 ? "" : viewed === 0 ? fileCount(files) : `${viewed} of ${files} viewed`]
    .filter(Boolean)
    .join(" · ")
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

/** @param {ChangedFile} file @param {boolean} isSelected @param {boolean} wasViewed */
function rowOf(file, isSelected, wasViewed) {
  const [letter, word] = kinds[file.status]
  const slash = file.path.lastIndexOf("/") + 1
  const row = el(
    "div",
    { class: "changed-file", role: "option", "aria-selected": String(isSelected), "data-viewed": wasViewed },
    el("span", { class: "changed-kind", "data-kind": file.status, text: letter, "aria-hidden": "true" }),
    el("span", { class: "visually-hidden", text: `${word} ` }),
    el(
      "span",
      { class: "changed-path" },
      el("span", { class: "changed-directory", text: file.path.slice(0, slash) }),
      el("span", { text: file.path.slice(slash) }),
    ),
    wasViewed &&
      el("span", { class: "changed-viewed" }, icon("check"), el("span", { class: "visually-hidden", text: "viewed" })),
    el("span", { class: "counts" }, ...countsOf(file.added, file.removed)),
  )
  setAttribute(row, "title", file.from === undefined ? file.path : `${file.from} → ${file.path}`)
  row.dataset["path"] = file.path
  return row
}

/** @param {number} count */
const fileCount = (count) => (count === 1 ? "1 file" : `${count} files`)

/** @param {number | undefined} added @param {number | undefined} removed */
function countsOf(added, removed) {
  const parts = []
  if (added !== undefined && (added > 0 || removed === 0))
    parts.push(el("span", { class: "count-added", text: `+${added}` }))
  if (removed !== undefined && removed > 0) parts.push(el("span", { class: "count-removed", text: `−${removed}` }))
  return parts
}
