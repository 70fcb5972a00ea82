/**
 * Blocks that the server rendered. Only those that changed are replaced, so selection, scroll and focus in the others stay;
 * a code block that only grew gets what it grew by.
 */

import { el } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"
import { dressCode } from "./code-block.js"

/** How the frame of a code block ends, as the server writes it. */
const CODE_END = "</code></pre></div>"

/** @param {HTMLElement} root */
export function mountBlocks(root) {
  /** @type {string[]} */
  let shown = []

  return {
    /** @param {string[]} blocks */
    update(blocks) {
      if (blocks === shown) return
      while (root.childElementCount > blocks.length) root.lastElementChild?.remove()
      blocks.forEach((html, at) => {
        const before = shown[at]
        if (before === html) return
        const block = root.children[at]
        if (block && before !== undefined && !grown(block, before, html)) fill(block, html)
        else if (!block) fill(root.appendChild(el("div", { class: "block" })), html)
      })
      shown = blocks
    },
  }
}

/** @param {Element} block @param {string} html */
function fill(block, html) {
  setRenderedHtml(block, html)
  dressCode(block)
}

/** Appends to an open code block what was written since; false when it changed in another way.
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
  // Neighbouring texts become one now and then: thousands of them would be slow to lay out.
  if (code.childNodes.length > 64) code.normalize()
  return true
}
