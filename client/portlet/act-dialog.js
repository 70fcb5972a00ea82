/** The one dialog for every act on changes: what will happen, what can't, and the button that does it. */

import { openDialog } from "../shared/dialog.js"
import { el, setText } from "../shared/dom.js"
import { commandLine } from "../shared/failure.js"
import { onMac } from "../shared/keys.js"
import {
  actWords,
  chosenAct,
  conflictsOf,
  fateWords,
  hasTicks,
  isPossible,
  messageFrom,
  needsMessage,
  titleAndBody,
  titleOf,
} from "./acts-state.js"
import { keepTyped } from "./typed.js"

/** @import { ActPath, ChangeAct, ErrorBody } from "../contract.js" */
/** @import { ActPreview } from "./acts-state.js" */
/** @import { Typed } from "./typed.js" */

/** @typedef {object} ActDialogDeps
 * @property {(act: ChangeAct, expect: string) => void} act
 * @property {(act: ChangeAct) => void} look  asks for the preview again
 * @property {Typed} typed
 * @property {string} [base]  what a worktree lands in
 * @property {(paths: string[]) => Promise<string>} [askForMessage]
 * @property {(paths: string[]) => void} [handToAgent]  the conflicts of a landing
 * @property {() => void} closed */

/** @param {ActPreview} first @param {ActDialogDeps} deps */
export function openActDialog(first, deps) {
  const words = actWords[first.act.kind]
  const message = el("textarea", {
    class: "act-message",
    rows: "4",
    "aria-label": "Message",
    placeholder: "Message",
    spellcheck: "true",
  })
  const ask = el("button", { class: "button", type: "button", "data-kind": "quiet", text: "Let the agent write it" })
  const how = el(
    "div",
    { class: "act-how", role: "radiogroup", "aria-label": "How" },
    ...[radio("squash", "As one commit", true), radio("merge", "With its commits", false)],
  )
  const isRequest = first.act.kind === "pull-request"
  if (isRequest) message.placeholder = "What it does, and why"
  const title = el("input", { class: "act-title", type: "text", "aria-label": "Title", hidden: !isRequest })
  const withBranch = el("input", { type: "checkbox" })
  const branch = el(
    "label",
    { class: "act-how", hidden: first.act.kind !== "discard-workspace" },
    withBranch,
    el("span", { text: "Delete the branch too" }),
  )
  const about = el("div", { class: "act-about" })
  const files = el("div", { class: "act-files", role: "group", "aria-label": words.files })
  const failure = el("pre", { class: "act-failure", role: "alert", hidden: true })
  const hand = el("button", { class: "button", type: "button", text: "Hand to the agent", hidden: true })
  const again = el("button", { class: "button", type: "button", text: "Look again", hidden: true })
  const cancel = el("button", { class: "button", type: "button", text: "Cancel" })
  const kind = first.act.kind === "discard-workspace" ? "danger" : "main"
  const goWords = el("span", { text: words.button })
  const goKeys = el("kbd", { text: onMac ? "⌘ Enter" : "Ctrl Enter", "aria-hidden": "true" })
  const go = el("button", { class: "button", type: "button", "data-kind": kind }, goWords, goKeys)
  const field = el("div", { class: "act-field" }, title, message, ask)
  const typedTitle = keepTyped(title, deps.typed, `${first.act.kind} title`)
  const typedMessage = keepTyped(message, deps.typed, `${first.act.kind} message`)
  ask.hidden = isRequest || deps.askForMessage === undefined
  let preview = first
  let isWorking = false
  let wasClosed = false
  /** The preview is asked for because the act failed, so that both are shown. */
  let looksAfterFailure = false

  const dialog = openDialog(
    titleOf(first.act, deps.base),
    [how, field, about, branch, files, failure, el("div", { class: "dialog-actions" }, hand, again, cancel, go)],
    {
      className: "act-dialog",
      onClose() {
        wasClosed = true
        deps.closed()
      },
    },
  )

  const ticked = () =>
    hasTicks(preview.act)
      ? [...files.querySelectorAll("input:checked")].map((box) => /** @type {HTMLInputElement} */ (box).value)
      : preview.paths.map(({ path }) => path)
  const chosenHow = () => /** @type {"squash" | "merge"} */ (how.querySelector("input:checked")?.getAttribute("value"))

  /** @returns {import("./acts-state.js").Chosen} */
  const chosen = () => ({
    ticked: ticked(),
    title: title.value,
    message: message.value,
    how: chosenHow(),
    branch: withBranch.checked ? "remove" : "keep",
  })

  function showButtons() {
    const needs = needsMessage(preview) && (isRequest ? title : message).value.trim() === ""
    go.disabled = isWorking || needs || !isPossible(preview, ticked())
    hand.hidden = conflictsOf(preview).length === 0 || deps.handToAgent === undefined
    ask.disabled = isWorking
    setText(goWords, isWorking ? "Working…" : words.button)
  }

  function show() {
    how.hidden = preview.act.kind !== "land"
    field.hidden = !needsMessage(preview)
    if (message.value === "" && title.value === "" && preview.message !== undefined) {
      const { title: line, body } = titleAndBody(preview.message)
      title.value = line
      message.value = isRequest ? body : preview.message
    }
    about.replaceChildren(
      ...preview.notes.map((text) => el("p", { text })),
      ...preview.cannot.map((text) => el("p", { class: "act-cannot", text })),
      ...(preview.command === undefined ? [] : [commandLine(preview.command)]),
      ...(preview.canUndo || preview.command !== undefined
        ? []
        : [el("p", { text: "This can't be undone with one click." })]),
    )
    files.replaceChildren(...preview.paths.map((path) => rowOf(path, hasTicks(preview.act))))
    files.hidden = preview.paths.length === 0
    showButtons()
  }

  go.addEventListener("click", () => {
    isWorking = true
    failure.hidden = true
    again.hidden = true
    showButtons()
    deps.act(chosenAct(preview.act, chosen()), preview.expect)
  })
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return
    event.preventDefault()
    go.click()
  })
  again.addEventListener("click", () => deps.look(preview.act))
  hand.addEventListener("click", () => deps.handToAgent?.(conflictsOf(preview)))
  cancel.addEventListener("click", () => dialog.close())
  ask.addEventListener("click", async () => {
    isWorking = true
    setText(ask, "Asking…")
    showButtons()
    const answer = (await deps.askForMessage?.(ticked())) ?? ""
    if (wasClosed) return
    message.value = messageFrom(answer) || message.value
    typedMessage.keep()
    isWorking = false
    setText(ask, "Let the agent write it")
    // The agent may have changed something.
    deps.look(chosenAct(preview.act, chosen()))
  })
  message.addEventListener("input", showButtons)
  title.addEventListener("input", showButtons)
  withBranch.addEventListener("change", () => deps.look(chosenAct(preview.act, chosen())))
  files.addEventListener("change", showButtons)
  how.addEventListener("change", () => {
    if (preview.act.kind === "land") deps.look({ ...preview.act, how: chosenHow() })
  })
  show()
  ;(field.hidden ? go : isRequest ? title : message).focus()

  return {
    /** The preview was asked for again. @param {ActPreview} next */
    update(next) {
      if (next.act.kind !== preview.act.kind) return
      preview = next
      isWorking = false
      const isSaid = !looksAfterFailure || next.cannot.some((text) => text === failure.textContent)
      failure.hidden ||= isSaid
      again.hidden = failure.hidden
      looksAfterFailure = false
      show()
    },
    /** @param {ErrorBody} error */
    failed(error) {
      // Its files may have been committed before it was refused.
      looksAfterFailure = isWorking && preview.act.kind === "land" && error.code !== "CHANGED_MEANWHILE"
      isWorking = false
      failure.hidden = false
      setText(failure, error.message)
      again.hidden = false
      showButtons()
      if (looksAfterFailure) deps.look(chosenAct(preview.act, chosen()))
    },
    /** Something was done: what this dialog is for, or what it needed first. @param {ChangeAct["kind"]} kind */
    done(kind) {
      if (kind === preview.act.kind) for (const field of [typedTitle, typedMessage]) field.drop()
      dialog.close()
    },
    close: () => dialog.close(),
  }
}

/** @param {ActPath} path @param {boolean} canTick */
function rowOf({ path, what, why, ticked }, canTick) {
  const text = why === undefined ? fateWords[what] : why
  return el(
    "label",
    { class: "act-file", "data-what": what },
    canTick && el("input", { type: "checkbox", value: path, checked: ticked, disabled: what === "leave" }),
    el("span", { class: "act-path", text: path }),
    el("span", { class: "act-fate", text }),
  )
}

/** @param {string} value @param {string} text @param {boolean} checked */
const radio = (value, text, checked) =>
  el("label", {}, el("input", { type: "radio", name: "how", value, checked }), el("span", { text }))
