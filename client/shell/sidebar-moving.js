/** Moving projects and pinned sessions in the sidebar, by dragging or with Shift and the arrow keys. */

import { setAttribute } from "../shared/dom.js"

/** @typedef {{ kind: "project" | "session", id: string }} Moved */

/** @typedef {object} MovingDeps
 * @property {(moved: Moved, before: string | null) => void} move  Null: to the end.
 * @property {(moved: Moved, by: 1 | -1) => void} nudge */

/** What the element belongs to, if it can be moved. @param {Element | null} element @returns {Moved | null} */
function movedAt(element) {
  const session = element?.closest(".session")
  if (session) {
    const id = session.querySelector("[data-session]")?.getAttribute("data-session")
    return session.hasAttribute("data-pinned") && id ? { kind: "session", id } : null
  }
  const id = element?.closest(".project-head")?.querySelector("[data-project]")?.getAttribute("data-project")
  return id ? { kind: "project", id } : null
}

/** @param {HTMLElement} list @param {MovingDeps} deps */
export function mountMoving(list, deps) {
  /** @type {Moved | null} */
  let dragged = null

  /** The boxes among which it is moved. @returns {Element[]} */
  const boxes = () => {
    if (dragged?.kind !== "session") return [...list.querySelectorAll(".project")]
    const own = list.querySelector(`[data-session="${CSS.escape(dragged.id)}"]`)?.closest(".sessions")
    return [...(own?.querySelectorAll(".session[data-pinned]") ?? [])]
  }
  /** @param {Element} box */
  const idOf = (box) =>
    box
      .querySelector(dragged?.kind === "session" ? "[data-session]" : "[data-project]")
      ?.getAttribute(dragged?.kind === "session" ? "data-session" : "data-project") ?? null

  /** The box before which it would be dropped. @param {number} y */
  const nextAt = (y) =>
    boxes().find((box) => {
      const { top, height } = (box.querySelector(".project-head") ?? box).getBoundingClientRect()
      return y < top + height / 2
    })

  /** @param {Element | undefined | null} next */
  function mark(next) {
    for (const box of list.querySelectorAll("[data-drop]")) box.removeAttribute("data-drop")
    if (next) setAttribute(next, "data-drop", "before")
    else if (next === undefined) setAttribute(boxes().at(-1) ?? list, "data-drop", "after")
  }

  list.addEventListener("dragstart", (event) => {
    dragged = movedAt(event.target instanceof Element ? event.target : null)
    if (!dragged || !event.dataTransfer) return event.preventDefault()
    event.dataTransfer.effectAllowed = "move"
    event.dataTransfer.setData("text/plain", "")
  })
  list.addEventListener("dragover", (event) => {
    if (!dragged) return
    event.preventDefault()
    mark(nextAt(event.clientY))
  })
  list.addEventListener("drop", (event) => {
    if (!dragged) return
    event.preventDefault()
    const next = nextAt(event.clientY)
    deps.move(dragged, next ? idOf(next) : null)
  })
  list.addEventListener("dragend", () => {
    dragged = null
    mark(null)
  })
  list.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : null
    if (by === null || !event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return
    if (!(event.target instanceof Element) || event.target.matches("input")) return
    event.preventDefault()
    event.stopImmediatePropagation()
    const moved = movedAt(event.target)
    if (moved) deps.nudge(moved, by)
  })
}
