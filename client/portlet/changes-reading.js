/** When the changes are read again: after anything that may have changed files, while somebody looks. */

/** @import { Frame, ToolKind } from "../contract.js" */

/** @param {{ isOpen(): boolean, isSeen(): boolean, refresh(): void }} deps `isOpen`: the panel; `isSeen`: the session
 */
export function createChangesReading({ isOpen, isSeen, refresh }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let reading
  return {
    /** @param {Frame} frame */
    follow(frame) {
      if (!mayChangeFiles(frame, isOpen()) || !(isSeen() || isOpen())) return
      // At most once a second.
      reading ??= setTimeout(() => {
        reading = undefined
        refresh()
      }, 1000)
    },
  }
}

/** Whether files may differ after this: a call did something, a turn ended, the branch moved, the server counted again,
 * or it is the first look.
 * @param {Frame} frame @param {boolean} isOpen */
function mayChangeFiles(frame, isOpen) {
  switch (frame.type) {
    case "session:history":
      return true
    case "session:turn":
      return frame.payload.type !== "turn_started"
    case "session:upsert":
      return isOpen && frame.payload.type === "tool_call" && !reads.has(frame.payload.toolKind)
    case "session:facts":
      return frame.facts.workspace !== undefined
    case "changes:changed":
      return true
    default:
      return false
  }
}

/** Calls that change nothing. @type {ReadonlySet<ToolKind>} */
const reads = new Set(["read", "search", "fetch", "think"])
