/**
 * All keyboard shortcuts in one table: what they do, how they are pressed, how they are written. The shell
 * and the portlets both use it, so a shortcut works wherever the focus is. None of them clashes with
 * browsers or common desktops: `Alt` with a letter that no menu uses (on a Mac, where Option types letters,
 * `Ctrl+Shift`), and `Ctrl/Cmd+K`, which web pages use by convention. `Ctrl/Cmd+F` is taken from the browser only once:
 * pressed again, it opens the browser's own.
 */

/** @typedef {object} Shortcut
 * @property {string} name
 * @property {string} label  What it does, for the help sheet.
 * @property {string} code  `KeyboardEvent.code`: the position of the key, whatever it types.
 * @property {"command" | "app" | "app-shift" | "alt"} with  `command`: Ctrl (Mac: Cmd). `app`: Alt (Mac: Ctrl+Shift).
 *   `app-shift`: Alt+Shift (Mac: Ctrl+Shift+Alt). `alt`: Alt everywhere, for keys that type nothing.
 * @property {string} key  How the key is written. */

/** @type {Shortcut[]} */
export const shortcuts = [
  { name: "search", label: "Search everything, go anywhere", code: "KeyK", with: "command", key: "K" },
  { name: "new-session", label: "New session", code: "KeyN", with: "app", key: "N" },
  { name: "now", label: "Now: what's waiting, running and done", code: "Digit0", with: "app", key: "0" },
  { name: "close-tab", label: "Close tab", code: "KeyW", with: "app", key: "W" },
  { name: "reopen-tab", label: "Reopen closed tab", code: "KeyW", with: "app-shift", key: "W" },
  { name: "next-tab", label: "Next tab", code: "Period", with: "app", key: "." },
  { name: "previous-tab", label: "Previous tab", code: "Comma", with: "app", key: "," },
  { name: "move-tab-right", label: "Move tab right", code: "Period", with: "app-shift", key: "." },
  { name: "move-tab-left", label: "Move tab left", code: "Comma", with: "app-shift", key: "," },
  ...Array.from(
    { length: 9 },
    (_, n) =>
      /** @type {Shortcut} */ ({
        name: `tab-${n + 1}`,
        label: `Tab ${n + 1}`,
        code: `Digit${n + 1}`,
        with: "app-shift",
        key: `${n + 1}`,
      }),
  ),
  { name: "show-beside", label: "Show another tab beside this one", code: "KeyL", with: "app", key: "L" },
  { name: "show-alone", label: "Show this tab alone", code: "KeyL", with: "app-shift", key: "L" },
  { name: "next-column", label: "Next session side by side", code: "KeyO", with: "app", key: "O" },
  { name: "find", label: "Find in this conversation; again: in the page", code: "KeyF", with: "command", key: "F" },
  { name: "own-above", label: "Your previous message", code: "ArrowUp", with: "alt", key: "↑" },
  { name: "own-below", label: "Your next message", code: "ArrowDown", with: "alt", key: "↓" },
  { name: "changes", label: "Show or hide the changes", code: "KeyC", with: "app", key: "C" },
  { name: "stop", label: "Stop the answer", code: "KeyX", with: "app", key: "X" },
  { name: "rename", label: "Rename this session", code: "KeyR", with: "app", key: "R" },
  { name: "pin", label: "Pin or unpin this session", code: "KeyI", with: "app", key: "I" },
  { name: "archive", label: "Archive this session", code: "KeyA", with: "app", key: "A" },
  { name: "copy-link", label: "Copy a link to this session", code: "KeyU", with: "app", key: "U" },
  { name: "focus-composer", label: "Write a message", code: "KeyM", with: "app", key: "M" },
  { name: "toggle-sidebar", label: "Show or hide the sidebar", code: "KeyP", with: "app", key: "P" },
]

/** Macs use other modifiers. */
export const onMac = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? "")

/** @typedef {Pick<KeyboardEvent, "ctrlKey" | "altKey" | "shiftKey" | "metaKey">} HeldKeys */
/** @typedef {HeldKeys & Pick<KeyboardEvent, "code" | "key" | "isComposing">} KeyEvent */

/** The name of the shortcut that was pressed, or null. `?` counts only outside text fields.
 * @param {KeyEvent & { target?: EventTarget | null }} event
 * @param {boolean} [mac] @returns {string | null} */
export function shortcutOf(event, mac = onMac) {
  if (event.isComposing) return null
  if (event.key === "?" && !event.ctrlKey && !event.altKey && !event.metaKey && !isTyping(event.target ?? null))
    return "help"
  const found = shortcuts.find((shortcut) => shortcut.code === event.code && pressed(shortcut.with, event, mac))
  return found ? found.name : null
}

/** How a shortcut is shown, one string per key.
 * @param {Shortcut} shortcut @param {boolean} [mac] @returns {string[]} */
export function keysOf(shortcut, mac = onMac) {
  const modifiers = {
    command: mac ? ["⌘"] : ["Ctrl"],
    app: mac ? ["⌃", "⇧"] : ["Alt"],
    "app-shift": mac ? ["⌃", "⇧", "⌥"] : ["Alt", "Shift"],
    alt: mac ? ["⌥"] : ["Alt"],
  }
  return [...modifiers[shortcut.with], shortcut.key]
}

/** The keys of a shortcut in one string, for a menu. @param {string} name as in `shortcuts` */
export const keysFor = (name) =>
  shortcuts.filter((shortcut) => shortcut.name === name).map((shortcut) => keysOf(shortcut).join(" "))[0] ?? ""

/** @param {Shortcut["with"]} modifiers @param {HeldKeys} event @param {boolean} mac */
function pressed(modifiers, { ctrlKey, altKey, shiftKey, metaKey }, mac) {
  const held = `${ctrlKey ? "C" : ""}${altKey ? "A" : ""}${shiftKey ? "S" : ""}${metaKey ? "M" : ""}`
  switch (modifiers) {
    case "command":
      return held === (mac ? "M" : "C")
    case "app":
      return held === (mac ? "CS" : "A")
    case "app-shift":
      return held === (mac ? "CAS" : "AS")
    case "alt":
      return held === "A"
  }
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  const element = /** @type {HTMLElement | null} */ (target)
  return element?.isContentEditable === true || element?.matches?.("input, textarea, select") === true
}
