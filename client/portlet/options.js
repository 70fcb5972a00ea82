/** What the user can choose for a session: one list of permissions, and the agent's other options. Pure. */

/** @import { OptionValue, Policy, SessionFacts, SessionOption } from "../contract.js" */

/** @typedef {object} Permission
 * @property {string} name
 * @property {string} note  What it means, in a sentence.
 * @property {boolean} skips  The agent then does things without asking.
 * @property {boolean} isChosen
 * @property {Policy} policy
 * @property {{ id: string, value: string } | null} mode  The agent's own mode, if it is one. */

/** The agent's modes and our own policy in one list, so that there is one answer to whether the agent asks.
 * `askMode`: what the agent calls the mode in which it asks, until it has said which modes it has.
 * @param {SessionFacts} facts @param {Policy} policy @param {string} [askMode] @returns {Permission[]} */
export function permissions(facts, policy, askMode) {
  const mode = modeOf(facts)
  const approves = policy === "auto"
  /** @type {Permission[]} */
  const asking = mode
    ? mode.choices.map((choice) => ({
        name: choice.name,
        note: choice.description ?? "",
        skips: choice.skipsQuestions === true,
        isChosen: !approves && choice.value === mode.value,
        policy: "ask",
        mode: { id: mode.id, value: choice.value },
      }))
    : [
        {
          name: askMode ?? "Ask before acting",
          note: "The agent asks before anything that needs permission.",
          skips: false,
          isChosen: !approves,
          policy: "ask",
          mode: null,
        },
      ]
  return [
    ...asking,
    {
      name: "Approve everything",
      note: "Whatever the agent asks for is approved at once.",
      skips: true,
      isChosen: approves,
      policy: "auto",
      mode: null,
    },
  ]
}

/** Whether the agent acts without asking and offers no other mode. @param {SessionFacts} facts */
export const neverAsks = (facts) => facts.asks === "agent-decides" && modeOf(facts) === undefined

/** @param {SessionFacts} facts */
const modeOf = (facts) => facts.options.find(({ category, choices }) => category === "mode" && choices.length > 0)

/** Every option but the permissions. @param {SessionFacts} facts */
export function otherOptions(facts) {
  const mode = modeOf(facts)
  return facts.options.filter((option) => option !== mode)
}

/** The name of the current value. @param {SessionOption} option */
export function valueName({ value, choices }) {
  if (typeof value === "boolean") return value ? "On" : "Off"
  return choices.find((choice) => choice.value === value)?.name ?? value
}

/** What an agent does without being asked, for the start of a session.
 * @param {SessionFacts} facts @param {Policy} policy */
export function whetherItAsks({ asks }, policy) {
  if (policy === "auto" || asks === "agent-decides") return " without asking."
  return asks === "outside-workspace"
    ? ". It changes files in the project without asking, and asks before anything else."
    : ". It asks before anything that needs permission."
}

/** @param {OptionValue} value the current value of a flag */
export const toggled = (value) => value !== true
