/**
 * The area below the tabs: a portlet for each session that has been active, the progress of one being created, or the
 * welcome. A hidden portlet stays alive, so switching tabs changes only an attribute. Panes side by side are placed by
 * style and never moved: a frame that is moved loads again.
 */

import { connectNow, connectPortlet, portletAddress } from "../shared/bridge.js"
import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { failureParts } from "../shared/failure.js"
import { icon } from "../shared/icons.js"
import { keysFor } from "../shared/keys.js"
import { mountChips } from "../portlet/chips.js"
import { mountCompareHead } from "./compare-head.js"
import { mountCompareSwitch } from "./compare-switch.js"
import { NOW } from "./now.js"
import { paneId, tabId } from "./tab-bar.js"

/** @import { Attachment, ChangeCounts, ErrorBody } from "../contract.js" */
/** @import { Figures, FromNow, ToNow, ToPortlet, ToShell } from "../shared/bridge.js" */
/** @import { ChipDeps } from "../portlet/chips.js" */
/** @import { Mood } from "./model.js" */

/** `messages`: the first, and those that follow it.
 * @typedef {{ agent: string, messages: string[], attachments: Attachment[], words: string, error: ErrorBody | null,
 *   canRetry: boolean, typed: string }} Creating */

/** A pane in a comparison.
 * @typedef {object} ComparedPane
 * @property {string} cliType
 * @property {string} agent
 * @property {string} choices  What tells it from another of the same agent.
 * @property {string} place
 * @property {Mood} mood
 * @property {ChangeCounts | null} counts
 * @property {boolean} canKeep
 * @property {boolean} isKept */

/** Why a session is in no list. @typedef {"archived" | "removed"} Visit */

/** @typedef {object} Pane
 * @property {string} id
 * @property {string} title
 * @property {boolean} active
 * @property {{ at: number, of: number } | null} column  Where it is shown, if it is.
 * @property {Visit | null} visit
 * @property {ComparedPane | null} compared
 * @property {Creating | null} creating */

/** @typedef {object} PanesDeps
 * @property {(sessionId: string, message: ToShell) => void} onMessage
 * @property {(message: FromNow) => void} onNowMessage
 * @property {(id: string) => void} retry
 * @property {(id: string) => void} restore
 * @property {{ activate(id: string): void, showAlone(id: string): void, closeColumn(id: string): void }} columns
 * @property {(id: string) => void} close
 * @property {(id: string, text: string) => void} typed  Written while the agent starts.
 * @property {(id: string, text: string) => void} say
 * @property {(id: string) => void} open  In a tab of its own.
 * @property {(id: string) => void} keep  Of those that are compared.
 * @property {() => ChipDeps} pictures */

/** @param {HTMLElement} root @param {PanesDeps} deps */
export function mountPanes(root, deps) {
  /** @type {Map<string, ReturnType<typeof mountPortlet | typeof mountCreating | typeof mountNow>>} */
  const views = new Map()
  const holder = el("div", { class: "pane-holder" })
  const compareSwitch = mountCompareSwitch(holder)
  root.append(compareSwitch.element, holder)

  return {
    /** @param {Pane[]} panes of the tabs that have been active */
    update(panes) {
      setAttribute(
        holder,
        "data-comparing",
        panes.some(({ compared }) => compared !== null),
      )
      // A session and its creation are different views. Their ids differ, so their keys do too.
      keyed(
        holder,
        views,
        panes,
        (pane) => pane.id,
        (pane) =>
          pane.id === NOW ? mountNow(pane, deps) : pane.creating ? mountCreating(pane, deps) : mountPortlet(pane, deps),
      )
      compareSwitch.update(panes)
    },
    /** @param {string} sessionId @param {ToPortlet} message */
    post(sessionId, message) {
      const view = views.get(sessionId)
      if (view && "post" in view) view.post(message)
    },
    /** @param {ToNow} message */
    postNow(message) {
      const view = views.get(NOW)
      if (view && "postNow" in view) view.postNow(message)
    },
    /** @param {string} sessionId @param {Figures} figures */
    figure(sessionId, figures) {
      const view = views.get(sessionId)
      if (view && "figure" in view) view.figure(figures)
    },
    /** Moves the focus into a pane. @param {string} id */
    focus(id) {
      views.get(id)?.focus()
    },
    /** Reloads portlets that never loaded because the server was gone.
     * @param {(sessionId: string) => boolean} listens */
    revive(listens) {
      for (const [id, view] of views) if ("reload" in view && !listens(id)) view.reload()
    },
    destroy: () => root.replaceChildren(),
  }
}

