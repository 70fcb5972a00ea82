/** What stands below the last row: that the agent starts, that it is in trouble and what to do, or an invitation to begin. */

import { el } from "../shared/dom.js"
import { failureParts } from "../shared/failure.js"

/** @import { ErrorBody, Policy } from "../contract.js" */
/** @import { Trouble } from "./status.js" */

/** @typedef {object} Standing
 * @property {boolean} launching
 * @property {Trouble | null} trouble
 * @property {ErrorBody | null} failure  Of something the user just asked for.
 * @property {"loading" | "empty" | "some"} transcript
 * @property {string} agent
 * @property {string} project
 * @property {Policy} policy */

/** @typedef {{ reconnect(): void, reopen(): void, dismiss(): void }} StandingDeps */

/** @param {HTMLElement} root @param {StandingDeps} deps */
export function mountStanding(root, deps) {
  let shown = ""

  /** @param {Trouble} trouble */
  function troubleCard({ title, text, details, action, label }) {
    const button = el("button", { class: "button", "data-kind": "main", type: "button", text: label })
    button.addEventListener("click", () => action === "reopen" ? deps.reopen() : deps.reconnect())
    return el("section", { class: "trouble", role: "alert" }, el("h3", { text: title }), ...failureParts({ message: text, ...(details ? { details } : {}) }), el("div", { class: "actions" }, button))
  }

  /** @param {ErrorBody} error */
  function failureCard(error) {
    const button = el("button", { class: "button", type: "button", text: "Dismiss" })
    button.addEventListener("click", deps.dismiss)
    return el("section", { class: "trouble", role: "alert" }, ...failureParts(error), el("div", { class: "actions" }, button))
  }

  return {
    /** @param {Standing} state */
    update(state) {
      const key = JSON.stringify(state)
      if (key === shown) return
      shown = key
      const { launching, trouble, failure, transcript, agent, project, policy } = state
      root.replaceChildren(...[
        transcript === "empty" && !trouble && !launching ? el("div", { class: "invitation" }, el("p", { class: "invitation-title", text: `What should ${agent} do${project === "" ? "" : ` in ${project}`}?` }), el("p", { text: `It can read, change and run things there${policy === "ask" ? "; what needs your leave, it asks for" : ", and does so without asking"}.` })) : null,
        transcript === "loading" && !trouble ? el("div", { class: "launching", role: "status" }, el("span", { class: "spinner" }), "Loading the conversation") : null,
        launching ? el("div", { class: "launching", role: "status" }, el("span", { class: "spinner" }), `Starting ${agent}`) : null,
        trouble ? troubleCard(trouble) : null,
        failure ? failureCard(failure) : null,
      ].filter((each) => each !== null))
    },
  }
}
