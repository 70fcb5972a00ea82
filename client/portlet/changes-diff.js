/** The difference in one file: unified or side by side, with more of the lines around it if asked. Only the parts near
 * the window are in the DOM; the others are asked for when they come near. */

import { el, setAttribute } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"
import { partOf } from "./changes-state.js"

/** @import { DiffSide } from "../contract.js" */
/** @import { ChangesFile } from "./changes-state.js" */

/** @typedef {object} DiffDeps
 * @property {() => void} more  More lines around the changes are wanted,
 * @property {(from: number) => void} ask  or the part that begins with this row.
 * @property {(part: HTMLElement) => void} decorate  The rows of a part are about to be arranged,
 * @property {() => void} drawn  and are now in the DOM. */

/** Some rows. `html` is null until they are here; `coming` are those that are not in the DOM yet.
 * @typedef {{ element: HTMLElement, from: number, rows: number, html: string | null, isNear: boolean,
 *   coming: Element[] | null, isDrawn: boolean }} Part */

/** A line, and how far below the top of the window it was.
 * @typedef {{ side: DiffSide, line: number, below: number }} Anchor */

/** How far beyond the window parts are drawn, */
const margin = 1600
/** and how many rows of them in one frame: all at once would hold up scrolling. */
const BATCH = 40

