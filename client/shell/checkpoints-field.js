/** The setting for how much space the checkpoints of all sessions may take. */

import { el } from "../shared/dom.js"
import { wordsOf } from "./settings-row.js"

/** @typedef {{ bytes: number, most: number }} Storage */

const GB = 1024 ** 3
const limits = [0.5, 1, 2, 5, 10, 20].map((size) => size * GB)

/** @param {(most?: number) => Promise<Storage>} storage asks, or sets how much they may take */
export function mountCheckpointsField(storage) {
  const choice = el("select", { class: "field", id: "set-checkpoints", disabled: true })
  const note = el("p", { class: "settings-note", role: "status", text: "Measuring…" })
  const element = el(
    "div",
    {},
    el("div", { class: "settings-field" }, el("label", { for: choice.id, text: "Space for checkpoints" }), choice),
    note,
  )

  /** @param {Promise<Storage>} asked */
  async function show(asked) {
    try {
      const { bytes, most } = await asked
      const offered = [...new Set([...limits, most])].sort((one, other) => one - other)
      choice.replaceChildren(
        ...offered.map((size) => el("option", { value: size, text: sizeWords(size), selected: size === most })),
      )
      choice.disabled = false
      note.textContent = `${sizeWords(bytes)} used. Beyond the limit, sessions idle longest lose theirs first.`
    } catch (reason) {
      note.textContent = wordsOf(reason)
    }
  }
  choice.addEventListener("change", () => show(storage(Number(choice.value))))
  show(storage())
  return { element }
}

/** @param {number} bytes */
const sizeWords = (bytes) =>
  bytes >= GB
    ? `${Math.round((bytes / GB) * 10) / 10} GB`
    : bytes >= 1024 ** 2
      ? `${Math.round(bytes / 1024 ** 2)} MB`
      : `${Math.ceil(bytes / 1024)} KB`
