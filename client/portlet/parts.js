/** What a call or a permission holds: text, code, diffs, terminal output, pictures; long output cut, the whole on demand. */

import { el, setText } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"
import { dressCode } from "./code-block.js"
import { argumentsOf } from "./rows.js"
import { size } from "./words.js"

/** @import { ErrorBody, Part } from "../contract.js" */
/** @import { Item } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */

/** @param {HTMLElement} root parts are put before what it holds already @param {string} itemId @param {RowDeps} deps */
export function mountParts(root, itemId, deps) {
  const list = el("div", { class: "parts" })
  const problem = el("p", { class: "tool-problem", hidden: true })
  const given = el("pre", { class: "tool-arguments", hidden: true, tabindex: 0 })
  const more = mountWhole(itemId, deps)
  root.prepend(problem, given, list, more.element)
  /** @type {Part[]} */
  let shown = []

  return {
    /** @param {Item<"tool_call">} item @param {boolean} runs */
    update(item, runs) {
      showParts(list, shown, item.parts, deps, runs)
      shown = item.parts
      problem.hidden = !item.errorMessage
      setText(problem, item.errorMessage ?? "")
      setText(given, argumentsOf(item))
      given.hidden = given.textContent === ""
      more.update(item.outputBytes)
    },
    destroy: () => list.replaceChildren(),
  }
}

/** Replaces the parts that changed. @param {HTMLElement} list @param {Part[]} before @param {Part[]} parts @param {RowDeps} deps
 * @param {boolean} [grows] output that grows is shown at its end */
export function showParts(list, before, parts, deps, grows = false) {
  while (list.childElementCount > parts.length) list.lastElementChild?.remove()
  parts.forEach((part, at) => {
    const old = before[at]
    if (old && old.kind === part.kind && contentOf(old) === contentOf(part) && list.children[at]) return
    const next = el("div", { class: "part", "data-kind": part.kind })
    if (part.kind === "image") showPicture(next, part.url, deps)
    else {
      setRenderedHtml(next, part.html)
      if (part.kind === "text") next.classList.add("rendered")
      dressCode(next)
      for (const box of next.querySelectorAll(".term, .rows, .table")) box.setAttribute("tabindex", "0")
    }
    const current = list.children[at]
    const follow = following(current?.querySelector(".term") ?? null, grows)
    if (current) current.replaceWith(next)
    else list.append(next)
    follow(next.querySelector(".term"))
  })
}

/** How the next state of some output is to be scrolled: to its end while the reader is there, else to where they read.
 * @param {Element | null} box @param {boolean} grows @returns {(next: Element | null) => void} */
function following(box, grows) {
  const top = box?.scrollTop ?? 0
  const toEnd = box ? box.scrollHeight - box.clientHeight - top <= 4 && box.scrollHeight > box.clientHeight || grows && top === 0 && box.scrollHeight <= box.clientHeight : grows
  return (next) => { if (next) next.scrollTop = toEnd ? next.scrollHeight : top }
}

/** @param {Part} part */
const contentOf = (part) => part.kind === "image" ? part.url : part.html

/** Pictures need the credential, so they come by request and are shown from memory. @param {HTMLElement} root @param {string} url @param {RowDeps} deps */
async function showPicture(root, url, deps) {
  const picture = el("img", { alt: "Picture from the agent" })
  try {
    picture.src = await deps.picture(url)
    root.replaceChildren(picture)
  } catch (reason) {
    root.replaceChildren(el("p", { class: "tool-problem", text: `The picture could not be loaded. ${/** @type {ErrorBody} */ (reason)?.message ?? ""}` }))
  }
}

/** The button below output that was cut. @param {string} itemId @param {RowDeps} deps */
function mountWhole(itemId, deps) {
  const button = el("button", { class: "button", "data-kind": "quiet", type: "button" })
  const problem = el("span", { class: "tool-problem", role: "status" })
  const whole = el("pre", { class: "term whole", hidden: true, tabindex: 0 })
  const element = el("div", { class: "whole-output", hidden: true }, el("div", { class: "actions" }, button, problem), whole)
  let bytes = 0
  button.addEventListener("click", async () => {
    if (!whole.hidden) return deps.change(button, () => { whole.hidden = true; label() })
    button.disabled = true
    setText(problem, "")
    try {
      const text = await deps.wholeOutput(itemId, bytes)
      deps.change(button, () => {
        whole.textContent = text
        whole.hidden = false
      })
    } catch (reason) {
      setText(problem, /** @type {ErrorBody} */ (reason)?.message ?? "It could not be loaded.")
    }
    button.disabled = false
    label()
  })
  const label = () => setText(button, whole.hidden ? `Show all (${size(bytes)})` : "Show less")
  return {
    element,
    /** @param {number | undefined} total */
    update(total) {
      element.hidden = total === undefined
      bytes = total ?? 0
      label()
    },
  }
}