/** @param {HTMLElement} root @param {DiffDeps} deps */
export function mountDiff(root, deps) {
  /** What is in the DOM. @type {ChangesFile | null} */
  let shown = null
  /** @type {Part[]} */
  let parts = []
  /** In pixels, of one row. */
  let rowHeight = 20
  /** What must stay in its place, until its part is drawn. @type {Anchor | null} */
  let anchor = null
  /** @type {string[]} */
  let addresses = []
  const nearness = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        const part = parts.find(({ element }) => element === target)
        if (!part || part.isNear === isIntersecting) continue
        part.isNear = isIntersecting
        if (!isIntersecting) clear(part, boundingClientRect.height)
        else if (part.html === null) deps.ask(part.from)
        else drawNear(part)
      }
    },
    { root, rootMargin: `${margin}px 0px` },
  )

  root.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(".gap")) deps.more()
  })
  root.addEventListener("keydown", (event) => {
    const gap = event.target instanceof Element && event.target.closest(".gap")
    if (!gap || (event.key !== "Enter" && event.key !== " ")) return
    event.preventDefault()
    deps.more()
  })

  /** Its rows, not in the DOM yet. @param {Part} part */
  function rowsOf(part) {
    const made = el("div")
    setRenderedHtml(made, part.html ?? "")
    for (const gap of made.querySelectorAll(".gap")) {
      setAttribute(gap, "role", "button")
      setAttribute(gap, "tabindex", "0")
      setAttribute(gap, "title", "Show more lines")
    }
    deps.decorate(made)
    if (!shown?.split) return [...made.children]
    setAttribute(part.element, "data-split", true)
    return sideBySide([...made.children])
  }

  /** At once. @param {Part} part */
  function draw(part) {
    part.element.replaceChildren(...rowsOf(part))
    drawn(part)
  }

  /** At once if it is in view, else some rows in each frame. @param {Part} part */
  function drawNear(part) {
    if (part.isDrawn) return
    const { top, bottom } = part.element.getBoundingClientRect()
    const view = root.getBoundingClientRect()
    if (anchor !== null || (bottom > view.top && top < view.bottom)) return draw(part)
    part.coming = rowsOf(part)
    drawOn(part, bottom <= view.top)
  }

  /** Some rows in each frame; from the last if it is above the window, because that comes into view first.
   * @param {Part} part @param {boolean} isAbove */
  function drawOn(part, isAbove) {
    setAttribute(part.element, "data-from-end", isAbove)
    requestAnimationFrame(function more() {
      if (part.coming === null || !parts.includes(part)) return
      const batch = part.coming.splice(isAbove ? -BATCH : 0, BATCH)
      if (isAbove) part.element.prepend(...batch)
      else part.element.append(...batch)
      if (part.coming.length > 0) requestAnimationFrame(more)
      else drawn(part)
    })
  }

  /** All its rows are in the DOM. @param {Part} part */
  function drawn(part) {
    part.coming = null
    part.isDrawn = true
    part.element.style.blockSize = ""
    setAttribute(part.element, "data-from-end", false)
    deps.drawn()
    if (anchor && shown && parts[partOf(shown, anchor.side, anchor.line)] === part) settle()
  }

  /** Takes the rows away but keeps their room, unless somebody writes there.
   * @param {Part} part @param {number} height */
  function clear(part, height) {
    const { element } = part
    // A closed panel has no height.
    if (height === 0 || element.querySelector("form")) return
    part.coming = null
    part.isDrawn = false
    element.style.blockSize = `${height}px`
    element.replaceChildren()
  }

  /** Whether it is of the difference that is shown. @param {ChangesFile} file */
  const belongs = (file) =>
    shown !== null && file.version === shown.version && (file.split ?? false) === (shown.split ?? false)

  /** The first of these rows that begins in the window or below it. @param {string} kinds */
  function firstInView(kinds) {
    const { top } = root.getBoundingClientRect()
    const rows = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`.rows :is(${kinds})`))
    return [...rows].find((row) => row.getBoundingClientRect().top >= top)
  }

  /** @returns {Anchor | null} */
  function topLine() {
    const row = firstInView(".same, .add, .del")
    if (row === undefined) return null
    const side = row.matches(".del") ? "old" : "new"
    const below = row.getBoundingClientRect().top - root.getBoundingClientRect().top
    // Rows that are in view may not be drawn yet, and one further down says nothing about the place.
    return below < root.clientHeight ? { side, line: Number(row.dataset[side]), below } : null
  }

  /** Brings the anchor to where it was. */
  function settle() {
    if (anchor === null || shown === null) return
    const { side, line, below } = anchor
    const part = parts[partOf(shown, side, line)]
    if (!part) return
    if (part.html === null) {
      // It is asked for as it comes near.
      root.scrollTop = part.element.offsetTop
      return
    }
    anchor = null
    if (!part.isDrawn) draw(part)
    const rows = /** @type {NodeListOf<HTMLElement>} */ (part.element.querySelectorAll(":is(.same, .add, .del)"))
    const row = [...rows].find((each) => each.dataset[side]?.trim() === String(line))
    if (row) root.scrollTop += row.getBoundingClientRect().top - root.getBoundingClientRect().top - below
  }

  /** @param {ChangesFile} file */
  function showPictures({ pictures }) {
    for (const address of addresses) URL.revokeObjectURL(address)
    addresses = []
    if (!pictures) return
    const { before, after } = pictures
    for (const [word, data] of /** @type {const} */ ([
      ["Before", before],
      ["After", after],
    ])) {
      if (data === undefined) continue
      const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
      const address = URL.createObjectURL(new Blob([bytes], { type: pictures.mimeType }))
      addresses.push(address)
      root.append(
        el(
          "figure",
          { class: "changed-picture" },
          el("figcaption", { text: word }),
          el("img", { src: address, alt: word }),
        ),
      )
    }
  }

  /** @param {ChangesFile} file @param {boolean} isWhole  Its first part is wanted at once. */
  function showParts(file, isWhole) {
    const starts = file.parts ?? []
    parts = starts.map(({ row }, at) => ({
      element: el("div", { class: "rows" }),
      from: row,
      rows: (starts[at + 1]?.row ?? file.rows) - row,
      html: null,
      isNear: false,
      coming: null,
      isDrawn: false,
    }))
    if (parts.length > 0)
      root.append(
        el("div", { class: "diff", "data-split": file.split ?? false }, ...parts.map(({ element }) => element)),
      )
    const [first] = parts
    if (first) {
      first.html = file.html
      first.isNear = true
      const rows = rowsOf(first)
      first.element.append(...rows.splice(0, isWhole ? rows.length : BATCH))
      if (parts.length > 1 || rows.length > 0) rowHeight = first.element.offsetHeight / first.element.childElementCount
      if (rows.length === 0) drawn(first)
      else {
        first.coming = rows
        drawOn(first, false)
      }
    }
    for (const part of parts) {
      if (!part.isDrawn) part.element.style.blockSize = `${part.rows * rowHeight}px`
      nearness.observe(part.element)
    }
  }

  return {
    /** Whether it was drawn again. @param {ChangesFile | null} file */
    update(file) {
      root.hidden = file === null || (file.html === "" && !file.pictures)
      if (shown === file) return false
      const isOther = shown?.path !== file?.path
      const isSame = !isOther && file?.version !== undefined && belongs(file)
      const kept = isOther || isSame ? null : topLine()
      shown = file
      if (isSame) return false
      nearness.disconnect()
      root.replaceChildren()
      parts = []
      anchor = null
      if (file) {
        showParts(file, kept !== null)
        showPictures(file)
      }
      anchor = kept
      if (isOther) root.scrollTop = 0
      else settle()
      return true
    },
    /** Another part of what is shown. False if it is none. @param {ChangesFile} file */
    receive(file) {
      const part = parts.find(({ from }) => from === file.from)
      if (!part || !belongs(file)) return false
      part.html = file.html
      if (part.isNear) drawNear(part)
      return true
    },
    /** The line of the new file that is in view, for an editor. */
    line: () => Number(firstInView(".same, .add")?.dataset["new"] ?? 1),
    /** Asks again for what is near and not here. */
    retry() {
      for (const part of parts) if (part.isNear && part.html === null) deps.ask(part.from)
    },
    /** Whether a line is in a part that is not in the DOM. @param {DiffSide} side @param {number} line */
    isAway(side, line) {
      const part = shown ? parts[partOf(shown, side, line)] : undefined
      return part !== undefined && !part.isDrawn
    },
  }
}

/** Removed lines stand beside the added ones that follow them. @param {Element[]} lines */
function sideBySide(lines) {
  const pairs = []
  for (let at = 0; at < lines.length;) {
    const removed = runOf(lines, at, "del")
    const added = runOf(lines, at + removed.length, "add")
    const line = /** @type {Element} */ (lines[at])
    if (removed.length + added.length === 0) {
      at += 1
      pairs.push(line.matches(".same") ? pairOf(line, line.cloneNode(true)) : line)
      continue
    }
    at += removed.length + added.length
    for (let row = 0; row < Math.max(removed.length, added.length); row += 1)
      pairs.push(pairOf(removed[row] ?? null, added[row] ?? null))
  }
  return pairs
}

/** @param {Element[]} lines @param {number} from @param {string} kind */
function runOf(lines, from, kind) {
  let end = from
  while (lines[end]?.matches(`.${kind}`)) end += 1
  return lines.slice(from, end)
}

/** @param {Node | null} before @param {Node | null} after */
const pairOf = (before, after) =>
  el("div", { class: "pair" }, before ?? el("div", { class: "nothing" }), after ?? el("div", { class: "nothing" }))
