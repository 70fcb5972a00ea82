/** Short words at the edge of the page about something just done, with a way to undo it. They leave by themselves, but not while the user is on them. */

import { el } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @typedef {object} Toast
 * @property {string} text
 * @property {"info" | "error"} [kind]
 * @property {{ label: string, run: () => void }} [action] */

const stays = 8000

/** @param {HTMLElement} root */
export function mountToasts(root) {
  const region = el("div", { class: "toasts", role: "region", "aria-label": "Messages", "aria-live": "polite" })
  root.append(region)

  return {
    /** @param {Toast} toast */
    show({ text, kind = "info", action }) {
      const close = el("button", { class: "icon-button", type: "button", "aria-label": "Dismiss" }, icon("close"))
      const act = action && el("button", { class: "toast-action", type: "button", text: action.label })
      const toast = el("div", { class: "toast", "data-kind": kind, role: kind === "error" ? "alert" : null }, el("span", { class: "toast-text", text }), act, close)
      const leave = () => { clearTimeout(timer); toast.remove() }
      let timer = setTimeout(leave, stays)
      const hold = () => clearTimeout(timer)
      const release = () => { clearTimeout(timer); timer = setTimeout(leave, stays) }
      toast.addEventListener("pointerenter", hold)
      toast.addEventListener("pointerleave", release)
      toast.addEventListener("focusin", hold)
      toast.addEventListener("focusout", release)
      close.addEventListener("click", leave)
      act?.addEventListener("click", () => { leave(); action?.run() })
      region.append(toast)
      while (region.childElementCount > 3) region.firstElementChild?.remove()
    },
    destroy: () => region.remove(),
  }
}
