/** The parts of a call or a permission: text, code, diffs, terminal output, pictures. Long output is cut at first. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { setRenderedHtml } from "../shared/html.js"
import { dressCode } from "./code-block.js"
import { size } from "./words.js"

/** @import { ErrorBody, Part } from "../contract.js" */
/** @import { Item } from "./rows.js" */
/** @import { RowDeps } from "./row.js" */
/** @typedef {Pick<RowDeps, "change" | "picture">} PartDeps */

/** @param {HTMLElement} root parts are put before its current content @param {string} itemId @param {RowDeps} deps */
export function mountParts(root, itemId, deps) {
  const list = el("div", { class: "parts" })
  const problem = el("p", { class: "tool-problem", hidden: true })
  const more = mountFullOutput(itemId, deps)
  root.prepend(problem, list, more.element)
  /** @type {Part[]} */
  let shown = []

  return {
    /** @param {Item<"tool_call">} item @param {boolean} runs */
    update(item, runs) {
      showParts(list, shown, item.parts, deps, runs || item.toolKind === "execute")
      shown = item.parts
      problem.hidden = !item.errorMessage
      setText(problem, item.errorMessage ?? "")
      more.update(item.outputBytes)
    },
    /** Scrolls output to its end, where the result is. */
    toEnd() {
      for (const box of list.querySelectorAll(".term")) scrollToEnd(box)
    },
    destroy: () => list.replaceChildren(),
  }
}

/** Longer content gets a button that shows all of it (lines). Its box is as high as this, see `work.css`. */
const LONG = 24

/** Replaces the content of the parts that changed.
 * @param {HTMLElement} list @param {Part[]} before @param {Part[]} parts @param {PartDeps} deps
 * @param {boolean} [atEnd] output is shown at its end */
export function showParts(list, before, parts, deps, atEnd = false) {
  while (list.childElementCount > parts.length) list.lastElementChild?.remove()
  parts.forEach((part, at) => {
    const old = before[at]
    const current = list.children[at]
    const isSameKind = current !== undefined && old?.kind === part.kind
    if (isSameKind && contentOf(old) === contentOf(part)) return
    const box = isSameKind ? current : mountPart(part.kind, deps)
    const content = /** @type {HTMLElement} */ (box.firstElementChild)
    const follow = following(content.querySelector(".term"), atEnd)
    if (part.kind === "image") showPicture(content, part.url, deps)
    else {
      setRenderedHtml(content, part.html)
      dressCode(content)
      nameFields(content)
      for (const inner of content.querySelectorAll(".term, .rows, .fields, .table")) inner.setAttribute("tabindex", "0")
      setAttribute(box, "data-lines", lengthOf(part.kind, content))
    }
    if (!current) list.append(box)
    else if (box !== current) current.replaceWith(box)
    follow(content.querySelector(".term"))
  })
}

/** What agents call the input of well-known tools, in words. @type {Record<string, string>} */
const fieldNames = {
  description: "Description",
  file_path: "File",
  replace_all: "Replace all",
  run_in_background: "In the background",
  subagent_type: "Kind of agent",
  timeout: "Timeout (ms)",
  url: "Address",
}

/** The agent's own name of a field stays as its tooltip. @param {HTMLElement} content */
function nameFields(content) {
  for (const cell of content.querySelectorAll(".fields th")) {
    const name = cell.textContent ?? ""
    if (!Object.hasOwn(fieldNames, name)) continue
    setAttribute(cell, "title", name)
    setText(/** @type {HTMLElement} */ (cell), fieldNames[name] ?? name)
  }
}

/** @param {Part["kind"]} kind @param {PartDeps} deps */
function mountPart(kind, deps) {
  const content = el("div", { class: kind === "text" ? "part-content rendered" : "part-content" })
  const all = el("button", { class: "button part-all", "data-kind": "quiet", type: "button", text: "Show all lines" })
  const element = el("div", { class: "part", "data-kind": kind }, content, all)
  all.addEventListener("click", () =>
    deps.change(all, () => {
      const isWhole = "whole" in element.dataset
      setAttribute(element, "data-whole", !isWhole)
      setText(all, isWhole ? "Show all lines" : "Show fewer lines")
      for (const box of isWhole ? content.querySelectorAll(".term") : []) scrollToEnd(box)
    }),
  )
  return element
}

/** How long content is: `some` fits into the last lines of a running command, `many` needs a button anyway.
 * @param {Part["kind"]} kind @param {HTMLElement} content @returns {"some" | "more" | "many" | null} */
function lengthOf(kind, content) {
  const count =
    kind === "diff"
      ? (content.querySelector(".rows")?.childElementCount ?? 0)
      : kind === "terminal"
        ? (content.textContent ?? "").trimEnd().split("\n", LONG + 1).length
        : 0
  return kind !== "diff" && kind !== "terminal" ? null : count > LONG ? "many" : count > TAIL ? "more" : "some"
}

/** Lines of a running command's output. */
const TAIL = 8

/** Scrolls the next state of some output: to its end if the reader is there, else to where they read.
 * @param {Element | null} box @param {boolean} atEnd @returns {(next: Element | null) => void} */
function following(box, atEnd) {
  const top = box?.scrollTop ?? 0
  const toEnd = box
    ? (box.scrollHeight - box.clientHeight - top <= 4 && box.scrollHeight > box.clientHeight) ||
      (atEnd && top === 0 && box.scrollHeight <= box.clientHeight)
    : atEnd
  return (next) => {
    if (next && toEnd) scrollToEnd(next)
    else if (next) next.scrollTop = top
  }
}

/** Now, or once it is in the page: rows are built before they are inserted. @param {Element} box */
function scrollToEnd(box) {
  const scroll = () => {
    box.scrollTop = box.scrollHeight
  }
  if (box.isConnected) scroll()
  else queueMicrotask(scroll)
}

/** @param {Part} part */
const contentOf = (part) => (part.kind === "image" ? part.url : part.html)

/** Pictures need the credential, so they are fetched and shown from memory.
 * @param {HTMLElement} root @param {string} url @param {PartDeps} deps */
async function showPicture(root, url, deps) {
  const picture = el("img", { alt: "Picture from the agent" })
  try {
    picture.src = await deps.picture(url)
    root.replaceChildren(picture)
  } catch (reason) {
    root.replaceChildren(
      el("p", {
        class: "tool-problem",
        text: `The picture could not be loaded. ${/** @type {ErrorBody} */ (reason)?.message ?? ""}`,
      }),
    )
  }
}

/** The button below output that was cut, and the full output. @param {string} itemId @param {RowDeps} deps */
function mountFullOutput(itemId, deps) {
  const button = el("button", { class: "button", "data-kind": "quiet", type: "button" })
  const problem = el("span", { class: "tool-problem", role: "status" })
  const whole = el("pre", { class: "term whole", hidden: true, tabindex: 0 })
  const element = el(
    "div",
    { class: "whole-output", hidden: true },
    el("div", { class: "actions" }, button, problem),
    whole,
  )
  let bytes = 0
  button.addEventListener("click", async () => {
    if (!whole.hidden)
      return deps.change(button, () => {
        whole.hidden = true
        label()
      })
    button.disabled = true
    setText(problem, "")
    try {
      const text = await deps.wholeOutput(itemId, bytes)
      deps.change(button, () => {
        whole.textContent = text
        whole.hidden = false
      })
    } catch (reason) {
      setText(problem, /** @type {ErrorBody} */ (reason)?.message ?? "The output could not be loaded.")
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
