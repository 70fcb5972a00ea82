/** The list of changed files. It is drawn again only when something in it changed. */

import { countsOf } from "../shared/counts.js"
import { arrange, el, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { counted } from "../shared/phrases.js"
import { isViewed } from "./changes-state.js"

/** @import { ChangedFile, Comment } from "../contract.js" */
/** @import { ChangesState } from "./changes-state.js" */

/** One letter for each kind of change, as git writes them, and what screen readers say. */
const kinds = {
  added: ["A", "added"],
  modified: ["M", "modified"],
  deleted: ["D", "deleted"],
  renamed: ["R", "renamed"],
  submodule: ["S", "submodule changed"],
  unmerged: ["U", "in conflict"],
}

/** So many new rows are drawn at once. */
const FIRST = 30

/** The others follow after this time (milliseconds): hundreds of them would hold up the difference, which is next. */
const PAUSE = 150

/** So many of them in one frame, so that one can scroll meanwhile. */
const BATCH = 12

/** @param {HTMLElement} root @param {(path: string) => void} select */
export function mountFiles(root, select) {
  /** What is in the DOM. @type {{ files: unknown, viewed: unknown, comments: unknown }} */
  let shown = { files: null, viewed: null, comments: null }
  /** By path, each with what it says. @type {Map<string, { row: HTMLElement, says: string }>} */
  let rows = new Map()
  /** @type {string | null} */
  let selected = null

  function mark() {
    for (const [path, { row }] of rows) setAttribute(row, "aria-selected", String(path === selected))
    setAttribute(root, "aria-activedescendant", rows.get(selected ?? "")?.row.id)
  }

  /** Draws everything again, over some frames if many rows are new.
   * @param {ChangesState} state @param {readonly Comment[]} comments */
  function draw(state, comments) {
    const all = state.list?.files ?? []
    const files = [...all.filter((file) => !file.meanwhile), ...all.filter((file) => file.meanwhile)]
    const [mine, former] = [shown, rows]
    rows = new Map()
    /** @type {Element[]} */
    const drawn = []
    let at = 0
    const isAwaited = () => selected !== null && !rows.has(selected) && files.some(({ path }) => path === selected)
    function more() {
      if (shown !== mine) return
      const isFirst = at === 0
      const most = isFirst ? FIRST : BATCH
      for (let fresh = 0; at < files.length && (fresh < most || isAwaited()); at += 1) {
        const file = /** @type {ChangedFile} */ (files[at])
        const [wasViewed, count] = [isViewed(state, file), commentsOn(file, comments)]
        const says = JSON.stringify([file, wasViewed, count])
        const known = former.get(file.path)
        const same = known?.says === says ? known : { row: rowOf(file, wasViewed, count), says }
        // A file that appears above the others moves them, but changes nothing in them.
        same.row.id = `changed-file-${at}`
        if (same !== known) fresh += 1
        if (file.meanwhile && !files[at - 1]?.meanwhile)
          drawn.push(el("div", { class: "changed-heading", text: "Changed meanwhile, perhaps not by this agent" }))
        rows.set(file.path, same)
        drawn.push(same.row)
      }
      arrange(root, drawn)
      mark()
      // Until then what was there stays behind them, so that the list keeps its place.
      if (at < files.length) isFirst ? setTimeout(more, PAUSE) : requestAnimationFrame(more)
      else while (root.childElementCount > drawn.length) root.lastElementChild?.remove()
    }
    more()
  }

  root.addEventListener("click", ({ target }) => {
    const row = target instanceof Element ? target.closest(".changed-file") : null
    if (row instanceof HTMLElement && row.dataset["path"] !== undefined) select(row.dataset["path"])
  })

  return {
    /** @param {ChangesState} state @param {readonly Comment[]} comments */
    update(state, comments) {
      root.hidden = (state.list?.files ?? []).length === 0
      selected = state.selected
      if (shown.files === state.list && shown.viewed === state.viewed && shown.comments === comments) return mark()
      shown = { files: state.list, viewed: state.viewed, comments }
      draw(state, comments)
    },
  }
}

/** @param {ChangedFile} file @param {readonly Comment[]} comments */
const commentsOn = (file, comments) => comments.filter(({ path }) => path === file.path).length

/** @param {ChangedFile} file @param {boolean} wasViewed @param {number} comments */
function rowOf(file, wasViewed, comments) {
  const [letter, word] = kinds[file.status]
  const slash = file.path.lastIndexOf("/") + 1
  const { added = 0, removed = 0 } = file
  const spoken = [
    `${word} ${file.from === undefined ? "" : `${file.from} to `}${file.path}`,
    file.by === undefined ? "" : `by “${file.by}”`,
    wasViewed ? "viewed" : "",
    comments === 0 ? "" : counted(comments, "comment"),
    added === 0 ? "" : `${added} added`,
    removed === 0 ? "" : `${removed} removed`,
  ]
  const row = el(
    "div",
    {
      class: "changed-file",
      role: "option",
      "data-viewed": wasViewed,
      // Words that only screen readers get would be a layer each: this list is long.
      "aria-label": spoken.filter(Boolean).join(", "),
    },
    el("span", { class: "changed-mark" }, wasViewed && icon("check")),
    el("span", { class: "changed-kind", "data-kind": file.status, text: letter ?? "" }),
    el(
      "span",
      { class: "changed-path" },
      file.from !== undefined && el("span", { class: "changed-directory", text: `${file.from} → ` }),
      el("span", { class: "changed-directory", text: file.path.slice(0, slash) }),
      el("span", { text: file.path.slice(slash) }),
      file.by !== undefined && el("span", { class: "changed-by", text: ` “${file.by}”` }),
    ),
    comments > 0 && el("span", { class: "changed-comments" }, icon("message"), String(comments)),
    el("span", { class: "counts" }, ...countsOf(file)),
  )
  setAttribute(row, "title", file.from === undefined ? file.path : `${file.from} → ${file.path}`)
  row.dataset["path"] = file.path
  return row
}
