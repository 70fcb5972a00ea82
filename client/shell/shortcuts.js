/** What each keyboard shortcut does; `keys.js` says which keys it has. The palette uses the same names. */

import { sessionInFront } from "./compare-state.js"
import { openHelp } from "./help.js"
import { NOW } from "./now.js"
import { closeTab, nextBeside, nextColumn, nudgeTab, showAlone, showBeside, stepTab } from "./tabs-state.js"

/** @import { ActionsDeps } from "./actions.js" */
/** @import { SessionActions } from "./session-actions.js" */

/** @param {Pick<ActionsDeps, "shell" | "set" | "toasts" | "view" | "portlets" | "now" | "focusPane"> & {
 *   sessions: SessionActions, openSession(id: string): void, reopenTab(): void, newSession(): void, search(): void,
 *   pin(sessionId: string): void }} deps */
export function createShortcuts(deps) {
  const { shell, set, toasts, view, portlets, now, focusPane } = deps
  const { sessions, openSession, reopenTab, newSession, search, pin } = deps

  const onSession = { rename: sessions.rename, pin, archive: sessions.archive, "copy-link": sessions.copyLink }

  /** @param {string | undefined} next */
  const whyNotBeside = (next) =>
    next === undefined
      ? "Open another session first; it is then shown beside this one."
      : "The window is too narrow for two sessions side by side."

  /** @param {string} name as in `keys.js` */
  return function shortcut(name) {
    const { tabs } = shell()
    const session = sessionInFront(shell())
    const nth = /^tab-(\d)$/.exec(name)?.[1]
    if (nth !== undefined) {
      const id = tabs.order[Number(nth) - 1]
      return id === undefined ? undefined : openSession(id)
    }
    switch (name) {
      case "now":
        set({ tabs: { ...tabs, active: null } })
        // Keys must no longer reach the session that is hidden now.
        focusPane(NOW)
        return now.focus()
      case "search":
        return search()
      case "help":
        return void openHelp()
      case "new-session":
        return newSession()
      case "close-tab":
        return tabs.active === null ? undefined : set({ tabs: closeTab(tabs, tabs.active) })
      case "reopen-tab":
        return reopenTab()
      case "next-tab":
      case "previous-tab": {
        const next = stepTab(tabs, name === "next-tab" ? 1 : -1)
        return next.active === null ? undefined : openSession(next.active)
      }
      case "move-tab-left":
        return tabs.active === null ? undefined : set({ tabs: nudgeTab(tabs, tabs.active, -1) })
      case "move-tab-right":
        return tabs.active === null ? undefined : set({ tabs: nudgeTab(tabs, tabs.active, 1) })
      case "focus-composer":
        return session === null ? undefined : portlets.focus(session, "composer")
      case "find":
      case "own-above":
      case "own-below":
      case "changes":
        if (session === null) return
        focusPane(session)
        return portlets.run(session, name)
      case "stop":
        return session === null ? undefined : portlets.run(session, name)
      case "rename":
      case "pin":
      case "archive":
      case "copy-link":
        if (session !== null && shell().model.sessions.has(session)) onSession[name](session)
        return
      case "show-beside": {
        const next = nextBeside(tabs)
        if (next === undefined || shell().room < 2) return toasts.show({ text: whyNotBeside(next) })
        set({ tabs: showBeside(tabs, next) })
        return portlets.focus(next)
      }
      case "show-alone":
        return tabs.active === null ? undefined : set({ tabs: showAlone(tabs, tabs.active) })
      case "next-column": {
        const { active, columns } = nextColumn(tabs)
        return columns && active !== null ? openSession(active) : undefined
      }
      case "toggle-sidebar":
        return view.toggleSidebar()
    }
  }
}
