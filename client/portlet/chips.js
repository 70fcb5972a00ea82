/** Attachments as chips: a picture as its thumbnail, anything else by its name; a click shows all of it. */

import { openDialog } from "../shared/dialog.js"
import { el, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { detailOf } from "./attachments.js"

/** @import { Attachment, ErrorBody } from "../contract.js" */

/** @typedef {object} ChipDeps
 * @property {(url: string) => Promise<string>} picture  A `blob:` address.
 * @property {(url: string) => Promise<string>} text */

/** `action` is a button below the text. @typedef {{ label: string, run(text: string): void }} ChipAction */

/** @param {Attachment} attachment @param {ChipDeps} deps @param {ChipAction} [action] @returns {HTMLElement} */
export function mountChip(attachment, deps, action) {
  const { kind, name, url, path } = attachment
  if (kind === "file" || url === undefined)
    return el("span", { class: "chip", "data-kind": kind, title: path ?? name }, icon("read"), label(attachment))
  const chip = el("button", { class: "chip", "data-kind": kind, type: "button", title: name })
  chip.addEventListener("click", () => openAttachment(attachment, deps, action))
  if (kind !== "image") chip.append(icon(kind === "lines" ? "read" : "copy"), label(attachment))
  else {
    chip.setAttribute("aria-label", `Picture ${name}`)
    deps.picture(url).then(
      (address) => chip.replaceChildren(el("img", { src: address, alt: "" })),
      () => chip.replaceChildren(icon("alert"), label(attachment)),
    )
  }
  return chip
}

/** The row of a message's attachments. @param {Attachment[]} attachments @param {ChipDeps} deps */
export const mountChips = (attachments, deps) =>
  el("div", { class: "chips", hidden: attachments.length === 0 }, ...attachments.map((each) => mountChip(each, deps)))

/** @param {Attachment} attachment */
function label(attachment) {
  const detail = detailOf(attachment)
  return el(
    "span",
    { class: "chip-label" },
    el("span", { class: "chip-name", text: attachment.name }),
    detail && el("small", { text: detail }),
  )
}

/** @param {Attachment} attachment @param {ChipDeps} deps @param {ChipAction} [action] */
async function openAttachment({ kind, name, url = "" }, deps, action) {
  const content = el("div", { class: "viewer", "aria-busy": "true" })
  const dialog = openDialog(name, [content], { className: "viewer-dialog" })
  try {
    if (kind === "image") content.append(el("img", { src: await deps.picture(url), alt: name }))
    else {
      const text = await deps.text(url)
      content.append(el("pre", { text, tabindex: 0 }))
      if (action) {
        const button = el("button", { class: "button", type: "button", text: action.label })
        button.addEventListener("click", () => {
          dialog.close()
          action.run(text)
        })
        content.append(el("div", { class: "dialog-actions" }, button))
      }
    }
  } catch (reason) {
    const problem = el("p", { class: "tool-problem" })
    setText(problem, `It can't be shown. ${/** @type {ErrorBody} */ (reason)?.message ?? ""}`)
    content.append(problem)
  }
  content.removeAttribute("aria-busy")
}
