/**
 * Going back: edits a message of the user's, branches off another session, and says above the composer where a session
 * came from. In an earlier version, which can only be read, that takes the composer's place.
 */

import { confirmed } from "../shared/dialog.js"
import { el } from "../shared/dom.js"
import { attachmentOf } from "./attachments.js"

/** @import { AttachmentRef, ClientMessage, ErrorBody, SessionListItem, UpsertObject } from "../contract.js" */
/** @import { Draft } from "./drafts.js" */

/** @typedef {Extract<UpsertObject, { type: "message" }>} Message */

/** @typedef {Omit<Extract<ClientMessage, { type: "session:branch" }>, "type" | "sessionId">} Branching */

/** @typedef {object} GoingBackDeps
 * @property {(draft: Draft) => Draft} swap  Puts a draft into the composer. Returns the one that was there.
 * @property {() => void} focus  Of the composer.
 * @property {(branching: Branching, onDone: () => void, onFailure: (error: ErrorBody) => void) => void} branch
 * @property {(sessionId: string) => void} open */

/** @typedef {object} GoingBackState
 * @property {SessionListItem | null} session
 * @property {string} agent
 * @property {string | null} last  The session's last item.
 * @property {Message | undefined} own  The user's last message.
 * @property {boolean} works  A turn runs. */

/** @param {HTMLElement} footer @param {GoingBackDeps} deps */
export function mountGoingBack(footer, deps) {
  const bar = el("section", { class: "going-back", "aria-label": "Versions of this session", hidden: true })
  footer.prepend(bar)
  /** The message that is being edited, and the draft that was in the composer.
   * @type {{ id: string, draft: Draft } | null} */
  let editing = null
  /** @type {GoingBackState} */
  let state = { session: null, agent: "the agent", last: null, own: undefined, works: false }
  let shown = ""

  /** @param {string} text @param {() => void} run @param {"main"} [kind] */
  function button(text, run, kind) {
    const made = el("button", { class: "button", type: "button", text, ...(kind && { "data-kind": kind }) })
    made.addEventListener("click", run)
    return made
  }

  function show() {
    const { branchOf, newer } = state.session ?? {}
    const key = JSON.stringify([editing?.id, branchOf, newer, state.agent, state.last === null, state.works])
    if (key === shown) return
    shown = key
    footer.toggleAttribute("data-read-only", newer !== undefined)
    const [words, ...buttons] = editing
      ? [
          `Editing an earlier message.${state.works ? " Sending it stops the running turn." : ""} What came after it ` +
            "stays readable as an earlier version. Files stay as they are now.",
          button("Cancel", stop),
        ]
      : newer !== undefined
        ? [
            "This is an earlier version: a message in it was edited. It can only be read.",
            button("Open the newer version", () => deps.open(newer), "main"),
            ...(state.last === null ? [] : [button("Continue from here", branchFromEnd)]),
          ]
        : branchOf
          ? [
              `${branchOf.as === "edit" ? "Edited version of" : "Branched from"} “${branchOf.title}”.` +
                (branchOf.memory === "transcript"
                  ? ` ${state.agent} can't go back by itself, so it gets the transcript as text.`
                  : ""),
              button(branchOf.as === "edit" ? "Open the earlier version" : "Open it", () =>
                deps.open(branchOf.sessionId),
              ),
            ]
          : [""]
    bar.hidden = words === ""
    bar.replaceChildren(el("span", { text: String(words) }), ...buttons)
  }

  /** An earlier version is only read: its messages can be branched from. @param {Message} item */
  function edit(item) {
    if (state.session?.newer !== undefined) return void branch(item.itemId)
    const draft = { text: item.content, attachments: (item.attachments ?? []).filter(({ mentioned }) => !mentioned) }
    const before = deps.swap(draft)
    editing = { id: item.itemId, draft: editing?.draft ?? before }
    show()
    deps.focus()
  }

  /** The composer gets back what was in it. */
  function stop() {
    if (!editing) return
    deps.swap(editing.draft)
    editing = null
    show()
    deps.focus()
  }

  /** @param {string} itemId */
  async function branch(itemId) {
    const yes = await confirmed({
      title: "Branch from here?",
      text:
        "This makes another session with the conversation up to this point, in the same directory. This session " +
        "stays as it is. Files stay as they are now.",
      action: "Branch",
    })
    if (yes)
      deps.branch(
        { itemId, at: "after", as: "branch" },
        () => {},
        () => {},
      )
  }

  /** The whole conversation, in another session: the user asked for no less. */
  function copy() {
    deps.branch(
      { at: "after", as: "branch" },
      () => {},
      () => {},
    )
  }

  function editLast() {
    if (state.own) edit(state.own)
  }

  function branchFromEnd() {
    if (state.last !== null) branch(state.last)
  }

  footer.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || !editing) return
    // It must not count towards stopping the turn.
    event.stopPropagation()
    stop()
  })

  return {
    edit,
    branch,
    copy,
    /** For the palette. @returns {{ label: string, run(): void }[]} */
    commands: () => [
      ...(state.own && state.session?.newer === undefined ? [{ label: "Edit my last message", run: editLast }] : []),
      ...(state.last === null ? [] : [{ label: "Branch from the end", run: branchFromEnd }]),
    ],
    isEditing: () => editing !== null,
    /** Sends the edited message: in a new session, which replaces this one.
     * @param {string} content @param {AttachmentRef[]} attachments */
    submit(content, attachments) {
      if (!editing) return
      const { id, draft } = editing
      editing = null
      deps.branch(
        { itemId: id, at: "before", as: "edit", content, attachments },
        () => deps.swap(draft),
        () => {
          deps.swap({ text: content, attachments: attachments.map(attachmentOf) })
          editing = { id, draft }
          show()
        },
      )
      show()
    },
    /** @param {GoingBackState} next */
    update(next) {
      state = next
      show()
    },
  }
}
