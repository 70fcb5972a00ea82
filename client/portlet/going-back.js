/**
 * Going back: edits a message of the user's, branches off another session, and says above the composer where a session
 * came from. In an earlier version, which can only be read, that takes the composer's place.
 */

import { confirmed } from "../shared/dialog.js"
import { el, setText } from "../shared/dom.js"
import { attachmentOf } from "./attachments.js"

/** @import { AttachmentRef, ClientMessage, ErrorBody, SessionListItem, UpsertObject } from "../contract.js" */
/** @import { Draft, Edit } from "./drafts.js" */

/** @typedef {Extract<UpsertObject, { type: "message" }>} Message */

/** @typedef {Omit<Extract<ClientMessage, { type: "session:branch" }>, "type" | "sessionId">} Branching */

/** @typedef {object} GoingBackDeps
 * @property {() => Draft} draft  What is in the composer.
 * @property {(draft: Draft) => void} put  Replaces it.
 * @property {() => void} focus  Of the composer.
 * @property {(itemId: string, at: "before" | "after", onChosen: (paths: string[], expect: string) => void) => void}
 *   chooseFiles  Shows which files can go back, and lets the user choose.
 * @property {(branching: Branching, onDone: () => void, onFailure: (error: ErrorBody) => void) => void} branch
 * @property {(sessionId: string) => void} open */

/** @typedef {object} GoingBackState
 * @property {SessionListItem | null} session
 * @property {string} agent
 * @property {string | null} last  The session's last item.
 * @property {Message | undefined} own  The user's last message.
 * @property {boolean} works  A turn runs.
 * @property {boolean} hasGit  The state of the files is recorded. */

/** Files that go back with a message. @typedef {{ paths: string[], expect: string }} Files */

