/**
 * Find in the conversation: a field, the number of hits, and the way from one to the next. The rest of the history is
 * loaded while it is open. Hits are marked by the browser, so the rows stay as they are.
 */

import { el, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { createFinder, nearest, nothingFound, numberOf, patternOf, stepped } from "./finding.js"

/** @import { Hit } from "./finding.js" */
/** @import { Transcript } from "./transcript.js" */

/** @typedef {object} FindBarDeps
 * @property {(itemId: string, index: number) => Element | null} reveal
 * @property {() => number} indexInView  Of an item near the top of the view.
 * @property {() => void} loadRest  Asks for the next part of the history that is not loaded.
 * @property {() => void} focusComposer */

/** History beyond this many items is not loaded for a search. */
const MOST_ITEMS = 20_000

/** Parts of a row that its item's text doesn't have. */
const NOT_ITS_TEXT = ".message-aside, .code-bar, .line-end, .tool-file, .thinking > .line, .visually-hidden, .part-all"

/** @param {HTMLElement} root @param {FindBarDeps} deps */
export function mountFindBar(root, deps) {
  const input = el("input", {
    class: "find-input",
    type: "text",
    "aria-label": "Find in this conversation",
    placeholder: "Find in this conversation",
    autocomplete: "off",
    spellcheck: "false",
  })
  const count = el("span", { class: "find-count", role: "status" })
  const loading = el("span", { class: "spinner", title: "Loading earlier messages", hidden: true })
  const previous = button("Previous (Shift Enter)", "Previous", "up")
  const next = button("Next (Enter)", "Next", "down")
  const close = button("Close (Escape)", "Close find", "close")
  const bar = el("div", { class: "find", role: "search", hidden: true }, input, loading, count, previous, next, close)
  root.append(bar)

  const find = createFinder()
  /** @type {Transcript | null} */
  let transcript = null
  let found = nothingFound
  /** @type {RegExp | null} */
  let pattern = null
  /** @type {Hit | null} */
  let hit = null
  let isPainting = false
  const rows = new MutationObserver(paintSoon)

  const isLoading = () =>
    transcript !== null &&
    pattern !== null &&
    (transcript.older || transcript.newer) &&
    transcript.runs.reduce((sum, run) => sum + run.items.length, 0) < MOST_ITEMS

  function search() {
    if (bar.hidden || transcript === null) return
    found = find(transcript, pattern)
    const hasMore = isLoading()
    if (hasMore) deps.loadRest()
    if (hit === null && found.total > 0) go(nearest(found, deps.indexInView()))
    loading.hidden = !hasMore
    const isPartial = pattern !== null && !hasMore && (transcript.older || transcript.newer)
    setText(count, countWords(hasMore, isPartial))
    for (const step of [previous, next]) step.disabled = found.total === 0
    paintSoon()
  }

  /** @param {boolean} hasMore @param {boolean} isPartial */
  function countWords(hasMore, isPartial) {
    if (pattern === null) return ""
    if (found.total === 0)
      return hasMore ? "" : isPartial ? `None in ${MOST_ITEMS.toLocaleString()} items` : "No matches"
    return `${hit ? numberOf(found, hit) : 0} of ${found.total}${hasMore || isPartial ? "+" : ""}`
  }

  /** @param {Hit | null} to */
  function go(to) {
    hit = to
    if (!to) return
    const row = deps.reveal(to.itemId, to.index)
    const range = row && rangesIn(row)[to.nth]
    if (range) bringIntoView(range)
  }

  /** @param {1 | -1} by */
  function step(by) {
    if (found.total === 0) return
    go(hit ? stepped(found, hit, by) : nearest(found, deps.indexInView()))
    search()
  }

  /** Where the text occurs in a row, but not in the rows within it. @param {Element} row @returns {Range[]} */
  function rangesIn(row) {
    if (pattern === null) return []
    /** @type {{ node: Text, from: number }[]} */
    const pieces = []
    let text = ""
    const nodes = document.createTreeWalker(row, NodeFilter.SHOW_TEXT)
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      const parent = node.parentElement
      if (!(node instanceof Text) || parent?.closest("[data-item]") !== row || parent.closest(NOT_ITS_TEXT)) continue
      pieces.push({ node, from: text.length })
      text += node.data
    }
    /** @param {number} offset @param {boolean} isEnd */
    const pointAt = (offset, isEnd) => {
      const at = pieces.findLastIndex(({ from }) => (isEnd ? from < offset : from <= offset))
      const piece = /** @type {{ node: Text, from: number }} */ (pieces[Math.max(0, at)])
      return { node: piece.node, offset: offset - piece.from }
    }
    return [...text.matchAll(pattern)].map((match) => {
      const range = new Range()
      const [start, end] = [pointAt(match.index, false), pointAt(match.index + match[0].length, true)]
      range.setStart(start.node, start.offset)
      range.setEnd(end.node, end.offset)
      return range
    })
  }

  function paintSoon() {
    if (isPainting || !("highlights" in CSS)) return
    isPainting = true
    requestAnimationFrame(() => {
      isPainting = false
      paint()
    })
  }

  function paint() {
    const marked = new Highlight()
    const current = new Highlight()
    if (!bar.hidden && pattern !== null)
      for (const row of root.querySelectorAll("[data-item]"))
        rangesIn(row).forEach((range, nth) => {
          const isCurrent = row.getAttribute("data-item") === hit?.itemId && nth === hit.nth
          ;(isCurrent ? current : marked).add(range)
        })
    CSS.highlights.set("found", marked)
    CSS.highlights.set("found-current", current)
  }

  function end() {
    bar.hidden = true
    rows.disconnect()
    paintSoon()
    deps.focusComposer()
  }

  input.addEventListener("input", () => {
    pattern = patternOf(input.value)
    hit = null
    search()
  })
  bar.addEventListener("keydown", (event) => {
    if (event.isComposing) return
    if (event.key === "Escape") end()
    else if (event.key === "Enter" && event.target === input) step(event.shiftKey ? -1 : 1)
    else return
    event.preventDefault()
    // The conversation takes Escape for a stop.
    event.stopPropagation()
  })
  previous.addEventListener("click", () => step(-1))
  next.addEventListener("click", () => step(1))
  close.addEventListener("click", end)

  return {
    /** Whether the user is in the field: the shortcut is the browser's then. */
    hasFocus: () => document.activeElement === input,
    open() {
      if (bar.hidden) rows.observe(root, { childList: true, subtree: true, characterData: true })
      bar.hidden = false
      input.focus()
      input.select()
      search()
    },
    /** @param {Transcript} now */
    update(now) {
      if (now === transcript) return
      transcript = now
      search()
    },
  }
}

/** @param {string} title @param {string} label @param {"up" | "down" | "close"} sign */
function button(title, label, sign) {
  return el("button", { class: "icon-button", type: "button", title, "aria-label": label }, icon(sign))
}

/** Scrolls every box around a range, from the inside out, if the range is outside of it. @param {Range} range */
function bringIntoView(range) {
  for (let box = range.startContainer.parentElement; box; box = box.parentElement) {
    if (box.scrollHeight <= box.clientHeight + 1 || getComputedStyle(box).overflowY === "visible") continue
    const { top, bottom } = range.getBoundingClientRect()
    const view = box.getBoundingClientRect()
    if (top < view.top || bottom > view.bottom) box.scrollTop += top - view.top - box.clientHeight / 3
  }
}
