/**
 * The attachments of the message that is being written: taken from the clipboard, from a drop or a file, shown as chips
 * above the text. Each is uploaded at once; the message is sent when all are. A refusal is said here, and nothing else
 * of the message changes.
 */

import { el, keyed, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { openMenu } from "../shared/menu.js"
import { mountChip } from "./chips.js"
import { shrunk } from "./shrink.js"

/** @import { Attachment, ErrorBody } from "../contract.js" */
/** @import { ChipDeps } from "./chips.js" */

/** @typedef {object} AttachDeps
 * @property {(bytes: Blob, name: string) => Promise<Attachment>} upload
 * @property {ChipDeps} show
 * @property {() => string} agent
 * @property {() => boolean} takesPictures
 * @property {() => void} changed
 * @property {(text: string) => void} insert  Types a text at the caret. */

/** An attachment is null while it is uploaded.
 * @typedef {{ key: string, name: string, attachment: Attachment | null }} Chip */

/** In bytes, as the server's limit. */
const LARGEST = 20 * 1024 * 1024
const MOST = 50

/** @param {AttachDeps} deps @param {AbortSignal} signal */
export function mountAttach(deps, signal) {
  const row = el("div", { class: "chips", "aria-label": "Attachments", role: "group" })
  const words = el("span")
  const undo = el("button", { class: "text-button", type: "button", text: "Undo" })
  const notice = el("div", { class: "attach-notice", role: "status", hidden: true }, words, undo)
  const element = el("div", { class: "attach", hidden: true }, row, notice)
  const button = el(
    "button",
    {
      class: "icon-button attach-button",
      type: "button",
      "aria-label": "Attach",
      title: "Attach",
      "aria-haspopup": "menu",
    },
    icon("add"),
  )
  /** @type {Chip[]} */
  let chips = []
  /** @type {{ chip: Chip, at: number } | null} */
  let removed = null
  let made = 0
  /** @type {Map<string, ReturnType<typeof mountDraftChip>>} */
  const views = new Map()

  /** @param {string} [said] @param {"bad" | "plain"} [kind] */
  function show(said = "", kind = "plain") {
    keyed(row, views, chips, ({ key }) => key, mountDraftChip)
    row.hidden = chips.length === 0
    setText(words, said)
    setAttribute(notice, "data-kind", kind)
    notice.hidden = said === ""
    undo.hidden = removed === null
    element.hidden = row.hidden && notice.hidden
    deps.changed()
  }

  /** @param {Chip} chip */
  function mountDraftChip(chip) {
    const remove = el(
      "button",
      { class: "icon-button", type: "button", "aria-label": `Remove ${chip.name}`, title: "Remove" },
      icon("close"),
    )
    remove.addEventListener("click", () => take(chip.key))
    // The button stays in place when the upload ends: a click on it that is under way must not be lost.
    const view = el("div", { class: "draft-chip" }, remove)
    /** @type {Attachment | null | undefined} */
    let shown
    /** @param {Chip} next */
    function update({ attachment, name }) {
      if (attachment === shown) return
      shown = attachment
      const asText = { label: "Put into the message", run: (/** @type {string} */ text) => putBack(chip.key, text) }
      const loading = el("span", { class: "chip" }, el("span", { class: "spinner" }), el("span", { text: name }))
      const body = attachment
        ? mountChip(attachment, deps.show, attachment.kind === "paste" ? asText : undefined)
        : loading
      while (view.firstChild !== remove) view.firstChild?.remove()
      view.prepend(body)
    }
    update(chip)
    return { element: view, update }
  }

  /** @param {string} key */
  function take(key) {
    const at = chips.findIndex((each) => each.key === key)
    const chip = chips[at]
    if (!chip) return
    chips = chips.toSpliced(at, 1)
    removed = { chip, at }
    show(`Removed ${chip.name}.`)
  }

  /** @param {string} key @param {string} text */
  function putBack(key, text) {
    chips = chips.filter((each) => each.key !== key)
    removed = null
    show()
    deps.insert(text)
  }

  /** What was taken away meanwhile can still be brought back.
   * @param {string} key @param {Attachment | null} attachment null if it failed */
  function uploaded(key, attachment) {
    chips = attachment
      ? chips.map((each) => (each.key === key ? { ...each, attachment } : each))
      : chips.filter((each) => each.key !== key)
    if (removed?.chip.key === key) removed = attachment && { ...removed, chip: { ...removed.chip, attachment } }
  }

  /** @param {string} name @param {() => Promise<Blob>} read */
  async function add(name, read) {
    if (chips.length >= MOST) return show(`A message can have at most ${MOST} attachments.`, "bad")
    const key = `chip-${(made += 1)}`
    chips = [...chips, { key, name, attachment: null }]
    removed = null
    show()
    try {
      uploaded(key, await deps.upload(await read(), name))
      show(words.textContent ?? "", notice.dataset.kind === "bad" ? "bad" : "plain")
    } catch (reason) {
      uploaded(key, null)
      show(typeof reason === "string" ? reason : `${name} isn't attached. ${messageOf(reason)}`, "bad")
      return false
    }
    return true
  }

  /** @param {File} file */
  function addFile(file) {
    const name = file.name || "Picture"
    if (file.size > LARGEST) return show(`${name} is larger than 20 MiB. Make it smaller, or mention it with @.`, "bad")
    const isPicture = file.type.startsWith("image/")
    if (isPicture && !deps.takesPictures()) return show(`${deps.agent()} doesn't take pictures.`, "bad")
    return add(name, () => (isPicture ? readPicture(file, name) : readText(file, name)))
  }

  undo.addEventListener("click", () => {
    if (!removed) return
    chips = chips.toSpliced(removed.at, 0, removed.chip)
    removed = null
    show()
  })

  const picker = el("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files to attach" })
  picker.addEventListener("change", () => {
    for (const file of picker.files ?? []) addFile(file)
    picker.value = ""
  })
  /** @param {string} accept */
  const pick = (accept) => {
    setAttribute(picker, "accept", accept || null)
    picker.click()
  }
  button.addEventListener("click", () =>
    openMenu(button, "Attach", [
      { label: "Picture", icon: "add", run: () => pick("image/*"), ...(deps.takesPictures() ? {} : noPictures) },
      { label: "Text file", icon: "copy", run: () => pick("text/*,.md,.log,.json,.csv,.txt,.yaml,.toml") },
      {
        label: "Project file",
        note: "Type @ and a part of its name",
        icon: "read",
        run: () => deps.insert("@"),
      },
    ]),
  )
  /** @type {{ kind: "muted", note: string }} */
  const noPictures = { kind: "muted", note: "This agent doesn't take pictures" }
  element.append(picker)

  // Dropped anywhere on the session.
  document.addEventListener(
    "dragover",
    (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      document.body.toggleAttribute("data-drop", true)
    },
    { signal },
  )
  document.addEventListener("dragleave", (event) => event.relatedTarget || endDrop(), { signal })
  document.addEventListener(
    "drop",
    (event) => {
      endDrop()
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      for (const item of event.dataTransfer.items) {
        const file = item.kind === "file" ? item.getAsFile() : null
        if (item.webkitGetAsEntry?.()?.isDirectory)
          show("Directories can't be attached. Mention a project directory with @.", "bad")
        else if (file) addFile(file)
      }
    },
    { signal },
  )
  const endDrop = () => document.body.removeAttribute("data-drop")

  return {
    element,
    button,
    addFile,
    /** A long paste; false if it could not be kept. @param {string} text */
    addText: (text) => add(pasteName(text), async () => new Blob([text], { type: "text/plain" })),
    /** Those that are uploaded. @returns {Attachment[]} */
    list: () => chips.flatMap(({ attachment }) => attachment ?? []),
    isEmpty: () => chips.length === 0,
    isUploading: () => chips.some(({ attachment }) => attachment === null),
    /** Replaces them all. @param {Attachment[]} attachments */
    put(attachments) {
      chips = attachments.map((attachment) => ({ key: `chip-${(made += 1)}`, name: attachment.name, attachment }))
      removed = null
      show()
    },
  }
}

/** @param {string} text */
function pasteName(text) {
  const first = text.trimStart().split("\n", 1)[0] ?? ""
  return first.length > 60 ? `${first.slice(0, 59)}…` : first || "Pasted text"
}

/** Rejects with words for the user. @param {File} file @param {string} name */
async function readPicture(file, name) {
  if (file.type === "image/svg+xml")
    throw "SVG can't be attached as a picture. Attach a PNG, or mention the file with @."
  return shrunk(file).catch(() => {
    throw `${name} can't be read as a picture. Attach a PNG, JPEG, GIF or WebP.`
  })
}

/** @param {File} file @param {string} name */
async function readText(file, name) {
  const bytes = await file.arrayBuffer()
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    if (!text.includes("\0")) return new Blob([text], { type: "text/plain" })
  } catch {
    // Not text.
  }
  throw `${name} is neither a picture nor text. Put it into the project and mention it with @.`
}

/** @param {unknown} reason */
const messageOf = (reason) => /** @type {Partial<ErrorBody>} */ (reason)?.message ?? ""
