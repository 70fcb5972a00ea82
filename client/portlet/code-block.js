/** The bar of a code block: its language, and a button that copies it. */

import { el } from "../shared/dom.js"
import { copied } from "../shared/failure.js"

/** Adds the bar to each code block in `root`. @param {ParentNode} root */
export function dressCode(root) {
  for (const code of root.querySelectorAll(".code")) {
    const bar = el(
      "div",
      { class: "code-bar" },
      el("span", { text: code.getAttribute("data-lang") ?? "" }),
      el("button", { class: "copy-code", type: "button", text: "Copy" }),
    )
    code.prepend(bar)
    code.querySelector("pre")?.setAttribute("tabindex", "0")
  }
}

/** Copies the code when one of these buttons in `root` is clicked.
 * @param {HTMLElement} root @param {AbortSignal} signal */
export function copyOnClick(root, signal) {
  root.addEventListener(
    "click",
    async ({ target }) => {
      const button = target instanceof Element ? target.closest(".copy-code") : null
      if (!button) return
      const code = button.closest(".code")?.querySelector("pre")?.textContent ?? ""
      button.textContent = (await copied(code.replace(/\n$/, ""))) ? "Copied" : "Could not copy"
      button.addEventListener(
        "pointerleave",
        () => {
          button.textContent = "Copy"
        },
        { once: true, signal },
      )
      button.addEventListener(
        "blur",
        () => {
          button.textContent = "Copy"
        },
        { once: true, signal },
      )
    },
    { signal },
  )
}
