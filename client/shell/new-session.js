/** Starting a session: the dialog, the request, its tab until the server has made it, and its first message. */

import { agentName } from "../shared/agents.js"
import { uuid } from "../shared/ids.js"
import { connectionLost } from "../shared/socket.js"
import { refsOf } from "../portlet/attachments.js"
import { draftOf, keepDraft } from "../portlet/drafts.js"
import { createPictures } from "../portlet/pictures.js"
import { agentChoices, withUsed } from "./agent-choice.js"
import { cameToNothing, compareOf, compareTab, isCompareTab } from "./compare-state.js"
import { saveDefaults } from "./defaults.js"
import { sessionOf, withLogin } from "./model.js"
import { openStart } from "./start.js"
import { newMember } from "./start-state.js"
import { creatingTab, isRepeatable } from "./stored.js"
import { openTab, replaceTab } from "./tabs-state.js"

/** @import { Attachment, ClientMessage, ErrorBody, OutsideSession, SessionListItem } from "../contract.js" */
/** @import { Draft } from "../portlet/drafts.js" */
/** @import { ActionsDeps, Failed } from "./actions.js" */
/** @import { Creation } from "./shell-state.js" */
/** @import { Creating } from "./panes.js" */
/** @import { Start } from "./start.js" */

/** The draft of a message to a session that doesn't exist yet. */
const NEW = "new"

/** @param {ActionsDeps & { failed: Failed, outsideOf(projectId: string): void,
 *   continueOutside(projectId: string, session: OutsideSession): Promise<void> }} deps */
