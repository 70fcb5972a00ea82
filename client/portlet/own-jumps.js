/** Going from one of the user's own messages to another. */

/** @import { Transcript } from "./transcript.js" */

/** @typedef {object} OwnJumpsDeps
 * @property {() => Transcript} transcript
 * @property {(itemId: string, index: number) => unknown} reveal
 * @property {() => number} indexInView  Of an item near the top of the view; infinite at the end.
 * @property {() => void} loadRest
 * @property {() => number} position  Of the view: it changes when the user scrolls.
 * @property {() => void} toEnd */

/** @param {OwnJumpsDeps} deps */
export function createOwnJumps(deps) {
  /** The last jump, and where it led. If the view is elsewhere now, the jump no longer counts. */
  let last = { index: -1, position: NaN }
  /** The message is not loaded yet. */
  let isWaiting = false

  /** @param {1 | -1} by */
  function jump(by) {
    isWaiting = false
    const { runs, older } = deps.transcript()
    const from = Math.abs(deps.position() - last.position) < 2 ? last.index : deps.indexInView()
    const own = runs.flatMap(({ items }) => items.filter((item) => item.type === "message" && item.origin === "user"))
    const to = by < 0 ? own.findLast(({ index }) => index < from) : own.find(({ index }) => index > from)
    if (to) {
      deps.reveal(to.itemId, to.index)
      last = { index: to.index, position: deps.position() }
    } else if (by > 0) deps.toEnd()
    else if (older) {
      isWaiting = true
      deps.loadRest()
    }
  }

  return {
    jump,
    /** More of the history may have arrived. */
    update: () => isWaiting && jump(-1),
  }
}