/** @param {HTMLElement} footer @param {GoingBackDeps} deps */
export function mountGoingBack(footer, deps) {
  const text = el("span")
  const bar = el("section", { class: "going-back", "aria-label": "Versions of this session", hidden: true }, text)
  footer.prepend(bar)
  /** @type {Edit | null} */
  let editing = null
  /** An edited message that the server has not answered. @type {{ itemId: string, words: Draft } | null} */
  let sending = null
  /** @type {GoingBackState} */
  let state = { session: null, agent: "the agent", last: null, own: undefined, works: false, hasGit: false }
  /** The files that go back with the edited message. @type {Files | null} */
  let files = null
  /** The buttons that are shown: they stay while they are the same, so that a click under way is not lost. */
  let shown = ""

  /** @param {string} label @param {() => void} run @param {"main"} [kind] */
  function button(label, run, kind) {
    const made = el("button", { class: "button", type: "button", text: label, ...(kind && { "data-kind": kind }) })
    made.addEventListener("click", run)
    return made
  }

  function show() {
    const { branchOf, newer } = state.session ?? {}
    const what =
      newer !== undefined ? "earlier" : editing ? "editing" : sending ? "sending" : branchOf ? "branch" : "none"
    footer.toggleAttribute("data-read-only", what === "earlier")
    bar.hidden = what === "none"
    setText(text, words[what]())
    const { last, works, hasGit } = state
    const key = JSON.stringify([what, newer, branchOf?.sessionId, branchOf?.as, last === null, works, hasGit, files])
    if (key === shown) return
    shown = key
    bar.replaceChildren(text, ...buttons[what]())
  }

  /** What the bar says. */
  const words = {
    earlier: () => "This is an earlier version: a message in it was edited. It can only be read.",
    editing: () =>
      `Editing an earlier message.${state.works ? " Sending it stops the running turn." : ""} What came after it ` +
      `stays readable as an earlier version. ${filesWords(files)}`,
    sending: () => "Sending the edited message…",
    branch() {
      const { as = "branch", title = "", memory = "own" } = state.session?.branchOf ?? {}
      return (
        `${as === "edit" ? "Edited version of" : "Branched from"} “${title}”.` +
        (memory === "transcript" ? ` ${state.agent} can't go back by itself, so it gets the transcript as text.` : "")
      )
    },
    none: () => "",
  }

  const buttons = {
    earlier: () => [
      button("Open the newer version", () => open(state.session?.newer), "main"),
      ...(state.last === null ? [] : [button("Continue from here", branchFromEnd)]),
    ],
    editing: () => [
      ...(files ? [button("Leave files", leaveFiles)] : []),
      ...(state.hasGit && !state.works && !files ? [button("Put files back…", chooseFiles)] : []),
      button("Cancel", stop),
    ],
    sending: () => [],
    branch: () => [
      button(state.session?.branchOf?.as === "edit" ? "Open the earlier version" : "Open it", () =>
        open(state.session?.branchOf?.sessionId),
      ),
    ],
    none: () => [],
  }

  /** @param {string | undefined} sessionId */
  function open(sessionId) {
    if (sessionId !== undefined) deps.open(sessionId)
  }

  /** An earlier version is only read: its messages can be branched from. @param {Message} item */
  function edit(item) {
    if (state.session?.newer !== undefined) return void branch(item.itemId)
    if (sending) return
    editing = { itemId: item.itemId, before: editing?.before ?? deps.draft() }
    files = null
    deps.put({ text: item.content, attachments: (item.attachments ?? []).filter(({ mentioned }) => !mentioned) })
    show()
    deps.focus()
  }

  function chooseFiles() {
    if (!editing) return
    const { itemId } = editing
    deps.chooseFiles(itemId, "before", (paths, expect) => {
      if (editing?.itemId !== itemId) return
      files = { paths, expect }
      show()
      deps.focus()
    })
  }

  function leaveFiles() {
    files = null
    show()
    deps.focus()
  }

  /** The composer gets back what was in it. */
  function stop() {
    if (!editing) return
    const { before } = editing
    editing = files = null
    deps.put(before)
    show()
    deps.focus()
  }

  /** @param {string} itemId */
  async function branch(itemId) {
    const hasWorktree = state.session?.worktree !== undefined
    const box = el("input", { type: "checkbox", checked: hasWorktree })
    const yes = await confirmed({
      title: "Branch from here?",
      text:
        "This makes another session with the conversation up to this point. This session stays as it is. " +
        `${state.hasGit && hasWorktree ? "Without a worktree of its own, both" : "Both"} work in the same ` +
        "directory, with the files as they are now.",
      action: "Branch",
      kind: "main",
      ...(state.hasGit && {
        choice: el(
          "label",
          { class: "dialog-choice" },
          box,
          el("span", {
            text: hasWorktree
              ? "Give it a worktree of its own, with the files as they were here"
              : "Put the files in the directory back to how they were here",
          }),
        ),
      }),
    })
    if (!yes) return
    /** @param {Partial<Branching>} files */
    const go = (files) =>
      deps.branch(
        { itemId, at: "after", as: "branch", ...files },
        () => {},
        () => {},
      )
    if (!box.checked || !state.hasGit) go({})
    else if (hasWorktree) go({ restoreFiles: true })
    else deps.chooseFiles(itemId, "after", (paths, expect) => go({ restoreFiles: true, paths, expect }))
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
    /** Continues an edit of an earlier page, whose words are in the composer. @param {Edit | null} edit */
    resume(edit) {
      editing = edit
      show()
    },
    /** What to keep of a draft, and the edit that is under way. @param {Draft} draft @returns {[Draft, Edit | null]} */
    toKeep: (draft) => (sending ? [sending.words, { itemId: sending.itemId, before: draft }] : [draft, editing]),
    /** Sends the edited message: in a new session, which replaces this one.
     * @param {string} content @param {AttachmentRef[]} attachments */
    submit(content, attachments) {
      if (!editing) return
      const { itemId, before } = editing
      const restored = files && { restoreFiles: true, ...files }
      sending = { itemId, words: { text: content, attachments: attachments.map(attachmentOf) } }
      files = null
      editing = null
      deps.put(before)
      deps.branch(
        { itemId, at: "before", as: "edit", content, attachments, ...restored },
        () => {
          // The shell has moved the draft to the new version.
          sending = null
          show()
        },
        () => {
          // Whatever was wrong, the files may have changed: the user chooses them again.
          editing = { itemId, before: deps.draft() }
          const { words } = sending ?? { words: before }
          sending = null
          deps.put(words)
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

/** @param {Files | null} files */
const filesWords = (files) =>
  files === null
    ? "Files stay as they are now."
    : `${files.paths.length === 1 ? "1 file goes" : `${files.paths.length} files go`} back to before it.`
