/** Who takes part in what the user is about to start, and with which options. Pure. */

/** @import { AgentOffer, OptionValue, Policy, SessionFacts } from "../contract.js" */

/** @typedef {object} Member
 * @property {string} key  Tells two of the same agent apart.
 * @property {string} cliType
 * @property {Readonly<Record<string, OptionValue>>} options  Those that the user changed.
 * @property {Policy | null} policy  Null: the default.
 * @property {boolean} confirmed  The user confirmed a choice that skips questions. */

/** The most that can be compared. */
export const MOST_MEMBERS = 6

/** @param {string} cliType @param {readonly Member[]} others @returns {Member} */
export function newMember(cliType, others) {
  const taken = new Set(others.map(({ key }) => key))
  let n = 1
  while (taken.has(`${cliType} ${n}`)) n += 1
  return { key: `${cliType} ${n}`, cliType, options: {}, policy: null, confirmed: false }
}

/** One more of the same agent, right after it. @param {readonly Member[]} members @param {string} key
 * @returns {readonly Member[]} */
export function withAnother(members, key) {
  const at = members.findIndex((member) => member.key === key)
  const member = members[at]
  if (!member || members.length >= MOST_MEMBERS) return members
  return members.toSpliced(at + 1, 0, { ...member, key: newMember(member.cliType, members).key })
}

/** The same agent with the same options would answer the same question twice. @param {readonly Member[]} members */
export const hasTwins = (members) =>
  new Set(
    members.map(({ cliType, options, policy }) => JSON.stringify([cliType, Object.entries(options).sort(), policy])),
  ).size < members.length

/** What the controls of a session show, for one that doesn't exist yet.
 * @param {Member} member @param {AgentOffer | undefined} offer @returns {SessionFacts} */
export const factsOf = (member, offer) => ({
  asks: offer?.asks ?? "always",
  options: (offer?.options ?? []).map((option) => {
    const value = member.options[option.id]
    return value === undefined ? option : { ...option, value }
  }),
  commands: offer?.commands ?? [],
  queue: { messages: [] },
  steers: "stop",
  tasks: [],
  agent: { mcp: [], controlsMcp: false },
  elsewhere: false,
})

/** What an agent will call a mode of which only the id is known. @param {string} [id] */
export const modeName = (id) => id && `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`

/** Whether a choice makes the agent act without asking. @param {SessionFacts} facts @param {string} id
 * @param {OptionValue} value */
export const skips = (facts, id, value) =>
  facts.options.find((option) => option.id === id)?.choices.find((choice) => choice.value === value)?.skipsQuestions ===
  true

/** The values that tell two of the same agent apart, such as the model; for a heading.
 * @param {Readonly<Record<string, OptionValue>>} options @param {AgentOffer | undefined} offer */
export const choiceWords = (options, offer) =>
  Object.entries(options)
    .map(([id, value]) => {
      const option = offer?.options.find((each) => each.id === id)
      if (typeof value === "boolean") return value ? (option?.name ?? id) : ""
      return option?.choices.find((choice) => choice.value === value)?.name ?? value
    })
    .filter(Boolean)
    .join(", ")