/** Shows a pane in its column. @param {HTMLElement} element @param {Pane} pane */
function place(element, { active, column }) {
  setAttribute(element, "data-active", active)
  setAttribute(element, "data-shown", column !== null)
  setAttribute(element, "data-beside", column !== null && column.of > 1)
  element.style.setProperty("--at", String(column?.at ?? 0))
  element.style.setProperty("--of", String(column?.of ?? 1))
}

/** The title above a pane that is not alone, or the head of one that is compared.
 * @param {Pane} pane @param {PanesDeps} deps */
function mountHead({ id }, deps) {
  const compared = mountCompareHead({ open: () => deps.open(id), keep: () => deps.keep(id), now: Date.now })
  const title = el("span", { class: "pane-title" })
  const alone = headButton(`Show alone (${keysFor("show-alone")})`, "Show alone", "column")
  const close = headButton("Remove from view", "Remove from view", "close")
  const element = el("div", { class: "pane-head" }, title, alone, close)
  element.addEventListener("pointerdown", () => deps.columns.activate(id))
  // Keys are for the session whose head was used last, as for one that was clicked into.
  for (const type of ["pointerdown", "focusin"])
    compared.element.addEventListener(type, () => deps.onMessage(id, { type: "portlet:focus" }))
  alone.addEventListener("click", () => deps.columns.showAlone(id))
  close.addEventListener("click", () => deps.columns.closeColumn(id))
  return {
    elements: [element, compared.element],
    /** @param {Pane} next */
    update(next) {
      element.hidden = next.column === null || next.column.of < 2 || next.compared !== null
      setText(title, next.title)
      setAttribute(title, "title", next.title)
      compared.update(next.compared)
    },
    figure: compared.figure,
    destroy: compared.destroy,
  }
}

/** @param {string} title @param {string} label @param {"column" | "close"} sign */
const headButton = (title, label, sign) =>
  el("button", { class: "icon-button", type: "button", title, "aria-label": label }, icon(sign))

/** @param {Pane} pane @param {PanesDeps} deps */
function mountPortlet(pane, deps) {
  const ending = new AbortController()
  const head = mountHead(pane, deps)
  const words = el("span")
  const restore = el("button", { class: "button", type: "button", text: "Restore" })
  const visit = el("div", { class: "pane-visit", role: "status", hidden: true }, words, restore)
  const frame = el("iframe", { class: "portlet", src: portletAddress(pane.id), title: pane.title })
  const element = el(
    "div",
    { class: "pane", role: "tabpanel", id: paneId(pane.id), "aria-labelledby": tabId(pane.id) },
    ...head.elements,
    visit,
    frame,
  )
  restore.addEventListener("click", () => deps.restore(pane.id))
  const bridge = connectPortlet(frame, pane.id, (message) => deps.onMessage(pane.id, message), ending.signal)
  const view = {
    element,
    /** @param {Pane} next */
    update(next) {
      place(element, next)
      head.update(next)
      setAttribute(frame, "title", next.title)
      visit.hidden = next.visit === null
      restore.hidden = next.visit !== "archived"
      setText(
        words,
        next.visit === "archived"
          ? "This session is archived."
          : next.visit === "removed"
            ? "This session's project is no longer in the list."
            : "",
      )
    },
    post: bridge.post,
    figure: head.figure,
    // Inserting a frame again reloads it, even one that shows the browser's own error page.
    reload: () => element.append(frame),
    focus: () => frame.focus(),
    destroy() {
      ending.abort()
      head.destroy()
    },
  }
  view.update(pane)
  return view
}

