/** How dense and how large the page is, and whether long lines wrap: chosen by the user, in every window. */

import { keys, loadRecord, save } from "./storage.js"

/** @typedef {object} Reading
 * @property {"normal" | "compact"} density
 * @property {"small" | "normal" | "large"} size
 * @property {boolean} wrap  Long lines of code, output and diffs.
 * @property {Editor} editor  Where files are opened. */

/** @typedef {"" | "vscode" | "cursor" | "zed" | "idea"} Editor */

/** @type {Record<Exclude<Editor, "">, { name: string, address(path: string, line: number | ""): string }>} */
export const editors = {
  vscode: { name: "VS Code", address: (path, line) => `vscode://file${path}${line && `:${line}`}` },
  cursor: { name: "Cursor", address: (path, line) => `cursor://file${path}${line && `:${line}`}` },
  zed: { name: "Zed", address: (path, line) => `zed://file${path}${line && `:${line}`}` },
  idea: { name: "JetBrains", address: (path, line) => `idea://open?file=${path}${line && `&line=${line}`}` },
}

/** The address that opens a file in the user's editor, or without a line a directory; null without an editor.
 * @param {Editor} editor @param {string} path absolute @param {number | ""} [line] */
export function editorAddress(editor, path, line = "") {
  if (editor === "" || !path.startsWith("/")) return null
  return editors[editor].address(path.split("/").map(encodeURIComponent).join("/"), line)
}

/** @param {Storage} storage @returns {Reading} */
export function readingFrom(storage) {
  const { density, size, wrap, editor } = loadRecord(storage, keys.reading)
  return {
    density: density === "compact" ? density : "normal",
    size: size === "small" || size === "large" ? size : "normal",
    wrap: wrap === true,
    editor: typeof editor === "string" && Object.hasOwn(editors, editor) ? /** @type {Editor} */ (editor) : "",
  }
}

/** @param {Storage} storage @param {Partial<Reading>} change */
export const saveReading = (storage, change) => save(storage, keys.reading, { ...readingFrom(storage), ...change })

/** Shows the choice, now and whenever another document changes it.
 * @param {Document} document @param {Storage} storage */
export function followReading(document, storage) {
  const show = () => {
    const { density, size, wrap } = readingFrom(storage)
    Object.assign(document.documentElement.dataset, { density, size, wrap: String(wrap) })
  }
  document.defaultView?.addEventListener("storage", ({ key }) => {
    if (key === keys.reading) show()
  })
  show()
  return { show }
}
