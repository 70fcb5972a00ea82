/**
 * One followed session, as the socket sees it: how far we are, and the items that still grow, so that tails can be put
 * together. Pure. It keeps no transcript; that is the portlet's.
 */

import { applyTail } from "./tails.js"

/** @import { Cursor, Frame, UpsertObject } from "../contract.js" */

/** @typedef {object} Following
 * @property {Cursor | null} cursor  The last `seq` seen; null before the first history.
 * @property {ReadonlyMap<string, UpsertObject>} growing  Items not yet complete, by id.
 * @property {boolean} opening  Asked to open; until the history comes, what still arrives is covered by it. */

/** @typedef {Extract<Frame, {type: "session:history" | "session:upsert" | "session:turn" | "session:tail"}>} FollowedFrame */

/** What a frame comes to: what is known now, what the portlet gets, and whether to open again from the start.
 * @typedef {{ next: Following, emit: Exclude<FollowedFrame, {type: "session:tail"}> | null, reopen: boolean }} Received */

/** @returns {Following} */
export const startFollowing = () => ({ cursor: null, growing: new Map(), opening: true })

/** @param {Following} now @param {FollowedFrame} frame @returns {Received} */
export function receive(now, frame) {
  if (frame.type === "session:history") {
    const growing = frame.mode === "since" ? new Map(now.growing) : new Map()
    for (const item of frame.entries) note(growing, item)
    return { next: { cursor: { stream: frame.stream, seq: frame.seq }, growing, opening: false }, emit: frame, reopen: false }
  }
  if (now.opening || now.cursor === null || frame.seq <= now.cursor.seq) return { next: now, emit: null, reopen: false }
  const cursor = { ...now.cursor, seq: frame.seq }
  switch (frame.type) {
    case "session:turn":
      return { next: { ...now, cursor }, emit: frame, reopen: false }
    case "session:upsert":
      return { next: { ...now, cursor, growing: note(new Map(now.growing), frame.payload) }, emit: frame, reopen: false }
    case "session:tail": {
      const item = now.growing.get(frame.itemId)
      const whole = item ? applyTail(item, frame) : null
      if (whole === null) return { next: startFollowing(), emit: null, reopen: true }
      const growing = new Map(now.growing).set(whole.itemId, whole)
      return {
        next: { ...now, cursor, growing },
        emit: { type: "session:upsert", sessionId: frame.sessionId, payload: whole, seq: frame.seq },
        reopen: false,
      }
    }
  }
}

/** @param {Map<string, UpsertObject>} growing @param {UpsertObject} item */
function note(growing, item) {
  if (item.status === "create" || item.status === "update") growing.set(item.itemId, item)
  else growing.delete(item.itemId)
  return growing
}
