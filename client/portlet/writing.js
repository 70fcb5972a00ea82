/**
 * A message being written: its text, which grows, what is attached, and the popup for commands and mentions. The
 * composer of a session and the dialog that starts one both use it; each decides what sending means.
 */

import { growToText } from "../shared/growing.js"
import { mountAttach } from "./attach.js"
import { isLong } from "./attachments.js"
import { mountPopup } from "./popup.js"

/** @import { Attachment } from "../contract.js" */
/** @import { ChipDeps } from "./chips.js" */

/** @typedef {object} WritingOwnDeps
 * @property {(bytes: Blob, name: string) => Promise<Attachment>} upload
 * @property {(query: string) => void} findFiles  For a mention; the answer goes to `popup.found`.
 * @property {() => string} agent
 * @property {() => boolean} takesPictures
 * @property {() => void} changed  The text or the attachments.
 * @property {() => void} send */

/** @typedef {WritingOwnDeps & ChipDeps} WritingDeps */

/** A longer text is as high as it may be; to measure it at every key would take too long (characters). */
const TALL = 10_000

/** @param {HTMLElement} box gets the popup @param {HTMLTextAreaElement} input @param {WritingDeps} deps
 * @param {AbortSignal} signal */
export function mountWriting(box, input, deps, signal) {
  const { upload, agent, takesPictures, findFiles, send } = deps
  /** @param {string} text */
  const insert = (text) => replace(input.selectionStart, input.selectionEnd, text)
  const attach = mountAttach({ upload, show: deps, agent, takesPictures, changed, insert }, signal)
  const popup = mountPopup(box, input, { findFiles, replace, send }, signal)

  function changed() {
    grow()
    deps.changed()
  }

  /** Typed for the user, so that undo takes it back. @param {number} start @param {number} end @param {string} text */
  function replace(start, end, text) {
    input.focus()
    input.setSelectionRange(start, end)
    document.execCommand("insertText", false, text)
  }

  function grow() {
    if (input.value.length > TALL) return void input.style.setProperty("block-size", "100vh")
    growToText(input)
  }

  input.addEventListener(
    "input",
    () => {
      changed()
      popup.look()
    },
    { signal },
  )
  input.addEventListener(
    "paste",
    async (event) => {
      const files = [...(event.clipboardData?.files ?? [])]
      const text = event.clipboardData?.getData("text/plain") ?? ""
      // A table or a page on the clipboard comes with a picture of itself: its words are wanted.
      if (files.length > 0 && text === "") {
        event.preventDefault()
        files.forEach(attach.addFile)
      } else if (isLong(text)) {
        event.preventDefault()
        if ((await attach.addText(text)) !== true) insert(text)
      }
    },
    { signal },
  )

  return {
    attach,
    popup,
    grow,
    insert,
    /** Replaces the text. @param {string} text */
    put(text) {
      input.value = text
      changed()
    },
    isEmpty: () => input.value.trim() === "" && attach.isEmpty(),
  }
}
