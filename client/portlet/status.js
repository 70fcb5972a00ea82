/** The agent's status in a word, and what the user can do about a problem. Pure. */

/** @import { Details, ErrorBody } from "../contract.js" */
/** @import { AgentState, ShellState } from "../shared/bridge.js" */

/** @typedef {"ok" | "busy" | "warn" | "bad" | "off"} Tone */

/** @typedef {object} Trouble
 * @property {string} title
 * @property {string} text
 * @property {Details | null} details
 * @property {"reconnect" | "reopen"} action
 * @property {string} label */

/** The dot and the word in the header.
 * @param {ShellState | null} shell @param {number} now @returns {{ tone: Tone, word: string }} */
export function statusOf(shell, now) {
  if (!shell || shell.connection === "connecting") return { tone: "busy", word: "connecting" }
  if (shell.connection === "lost") return { tone: "bad", word: "offline" }
  const status = shell.agentState?.status ?? shell.agent?.status ?? "idle"
  switch (status) {
    case "idle":
      return { tone: "off", word: "ready" }
    case "starting":
      return { tone: "busy", word: "starting" }
    case "connected":
      return { tone: "ok", word: "connected" }
    case "disconnected":
      return { tone: "bad", word: "disconnected" }
    case "reconnecting":
      return { tone: "warn", word: reconnecting(shell.agentState, now) }
  }
}

/** @param {AgentState | null} state @param {number} now */
function reconnecting(state, now) {
  const seconds = state?.retryAt === undefined ? 0 : Math.ceil((Date.parse(state.retryAt) - now) / 1000)
  return [
    "reconnecting",
    state?.attempt === undefined ? "" : `try ${state.attempt}`,
    seconds > 0 ? `in ${seconds} s` : "",
  ]
    .filter((word) => word !== "")
    .join(" · ")
}

/** What to say while the agent is starting, beside a spinner; null if it is not.
 * @param {ShellState | null} shell @param {string} name of the agent */
export const launchWords = (shell, name) =>
  shell?.connection === "open" && (shell.agentState?.status ?? shell.agent?.status) === "starting"
    ? (shell.agentState?.details?.hint ?? `Starting ${name}`)
    : null

/** A problem that the user has to solve, or null.
 * @param {ShellState | null} shell @param {ErrorBody | null} openError why the session could not be opened
 * @param {string} name of the agent @param {string} [failure] the error code of the turn that stands last
 * @returns {Trouble | null} */
export function troubleOf(shell, openError, name, failure) {
  if (openError)
    return {
      title: "This session could not be opened",
      text: openError.message,
      details: openError.details ?? null,
      action: "reopen",
      label: "Retry",
    }
  if (!shell || shell.connection !== "open") return null
  const details = shell.agentState?.details ?? null
  if (shell.agentState?.status === "disconnected") {
    if (shell.agent?.ready === "missing") return missing(shell, name)
    if (
      failure === "AUTH_REQUIRED" ||
      details?.authMethods ||
      (details?.command !== undefined && details.command === shell.agent?.login)
    ) {
      const login = details?.command ?? shell.agent?.login
      return {
        title: `${name} needs you to log in`,
        text:
          login === undefined ? "Log in from a terminal, then try again." : "Run this in a terminal, then try again:",
        details: withCommand(details, login),
        action: "reconnect",
        label: "Retry",
      }
    }
    // The turn says so already, and its Retry starts the agent again.
    if (failure === "PROCESS_CRASH" && Object.keys(details ?? {}).length === 0) return null
    return {
      title: `${name} is disconnected`,
      text: details?.hint ?? "Its process ended. The conversation is saved; your next message restarts it.",
      details: details && without(details, "hint"),
      action: "reconnect",
      label: "Reconnect",
    }
  }
  // The list of agents may be older than an installation: an agent that runs is installed.
  return shell.agent?.ready === "missing" && (shell.agentState?.status ?? "idle") === "idle"
    ? missing(shell, name)
    : null
}

/** What the user can do after a turn failed. @param {ShellState | null} shell @param {string | undefined} errorCode
 * @param {string} name of the agent @returns {Details | null} */
export function remedyOf(shell, errorCode, name) {
  if (errorCode !== "AUTH_REQUIRED") return null
  return withCommand({ hint: `Log in to ${name} in a terminal, then try again.` }, shell?.agent?.login)
}

/** @param {ShellState} shell @param {string} name @returns {Trouble} */
function missing(shell, name) {
  const install = shell.agent?.install
  return {
    title: `${name} is not installed`,
    text: install
      ? "Run this in a terminal, then try again:"
      : "Install it and make sure it is on your PATH, then try again.",
    details: withCommand(shell.agentState?.details ?? null, install),
    action: "reconnect",
    label: "Retry",
  }
}

/** @param {Details | null} details @param {string | undefined} command @returns {Details | null} */
const withCommand = (details, command) => (command === undefined ? details : { ...details, command })

/** @param {Details} details @param {keyof Details} key @returns {Details} */
const without = (details, key) => Object.fromEntries(Object.entries(details).filter(([name]) => name !== key))
