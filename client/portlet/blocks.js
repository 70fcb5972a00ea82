/**
 * Blocks that the server rendered. Only changed blocks are replaced, so the others keep their selection, focus and
 * scroll position; a code block that only grew gets the new text appended.
 *
 * The page stays responsive however much there is: a very long list of blocks is built over several frames, and long
 * content is divided into portions, of which the browser lays out only those near the view.
 */

import { el } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"
import { dressCode } from "./code-block.js"

/** The end of a code block as the server writes it. */
const CODE_END = "</code></pre></div>"

/** Time for building blocks in one frame (milliseconds). Layout takes about as long again. */
const BUDGET = 8

/** Blocks to build between two looks at the clock. */
const AT_ONCE = 64

/** Blocks, or list items, in one portion. */
const PORTION = 100

/** Characters of a very long line in one portion. */
const LINE = 16_384

/** HTML with fewer characters is always quick to lay out. */
const LARGE = 100_000

/** @param {HTMLElement} root
 * @param {(mutate: () => void) => void} change applies a change that the user did not ask for */
export function mountBlocks(root, change) {
  /** @type {readonly string[]} */
  let wanted = []
  /** The HTML of each block on the page. @type {string[]} */
  const shown = []
  /** @type {Element[]} */
  const elements = []
  /** Blocks before this one are up to date. */
  let at = 0
  let isScheduled = false

  /** Builds blocks until all are up to date or the frame's budget is used up. */
  function apply() {
    const began = performance.now()
    for (let made = 0; at < wanted.length; at += 1) {
      const html = /** @type {string} */ (wanted[at])
      const before = shown[at]
      if (before === html) continue
      if (made > 0 && made % AT_ONCE === 0 && performance.now() - began > BUDGET) return applySoon()
      made += 1
      const block = elements[at] ?? (elements[at] = holder(at).appendChild(el("div", { class: "block" })))
      if (before === undefined || !grown(block, before, html)) fill(block, html)
      shown[at] = html
    }
  }

  /** The parent of a new block: the first ones are in no portion. @param {number} n */
  function holder(n) {
    if (n < PORTION) return root
    return n % PORTION === 0
      ? root.appendChild(el("div", { class: "portion" }))
      : /** @type {Element} */ (root.lastElementChild)
  }

  function applySoon() {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(() => {
      isScheduled = false
      if (root.isConnected) change(apply)
    })
  }

  return {
    /** @param {readonly string[]} blocks */
    update(blocks) {
      if (blocks === wanted) return
      wanted = blocks
      for (const gone of elements.splice(blocks.length)) {
        const portion = gone.parentElement
        gone.remove()
        if (portion !== root && portion?.childElementCount === 0) portion.remove()
      }
      shown.splice(blocks.length)
      at = 0
      if (!isScheduled) apply()
    },
  }
}

/** @param {Element} block @param {string} html */
function fill(block, html) {
  if (html.length < LARGE) {
    setRenderedHtml(block, html)
    return dressCode(block)
  }
  // Built outside the document, where moving this much is quick.
  const made = el("div")
  setRenderedHtml(made, html)
  dressCode(made)
  divide(made)
  block.replaceChildren(...made.childNodes)
}

/** Divides long lists and very long lines into portions. @param {Element} block */
function divide(block) {
  for (const list of block.querySelectorAll("ul, ol")) {
    const items = [...list.children]
    if (items.length <= PORTION) continue
    const first = list instanceof HTMLOListElement ? list.start : null
    for (let n = 0; n < items.length; n += PORTION) {
      // Numbering does not continue from one portion to the next on its own.
      if (first !== null) items[n]?.setAttribute("value", String(first + n))
      list.append(el("div", { class: "portion", role: "none" }, ...items.slice(n, n + PORTION)))
    }
  }
  for (const line of block.querySelectorAll("p, li")) {
    for (const text of line.childNodes) if (text instanceof Text && text.length > 2 * LINE) divideText(text)
  }
}

/** @param {Text} node */
function divideText(node) {
  const { data } = node
  const portions = []
  for (let from = 0; from < data.length;) {
    const space = data.lastIndexOf(" ", from + LINE)
    let to = space > from ? space + 1 : from + LINE
    if (from + LINE >= data.length) to = data.length
    // Not between the two surrogates of one character.
    else if (/[\uDC00-\uDFFF]/.test(data.charAt(to))) to += 1
    portions.push(el("span", { class: "portion", text: data.slice(from, to) }))
    from = to
  }
  node.replaceWith(...portions)
}

/** Appends new text to a code block; false when the block changed in another way.
 * @param {Element} block @param {string} before @param {string} after */
function grown(block, before, after) {
  if (!before.startsWith('<div class="code"') || !before.endsWith(CODE_END) || !after.endsWith(CODE_END)) return false
  const kept = before.slice(0, -CODE_END.length)
  if (!after.startsWith(kept)) return false
  const code = block.querySelector("pre > code")
  if (!code) return false
  const piece = el("span")
  setRenderedHtml(piece, after.slice(kept.length, -CODE_END.length))
  code.append(...piece.childNodes)
  // Merge text nodes now and then: thousands of them would be slow to lay out.
  if (code.childNodes.length > 64) code.normalize()
  return true
}
