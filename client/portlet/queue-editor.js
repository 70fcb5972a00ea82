/** The text of a waiting message while it is edited, with Save and Cancel. It stays open wherever the focus goes. */

import { el } from "../shared/dom.js"
import { isSubmit } from "../shared/enter.js"
import { growToText } from "../shared/growing.js"

/** @typedef {object} EditorDeps
 * @property {(content: string) => void} save
 * @property {() => void} cancel */

/** @param {string} content @param {EditorDeps} deps */
export function mountEditor(content, deps) {
  const box = el("textarea", { class: "queued-editor", rows: 1, "aria-label": "Edit the message" })
  const save = el("button", { class: "text-button", type: "button", text: "Save" })
  const cancel = el("button", { class: "text-button", type: "button", text: "Cancel" })
  const element = el("span", { class: "queued-editing" }, box, el("span", { class: "acts" }, save, cancel))
  box.value = content

  box.addEventListener("input", () => growToText(box))
  element.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === "Escape") cancel.click()
    else if (event.target === box && isSubmit(event)) save.click()
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  save.addEventListener("click", () => deps.save(box.value))
  cancel.addEventListener("click", deps.cancel)
  return {
    element,
    text: () => box.value,
    save: () => deps.save(box.value),
    /** Without a connection the words wait here. @param {boolean} isConnected */
    update(isConnected) {
      save.disabled = !isConnected
      save.title = isConnected ? "" : "Offline. You can save when you reconnect."
    },
    /** Once it is in the document. */
    open() {
      growToText(box)
      box.focus()
    },
  }
}
