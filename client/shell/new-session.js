/** Starting a session: the dialog, the request, its tab until the server has made it, and its first message. */

import { agentName } from "../shared/agents.js"
import { uuid } from "../shared/ids.js"
import { agentChoices, offeredFirst, withUsed } from "./agent-choice.js"
import { saveDefaults } from "./defaults.js"
import { sessionOf, withLogin } from "./model.js"
import { openStart } from "./start.js"
import { openTab, replaceTab } from "./tabs-state.js"
import { openWorktreeDialog } from "./worktree-dialog.js"

/** @import { ErrorBody, SessionListItem, WorkspaceChoice } from "../contract.js" */
/** @import { ActionsDeps, Failed } from "./actions.js" */
/** @import { Creating } from "./panes.js" */
/** @import { Start } from "./start.js" */

/** @param {Omit<ActionsDeps, "door"> & { failed: Failed }} deps */
export function createNewSession({
  shell,
  set,
  preferences,
  socket,
  toasts,
  view,
  portlets,
  focusPane,
  addProject: openAddProject,
  failed,
}) {
  /** @type {ReturnType<typeof openStart> | null} */
  let dialog = null
  /** Words that were written but not sent. */
  let unsent = ""

  /** The project for a new session when none is given: the active tab's, else the last used, else the first. */
  function likelyProject() {
    const { model, tabs } = shell()
    const active = tabs.active === null ? undefined : sessionOf(model, tabs.active)?.projectId
    const newest = [...model.sessions.values()].reduce(
      (/** @type {SessionListItem | null} */ best, each) =>
        best && best.lastActiveAt > each.lastActiveAt ? best : each,
      null,
    )
    return active ?? newest?.projectId ?? model.projects?.[0]?.id
  }

  /** @param {string} projectId */
  function choicesFor(projectId) {
    const { defaults, model } = shell()
    const { agent, agents, lastUsed } = defaults
    // What was used last in this project, unless the user has set an agent for all.
    return agentChoices(model.agents, model.logins, { preferred: agent ?? agents[projectId] ?? null, lastUsed })
  }

  /** Opens the dialog. @param {string | undefined} [projectId] */
  function newSession(projectId = likelyProject()) {
    if (projectId === undefined) return openAddProject()
    if (shell().model.agents.length === 0)
      return toasts.show({
        kind: "error",
        text: "Agents are still loading. Try again in a moment.",
      })
    if (document.querySelector("dialog.start")) return
    dialog = openStart(
      { prompt: unsent, projectId },
      {
        projects: shell().model.projects ?? [],
        choices: choicesFor,
        start(start) {
          dialog = null
          unsent = ""
          create(start)
        },
        closed(prompt) {
          dialog = null
          unsent = prompt
        },
      },
    )
    socket.request({ type: "agents:list" }).catch(() => {}) // another agent may have been installed since
  }

  /** @param {string} projectId */
  async function inWorktree(projectId) {
    try {
      const offer = await socket.request({ type: "workspace:offer", projectId })
      if (offer.type !== "workspace:offer") return
      const { model, defaults } = shell()
      const { agent: preferred, lastUsed } = defaults
      const { offered } = offeredFirst(agentChoices(model.agents, model.logins, { preferred, lastUsed }))
      const agents = offered.filter(({ state }) => state !== "missing").map(({ agent }) => agent)
      const project = model.projects?.find(({ id }) => id === projectId)?.name ?? "this project"
      openWorktreeDialog(project, agents, offer, (cliType, workspace) =>
        create({ prompt: "", projectId, cliType, workspace }),
      )
    } catch (reason) {
      failed("Could not make a worktree")(reason)
    }
  }

  /** @param {Start & { workspace?: WorkspaceChoice }} start */
  function create({ prompt, projectId, cliType, workspace }) {
    const id = `creating:${uuid()}`
    const { lastUsed, agents } = shell().defaults
    set({
      creating: new Map(shell().creating).set(id, { prompt, projectId, cliType, workspace, error: null }),
      tabs: openTab(shell().tabs, id),
      defaults: saveDefaults(preferences, {
        lastUsed: withUsed(lastUsed, cliType),
        agents: { ...agents, [projectId]: cliType },
      }),
    })
    view.closeDrawer()
    focusPane(id)
    requestCreate(id)
  }

  /** @param {string} id */
  async function requestCreate(id) {
    const creation = shell().creating.get(id)
    if (!creation) return
    const { prompt, projectId, cliType, workspace } = creation
    const { policy } = shell().defaults
    try {
      const frame = await socket.request({
        type: "session:create",
        projectId,
        cliType,
        ...(policy === null ? {} : { policy }),
        ...(workspace === undefined ? {} : { workspace }),
      })
      if (frame.type !== "session:created") return
      if (prompt !== "") say(frame.sessionId, prompt)
      const wasOpen = shell().tabs.order.includes(id)
      const wasActive = shell().tabs.active === id
      set({ tabs: replaceTab(shell().tabs, id, frame.sessionId), creating: withoutKey(shell().creating, id) })
      if (wasOpen && wasActive) portlets.focus(frame.sessionId)
    } catch (reason) {
      const error = /** @type {ErrorBody} */ (reason)
      if (error.code === "AUTH_REQUIRED") set({ model: withLogin(shell().model, cliType, error) })
      if (shell().tabs.order.includes(id)) set({ creating: new Map(shell().creating).set(id, { ...creation, error }) })
      else {
        set({ creating: withoutKey(shell().creating, id) })
        unsent ||= prompt
        failed(`Could not start a session with ${agentName(cliType, shell().model.agents)}`)(error)
      }
    }
  }

  /** The first message. Its portlet shows it as sending, and why it was refused.
   * @param {string} sessionId @param {string} content */
  function say(sessionId, content) {
    socket.send({ sessionId, content, requestId: uuid() }, (frame) => {
      if (frame.type !== "error") return
      unsent ||= content
      failed("Could not send the message")(frame)
    })
  }

  return {
    newSession,
    inWorktree,
    /** A tab was closed: the words of a session that never started are offered again. @param {string} id */
    forget(id) {
      const creation = shell().creating.get(id)
      if (!creation?.error) return
      unsent ||= creation.prompt
      set({ creating: withoutKey(shell().creating, id) })
    },
    /** @param {string} id */
    retryCreate(id) {
      const creation = shell().creating.get(id)
      if (!creation) return
      set({ creating: new Map(shell().creating).set(id, { ...creation, error: null }) })
      requestCreate(id)
    },
    /** @param {string} id @returns {Creating | null} */
    creatingPane(id) {
      const { model, creating } = shell()
      const creation = creating.get(id)
      if (!creation) return null
      const agent = agentName(creation.cliType, model.agents)
      const status = model.agentStates.get(creation.cliType)?.status
      return {
        agent,
        prompt: creation.prompt,
        error: creation.error,
        words:
          status === "connected"
            ? `${agent} is ready. Creating the session…`
            : status === "reconnecting"
              ? `Reconnecting to ${agent}…`
              : `Starting ${agent}…`,
      }
    },
    /** Shows the agents' new states in an open dialog. */
    updateStart: () => dialog?.update(),
  }
}

/** @template V @param {ReadonlyMap<string, V>} map @param {string} key */
function withoutKey(map, key) {
  const rest = new Map(map)
  rest.delete(key)
  return rest
}
