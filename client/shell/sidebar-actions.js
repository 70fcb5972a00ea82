/** What users do with the sidebar: move and fold projects, pin and move sessions, filter. */

import { openMenu } from "../shared/menu.js"
import { keys, save } from "../shared/storage.js"
import { filterItems, inOrder, movedBefore, nudged, storeArrangement, togglePin } from "./arrangement.js"
import { collapsedFromStore } from "./stored.js"

/** @import { ActionsDeps } from "./actions.js" */
/** @import { Arrangement } from "./arrangement.js" */
/** @import { Moved } from "./sidebar-moving.js" */

/** @typedef {ReturnType<typeof createSidebarActions>} SidebarActions */

/** @param {Pick<ActionsDeps, "shell" | "set" | "view">} deps */
export function createSidebarActions({ shell, set, view }) {
  /** @param {Partial<Arrangement>} change */
  function arrange(change) {
    const arrangement = { ...shell().arrangement, ...change }
    storeArrangement(arrangement)
    set({ arrangement })
  }

  /** Every project in the order shown. */
  const projectOrder = () =>
    inOrder(shell().model.projects ?? [], shell().arrangement.projects, ({ id }) => id).map(({ id }) => id)

  return {
    /** @param {string} id */
    pin: (id) => arrange({ pinned: togglePin(shell().arrangement.pinned, id) }),
    /** @param {Moved} moved @param {string | null} before */
    move({ kind, id }, before) {
      if (kind === "project") arrange({ projects: movedBefore(projectOrder(), id, before) })
      else arrange({ pinned: movedBefore(shell().arrangement.pinned, id, before) })
    },
    /** @param {Moved} moved @param {1 | -1} by */
    nudge({ kind, id }, by) {
      if (kind === "project") return arrange({ projects: nudged(projectOrder(), id, by) })
      const { model, arrangement } = shell()
      const project = model.sessions.get(id)?.projectId
      const neighbours = arrangement.pinned.filter((other) => model.sessions.get(other)?.projectId === project)
      arrange({ pinned: nudged(arrangement.pinned, id, by, neighbours) })
    },
    /** @param {string} projectId @param {boolean} collapsed */
    collapse(projectId, collapsed) {
      const next = collapsedFromStore()
      if (collapsed) next.add(projectId)
      else next.delete(projectId)
      save(localStorage, keys.collapsed, Object.fromEntries([...next].map((id) => [id, true])))
      set({ collapsed: next })
    },
    /** @param {HTMLElement} anchor */
    filterMenu(anchor) {
      const { model, filter } = shell()
      const used = new Set([...model.sessions.values()].map(({ cliType }) => cliType))
      const agents = model.agents.filter(({ cliType }) => used.has(cliType))
      openMenu(
        anchor,
        "Filter sessions",
        filterItems(filter, agents, (next) => set({ filter: next })),
      )
    },
    /** @param {string} id */
    showProject(id) {
      view.showSidebar()
      const fold = document.querySelector(`[data-project="${CSS.escape(id)}"]`)
      if (!(fold instanceof HTMLElement)) return
      if (fold.getAttribute("aria-expanded") === "false") fold.click()
      fold.focus()
      fold.scrollIntoView({ block: "nearest" })
    },
  }
}
