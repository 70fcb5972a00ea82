/**
 * The keys of the program, in one table: what they do, how they are pressed, how they are written.
 * Shell and portlets both ask here, so a shortcut works wherever the focus is. None of them is a key
 * of the browsers or of common desktops: `Alt` with a letter that no menu uses (on a Mac, where Option
 * types letters, `Ctrl+Shift`), and `Ctrl/Cmd+K`, which pages have by custom.
 */

/** @typedef {object} Shortcut
 * @property {string} name
 * @property {string} label  What it does, for the help sheet.
 * @property {string} code  `KeyboardEvent.code`: the place of the key, whatever it types.
 * @property {"command" | "app" | "app-shift"} with  `command`: Ctrl (Mac: Cmd). `app`: Alt (Mac: Ctrl+Shift).
 *   `app-shift`: Alt+Shift (Mac: Ctrl+Shift+Alt).
 * @property {string} key  How the key is written. */

/** @type {Shortcut[]} */
export const shortcuts = [
  { name: "search", label: "Search everything, go anywhere", code: "KeyK", with: "command", key: "K" },
  { name: "new-session", label: "New session", code: "KeyN", with: "app", key: "N" },
  { name: "close-tab", label: "Close the tab", code: "KeyW", with: "app", key: "W" },
  { name: "next-tab", label: "Next tab", code: "Period", with: "app", key: "." },
  { name: "previous-tab", label: "Previous tab", code: "Comma", with: "app", key: "," },
  { name: "move-tab-right", label: "Move the tab right", code: "Period", with: "app-shift", key: "." },
  { name: "move-tab-left", label: "Move the tab left", code: "Comma", with: "app-shift", key: "," },
  ...Array.from({ length: 9 }, (_, n) => /** @type {Shortcut} */ ({
    name: `tab-${n + 1}`, label: `Tab ${n + 1}`, code: `Digit${n + 1}`, with: "app-shift", key: `${n + 1}`,
  })),
  { name: "focus-composer", label: "Write a message", code: "KeyM", with: "app", key: "M" },
  { name: "toggle-sidebar", label: "Show or hide the sidebar", code: "KeyP", with: "app", key: "P" },
]

/** Whether this is a Mac, whose modifiers are others. */
const onMac = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? "")

/** The name of the shortcut that was pressed, or null. `?` is one only outside of text fields.
 * @param {Pick<KeyboardEvent, "code" | "key" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey" | "isComposing"> & { target?: EventTarget | null }} event
 * @param {boolean} [mac] @returns {string | null} */
export function shortcutOf(event, mac = onMac) {
  if (event.isComposing) return null
  if (event.key === "?" && !event.ctrlKey && !event.altKey && !event.metaKey && !isTyping(event.target ?? null)) return "help"
  const found = shortcuts.find((shortcut) => shortcut.code === event.code && pressed(shortcut.with, event, mac))
  return found ? found.name : null
}

/** How a shortcut is written for people, one word a key. @param {Shortcut} shortcut @param {boolean} [mac] @returns {string[]} */
export function keysOf(shortcut, mac = onMac) {
  const modifiers = {
    command: mac ? ["⌘"] : ["Ctrl"],
    app: mac ? ["⌃", "⇧"] : ["Alt"],
    "app-shift": mac ? ["⌃", "⇧", "⌥"] : ["Alt", "Shift"],
  }
  return [...modifiers[shortcut.with], shortcut.key]
}

/** @param {Shortcut["with"]} modifiers @param {Pick<KeyboardEvent, "ctrlKey" | "altKey" | "shiftKey" | "metaKey">} event @param {boolean} mac */
function pressed(modifiers, event, mac) {
  const held = `${event.ctrlKey ? "C" : ""}${event.altKey ? "A" : ""}${event.shiftKey ? "S" : ""}${event.metaKey ? "M" : ""}`
  switch (modifiers) {
    case "command": return held === (mac ? "M" : "C")
    case "app": return held === (mac ? "CS" : "A")
    case "app-shift": return held === (mac ? "CAS" : "AS")
  }
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  const element = /** @type {HTMLElement | null} */ (target)
  return element?.isContentEditable === true || element?.matches?.("input, textarea, select") === true
}
