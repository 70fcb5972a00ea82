/** Modal dialogs: the focus stays inside, Escape and a click outside cancel, and the focus returns afterwards. */

import { el } from "./dom.js"
import { icon } from "./icons.js"

/** Whether a dialog is open, which has the keys. */
export const isInDialog = () => document.querySelector("dialog[open]") !== null

/** Opens a dialog with a heading and a close button. @param {string} title @param {Node[]} content
 * @param {{ className?: string, onClose?: () => void }} [options] @returns {HTMLDialogElement} */
export function openDialog(title, content, { className = "", onClose } = {}) {
  const close = el("button", { class: "icon-button", type: "button", "aria-label": "Close" }, icon("close"))
  const dialog = el(
    "dialog",
    { class: `dialog ${className}`, "aria-labelledby": "dialog-title" },
    el("header", { class: "dialog-head" }, el("h2", { id: "dialog-title", text: title }), close),
    el("div", { class: "dialog-body" }, ...content),
  )
  close.addEventListener("click", () => dialog.close())
  show(dialog, onClose)
  return dialog
}

/** Asks before something is done. `kind`: danger, if it takes something away; `choice`: how to do it.
 * @param {{ title: string, text: string, action: string, kind: "main" | "danger", choice?: HTMLElement }} question
 * @returns {Promise<boolean>} */
export function confirmed({ title, text, action, kind, choice }) {
  return new Promise((resolve) => {
    let answer = false
    const yes = el("button", { class: "button", type: "button", "data-kind": kind, text: action })
    const no = el("button", { class: "button", type: "button", text: "Cancel", autofocus: true })
    const dialog = el(
      "dialog",
      {
        class: "dialog confirm",
        role: "alertdialog",
        "aria-labelledby": "confirm-title",
        "aria-describedby": "confirm-text",
      },
      el("h2", { id: "confirm-title", text: title }),
      el("p", { id: "confirm-text", text }),
      choice,
      el("div", { class: "dialog-actions" }, no, yes),
    )
    yes.addEventListener("click", () => {
      answer = true
      dialog.close()
    })
    no.addEventListener("click", () => dialog.close())
    show(dialog, () => resolve(answer))
  })
}

/** @param {HTMLDialogElement} dialog @param {() => void} [onClose] */
export function show(dialog, onClose) {
  const before = document.activeElement
  const ending = new AbortController()
  /** @type {HTMLElement} */
  let inside = dialog
  dialog.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) inside = target
  })
  // A session that was asked to take the focus may do so late, and a modal dialog does not stop an iframe from it.
  window.addEventListener(
    "blur",
    () =>
      setTimeout(() => {
        if (dialog.open && document.activeElement instanceof HTMLIFrameElement) inside.focus()
      }),
    { signal: ending.signal },
  )
  function leave() {
    if (ending.signal.aborted) return
    ending.abort()
    dialog.remove()
    if (before instanceof HTMLElement && before.isConnected) before.focus()
    onClose?.()
  }
  dialog.addEventListener("close", leave)
  // `close` comes a moment after Escape. Until then, keys would go to a field that nobody sees, and the one that opens
  // the dialog would find it open.
  dialog.addEventListener("cancel", (event) => {
    if (event.target !== dialog) return
    dialog.close()
    leave()
  })
  dialog.addEventListener("pointerdown", (event) => {
    if (event.target !== dialog) return
    const { left, right, top, bottom } = dialog.getBoundingClientRect()
    if (event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom) dialog.close()
  })
  document.body.append(dialog)
  dialog.showModal()
}
