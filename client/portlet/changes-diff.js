/** The difference in one file: unified or side by side, with more of the lines around it if asked. */

import { el, setAttribute } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"

/** @import { ChangesFile } from "./changes-state.js" */

/** @param {HTMLElement} root
 * @param {{ more(): void, shown(root: HTMLElement): void }} deps `more` lines were asked for; a file is `shown` */
export function mountDiff(root, deps) {
  /** What is in the DOM. @type {{ file: ChangesFile | null, split: boolean }} */
  let shown = { file: null, split: false }
  /** @type {string[]} */
  let addresses = []

  root.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(".gap")) deps.more()
  })
  root.addEventListener("keydown", (event) => {
    const gap = event.target instanceof Element && event.target.closest(".gap")
    if (!gap || (event.key !== "Enter" && event.key !== " ")) return
    event.preventDefault()
    deps.more()
  })

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

  return {
    /** Whether it was drawn again. @param {ChangesFile | null} file @param {boolean} split */
    update(file, split) {
      root.hidden = file === null || (file.html === "" && !file.pictures)
      if (shown.file === file && shown.split === split) return false
      const isOther = shown.file?.path !== file?.path
      const { scrollTop } = root
      shown = { file, split }
      setRenderedHtml(root, file?.html ?? "")
      if (file) showPictures(file)
      for (const gap of root.querySelectorAll(".gap")) {
        setAttribute(gap, "role", "button")
        setAttribute(gap, "tabindex", "0")
        setAttribute(gap, "title", "Show more lines")
      }
      deps.shown(root)
      if (split) for (const rows of root.querySelectorAll(".rows")) putSideBySide(rows)
      root.scrollTop = isOther ? 0 : scrollTop
      return true
    },
  }
}

/** Removed lines stand beside the added ones that follow them. @param {Element} rows */
function putSideBySide(rows) {
  const lines = [...rows.children]
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
  setAttribute(rows, "data-split", true)
  rows.replaceChildren(...pairs)
}

/** @param {Element[]} lines @param {number} from @param {string} kind */
function runOf(lines, from, kind) {
  const end = lines.findIndex((line, at) => at >= from && !line.matches(`.${kind}`))
  return lines.slice(from, end === -1 ? lines.length : end)
}

/** @param {Node | null} before @param {Node | null} after */
const pairOf = (before, after) =>
  el("div", { class: "pair" }, before ?? el("div", { class: "nothing" }), after ?? el("div", { class: "nothing" }))
