/** Announces to screen readers when work begins, ends or fails and when the agent asks, and nothing else. */

/** @import { Transcript } from "./transcript.js" */
import { openPermissions, runningTurn } from "./transcript.js"

/** @param {HTMLElement} root a live region */
export function createAnnouncer(root) {
  let running = ""
  let asked = ""
  let isFirst = true

  return {
    /** @param {Transcript} transcript @param {string} agent */
    update(transcript, agent) {
      const now = runningTurn(transcript)?.turnId ?? ""
      const ask = openPermissions(transcript).at(-1)
      if (!isFirst) {
        if (ask && ask.itemId !== asked && ask.type === "permission") root.textContent = `${agent} asks: ${ask.title}`
        else if (now === "" && running !== "") {
          const outcome = transcript.turns.get(running)?.turn.outcome
          root.textContent =
            outcome === "completed" ? `${agent} is done.` : outcome === "cancelled" ? "Stopped." : "The turn failed."
        } else if (now !== "" && running === "") root.textContent = `${agent} is working.`
      }
      running = now
      asked = ask?.itemId ?? asked
      isFirst = !transcript.known
    },
  }
}
