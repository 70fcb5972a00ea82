/** Now, in its frame: the rows of all sessions from the shell in, answers and other requests of the user out. */

import { connectShellFromNow } from "../shared/bridge.js"
import { el, keyed, need, setText } from "../shared/dom.js"
import { createApi, createEntering } from "../shared/door.js"
import { createFrames } from "../shared/frames.js"
import { tameHeldKeys } from "../shared/held.js"
import { icon } from "../shared/icons.js"
import { uuid } from "../shared/ids.js"
import { keysFor, shortcutOf } from "../shared/keys.js"
import { followReading } from "../shared/reading.js"
import { sealed } from "../shared/storage.js"
import { resolveTheme, showTheme, themeChoice } from "../shared/theme.js"
import { copyOnClick } from "../portlet/code-block.js"
import { isTyping } from "../portlet/permission.js"
import { createPictures } from "../portlet/pictures.js"
import { LEFT, createTyped } from "../portlet/typed.js"
import { mountNowCard, mountNowRow } from "./row.js"
import { bySection, isWorking, retryable, sections, withSummary } from "./state.js"

/** @import { NowRow } from "../contract.js" */
/** @import { NowRequest, NowState, ToNow } from "../shared/bridge.js" */
/** @import { RowState } from "./row.js" */
/** @import { Rows, Section } from "./state.js" */

const ending = new AbortController()
const { signal } = ending
tameHeldKeys(signal)
/** @type {Rows} */
let rows = new Map()
/** Whether the rows arrived; until then nothing is known to be empty. */
let known = false
/** @type {NowState | null} */
let shell = null
/** What to undo if a request is refused, by `requestId`. @type {Map<string, () => void>} */
const pending = new Map()
/** What the user opened in the cards. @type {Map<string, boolean>} */
const open = new Map()

const bridge = connectShellFromNow(receive, signal)
const entering = createEntering(() => bridge.post({ type: "portlet:enter" }))
const api = createApi(entering.enter)
const pictures = createPictures((url) => api(url), signal)

/** @type {Record<Section, { title: string, act?: string }>} */
const words = {
  waiting: { title: "Waiting for you" },
  working: { title: "Working" },
  done: { title: "Done, not looked at", act: "Mark all as looked at" },
  stopped: { title: "Stopped", act: "Retry all" },
}
/** @type {Record<Section, string>} */
const dots = { waiting: "waiting", working: "running", done: "unread", stopped: "failed" }

const head = mountHead()
const views = mountSections()
const empty = el(
  "div",
  { class: "now-empty", hidden: true },
  el("h2", { text: "Nothing needs you" }),
  el("p", {
    text:
      "Now shows every session at a glance: what's waiting for you, what's running, what's done and what has " +
      "stopped. You can answer here without opening a session.",
  }),
  newSessionButton(),
)
need(document, "#sections", HTMLElement).append(empty)

function newSessionButton() {
  const button = el(
    "button",
    { class: "button", type: "button" },
    icon("add"),
    el("span", { text: "New session" }),
    el("kbd", { text: keysFor("new-session") }),
  )
  button.addEventListener("click", () => bridge.post({ type: "now:new-session" }))
  return button
}

function mountHead() {
  const counts = sections.map((section) => {
    const number = el("b")
    const element = el(
      "span",
      { class: "now-count", "data-mood": dots[section] },
      el("i", { class: "dot" }),
      number,
      section,
    )
    return { section, number, element }
  })
  need(document, "#head", HTMLElement).append(
    el("h1", { text: "Now" }),
    ...counts.map(({ element }) => element),
    newSessionButton(),
  )
  return {
    /** @param {Record<Section, NowRow[]>} sorted */
    update(sorted) {
      for (const { section, number, element } of counts) {
        setText(number, String(sorted[section].length))
        element.hidden = sorted[section].length === 0
      }
    },
  }
}

