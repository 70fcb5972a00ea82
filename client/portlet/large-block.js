/**
 * The content of a block that is very long: divided into portions, of which the browser lays out only those near the
 * view. A long list is also built portion by portion, so that the page can do something else in between.
 */

import { el } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"
import { dressCode } from "./code-block.js"

/** List items, or blocks, in one portion. */
export const PORTION = 100

/** Characters of a very long line in one portion. */
const LINE = 16_384

/** HTML with fewer characters is always quick to build and to lay out. */
const LARGE = 100_000

/** @param {string} html */
export const isLarge = (html) => html.length >= LARGE

/** Builds the content outside the document, where moving this much is quick. Ends each step after a portion.
 * @param {string} html @returns {Generator<undefined, Element, undefined>} */
export function* contentOf(html) {
  const content = el("div")
  const [open, tag = ""] = /^<(ul|ol)[^>]*>/.exec(html) ?? []
  if (open === undefined || !html.endsWith(`</${tag}>`)) {
    put(content, html)
    return content
  }
  setRenderedHtml(content, `${open}</${tag}>`)
  const list = /** @type {Element} */ (content.firstElementChild)
  const first = list instanceof HTMLOListElement ? list.start : null
  let items = 0
  for (const part of itemsOf(html.slice(open.length, -`</${tag}>`.length))) {
    const portion = el("div", { class: "portion", role: "none" })
    put(portion, part)
    // Numbering does not continue from one portion to the next on its own.
    if (first !== null) portion.firstElementChild?.setAttribute("value", String(first + items))
    items += portion.childElementCount
    list.append(portion)
    yield
  }
  // Few items need no portion.
  if (items <= PORTION) list.replaceChildren(...[...list.children].flatMap((portion) => [...portion.childNodes]))
  return content
}

/** The HTML of a list's own items, a portion at a time. In the server's HTML every `<` begins a tag.
 * @param {string} html */
function* itemsOf(html) {
  let from = 0
  let depth = 0
  let count = 0
  for (const tag of html.matchAll(/<(\/?)(ul|ol|li)\b/g)) {
    if (tag[2] !== "li") depth += tag[1] === "" ? 1 : -1
    else if (depth === 0 && tag[1] === "" && ++count > PORTION) {
      yield html.slice(from, tag.index)
      from = tag.index
      count = 1
    }
  }
  yield html.slice(from)
}

/** @param {Element} element @param {string} html */
function put(element, html) {
  setRenderedHtml(element, html)
  dressCode(element)
  if (html.length > LINE) divide(element)
}

/** Divides long lists and very long lines into portions. @param {Element} block */
function divide(block) {
  for (const list of block.querySelectorAll("ul, ol")) {
    const items = [...list.children]
    if (items.length <= PORTION) continue
    const first = list instanceof HTMLOListElement ? list.start : null
    for (let n = 0; n < items.length; n += PORTION) {
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
