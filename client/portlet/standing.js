/** The area below the last row: the agent is starting, has a problem (and what to do), or waits for a first message. */

import { el, keyed } from "../shared/dom.js"
import { failureParts } from "../shared/failure.js"
import { until } from "./words.js"
import { growSetup, missingCard, setupCard } from "./workspace-cards.js"

/** @import { Continuation, ErrorBody, Setup, SetupAct, Workspace } from "../contract.js" */
/** @import { Trouble } from "./status.js" */

/** @typedef {object} Standing
 * @property {string | null} launching  Set while the agent starts.
 * @property {Trouble | null} trouble
 * @property {ErrorBody | null} failure  Why the last request of the user failed.
 * @property {Continuation | null} planned  A message that is sent by itself.
 * @property {boolean} elsewhere  Somebody works on the session in a terminal.
 * @property {boolean} late  It is too late for that, so the user decides.
 * @property {"loading" | "empty" | "some"} transcript
 * @property {string} agent
 * @property {string} project
 * @property {string} asks  How it asks for permission, as the end of a sentence.
 * @property {Workspace | null} workspace
 * @property {Setup | null} setup  If it is worth showing. */

/** @typedef {object} StandingDeps
 * @property {() => void} reconnect
 * @property {() => void} reopen
 * @property {() => void} copy
 * @property {() => void} dismiss
 * @property {(content: string) => void} continueNow
 * @property {() => void} dontContinue
 * @property {() => void} renew  Makes a vanished worktree again.
 * @property {(saved: string) => void} bringBack  One that was discarded.
 * @property {(act: SetupAct) => void} setup */

/** @typedef {{ key: string, make(): HTMLElement, refresh?(element: HTMLElement): void }} Card */

/** After this the server no longer sends a planned message (milliseconds). */
const TOO_LATE = 60 * 60 * 1000

/** @param {Continuation | null} planned @param {number} now */
export const isLate = (planned, now) => planned !== null && now > Date.parse(planned.at) + TOO_LATE

/** @param {HTMLElement} root @param {StandingDeps} deps */
export function mountStanding(root, deps) {
  /** @param {Trouble} trouble */
  function troubleCard({ title, text, details, action, label }) {
    const button = el("button", { class: "button", "data-kind": "main", type: "button", text: label })
    button.addEventListener("click", () => (action === "reopen" ? deps.reopen() : deps.reconnect()))
    return el(
      "section",
      { class: "trouble", role: "alert" },
      el("h3", { text: title }),
      ...failureParts({ message: text, ...(details ? { details } : {}) }),
      el("div", { class: "actions" }, button),
    )
  }

  /** @param {ErrorBody} error */
  function failureCard(error) {
    const button = el("button", { class: "button", type: "button", text: "Dismiss" })
    button.addEventListener("click", deps.dismiss)
    return el(
      "section",
      { class: "trouble", role: "alert" },
      ...failureParts(error),
      el("div", { class: "actions" }, button),
    )
  }

  /** @param {Continuation} planned @param {boolean} late */
  function plannedCard({ at, content }, late) {
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) => {
      const made = el("button", { class: "button", type: "button", text })
      made.addEventListener("click", act)
      return made
    }
    const when = until(at, Date.now())
    return el(
      "section",
      { class: "planned", role: "status" },
      el("span", {
        text: late
          ? `“${content}” was to be sent at ${when}, but the server was off. Send it now?`
          : `“${content}” will be sent at ${when}.`,
      }),
      el(
        "div",
        { class: "actions" },
        button(late ? "Send now" : "Send now instead", () => deps.continueNow(content)),
        button(late ? "Don't send" : "Cancel", deps.dontContinue),
      ),
    )
  }

  function elsewhereCard() {
    const button = el("button", { class: "button", type: "button", text: "Continue in a copy" })
    button.addEventListener("click", () => {
      button.disabled = true
      deps.copy()
    })
    return el(
      "section",
      { class: "planned", role: "status" },
      el("span", {
        text: "In use in a terminal. You see it live; write here when it is quiet there, or continue in a copy.",
      }),
      el("div", { class: "actions" }, button),
    )
  }

  /** What is shown, from top to bottom. @param {Standing} state @returns {(Card | false)[]} */
  function cardsOf({ workspace, setup, ...state }) {
    const { launching, trouble, failure, planned, late, elsewhere, transcript, agent, project, asks } = state
    return [
      transcript === "empty" && !trouble && !launching && card("invitation", [agent, project, asks], invitation),
      transcript === "loading" && !trouble && card("loading", [], () => waiting("Loading the conversation")),
      launching !== null && launching !== "" && card("launching", [launching], waiting),
      setup !== null && {
        // The output grows; the buttons below it stay.
        key: JSON.stringify(["setup", { ...setup, output: "" }]),
        make: () => setupCard(setup, deps.setup),
        refresh: (element) => growSetup(element, setup),
      },
      workspace?.state === "missing" && card("missing", [workspace], (it) => missingCard(it, deps)),
      trouble !== null && card("trouble", [trouble], troubleCard),
      failure !== null && card("failure", [failure], failureCard),
      planned !== null && card("planned", [planned, late], plannedCard),
      elsewhere && card("elsewhere", [], elsewhereCard),
    ]
  }

  /** @type {Map<string, { element: HTMLElement, update(card: Card): void }>} */
  const views = new Map()

  return {
    /** @param {Standing} state */
    update(state) {
      const cards = cardsOf(state).filter((each) => each !== false)
      keyed(
        root,
        views,
        cards,
        ({ key }) => key,
        (first) => {
          const element = first.make()
          first.refresh?.(element)
          return { element, update: (next) => next.refresh?.(element) }
        },
      )
    },
  }
}

/** A card that is made again only if what it shows changes, so that a click under way is not lost.
 * @template {unknown[]} Shown @param {string} name @param {Shown} shown @param {(...shown: Shown) => HTMLElement} make
 * @returns {Card} */
const card = (name, shown, make) => ({ key: JSON.stringify([name, ...shown]), make: () => make(...shown) })

/** @param {string} words */
const waiting = (words) => el("div", { class: "launching", role: "status" }, el("span", { class: "spinner" }), words)

/** @param {string} agent @param {string} project @param {string} asks */
const invitation = (agent, project, asks) =>
  el(
    "div",
    { class: "invitation" },
    el("p", {
      class: "invitation-title",
      text: `What should ${agent} do${project === "" ? "" : ` in ${project}`}?`,
    }),
    el("p", { text: `It can read and change files and run commands there${asks}` }),
  )