function mountSections() {
  const columns = [el("div", { class: "now-column" }), el("div", { class: "now-column" })]
  need(document, "#sections", HTMLElement).append(...columns)
  return sections.map((section) => {
    const count = el("span", { class: "now-number" })
    const act = el("button", { class: "now-act", type: "button", text: words[section].act ?? "" })
    const list = el("ul", { class: "now-list" })
    const element = el(
      "section",
      { class: "now-section", "aria-label": words[section].title, "data-section": section },
      el("header", {}, el("h2", { text: words[section].title }), count, act),
      list,
    )
    columns[section === "waiting" ? 0 : 1]?.append(element)
    act.addEventListener("click", () => {
      const shown = bySection(rows, shell?.projects ?? [])
      if (section === "done") shown.done.forEach(look)
      else retryable(shown.stopped).forEach(retry)
    })
    /** @type {Map<string, ReturnType<typeof mountNowRow> | ReturnType<typeof mountNowCard>>} */
    const mounted = new Map()
    return {
      section,
      /** @param {NowRow[]} shown */
      update(shown) {
        element.hidden = shown.length === 0
        setText(count, String(shown.length))
        act.hidden = words[section].act === undefined || (section === "stopped" && retryable(shown).length < 2)
        keyed(
          list,
          mounted,
          shown.map(stateOf),
          // A card is for one permission; the next one is another card.
          ({ row }) => `${row.id} ${row.card?.itemId ?? ""}`,
          (state) => (section === "waiting" ? mountNowCard(state, rowDeps) : mountNowRow(state, rowDeps)),
        )
      },
      tick: () => mounted.forEach((view) => view.tick()),
    }
  })
}

/** @param {NowRow} row @returns {RowState} */
const stateOf = (row) => ({
  row,
  project: shell?.projects.find(({ id }) => id === row.projectId)?.name ?? "",
  agents: shell?.agents ?? [],
})

const rowDeps = {
  open: openSession,
  retry,
  now: Date.now,
  /** @param {NowRow} row @returns {import("../portlet/row.js").PermissionDeps} */
  permission({ id: sessionId, card }) {
    const typed = createTyped(sessionId, () => shell && sealed(localStorage, shell.storageKey))
    return {
      change: (_element, mutate) => mutate(),
      open,
      answer(itemId, answer, onFailure) {
        request({ type: "session:permission", sessionId, itemId, ...answer, requestId: uuid() }, onFailure)
      },
      isVisible: () => shell?.visible === true,
      picture: pictures.picture,
      focusComposer: () => focusNext(card?.itemId ?? ""),
      // A card takes the focus only if nothing else has it.
      composerIsIdle: () => document.activeElement === document.body,
      typed,
      leave: (words) => typed.keep(LEFT, [words, typed.of(LEFT)].filter((part) => part !== "").join("\n\n")),
    }
  },
}

/** @param {NowRequest} message @param {() => void} [undo] */
function request(message, undo = () => {}) {
  pending.set(message.requestId, undo)
  bridge.post(message)
}

/** @param {string} sessionId */
function openSession(sessionId) {
  bridge.post({ type: "now:open", sessionId })
}

/** @param {NowRow} row */
function retry({ id: sessionId, prompt }) {
  if (prompt !== undefined) request({ type: "session:send", sessionId, content: prompt, requestId: uuid() })
}

/** @param {NowRow} row */
function look({ id: sessionId }) {
  request({ type: "session:looked", sessionId, requestId: uuid() })
}

/** Every row in the order of the page; of a card its box. @returns {HTMLElement[]} */
const stops = () => [...document.querySelectorAll(".now-card > .ask:not([aria-busy]), .now-row")].filter(isElement)

/** @param {Element} element @returns {element is HTMLElement} */
const isElement = (element) => element instanceof HTMLElement

/** @param {HTMLElement | undefined} stop */
function focus(stop) {
  stop?.focus({ preventScroll: true })
  stop?.scrollIntoView({ block: "nearest" })
}

/** Where the user went: the keys of a card work at once. @param {HTMLElement | undefined} stop */
function goTo(stop) {
  if (stop?.matches(".ask")) stop.dataset["opened"] = ""
  focus(stop)
}

/** Whether a card waits and something else has the focus. */
const isPassedOver = () => stops()[0]?.matches(".ask") === true && !document.activeElement?.closest(".ask")

/** The user came here and has done nothing yet. What waits may still be on its way. */
let isNew = false
for (const type of ["keydown", "pointerdown"])
  document.addEventListener(type, () => (isNew = false), { capture: true, signal })

/** What waits comes first. */
function focusFirst() {
  const stop = stops().find((each) => each.contains(document.activeElement))
  if (stop === undefined || isPassedOver()) goTo(stops()[0])
  else if (stop === document.activeElement) goTo(stop)
}

