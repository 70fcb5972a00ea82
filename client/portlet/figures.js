/** What the last turn took, for the head of a comparison. */

import { workingSince } from "./rows.js"

/** @import { Figures } from "../shared/bridge.js" */
/** @import { Transcript } from "./transcript.js" */

/** @param {Transcript} transcript @returns {Figures} */
function figuresOf(transcript) {
  const { turns, facts } = transcript
  const last = [...turns.values()].at(-1)?.turn
  const costUsd = facts.usage?.costUsd
  return {
    ...(last === undefined ? {} : { startedAt: workingSince(transcript, last) }),
    ...(last?.endedAt === undefined ? {} : { endedAt: last.endedAt }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** Tells the shell when they change. @param {(figures: Figures) => void} tell */
export function createFigures(tell) {
  let told = ""
  return {
    /** @param {Transcript} transcript */
    update(transcript) {
      const figures = figuresOf(transcript)
      const now = JSON.stringify(figures)
      if (now !== told) tell(figures)
      told = now
    },
  }
}
