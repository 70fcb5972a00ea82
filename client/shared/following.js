/**
 * One followed session, as the socket sees it: the cursor to come back with. Pure. The transcript is kept by the
 * portlet, not here.
 */

/** @import { Cursor, Frame } from "../contract.js" */

/** @typedef {object} Following
 * @property {Cursor | null} cursor  The last `seq` seen; null before the first history.
 * @property {boolean} opening  Until the requested history arrives, other frames are ignored: it covers them. */

/** @typedef {"session:history" | "session:upsert" | "session:turn" | "session:facts" | "session:tail"} FollowedType */
/** @typedef {Extract<Frame, {type: FollowedType}>} FollowedFrame */

/** @returns {Following} */
export const startFollowing = () => ({ cursor: null, opening: true })

/** The next state, or null if the frame is not news to the portlet.
 * @param {Following} now @param {FollowedFrame} frame @returns {Following | null} */
export function receive(now, frame) {
  if (frame.type === "session:history") return { cursor: { stream: frame.stream, seq: frame.seq }, opening: false }
  if (now.opening || now.cursor === null || frame.seq <= now.cursor.seq) return null
  return { ...now, cursor: { ...now.cursor, seq: frame.seq } }
}