/** @param {Pane} pane @param {PanesDeps} deps */
function mountNow(pane, deps) {
  const ending = new AbortController()
  const frame = el("iframe", { class: "now-frame", src: "/now/index.html", title: "Now" })
  const element = el("div", { class: "pane", role: "region", id: paneId(pane.id), "aria-label": "Now" }, frame)
  const bridge = connectNow(frame, deps.onNowMessage, ending.signal)
  const view = {
    element,
    /** @param {Pane} next */
    update: (next) => place(element, next),
    postNow: bridge.post,
    reload: () => element.append(frame),
    focus: () => frame.focus(),
    destroy: () => ending.abort(),
  }
  view.update(pane)
  return view
}

/** A session that doesn't exist yet: its first message, and a field to write on while the agent starts.
 * @param {Pane} pane @param {PanesDeps} deps */
function mountCreating(pane, deps) {
  const head = mountHead(pane, deps)
  const words = el("p", { class: "creating-words", role: "status" })
  const messages = el("div", { class: "creating-messages" })
  const progress = el("div", { class: "creating-progress" }, el("span", { class: "spinner" }), words)
  const failure = el("div", { class: "creating-failure", role: "alert", hidden: true })
  const retry = el("button", { class: "button", "data-kind": "main", type: "button", text: "Retry" })
  const close = el("button", { class: "button", type: "button", text: "Close" })
  const actions = el("div", { class: "creating-actions", hidden: true }, close, retry)
  const input = el("textarea", { class: "creating-input", rows: 1, "aria-label": "Message", autocomplete: "off" })
  input.value = pane.creating?.typed ?? ""
  const element = el(
    "div",
    { class: "pane creating", role: "tabpanel", id: paneId(pane.id), "aria-labelledby": tabId(pane.id), tabindex: -1 },
    ...head.elements,
    el("div", { class: "creating-box" }, messages, progress, failure, actions),
    el("div", { class: "creating-writing" }, input),
  )
  retry.addEventListener("click", () => deps.retry(pane.id))
  close.addEventListener("click", () => deps.close(pane.id))
  input.addEventListener("input", () => deps.typed(pane.id, input.value))
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    const text = input.value.trim()
    if (text === "") return
    input.value = ""
    deps.say(pane.id, text)
  })
  /** @type {ErrorBody | null} */
  let shown = null
  /** @type {string} */
  let drawn = ""
  const view = {
    element,
    /** @param {Pane} next */
    update(next) {
      place(element, next)
      head.update(next)
      const creating = next.creating
      if (!creating) return
      setText(words, creating.words)
      const { error, canRetry, attachments } = creating
      const key = JSON.stringify(creating.messages)
      if (key !== drawn)
        messages.replaceChildren(
          ...(attachments.length > 0 ? [mountChips(attachments, deps.pictures())] : []),
          ...creating.messages.map((text) => el("p", { class: "creating-prompt", text })),
        )
      drawn = key
      setAttribute(input, "placeholder", `Message ${creating.agent}…`)
      setAttribute(element.querySelector(".creating-writing") ?? input, "hidden", !canRetry || error !== null)
      progress.hidden = error !== null
      failure.hidden = error === null
      actions.hidden = error === null || !canRetry
      if (error && error !== shown)
        failure.replaceChildren(
          el("h2", { text: `Could not start a session with ${creating.agent}` }),
          ...failureParts(error),
        )
      if (!error) failure.replaceChildren()
      shown = error
    },
    focus: () => (input.checkVisibility() ? input : element).focus(),
    destroy: head.destroy,
  }
  view.update(pane)
  return view
}
