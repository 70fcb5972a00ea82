/**
 * Tells the user that something needs them: by the page's title, its icon and, once allowed, desktop notifications.
 * `titleOf`, `newsOf` and `requestOf` decide and are pure; the rest shows it.
 */

import { isAtWork } from "./model.js"

/** @import { NowRow, SessionListItem } from "../contract.js" */

/** @param {{ title: string | null, waiting: number }} state `title` of the active session */
export const titleOf = ({ title, waiting }) =>
  `${waiting > 0 ? `(${waiting}) ` : ""}${title === null ? "" : `${title} · `}Liminal Builder`

/** The notification for a change of a session's state, or null for none.
 * @param {SessionListItem | undefined} before @param {SessionListItem} after @returns {string | null} */
export function newsOf(before, after) {
  if (!before || before.state === after.state) return null
  if (isAtWork(before) && after.state === "idle") return "Finished"
  if (isAtWork(before) && after.state === "failed") return "Failed"
  return null
}

/** What a session that waits asks for, in a few words. @param {NowRow} row */
export function requestOf({ card }) {
  if (card?.type !== "permission") return "Waiting for you"
  return card.questions?.length ? `Asks: ${card.title}` : `Asks for permission: ${card.title}`
}

/** @param {Document} document @param {{ open(sessionId: string): void }} deps */
export function mountAttention(document, deps) {
  const link = document.querySelector("link[rel=icon]")
  return {
    /** @param {{ title: string | null, waiting: number }} state */
    update(state) {
      const words = titleOf(state)
      if (document.title !== words) document.title = words
      const icon = `/icons/${state.waiting > 0 ? "waiting" : "idle"}.svg`
      if (link instanceof HTMLLinkElement && link.getAttribute("href") !== icon) link.setAttribute("href", icon)
    },
    /** @param {SessionListItem} session @param {string} project its name @param {string} news */
    notify(session, project, news) {
      if (!("Notification" in globalThis) || Notification.permission !== "granted") return
      const title = project === "" ? session.title : `${session.title} · ${project}`
      const notification = new Notification(title, { body: news, tag: session.id })
      notification.onclick = () => {
        window.focus()
        deps.open(session.id)
        notification.close()
      }
    },
  }
}

/** @returns {"granted" | "denied" | "default" | "missing"} */
export const notificationPermission = () => ("Notification" in globalThis ? Notification.permission : "missing")

/** Asks the browser for permission, unless the user has already decided. */
export async function allowNotifications() {
  if (!("Notification" in globalThis)) return false
  return (
    (Notification.permission === "default" ? await Notification.requestPermission() : Notification.permission) ===
    "granted"
  )
}

/** Offers notifications once, when a session first waits for a user who does not see it. @param {string} title
 * @param {{ defaults: import("./defaults.js").Defaults, toasts: { show(toast: import("./toasts.js").Toast): void },
 *   keep(change: Partial<import("./defaults.js").Defaults>): void }} deps */
export function offerNotifications(title, { defaults, keep, toasts }) {
  if (defaults.offered || defaults.notifications || notificationPermission() !== "default") return
  keep({ offered: true })
  toasts.show({
    text: `“${title}” waits for you. Get a desktop notification next time?`,
    stays: true,
    action: { label: "Turn on", run: async () => keep({ notifications: await allowNotifications() }) },
  })
}
