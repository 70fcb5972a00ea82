/** A line of work that can be opened. It stays as the user left it, even if its row leaves the page and returns. */

import { el, setAttribute } from "../shared/dom.js"
import { icon } from "../shared/icons.js"

/** @import { RowDeps } from "./row.js" */

/** The button of the line: icon, text, and details at the end.
 * @param {string} key @param {RowDeps} deps @param {boolean} byDefault @param {(isOpen: boolean) => void} show */
export function mountLine(key, deps, byDefault, show) {
  const mark = el("span", { class: "line-icon" })
  const what = el("span", { class: "line-what" })
  const end = el("span", { class: "line-end" })
  const chevron = icon("expand")
  chevron.classList.add("chevron")
  const line = el("button", { class: "line", type: "button", "aria-expanded": "false" }, mark, what, end, chevron)
  let preset = byDefault
  const isOpen = () => deps.open.get(key) ?? preset
  const apply = () => {
    setAttribute(line, "aria-expanded", String(isOpen()))
    show(isOpen())
  }
  line.addEventListener("click", () => {
    if (line.getAttribute("aria-disabled") === "true") return
    deps.open.set(key, !isOpen())
    deps.change(line, apply)
  })
  return {
    line,
    mark,
    what,
    end,
    isOpen,
    apply,
    /** Whether there is anything to open. @param {boolean} can */
    setOpens(can) {
      setAttribute(line, "aria-disabled", can ? null : "true")
      setAttribute(line, "aria-expanded", can ? String(isOpen()) : null)
    },
    /** Whether it is open until the user opens or closes it. @param {boolean} open */
    setPreset(open) {
      if (open === preset) return
      preset = open
      apply()
    },
  }
}
