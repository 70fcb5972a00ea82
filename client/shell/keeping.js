/** What was made outside: how many in each project, and the progress of keeping them. */

import { el, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { counted } from "../shared/phrases.js"

/** @import { Frame, KeepingProgress, OutsideCount, OutsideDirectory } from "../contract.js" */
/** @import { Socket } from "../shared/socket.js" */

/** @typedef {object} OutsideState
 * @property {readonly OutsideDirectory[]} directories  Where agents worked that are no projects.
 * @property {readonly OutsideCount[]} projects
 * @property {boolean} automatic  New ones are kept without being asked for. */

/** @type {OutsideState} */
export const nothingOutside = { directories: [], projects: [], automatic: false }

/** Looked again when the page comes back, but not more often than this (milliseconds). */
const AGAIN = 30_000

/** @typedef {{ socket: () => Pick<Socket, "request">, set(outside: OutsideState): void }} KeepingDeps */

/** @param {HTMLElement} root @param {KeepingDeps} deps */
export function mountKeeping(root, { socket, set }) {
  const words = el("span", { class: "toast-text" })
  const bar = el("progress", { class: "keeping-bar", "aria-label": "Kept" })
  const stop = el("button", { class: "toast-action", type: "button", text: "Stop" })
  const close = el("button", { class: "icon-button", type: "button", "aria-label": "Dismiss" }, icon("close"))
  const toast = el("div", { class: "toast", role: "status", hidden: true }, words, bar, stop, close)
  root.append(el("div", { class: "toasts keeping" }, toast))
  let isAutomatic = false
  let looked = -Infinity

  close.addEventListener("click", () => (toast.hidden = true))
  stop.addEventListener("click", () =>
    socket()
      .request({ type: "outside:stop" })
      .catch(() => {}),
  )

  /** @param {KeepingProgress} progress */
  function show(progress) {
    const isRunning = progress.state === "keeping"
    // Nobody asked for what is kept by itself.
    toast.hidden = isAutomatic && !isRunning
    bar.hidden = stop.hidden = !isRunning
    bar.max = progress.total
    bar.value = progress.done
    setText(words, keepingWords(progress))
    if (!isRunning) look()
  }

  function look() {
    looked = Date.now()
    socket()
      .request({ type: "outside:list" }, { quietly: true })
      .then(
        (frame) => {
          if (frame.type !== "outside:list") return
          isAutomatic = frame.automatic
          set(frame)
        },
        () => {}, // asked again after a reconnect
      )
  }

  const back = () => {
    if (!document.hidden && Date.now() - looked > AGAIN) look()
  }
  document.addEventListener("visibilitychange", back)
  return {
    look,
    /** @param {Frame} frame */
    onFrame(frame) {
      if (frame.type === "outside:progress") show(frame)
      if (frame.type === "project:added" || frame.type === "project:removed") look()
    },
    destroy() {
      document.removeEventListener("visibilitychange", back)
      toast.parentElement?.remove()
    },
  }
}

/** @param {KeepingProgress} progress */
export function keepingWords({ state, done, total, failed }) {
  const unread = failed === 0 ? "" : ` ${failed} could not be read yet; open them to try again.`
  switch (state) {
    case "keeping":
      return `Keeping ${done} of ${counted(total, "session")}`
    case "stopped":
      return `Stopped. ${done} of ${counted(total, "session")} are kept.${unread}`
    case "done":
      return `Kept ${counted(done, "session")}.${unread}`
  }
}
