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
  const bar = el("section", { class: "going-back", "aria-label": "Versions of this session", hidden: true })
  footer.prepend(bar)
  /** The message that is being edited, and the draft that was in the composer.
   * @type {{ id: string, draft: Draft, files: Files | null } | null} */
  let editing = null
  /** @type {GoingBackState} */
  let state = { session: null, agent: "the agent", last: null, own: undefined, works: false, hasGit: false }
  let shown = ""

  /** @param {string} text @param {() => void} run @param {"main"} [kind] */
  function button(text, run, kind) {
    const made = el("button", { class: "button", type: "button", text, ...(kind && { "data-kind": kind }) })
    made.addEventListener("click", run)
    return made
  }

  function show() {
    const { branchOf, newer } = state.session ?? {}
    const { last, works, hasGit } = state
    const key = JSON.stringify([
      editing?.id,
      editing?.files,
      branchOf,
      newer,
      state.agent,
      last === null,
      works,
      hasGit,
    ])
    if (key === shown) return
    shown = key
    footer.toggleAttribute("data-read-only", newer !== undefined)
    const [words, ...buttons] = editing
      ? [
          `Editing an earlier message.${state.works ? " Sending it stops the running turn." : ""} What came after it ` +
            `stays readable as an earlier version. ${filesWords(editing.files)}`,
          ...(editing.files ? [button("Leave files", leaveFiles)] : []),
          ...(hasGit && !works && !editing.files ? [button("Put files back…", chooseFiles)] : []),
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
    editing = { id: item.itemId, draft: editing?.draft ?? before, files: null }
    show()
    deps.focus()
  }

  function chooseFiles() {
    if (!editing) return
    const { id } = editing
    deps.chooseFiles(id, "before", (paths, expect) => {
      if (editing?.id !== id) return
      editing = { ...editing, files: { paths, expect } }
      show()
      deps.focus()
    })
  }

  function leaveFiles() {
    if (editing) editing = { ...editing, files: null }
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
    const hasWorktree = state.session?.worktree !== undefined
    const box = el("input", { type: "checkbox", checked: hasWorktree })
    const yes = await confirmed({
      title: "Branch from here?",
      text:
        "This makes another session with the conversation up to this point. This session stays as it is. " +
        `${state.hasGit ? "If you choose nothing else, both" : "Both"} work in the same directory. Files stay as ` +
        "they are now.",
      action: "Branch",
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
      const { id, draft, files } = editing
      editing = null
      deps.branch(
        { itemId: id, at: "before", as: "edit", content, attachments, ...(files && { restoreFiles: true, ...files }) },
        () => deps.swap(draft),
        () => {
          deps.swap({ text: content, attachments: attachments.map(attachmentOf) })
          // Whatever was wrong, the files may have changed: the user looks again.
          editing = { id, draft, files: null }
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
