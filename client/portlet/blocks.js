/**
 * Blocks that the server rendered. Only changed blocks are replaced, so the others keep their selection, focus and
 * scroll position; a code block that only grew gets the new text appended.
 *
 * The page stays responsive however much there is: very many blocks, or a very large one, are built over several
 * frames, and long content is divided into portions, of which the browser lays out only those near the view.
 */

import { el } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"
import { dressCode } from "./code-block.js"
import { contentOf, isLarge, PORTION } from "./large-block.js"

/** The end of a code block as the server writes it. */
const CODE_END = "</code></pre></div>"

/** Time for building blocks in one frame (milliseconds). Layout takes about as long again. */
const BUDGET = 8

/** Blocks to build between two looks at the clock. */
const AT_ONCE = 64

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
  /** The large block that is being built. It is finished even if it grows meanwhile: else it might never be seen.
   * @type {{ at: number, html: string, steps: ReturnType<typeof contentOf> } | null} */
  let building = null

  /** Builds blocks until all are up to date or the frame's budget is used up. */
  function apply() {
    const began = performance.now()
    for (let made = 0; at < wanted.length; at += 1) {
      const html = /** @type {string} */ (wanted[at])
      const before = shown[at]
      if (before === html) continue
      if (made > 0 && made % AT_ONCE === 0 && performance.now() - began > BUDGET) return applySoon()
      made += 1
      const block = elements[at]
      if (block && before !== undefined && grown(block, before, html)) shown[at] = html
      else if (!isLarge(html)) {
        setRenderedHtml(blockAt(at), html)
        dressCode(blockAt(at))
        shown[at] = html
      } else {
        buildLarge(html, began)
        if (shown[at] !== html) return applySoon()
      }
    }
  }

  /** Builds the next part of a large block, and shows all of it at once. @param {string} html @param {number} began */
  function buildLarge(html, began) {
    if (building?.at !== at) building = { at, html, steps: contentOf(html) }
    let step = building.steps.next()
    while (!step.done && performance.now() - began <= BUDGET) step = building.steps.next()
    if (!step.done) return
    blockAt(at).replaceChildren(...step.value.childNodes)
    shown[at] = building.html
    building = null
  }

  /** @param {number} n */
  const blockAt = (n) => (elements[n] ??= holder(n).appendChild(el("div", { class: "block" })))

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
      if (building && building.at >= blocks.length) building = null
      at = 0
      if (!isScheduled) apply()
    },
  }
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
