/**
 * Short messages at the edge of the page about something that just happened, where possible with Undo. They disappear
 * after a while, but not while the pointer or the focus is on them.
 */

import { el } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @typedef {object} Toast
 * @property {string} text
 * @property {"info" | "error"} [kind]
 * @property {boolean} [stays]  Until the user dismisses it.
 * @property {{ label: string, run: () => void }} [action] */

const shownMs = 8000

/** @param {HTMLElement} root */
export function mountToasts(root) {
  const region = el("div", { class: "toasts", role: "region", "aria-label": "Messages", "aria-live": "polite" })
  root.append(region)

  return {
    /** Returns what takes it away again. @param {Toast} toast */
    show({ text, kind = "info", stays = false, action }) {
      const close = el("button", { class: "icon-button", type: "button", "aria-label": "Dismiss" }, icon("close"))
      const act = action && el("button", { class: "toast-action", type: "button", text: action.label })
      const toast = el(
        "div",
        { class: "toast", "data-kind": kind, role: kind === "error" ? "alert" : null },
        el("span", { class: "toast-text", text }),
        act,
        close,
      )
      const leave = () => {
        clearTimeout(timer)
        toast.remove()
      }
      let timer = stays ? undefined : setTimeout(leave, shownMs)
      const hold = () => clearTimeout(timer)
      const release = () => {
        clearTimeout(timer)
        if (!stays) timer = setTimeout(leave, shownMs)
      }
      toast.addEventListener("pointerenter", hold)
      toast.addEventListener("pointerleave", release)
      toast.addEventListener("focusin", hold)
      toast.addEventListener("focusout", release)
      close.addEventListener("click", leave)
      act?.addEventListener("click", () => {
        leave()
        action?.run()
      })
      region.append(toast)
      while (region.childElementCount > 3) region.firstElementChild?.remove()
      return leave
    },
    destroy: () => region.remove(),
  }
}