export function createNewSession({
  shell,
  set,
  door,
  preferences,
  socket,
  toasts,
  view,
  portlets,
  focusPane,
  addProject: openAddProject,
  failed,
  outsideOf,
  continueOutside,
}) {
  /** @type {ReturnType<typeof openStart> | null} */
  let dialog = null
  /** The sessions that were made, by the pane in which they began. @type {Map<string, string>} */
  const made = new Map()
  /** What the comparisons of this page were given, by their ids. @type {Map<string, Attachment[]>} */
  const given = new Map()
  /** The request for a comparison that the server may have got without answering; asking for the same repeats it.
   * @type {{ asked: string, requestId: string } | null} */
  let unanswered = null
  const pictures = createPictures(door.api, new AbortController().signal)

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

  /** Words that were not sent are offered again, below what was written since. @param {Draft} draft */
  function keepWords({ text, attachments }) {
    const kept = draftOf(preferences, NEW)
    if (text !== "" && kept.text.includes(text)) return
    keepDraft(preferences, NEW, {
      text: [kept.text, text].filter(Boolean).join("\n\n"),
      attachments: [...kept.attachments, ...attachments],
    })
  }

  /** Opens the dialog. @param {string | undefined} [projectId] @param {"worktree"} [where] instead of as last time */
  function newSession(projectId = likelyProject(), where) {
    if (projectId === undefined) return openAddProject()
    if (shell().model.agents.length === 0)
      return toasts.show({
        kind: "error",
        text: "Agents are still loading. Try again in a moment.",
      })
    if (document.querySelector("dialog.start")) return
    dialog = openStart(
      { ...draftOf(preferences, NEW), projectId },
      {
        ...pictures,
        projects: shell().model.projects ?? [],
        choices: choicesFor,
        where: (id) => where ?? (shell().defaults.worktrees[id] === true ? "worktree" : "project"),
        policy: shell().defaults.policy ?? "ask",
        offers: async (id) => {
          const frame = await socket.request({ type: "session:offer", projectId: id })
          return frame.type === "session:offer" ? frame.agents : []
        },
        workspaces: (id) =>
          socket.request({ type: "workspace:offer", projectId: id }).then(
            (frame) => (frame.type === "workspace:offer" ? frame : ""),
            (/** @type {ErrorBody} */ { message }) => message,
          ),
        outside: async (id) => {
          const frame = await socket.request({ type: "outside:list", projectId: id }, { quietly: true })
          return frame.type === "outside:list" ? frame.sessions : []
        },
        continueOutside: (id, session) =>
          session === null
            ? outsideOf(id)
            : void continueOutside(id, session).catch(failed("Could not continue the session")),
        findFiles: async (id, query) => {
          const frame = await socket.request({ type: "files:find", projectId: id, query, limit: 50 })
          if (frame.type !== "files:found") throw frame
          return frame
        },
        keep: (draft) => keepDraft(preferences, NEW, draft),
        async start(start) {
          remember(start)
          const tab = start.members.length > 1 ? await compare(start) : create(start)
          keepDraft(preferences, NEW, { text: "", attachments: [] })
          dialog = null
          return () => focusStarted(tab)
        },
      },
    )
    socket.request({ type: "agents:list" }).catch(() => {}) // another agent may have been installed since
  }

  /** It may be a session already. @param {string} tab */
  function focusStarted(tab) {
    const session = isCompareTab(tab) ? tab : made.get(tab)
    if (session === undefined) focusPane(tab)
    else if (shell().tabs.active === session) portlets.focus(session)
  }

  /** The next session in this project starts in the same way. @param {Start} start */
  function remember({ projectId, members, workspace }) {
    const { lastUsed, agents, worktrees } = shell().defaults
    const [{ cliType } = { cliType: "" }] = members
    set({
      defaults: saveDefaults(preferences, {
        lastUsed: members.map((member) => member.cliType).reduceRight(withUsed, lastUsed),
        agents: { ...agents, [projectId]: cliType },
        ...(members.length > 1 ? {} : { worktrees: { ...worktrees, [projectId]: workspace.kind === "worktree" } }),
      }),
    })
  }

  /** Returns its tab. @param {Start} start */
  async function compare({ prompt, attachments, projectId, members, workspace }) {
    const { policy } = shell().defaults
    const { base, bring } = workspace.kind === "worktree" ? workspace : { base: undefined, bring: undefined }
    /** @type {Extract<ClientMessage, { type: "compare:start" }>} */
    const message = {
      type: "compare:start",
      projectId,
      content: prompt,
      attachments: refsOf(attachments),
      ...(base === undefined ? {} : { base }),
      ...(bring === undefined ? {} : { bring }),
      ...(members.some(({ confirmed }) => confirmed) ? { confirmed: true } : {}),
      agents: members.map((member) => ({
        cliType: member.cliType,
        options: member.options,
        ...(member.policy === null && policy === null ? {} : { policy: member.policy ?? policy ?? "ask" }),
      })),
    }
    const asked = JSON.stringify(message)
    unanswered = unanswered?.asked === asked ? unanswered : { asked, requestId: uuid() }
    const frame = await socket.request(message, { requestId: unanswered.requestId }).catch((reason) => {
      if (reason !== connectionLost) unanswered = null
      throw reason
    })
    unanswered = null
    if (frame.type !== "compare:changed") throw frame
    given.set(frame.compare.id, attachments)
    view.closeDrawer()
    const tab = compareTab(frame.compare.id)
    set({ tabs: openTab(shell().tabs, tab) })
    return tab
  }

  /** Returns its tab. @param {Start} start */
  function create(start) {
    const requestId = uuid()
    const id = creatingTab(requestId)
    const [member] = start.members
    if (!member) return id
    /** @type {Creation} */
    const creation = { ...start, ...member, requestId, at: Date.now(), more: [], typed: "", error: null }
    set({ creating: new Map(shell().creating).set(id, creation), tabs: openTab(shell().tabs, id) })
    view.closeDrawer()
    requestCreate(id)
    return id
  }

  /** @param {string} id @param {Partial<Creation>} change */
  function change(id, change) {
    const creation = shell().creating.get(id)
    if (creation) set({ creating: new Map(shell().creating).set(id, { ...creation, ...change }) })
  }

  /** @param {string} id */
  async function requestCreate(id) {
    const asked = shell().creating.get(id)
    if (!asked) return
    const { requestId, projectId, cliType, prompt, attachments, workspace, options, confirmed } = asked
    const policy = asked.policy ?? shell().defaults.policy
    try {
      const frame = await socket.request(
        {
          type: "session:create",
          projectId,
          cliType,
          ...(hasWords(asked) ? { content: prompt, attachments: refsOf(attachments) } : {}),
          workspace,
          ...(policy === null ? {} : { policy }),
          ...(Object.keys(options).length === 0 ? {} : { options }),
          ...(confirmed ? { confirmed } : {}),
        },
        { requestId },
      )
      if (frame.type !== "session:created") return
      created(id, frame.sessionId)
    } catch (reason) {
      if (reason === connectionLost) return // asked again when it is back
      const error = /** @type {ErrorBody} */ (reason)
      if (error.code === "AUTH_REQUIRED") set({ model: withLogin(shell().model, cliType, error) })
      if (shell().tabs.order.includes(id)) return change(id, { error })
      drop(id)
      failed(`Could not start a session with ${agentName(cliType, shell().model.agents)}`)(error)
    }
  }

  /** The session exists, and has the first message; it is sent again to learn what became of it. Then comes what was
   * written meanwhile. What is still being written goes into its composer.
   * @param {string} id @param {string} sessionId */
  function created(id, sessionId) {
    const creation = shell().creating.get(id)
    if (!creation) return
    if (hasWords(creation)) say(sessionId, creation.prompt, creation.attachments, creation.requestId)
    for (const words of creation.more) say(sessionId, words, [], uuid())
    if (creation.typed !== "") keepDraft(preferences, sessionId, { text: creation.typed, attachments: [] })
    made.set(id, sessionId)
    const wasOpen = shell().tabs.order.includes(id)
    const wasActive = shell().tabs.active === id
    set({ tabs: replaceTab(shell().tabs, id, sessionId), creating: withoutKey(shell().creating, id) })
    if (wasOpen && wasActive) portlets.focus(sessionId)
  }

  /** A message. Its portlet shows it as sending, and why it was refused.
   * @param {string} sessionId @param {string} content @param {Attachment[]} attachments @param {string} requestId */
  function say(sessionId, content, attachments, requestId) {
    socket.send({ sessionId, content, attachments: refsOf(attachments), requestId }, (frame) => {
      if (frame.type !== "error") return
      keepWords({ text: content, attachments })
      failed("Could not send the message")(frame)
    })
  }

  /** Ends a start that failed; its words are offered again. @param {string} id */
  function drop(id) {
    const creation = shell().creating.get(id)
    if (!creation) return
    const words = [creation.prompt, ...creation.more, creation.typed].filter(Boolean).join("\n\n")
    keepWords({ text: words, attachments: creation.attachments })
    set({ creating: withoutKey(shell().creating, id) })
  }

  /** A first session for somebody who has no agent or project yet. */
  async function tryDemo() {
    try {
      const frame = await socket.request({ type: "project:demo" })
      if (frame.type !== "project:added") return
      const about = { prompt: "hello", attachments: [], projectId: frame.project.id }
      create({ ...about, members: [newMember("demo", [])], workspace: { kind: "project" } })
    } catch (reason) {
      failed("Could not start the demo")(/** @type {ErrorBody} */ (reason))
    }
  }

  return {
    newSession,
    tryDemo,
    /** A tab was closed: words that no agent got are offered again. @param {string} id */
    forget(id) {
      if (shell().creating.get(id)?.error) drop(id)
      const compare = compareOf(shell().model, id)
      if (compare && cameToNothing(compare))
        keepWords({ text: compare.content, attachments: given.get(compare.id) ?? [] })
    },
    /** @param {string} id */
    retryCreate(id) {
      change(id, { error: null })
      requestCreate(id)
    },
    /** Connected: asks for what was not answered, because the page was reloaded or the connection lost. */
    resume() {
      for (const [id, creation] of shell().creating)
        if (isRepeatable(creation)) requestCreate(id)
        else if (!shell().tabs.order.includes(id)) drop(id)
    },
    /** What the user types while the agent starts. @param {string} id @param {string} typed */
    typed: (id, typed) => change(id, { typed }),
    /** Sends it after the first message. @param {string} id @param {string} words */
    alsoSay(id, words) {
      const creation = shell().creating.get(id)
      if (creation) change(id, { more: [...creation.more, words], typed: "" })
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
        messages: [creation.prompt, ...creation.more].filter(Boolean),
        attachments: creation.attachments,
        error: creation.error,
        canRetry: true,
        typed: creation.typed,
        words:
          model.status.connection !== "open"
            ? "Offline. The session starts when you reconnect."
            : status === "connected"
              ? `${agent} is ready. Creating the session…`
              : status === "reconnecting"
                ? `Reconnecting to ${agent}…`
                : `Starting ${agent}…`,
      }
    },
    /** For the chips of a message that waits for its session. */
    pictures,
    /** Shows the agents' new states in an open dialog. */
    updateStart: () => dialog?.update(),
  }
}

/** @param {Creation} creation */
const hasWords = ({ prompt, attachments }) => prompt !== "" || attachments.length > 0

/** @template V @param {ReadonlyMap<string, V>} map @param {string} key */
function withoutKey(map, key) {
  const rest = new Map(map)
  rest.delete(key)
  return rest
}
