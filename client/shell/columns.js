/**
 * Sessions side by side: how many there is room for, the edges on which a tab can be dropped, and the entries in menus.
 * Which sessions are in a column is in `tabs-state.js`.
 */

import { el, setAttribute } from "../shared/dom.js"
import { keysFor } from "../shared/keys.js"
import { closeColumn, openTab, showAlone, showBeside } from "./tabs-state.js"

/** @import { MenuItem } from "../shared/menu.js" */
/** @import { Shell } from "./shell-state.js" */

/** The least width of a column (pixels). */
const NARROWEST = 360

/** @typedef {object} ColumnsDeps
 * @property {() => Shell} shell
 * @property {(change: Partial<Shell>) => void} set
 * @property {(id: string) => void} focus */

/** @param {HTMLElement} root the panes @param {ColumnsDeps} deps */
export function mountColumns(root, { shell, set, focus }) {
  /** @type {string | null} */
  let dragged = null
  const edges = el("div", { class: "pane-edges", hidden: true })
  for (const side of /** @type {const} */ (["start", "end"])) {
    const edge = el("div", { class: "pane-edge", "data-side": side })
    edge.addEventListener("dragover", (event) => {
      event.preventDefault()
      setAttribute(edge, "data-over", true)
    })
    edge.addEventListener("dragleave", () => setAttribute(edge, "data-over", false))
    edge.addEventListener("drop", (event) => {
      event.preventDefault()
      if (dragged === null) return
      set({ tabs: showBeside(shell().tabs, dragged, side) })
      focus(dragged)
    })
    edges.append(edge)
  }
  root.append(edges)
  const room = () => Math.floor(root.clientWidth / NARROWEST)
  new ResizeObserver(() => room() !== shell().room && set({ room: room() })).observe(root)

  return {
    room,
    /** @param {string} id */
    activate: (id) => set({ tabs: openTab(shell().tabs, id) }),
    /** @param {string} id */
    showAlone: (id) => set({ tabs: showAlone(shell().tabs, id) }),
    /** @param {string} id */
    closeColumn: (id) => set({ tabs: closeColumn(shell().tabs, id) }),
    /** A tab is dragged. The edges lie above the portlets, which would swallow the drag. @param {string | null} id */
    dragging(id) {
      dragged = id
      edges.hidden = id === null || room() < 2
      for (const edge of edges.children) setAttribute(edge, "data-over", false)
    },
  }
}

/** What a session's menu offers about columns.
 * @param {string} id @param {() => Shell} shell @param {(change: Partial<Shell>) => void} set @returns {MenuItem[]} */
export function columnItems(id, shell, set) {
  const { tabs, room } = shell()
  if (room < 2) return []
  if (tabs.columns?.includes(id))
    return [
      {
        label: "Show alone",
        icon: "column",
        ...(id === tabs.active && { aside: keysFor("show-alone") }),
        run: () => set({ tabs: showAlone(shell().tabs, id) }),
      },
      { label: "Remove from view", icon: "close", run: () => set({ tabs: closeColumn(shell().tabs, id) }) },
    ]
  const isOnly = tabs.active === null || (tabs.active === id && tabs.order.length === 1)
  return isOnly
    ? []
    : [{ label: "Show beside", icon: "columns", run: () => set({ tabs: showBeside(shell().tabs, id) }) }]
}
