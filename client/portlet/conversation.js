/**
 * The transcript on the page. Rows are grouped into segments; only segments near the view have their rows in the DOM.
 * The others are empty boxes of their last height, so a history of any length costs only what the screen shows.
 */

import { el, keyed, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { counted } from "../shared/phrases.js"
import { keepPlace } from "./place.js"
import { mountRow } from "./row.js"
import { createSegmenter, keysTo } from "./rows.js"
import { countAfter, firstIndex, lastIndex } from "./transcript.js"

/** @import { RowDeps } from "./row.js" */
/** @import { Row, Segment } from "./rows.js" */
/** @import { Send } from "./sends.js" */
/** @import { Transcript } from "./transcript.js" */

/** Segments nearer to the view than `NEAR` are filled, those further than `FAR` are emptied (pixels). */
const NEAR = 1200
const FAR = 5000

/** The assumed height of a row that was never on the page (pixels). */
const GUESS = 64

/** Rows to build in one frame, about a screenful, so that no task is long. */
const AT_ONCE = 16

/** @typedef {Omit<RowDeps, "change" | "keepPlace" | "mountRow"> & {
 *   loadOlder(before: number): void, loadNewer(after: number): void, reopen(): void
 * }} ConversationDeps */

/** @param {HTMLElement} root @param {ConversationDeps} deps */
export function mountConversation(root, deps) {
  const ending = new AbortController()
  const { signal } = ending
  const above = el(
    "div",
    { class: "above", role: "status", hidden: true },
    el("span", { class: "spinner" }),
    "Loading earlier messages",
  )
  const column = el("div", { class: "column" })
  const below = el("div", { class: "below" })
  const content = el("div", { class: "conversation-content" }, above, column, below)
  const scroller = el("div", { class: "scroller", role: "region", "aria-label": "Conversation", tabindex: 0 }, content)
  const endLabel = el("span", { text: "To the end" })
  const endButton = el("button", { class: "to-end", type: "button", hidden: true }, icon("down"), endLabel)
  root.append(scroller, endButton)

  const segmentsOf = createSegmenter()
  /** @type {Map<string, SegmentView>} */
  const views = new Map()
  /** The views in page order; the map has them in order of creation. @type {SegmentView[]} */
  let ordered = []
  /** @type {Transcript | null} */
  let shown = null
  /** The index of the last item when the reader was last at the end. */
  let seen = -1
  let requestedBefore = -1
  let requestedAfter = -1
  /** The user asked for the end, and it is still loading. */
  let wantsEnd = false
  let scheduled = false

  const place = keepPlace(scroller, content, { candidates, onScroll, hasEnd: () => shown?.newer !== true }, signal)
  /** @type {RowDeps} */
  const rowDeps = {
    ...deps,
    change: place.changeAt,
    keepPlace: place.change,
    mountRow: (row) => mountRow(row, rowDeps),
  }

  /** The elements at the top of the view: the block being read, its row, and the rows after it. */
  function candidates() {
    const edge = scroller.getBoundingClientRect().top
    /** @type {Element[]} */
    const found = []
    for (const { element, isFilled } of ordered) {
      if (!isFilled() || element.getBoundingClientRect().bottom <= edge) continue
      for (const row of element.children) {
        if (row.getBoundingClientRect().bottom <= edge) continue
        if (found.length === 0) found.push(...firstBelow(row.querySelectorAll(".rendered > *, .entry"), edge))
        found.push(row)
        if (found.length >= 8) return found
      }
    }
    return found
  }

  /** Fills segments near the view and empties distant ones. Returns whether there is more to do. */
  function fill() {
    const { top, bottom } = scroller.getBoundingClientRect()
    /** @type {SegmentView[]} */
    const wanted = []
    for (const view of ordered) {
      const box = view.element.getBoundingClientRect()
      const away = Math.max(top - box.bottom, box.top - bottom)
      if (!view.isFilled() && away < NEAR) wanted.push(view)
      else if (view.isFilled() && away > FAR && !holdsUser(view.element)) view.empty()
    }
    if (place.isFollowing()) wanted.reverse()
    return fillSome(wanted)
  }

  /** Returns whether some are left. @param {SegmentView[]} wanted the most important ones first */
  function fillSome(wanted) {
    let made = 0
    for (const view of wanted) {
      if (made >= AT_ONCE) return true
      view.fill()
      made += view.rows().length
    }
    return false
  }

  function fillSoon() {
    if (scheduled || signal.aborted) return
    scheduled = true
    requestAnimationFrame(() => {
      scheduled = false
      if (signal.aborted) return
      let more = false
      place.change(() => {
        more = fill()
      })
      if (more) fillSoon()
      else {
        loadOlder()
        loadNewer()
      }
    })
  }

  function onScroll() {
    showNew()
    fillSoon()
  }

  /** @param {number} [within] of the view (pixels) */
  function loadOlder(within = 2 * NEAR) {
    const first = shown && firstIndex(shown)
    if (!shown?.older || first === null || requestedBefore === first || scroller.scrollTop > within) return
    requestedBefore = first
    deps.loadOlder(first)
  }

  /** @param {number} [within] of the view (pixels) */
  function loadNewer(within = 2 * NEAR) {
    if (
      !shown?.newer ||
      requestedAfter === lastIndex(shown) ||
      scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop > within
    )
      return
    requestedAfter = lastIndex(shown)
    deps.loadNewer(requestedAfter)
  }

  /** If the end is not loaded, the session is opened again at its end. */
  function toEnd() {
    wantsEnd = shown?.newer === true
    if (wantsEnd) deps.reopen()
    else place.toEnd()
  }

  /** Whether the last words are in view. The space below them doesn't matter. */
  function seesEnd() {
    if (place.isFollowing()) return true
    const last =
      [...below.children].findLast((each) => each.getClientRects().length > 0) ??
      ordered.at(-1)?.element.lastElementChild
    if (shown?.newer || !last) return false
    return last.getBoundingClientRect().bottom <= scroller.getBoundingClientRect().bottom + 1
  }

  function showNew() {
    const isAtEnd = seesEnd()
    if (isAtEnd && shown) seen = lastIndex(shown)
    const count = shown && !isAtEnd ? countAfter(shown, seen) : 0
    endButton.hidden = isAtEnd
    setText(endLabel, count === 0 ? "To the end" : `${count} new`)
    endButton.setAttribute("aria-label", count === 0 ? "Go to the end" : `Go to the end, ${counted(count, "new item")}`)
    endButton.toggleAttribute("data-new", count > 0)
  }

  endButton.addEventListener(
    "click",
    () => {
      toEnd()
      deps.focusComposer()
    },
    { signal },
  )

  return {
    /** The area below the last row, for `standing.js`. */
    below,
    /** @param {Transcript} transcript @param {Send[]} sends */
    update(transcript, sends) {
      const isFirst = !shown?.known && transcript.known
      const isOther = shown !== null && shown.stream !== transcript.stream
      shown = transcript
      if (isOther) requestedBefore = requestedAfter = -1
      const segments = segmentsOf(transcript, sends, new Date().toDateString())
      place.change(() => {
        above.hidden = !transcript.older
        keyed(
          column,
          views,
          segments,
          ({ key }) => String(key),
          (segment) => mountSegment(segment, rowDeps),
        )
        ordered = segments.flatMap(({ key }) => views.get(String(key)) ?? [])
        if (place.isFollowing()) fillSome(ordered.slice(-AT_ONCE).reverse())
      })
      if ((isFirst || wantsEnd) && !transcript.newer) toEnd()
      showNew()
      fillSoon()
    },
    /** Loading earlier or later items failed; they may be requested again. */
    olderFailed() {
      requestedBefore = requestedAfter = -1
    },
    /** Asks for the next part of the history that is not loaded, wherever the reader is. */
    loadRest() {
      loadOlder(Infinity)
      loadNewer(Infinity)
    },
    /** The index of the row in the upper third of the view, where `reveal` puts it; infinite at the end. */
    indexInView() {
      if (place.isFollowing()) return Infinity
      const edge = scroller.getBoundingClientRect().top + scroller.clientHeight / 3 + 1
      const view = ordered.findLast(({ element }) => element.getBoundingClientRect().top <= edge)
      const at = view ? [...view.element.children].findLastIndex((row) => row.getBoundingClientRect().top <= edge) : -1
      return view?.rows()[at]?.index ?? view?.first() ?? 0
    },
    position: () => scroller.scrollTop,
    /** Scrolls to an item, opens the folds and calls around it, and marks it. Returns its element.
     * @param {string} itemId @param {number} index */
    reveal(itemId, index) {
      const view = ordered.findLast((each) => each.first() <= index)
      if (!view) return null
      const keys = keysTo(view.rows(), itemId) ?? []
      place.change(() => {
        if (keys.some((key) => deps.open.get(key) !== true)) view.empty()
        for (const key of keys) deps.open.set(key, true)
        view.fill()
      })
      const target = column.querySelector(`[data-item="${CSS.escape(itemId)}"]`)
      if (!target) return null
      place.show(target)
      target.classList.remove("revealed")
      void target.getBoundingClientRect()
      target.classList.add("revealed")
      return target
    },
    toEnd,
    /** Scrolls by pages, for keys pressed in the composer. @param {number} pages */
    page: (pages) => scroller.scrollBy({ top: pages * scroller.clientHeight * 0.85 }),
    destroy() {
      ending.abort()
      root.replaceChildren()
    },
  }
}

/** The first two blocks or entries that end below an edge. Looks into a portion only when it is in view.
 * @param {Iterable<Element>} elements @param {number} edge @returns {Element[]} */
function firstBelow(elements, edge) {
  const below = [...elements].filter((element) => element.getBoundingClientRect().bottom > edge).slice(0, 2)
  return below
    .flatMap((element) => (element.matches(".portion") ? firstBelow(element.children, edge) : [element]))
    .slice(0, 2)
}

/** Whether the element contains the focus or a selection. @param {Element} element */
function holdsUser(element) {
  const selection = document.getSelection()
  return (
    element.contains(document.activeElement) ||
    (selection !== null && !selection.isCollapsed && selection.containsNode(element, true))
  )
}

/** @typedef {ReturnType<typeof mountSegment>} SegmentView */

/** @param {Segment} first @param {RowDeps} deps */
function mountSegment(first, deps) {
  const element = el("div", { class: "segment" })
  let segment = first
  let filled = false
  /** @type {Map<string, ReturnType<typeof mountRow>>} */
  const rows = new Map()

  const show = () =>
    keyed(
      element,
      rows,
      segment.rows,
      (row) => row.key,
      (/** @type {Row} */ row) => mountRow(row, deps),
    )
  const box = (/** @type {number} */ height) => element.style.setProperty("block-size", `${height}px`)
  box(first.rows.length * GUESS)

  return {
    element,
    isFilled: () => filled,
    first: () => segment.rows[0]?.index ?? 0,
    rows: () => segment.rows,
    fill() {
      if (filled) return
      filled = true
      element.style.removeProperty("block-size")
      show()
    },
    empty() {
      box(element.getBoundingClientRect().height)
      filled = false
      for (const view of rows.values()) view.destroy?.()
      rows.clear()
      element.replaceChildren()
    },
    /** @param {Segment} next */
    update(next) {
      segment = next
      if (filled) show()
    },
    destroy() {
      for (const view of rows.values()) view.destroy?.()
    },
  }
}
