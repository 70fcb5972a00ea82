/** The session's commands: those with a key, and those that the shell's palette lists while the session is active. */

import { isInDialog } from "../shared/dialog.js"
import { onMac, shortcutOf } from "../shared/keys.js"

/** @typedef {{ label: string, run(): void }} SessionCommand */

/** @typedef {object} SessionCommandsDeps
 * @property {Record<string, () => void>} byKey  What the shortcuts that belong to a session do.
 * @property {(name: string) => void} toShell  Any other shortcut.
 * @property {() => boolean} isFinding  The user is in the field of the find bar.
 * @property {(labels: string[]) => void} offer  The palette lists these. */

/** @param {SessionCommandsDeps} deps @param {AbortSignal} signal */
export function mountSessionCommands(deps, signal) {
  /** @type {SessionCommand[]} */
  let commands = []
  let offered = ""

  /** Whether a shortcut is left to the browser: its own search, and a Mac's way through a text.
   * @param {string} name @param {EventTarget | null} target */
  function isTheBrowsers(name, target) {
    if (name === "find") return deps.isFinding()
    return name.startsWith("own-") && onMac && target instanceof HTMLTextAreaElement && target.value !== ""
  }

  document.addEventListener(
    "keydown",
    (event) => {
      const name = shortcutOf(event)
      if (name === null || event.defaultPrevented || isTheBrowsers(name, event.target)) return
      if (isInDialog() && name !== "search") return
      event.preventDefault()
      const run = deps.byKey[name]
      if (run) run()
      else deps.toShell(name)
    },
    { signal },
  )

  return {
    /** Runs a command by the name of its shortcut or by its label; one that is gone by now does nothing.
     * @param {string} name */
    run: (name) => (deps.byKey[name] ?? commands.find(({ label }) => label === name)?.run)?.(),
    /** @param {SessionCommand[]} next */
    update(next) {
      commands = next
      const labels = next.map(({ label }) => label)
      const text = JSON.stringify(labels)
      if (text === offered) return
      offered = text
      deps.offer(labels)
    },
  }
}
