/** What users do with one session: archive, restore, delete, export, rename, and its menu. */

import { confirmed } from "../shared/dialog.js"
import { el } from "../shared/dom.js"
import { copied } from "../shared/failure.js"
import { keysFor } from "../shared/keys.js"
import { linkTo } from "../shared/link.js"
import { openMenu } from "../shared/menu.js"
import { counted, quoted } from "../shared/phrases.js"
import { columnItems } from "./columns.js"
import { sessionInFront } from "./compare-state.js"
import { isAtWork, sessionOf, withVisit } from "./model.js"
import { moveTab, openTab } from "./tabs-state.js"

/** @import { SessionListItem } from "../contract.js" */
/** @import { ActionsDeps, Failed } from "./actions.js" */
/** @import { MenuItem } from "../shared/menu.js" */
/** @import { Visit } from "./panes.js" */
/** @import { Tabs } from "./tabs-state.js" */

/** @typedef {ReturnType<typeof createSessionActions>} SessionActions */

/** @param {Pick<ActionsDeps, "shell" | "set" | "door" | "socket" | "toasts" | "view"> & {
 *   failed: Failed, compareItems(sessionId: string): MenuItem[], discard(sessionId: string): void,
 *   pin(sessionId: string): void }} deps */
export function createSessionActions({ shell, set, door, socket, toasts, view, failed, compareItems, discard, pin }) {
  /** @param {string} id */
  const titleOf = (id) => sessionOf(shell().model, id)?.title ?? "this session"

  /** @param {string} id */
  function archive(id) {
    const title = titleOf(id)
    const { order, active } = shell().tabs
    /** Reopens the tab in its old place. @param {Tabs} now @returns {Tabs} */
    const reopened = (now) => ({
      ...moveTab(openTab(now, id), id, order.indexOf(id)),
      active: active === id ? id : now.active,
    })
    socket.request({ type: "session:archive", sessionId: id }).then(
      () =>
        toasts.show({
          text: `Archived “${title}”.`,
          action: {
            label: "Undo",
            run: () =>
              restore(id).then(() => {
                if (order.includes(id)) set({ tabs: reopened(shell().tabs) })
              }, failed("Could not restore the session")),
          },
        }),
      failed("Could not archive the session"),
    )
  }

  /** @param {string[]} ids */
  async function archiveAll(ids) {
    /** @type {string[]} */
    const done = []
    for (const sessionId of ids)
      await socket.request({ type: "session:archive", sessionId }).then(
        () => {
          done.push(sessionId)
        },
        failed(`Could not archive “${titleOf(sessionId)}”`),
      )
    if (done.length === 0) return
    toasts.show({
      text: `Archived ${counted(done.length, "session")}.`,
      action: {
        label: "Undo",
        run: () => done.forEach((id) => restore(id).catch(failed("Could not restore a session"))),
      },
    })
  }

  /** @param {string} id */
  const restore = (id) => socket.request({ type: "session:unarchive", sessionId: id }).then(() => {})

  /** Opens a session whether or not it is in a list. @param {SessionListItem} session */
  const visit = (session) => set({ model: withVisit(shell().model, session), tabs: openTab(shell().tabs, session.id) })

  /** Why a session that is in no list has a tab. @param {string} id @returns {Visit | null} */
  function visitOf(id) {
    const session = shell().model.visited.get(id)
    return session ? (session.archived ? "archived" : "removed") : null
  }

  /** @param {string} id @param {string} title @param {boolean} isWorking */
  async function remove(id, title, isWorking) {
    const worktree = sessionOf(shell().model, id)?.worktree
    const others = [...shell().model.sessions.values()].filter(
      (other) => worktree !== undefined && other.id !== id && other.worktree?.path === worktree.path,
    )
    const titles = quoted(others.map(({ title }) => title))
    const alsoThere = `${titles} also ${others.length === 1 ? "works" : "work"} there.`
    const goes = el("input", { type: "radio", name: "worktree", value: "discard" })
    const choice = worktree && [
      el("legend", { text: "Its worktree" }),
      radio(el("input", { type: "radio", name: "worktree", value: "keep", checked: true }), "Keep it"),
      radio(goes, "Discard it: everything in it is kept for 30 days, and Settings can bring it back"),
      el("p", {
        text: [
          `It is ${worktree.path}.`,
          `The branch ${worktree.branch} stays.`,
          ...(others.length > 0 ? [alsoThere] : []),
        ].join(" "),
      }),
    ]
    const yes = await confirmed({
      title: `Delete “${title}”?`,
      action: "Delete",
      kind: "danger",
      text: [
        ...(isWorking ? ["Its agent is working and will be stopped."] : []),
        "This permanently deletes the transcript from Liminal Builder.",
        "Files that the agent keeps for itself are not deleted.",
      ].join(" "),
      ...(choice && { choice: el("fieldset", { class: "dialog-choice" }, ...choice) }),
    })
    if (yes)
      await socket.request({
        type: "session:delete",
        sessionId: id,
        ...(goes.checked && { worktree: /** @type {const} */ ("discard") }),
      })
    return yes
  }

  /** @param {string} id @param {"md" | "json"} format */
  async function exportSession(id, format) {
    try {
      const answer = await door.api(`/api/session/${encodeURIComponent(id)}/export?format=${format}`)
      const file = await answer.blob()
      const address = URL.createObjectURL(file)
      const name = titleOf(id)
        .replace(/[^\p{L}\p{N} ._-]/gu, "")
        .trim()
        .slice(0, 80)
      const link = Object.assign(document.createElement("a"), {
        href: address,
        // With attachments it is an archive, whichever format was asked for.
        download: `${name || "session"}.${file.type === "application/zip" ? "zip" : format}`,
      })
      link.click()
      setTimeout(() => URL.revokeObjectURL(address), 60_000)
    } catch (reason) {
      failed("Could not export the session")(reason)
    }
  }

  /** Renames it in the sidebar, which must show it. @param {string} id */
  function rename(id) {
    const projectId = shell().model.sessions.get(id)?.projectId
    view.showSidebar()
    set({ editing: id, collapsed: new Set([...shell().collapsed].filter((other) => other !== projectId)) })
  }

  /** @param {string} id */
  async function copyLink(id) {
    const isCopied = await copied(linkTo(location.origin, id))
    toasts.show(isCopied ? { text: "Link copied." } : { kind: "error", text: "The browser did not allow copying." })
  }

  /** What can be done with a session; empty if it is in no list. @param {string} id @returns {MenuItem[]} */
  function sessionItems(id) {
    const session = shell().model.sessions.get(id)
    if (!session) return []
    const { worktree } = session
    const isFront = sessionInFront(shell()) === id
    return [
      ...compareItems(id),
      { label: "Rename", icon: "edit", aside: isFront ? keysFor("rename") : "F2", run: () => rename(id) },
      {
        label: shell().arrangement.pinned.includes(id) ? "Unpin" : "Pin",
        icon: "pin",
        ...(isFront && { aside: keysFor("pin") }),
        run: () => pin(id),
      },
      { label: "Archive", icon: "archive", aside: isFront ? keysFor("archive") : "Del", run: () => archive(id) },
      {
        label: "Copy link",
        icon: "link",
        ...(isFront && { aside: keysFor("copy-link") }),
        run: () => {
          copyLink(id)
        },
      },
      { label: "Export as Markdown", icon: "export", run: () => exportSession(id, "md") },
      { label: "Export as JSON", icon: "export", run: () => exportSession(id, "json") },
      ...(worktree
        ? [
            /** @type {MenuItem} */ ({
              label: "Discard worktree…",
              icon: "branch",
              run: () => discard(id),
            }),
          ]
        : []),
      {
        label: "Delete…",
        icon: "trash",
        kind: "danger",
        run: () => {
          remove(id, session.title, isAtWork(session)).catch(failed("Could not delete the session"))
        },
      },
    ]
  }

  /** @param {string} id @param {HTMLElement} anchor @param {{ x: number, y: number }} [at] */
  function sessionMenu(id, anchor, at) {
    const items = sessionItems(id)
    if (items.length > 0) openMenu(anchor, titleOf(id), [...columnItems(id, shell, set), ...items], at ? { at } : {})
  }

  /** @param {string} id @param {string | null} title */
  function renamed(id, title) {
    set({ editing: null })
    if (title !== null)
      socket.request({ type: "session:rename", sessionId: id, title }).catch(failed("Could not rename the session"))
  }

  return {
    archive,
    archiveAll,
    restore,
    visit,
    visitOf,
    remove,
    rename,
    copyLink,
    sessionItems,
    sessionMenu,
    renamed,
  }
}

/** @param {HTMLElement} input @param {string} text */
const radio = (input, text) => el("label", {}, input, el("span", { text }))
