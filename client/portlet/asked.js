/** A question that the page asks the agent in the user's name, as an ordinary message; its answer comes back here. */

import { runningTurn } from "./transcript.js"

/** @import { Transcript } from "./transcript.js" */

/** @param {(content: string) => void} send */
export function createAsked(send) {
  /** @type {{ resolve(answer: string): void, runs: number, began: boolean } | null} */
  let waiting = null
  let runs = 0
  return {
    /** Resolves with the agent's last words in the turn. @param {string} content @returns {Promise<string>} */
    ask(content) {
      waiting?.resolve("")
      const answer = new Promise((resolve) => {
        waiting = { resolve, runs, began: false }
      })
      send(content)
      return answer
    },
    /** @param {Transcript} transcript @param {boolean} isBusy */
    update(transcript, isBusy) {
      runs = transcript.runs.length
      if (!waiting) return
      waiting.began ||= runningTurn(transcript) !== null || runs > waiting.runs
      if (!waiting.began || isBusy) return
      waiting.resolve(lastAnswer(transcript))
      waiting = null
    },
  }
}

/** @param {Transcript} transcript */
function lastAnswer({ runs }) {
  const found = runs.at(-1)?.items.findLast((item) => item.type === "message" && item.origin === "agent")
  return found?.type === "message" ? found.content : ""
}
