/**
 * The transcript on the page. Rows stand in segments; only segments near the view have their rows in the DOM, the others
 * are empty boxes of the height they had, so a history of any length costs what the screen shows.
 */

import { el, keyed, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { keepPlace } from "./place.js"
import { mountRow } from "./row.js"
import { createSegmenter, keysTo } from "./rows.js"
import { countAfter, firstIndex, lastIndex } from "./transcript.js"
import { counted } from "./words.js"

/** @import { RowDeps } from "./row.js" */
/** @import { Row, Segment } from "./rows.js" */
/** @import { Send } from "./sends.js" */
/** @import { Transcript } from "./transcript.js" */

/** Rows are made this far outside the view (pixels), and taken away again beyond that. */
const NEAR = 1200
const FAR = 5000

/** The height of a row nobody has measured yet. */
const GUESS = 64

/** Rows to make in one go, so that no task is long: what a screen shows at first, the others frame by frame. */
const AT_ONCE = 16

/** @typedef {Omit<RowDeps, "change" | "mountRow"> & { loadOlder(before: number): void, loadNewer(after: number): void, reopen(): void }} ConversationDeps */

/** @param {HTMLElement} root @param {ConversationDeps} deps */
export function mountConversation(root, deps) {
  const ending = new AbortController()
  const { signal } = ending
  const above = el("div", { class: "above", role: "status", hidden: true }, el("span", { class: "spinner" }), "Loading earlier messages")
  const column = el("div", { class: "column" })
  const below = el("div", { class: "below" })
  const content = el("div", { class: "conversation-content" }, above, column, below)
  const scroller = el("div", { class: "scroller", role: "region", "aria-label": "Conversation", tabindex: 0 }, content)
  const newWords = el("span", { text: "To the end" })
  const endButton = el("button", { class: "to-end", type: "button", hidden: true }, icon("down"), newWords)
  root.append(scroller, endButton)

  const segmentsOf = createSegmenter()
  /** @type {Map<string, SegmentView>} */
  const views = new Map()
  /** The views as they stand on the page; the map has them in the order they came. @type {SegmentView[]} */
  let ordered = []
  /** @type {Transcript | null} */
  let shown = null
  /** The last item the reader was at the end for. */
  let seen = -1
  let asked = -1
  let askedBelow = -1
  /** The user wants the end, and it is on its way. */
  let wantsEnd = false
  let scheduled = false

  const place = keepPlace(scroller, content, { candidates, onScroll, hasEnd: () => shown?.newer !== true }, signal)
  /** @type {RowDeps} */
  const rowDeps = { ...deps, change: place.changeAt, mountRow: (row) => mountRow(row, rowDeps) }

  /** The elements at the top of the view: the block that is read, its row, and those after it. */
  function candidates() {
    const edge = scroller.getBoundingClientRect().top
    /** @type {Element[]} */
    const found = []
    for (const { element, isFilled } of ordered) {
      if (!isFilled() || element.getBoundingClientRect().bottom <= edge) continue
      for (const row of element.children) {
        if (row.getBoundingClientRect().bottom <= edge) continue
        if (found.length === 0) found.push(...[...row.querySelectorAll(".block, .entry")].filter((inner) => inner.getBoundingClientRect().bottom > edge).slice(0, 2))
        found.push(row)
        if (found.length >= 8) return found
      }
    }
    return found
  }

  /** Fills what is near the view and empties what is far. Returns whether more is to be done. */
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

  /** Returns whether some are left. @param {SegmentView[]} wanted those that matter most first */
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
      place.change(() => { more = fill() })
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

  function loadOlder() {
    const first = shown && firstIndex(shown)
    if (!shown?.older || first === null || asked === first || scroller.scrollTop > 2 * NEAR) return
    asked = first
    deps.loadOlder(first)
  }

  function loadNewer() {
    if (!shown?.newer || askedBelow === lastIndex(shown) || scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop > 2 * NEAR) return
    askedBelow = lastIndex(shown)
    deps.loadNewer(askedBelow)
  }

  /** The end may be far below what is here: then it is opened anew. */
  function toEnd() {
    wantsEnd = shown?.newer === true
    if (wantsEnd) deps.reopen()
    else place.toEnd()
  }

  function showNew() {
    const following = place.isFollowing()
    if (following && shown) seen = lastIndex(shown)
    const count = shown && !following ? countAfter(shown, seen) : 0
    endButton.hidden = following
    setText(newWords, count === 0 ? "To the end" : `${count} new`)
    endButton.setAttribute("aria-label", count === 0 ? "Go to the end" : `Go to the end, ${counted(count, "new item")}`)
    endButton.toggleAttribute("data-new", count > 0)
  }

  endButton.addEventListener("click", () => {
    toEnd()
    deps.focusComposer()
  }, { signal })

  return {
    /** What stands below everything: that an agent starts, or nothing yet. */
    below,
    /** @param {Transcript} transcript @param {Send[]} sends */
    update(transcript, sends) {
      const isFirst = !shown?.known && transcript.known
      const isOther = shown !== null && shown.stream !== transcript.stream
      shown = transcript
      if (isOther) asked = askedBelow = -1
      const segments = segmentsOf(transcript, sends, new Date().toDateString())
      place.change(() => {
        above.hidden = !transcript.older
        keyed(column, views, segments, ({ key }) => String(key), (segment) => mountSegment(segment, rowDeps))
        ordered = segments.flatMap(({ key }) => views.get(String(key)) ?? [])
        if (place.isFollowing()) fillSome(ordered.slice(-AT_ONCE).reverse())
      })
      if ((isFirst || wantsEnd) && !transcript.newer) toEnd()
      showNew()
      fillSoon()
    },
    /** The page before or after did not come; it may be asked for again. */
    olderFailed() { asked = askedBelow = -1 },
    /** Scrolls to an item, opens what hides it, and marks it. @param {string} itemId @param {number} index */
    reveal(itemId, index) {
      const view = ordered.findLast((each) => each.first() <= index)
      if (!view) return
      const keys = keysTo(view.rows(), itemId) ?? []
      place.change(() => {
        if (keys.some((key) => deps.open.get(key) !== true)) view.empty()
        for (const key of keys) deps.open.set(key, true)
        view.fill()
      })
      const target = column.querySelector(`[data-item="${CSS.escape(itemId)}"]`)
      if (!target) return
      place.show(target)
      target.classList.remove("revealed")
      void target.getBoundingClientRect()
      target.classList.add("revealed")
    },
    toEnd,
    /** Scrolls by pages, for keys pressed elsewhere. @param {number} pages */
    page: (pages) => scroller.scrollBy({ top: pages * scroller.clientHeight * 0.85 }),
    destroy() {
      ending.abort()
      root.replaceChildren()
    },
  }
}

/** Whether the user has focus or a selection in there. @param {Element} element */
function holdsUser(element) {
  const selection = document.getSelection()
  return element.contains(document.activeElement) || (selection !== null && !selection.isCollapsed && selection.containsNode(element, true))
}

/** @typedef {ReturnType<typeof mountSegment>} SegmentView */

/** @param {Segment} first @param {RowDeps} deps */
function mountSegment(first, deps) {
  const element = el("div", { class: "segment" })
  let segment = first
  let filled = false
  /** @type {Map<string, ReturnType<typeof mountRow>>} */
  const rows = new Map()

  const show = () => keyed(element, rows, segment.rows, (row) => row.key, (/** @type {Row} */ row) => mountRow(row, deps))
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
