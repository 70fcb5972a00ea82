/** What a browser that is not logged in sees: how to log in. */

import { el, setAttribute } from "../shared/dom.js"

/** @param {HTMLElement} root
 * @param {{ problem: string, logIn(token: string): Promise<string | null> }} deps `logIn` returns a problem, or null */
export function mountDoor(root, { problem, logIn }) {
  const input = el("input", {
    class: "field",
    id: "door-token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "door-problem",
    placeholder: "Paste the token",
  })
  const words = el("p", { class: "problem", id: "door-problem", role: "alert", text: problem })
  const submit = el("button", { class: "button", "data-kind": "main", type: "submit", text: "Open" })
  const form = el(
    "form",
    { class: "door-form" },
    el("label", { for: "door-token", text: "Token" }),
    el("div", { class: "door-line" }, input, submit),
    words,
  )
  root.replaceChildren(
    el(
      "main",
      { class: "door" },
      el(
        "div",
        { class: "door-box" },
        el("div", { class: "door-brand" }, el("i", { class: "brand-mark" }), el("h1", { text: "Liminal Builder" })),
        el("p", {
          text:
            "This browser is not logged in. " +
            "Liminal Builder can run commands on this machine, so it opens only for you.",
        }),
        el(
          "ul",
          { class: "door-steps" },
          el("li", {}, "Open the link that ", el("code", { text: "liminal" }), " printed in your terminal,"),
          el("li", {}, "or print the token with ", el("code", { text: "liminal token" }), " and paste it here."),
        ),
        form,
      ),
    ),
  )
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    submit.disabled = true
    words.textContent = ""
    // People also paste the whole link.
    const given = input.value.trim()
    const answer = await logIn(/#token=([^&\s]+)/.exec(given)?.[1] ?? given)
    submit.disabled = false
    if (answer === null) return
    words.textContent = answer
    setAttribute(input, "aria-invalid", "true")
    input.select()
    input.focus()
  })
  input.focus()
  return { destroy: () => root.replaceChildren() }
}
