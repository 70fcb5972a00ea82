/**
 * What the user typed outside the composer (on a card, in a dialog, about a line) and has not sent. It is kept among
 * the drafts by the name of its field, so that neither a reload nor Escape loses it, and shown wherever that field is.
 */

import { keys } from "../shared/storage.js"
import { draftOf, keepDraft } from "./drafts.js"

/** @import { Store } from "../shared/storage.js" */

/** @typedef {ReturnType<typeof createTyped>} Typed */

/** A longer text takes a while to seal: it is kept only when its field is left (characters). */
const LONG = 20_000

/** @param {string} sessionId @param {() => Store | null} drafts  Null until the shell has said how they are sealed. */
export function createTyped(sessionId, drafts) {
  /** @param {string} name */
  function of(name) {
    const store = drafts()
    return store ? draftOf(store, `${sessionId} ${name}`).text : ""
  }
  return {
    of,
    /** Nothing is kept of an empty text. @param {string} name @param {string} text */
    keep(name, text) {
      const store = drafts()
      if (store && of(name) !== text) keepDraft(store, `${sessionId} ${name}`, { text, attachments: [] })
    },
  }
}

/** Keeps what is typed into a field. It begins with what was kept, and follows another frame that has the same field.
 * @param {HTMLTextAreaElement | HTMLInputElement} field @param {Typed} typed @param {string} name
 * @param {AbortSignal} [signal] */
export function keepTyped(field, typed, name, signal) {
  const options = signal ? { signal } : {}
  const keep = () => typed.keep(name, field.value)
  const before = typed.of(name)
  if (before !== "") field.value = before
  field.addEventListener("input", () => field.value.length < LONG && keep(), options)
  field.addEventListener("change", keep, options)
  if (signal)
    window.addEventListener(
      "storage",
      (event) => {
        if (event.key !== keys.drafts || document.activeElement === field) return
        const text = typed.of(name)
        if (text === field.value) return
        field.value = text
        field.dispatchEvent(new Event("input", { bubbles: true }))
      },
      options,
    )
  return {
    keep,
    /** It was sent. */
    drop: () => typed.keep(name, ""),
  }
}

/** Where Now leaves the words of a card for the composer of its session. */
export const LEFT = "left"
