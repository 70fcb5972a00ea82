/**
 * What is below the tabs: a portlet for each session that was ever in front, a word of progress for one being created, or
 * the welcome. A portlet stays alive when hidden, so switching changes an attribute and nothing else.
 */

import { connectPortlet, portletAddress } from "../shared/bridge.js"
import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { failureParts } from "../shared/failure.js"
import { paneId, tabId } from "./tab-bar.js"

/** @import { ErrorBody } from "../contract.js" */
/** @import { ToPortlet, ToShell } from "../shared/bridge.js" */

/** @typedef {{ agent: string, words: string, error: ErrorBody | null }} Creating */

/** Why a session is in no list. @typedef {"archived" | "removed"} Visit */

/** @typedef {object} Pane
 * @property {string} id
 * @property {string} title
 * @property {boolean} active
 * @property {Visit | null} visit
 * @property {Creating | null} creating */

/** @typedef {object} PanesDeps
 * @property {(sessionId: string, message: ToShell) => void} onMessage
 * @property {(id: string) => void} retry
 * @property {(id: string) => void} restore
 * @property {(id: string) => void} close */

/** @param {HTMLElement} root @param {PanesDeps} deps */
export function mountPanes(root, deps) {
  /** @type {Map<string, ReturnType<typeof mountPortlet> | ReturnType<typeof mountCreating>>} */
  const views = new Map()
  const holder = el("div", { class: "pane-holder" })
  root.append(holder)

  return {
    /** @param {Pane[]} panes those that were in front once, and the active one */
    update(panes) {
      // A session that was created takes another kind of view than its progress had; ids differ, so keys do too.
      keyed(holder, views, panes, (pane) => pane.id, (pane) => pane.creating ? mountCreating(pane, deps) : mountPortlet(pane, deps))
    },
    /** @param {string} sessionId @param {ToPortlet} message */
    post(sessionId, message) {
      const view = views.get(sessionId)
      if (view && "post" in view) view.post(message)
    },
    /** Moves the focus into a pane. @param {string} id */
    focus(id) {
      views.get(id)?.focus()
    },
    /** Loads again those portlets that do not listen: their frames came while no server was there. @param {(sessionId: string) => boolean} listens */
    revive(listens) {
      for (const [id, view] of views) if ("reload" in view && !listens(id)) view.reload()
    },
    destroy: () => root.replaceChildren(),
  }
}

/** @param {Pane} pane @param {PanesDeps} deps */
function mountPortlet(pane, deps) {
  const ending = new AbortController()
  const words = el("span")
  const restore = el("button", { class: "button", type: "button", text: "Restore" })
  const visit = el("div", { class: "pane-visit", role: "status", hidden: true }, words, restore)
  const frame = el("iframe", { class: "portlet", src: portletAddress(pane.id), title: pane.title })
  const element = el("div", { class: "pane", role: "tabpanel", id: paneId(pane.id), "aria-labelledby": tabId(pane.id) }, visit, frame)
  restore.addEventListener("click", () => deps.restore(pane.id))
  const bridge = connectPortlet(frame, (message) => deps.onMessage(pane.id, message), ending.signal)
  const view = {
    element,
    /** @param {Pane} next */
    update(next) {
      setAttribute(element, "data-active", next.active)
      setAttribute(frame, "title", next.title)
      visit.hidden = next.visit === null
      restore.hidden = next.visit !== "archived"
      setText(words, next.visit === "archived" ? "This session is archived." : next.visit === "removed" ? "The project of this session is not in the list any more." : "")
    },
    post: bridge.post,
    // A frame that is put in anew loads anew, also one that shows the browser's own error page.
    reload: () => element.append(frame),
    focus: () => frame.focus(),
    destroy: () => ending.abort(),
  }
  view.update(pane)
  return view
}

/** @param {Pane} pane @param {PanesDeps} deps */
function mountCreating(pane, deps) {
  const words = el("p", { class: "creating-words", role: "status" })
  const progress = el("div", { class: "creating-progress" }, el("span", { class: "spinner" }), words)
  const failure = el("div", { class: "creating-failure", role: "alert", hidden: true })
  const retry = el("button", { class: "button", "data-kind": "main", type: "button", text: "Retry" })
  const close = el("button", { class: "button", type: "button", text: "Close" })
  const actions = el("div", { class: "creating-actions", hidden: true }, close, retry)
  const element = el("div", { class: "pane creating", role: "tabpanel", id: paneId(pane.id), "aria-labelledby": tabId(pane.id), tabindex: -1 },
    el("div", { class: "creating-box" }, progress, failure, actions))
  retry.addEventListener("click", () => deps.retry(pane.id))
  close.addEventListener("click", () => deps.close(pane.id))
  /** @type {ErrorBody | null} */
  let shown = null
  const view = {
    element,
    /** @param {Pane} next */
    update(next) {
      setAttribute(element, "data-active", next.active)
      const creating = next.creating
      if (!creating) return
      setText(words, creating.words)
      const { error } = creating
      progress.hidden = error !== null
      failure.hidden = actions.hidden = error === null
      if (error && error !== shown) failure.replaceChildren(el("h2", { text: `Could not start a session with ${creating.agent}` }), ...failureParts(error))
      if (!error) failure.replaceChildren()
      shown = error
    },
    focus: () => element.focus(),
  }
  view.update(pane)
  return view
}