/** The next card that waits, after one that was answered. @param {string} itemId */
function focusNext(itemId) {
  const cards = [...document.querySelectorAll(".now-card > .ask")].filter(isElement)
  const at = cards.findIndex((card) => card.dataset.item === itemId)
  const left = [...cards.slice(at + 1), ...cards.slice(0, Math.max(0, at))].find((card) => !card.ariaBusy)
  focus(left ?? stops()[0])
}

document.addEventListener(
  "keydown",
  (event) => {
    const name = shortcutOf(event)
    if (name !== null) {
      event.preventDefault()
      return bridge.post({ type: "portlet:shortcut", name })
    }
    const target = event.target
    if (!(target instanceof HTMLElement) || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
    if (isTyping(target)) return
    const all = stops()
    const at = all.findIndex((stop) => stop.contains(target))
    const id = target.closest("[data-id]")?.getAttribute("data-id") ?? ""
    const row = rows.get(id)
    switch (event.key) {
      case "j":
        goTo(all[at + 1] ?? all[at])
        break
      case "k":
        goTo(all[Math.max(0, at - 1)])
        break
      case "Enter":
        if (!row || target !== all[at]) return
        openSession(id)
        break
      case "e":
        if (!row || event.repeat || row.state === "waiting" || isWorking(row)) return
        focus(all[at + 1] ?? all[at - 1])
        look(row)
        break
      case "r":
        if (row?.prompt === undefined || event.repeat) return
        retry(row)
        break
      default:
        return
    }
    event.preventDefault()
  },
  { signal },
)

/** @param {ToNow} message */
function receive(message) {
  switch (message.type) {
    case "now:summary":
      rows = withSummary(rows, message)
      known = true
      showSoon()
      if (message.whole && isNew) focusFirst()
      return
    case "shell:now":
      shell = message
      showTheme(document, message.theme)
      return showSoon()
    case "shell:done":
      pending.delete(message.requestId)
      return
    case "shell:refused":
      pending.get(message.requestId)?.()
      pending.delete(message.requestId)
      return
    case "shell:focus":
      isNew = true
      return focusFirst()
    case "shell:entry":
      entering.entered(message.entry)
      return
  }
}

const announcer = need(document, "#announcer", HTMLElement)
let waited = 0
const frames = createFrames(signal)

/** At once, for what is focused next must be there, but not under a finger. */
function showSoon() {
  if (frames.isHeld()) frames.beforePaint(show)
  else show()
}

function show() {
  if (!shell) return
  const sorted = bySection(rows, shell.projects)
  const focused = document.activeElement?.closest(".now-row")?.getAttribute("data-id")
  for (const view of views) view.update(sorted[view.section])
  // A row that moved to another list is another element; the keys go on from there.
  if (focused && document.activeElement === document.body)
    focus(stops().find((stop) => stop.matches(".now-row") && stop.dataset["id"] === focused))
  head.update(sorted)
  empty.hidden = !known || sections.some((section) => sorted[section].length > 0)
  document.body.toggleAttribute("data-empty", !empty.hidden)
  const count = sorted.waiting.length
  if (count > waited)
    setText(announcer, count === 1 ? "1 session is waiting for you" : `${count} sessions are waiting for you`)
  waited = count
}

const keyWords = [
  [["J", "K"], "move"],
  [["1", "–", "9"], "answer"],
  [["Enter"], "open"],
  [["E"], "looked at"],
  [["R"], "retry"],
]
need(document, "#keys", HTMLElement).append(
  ...keyWords.map(([keys, what]) =>
    el("span", {}, ...[...(keys ?? [])].map((key) => (key === "–" ? key : el("kbd", { text: key }))), ` ${what}`),
  ),
)
showTheme(document, resolveTheme(themeChoice(localStorage), matchMedia("(prefers-color-scheme: light)").matches))
followReading(document, localStorage)
copyOnClick(need(document, "#sections", HTMLElement), signal)
window.addEventListener("focus", () => bridge.post({ type: "portlet:focus" }), { signal })
document.addEventListener("pointerdown", () => bridge.post({ type: "portlet:focus" }), { signal })
const clockTicks = setInterval(() => {
  if (shell?.visible) for (const view of views) view.tick()
}, 1000)
signal.addEventListener("abort", () => clearInterval(clockTicks))
window.addEventListener("pagehide", () => ending.abort(), { signal })
bridge.post({ type: "portlet:ready" })
