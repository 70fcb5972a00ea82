/**
 * Telling the user that something wants them: the page's title, its icon and, once allowed, a notification of the desktop.
 * What it comes to is pure (`titleOf`, `iconOf`, `newsOf`); the rest puts it where it is seen.
 */

import { moodOf } from "./model.js"

/** @import { SessionListItem } from "../contract.js" */
/** @import { Mood } from "./model.js" */

/** @param {{ title: string | null, moods: readonly Mood[] }} state `title` of the session in front */
export function titleOf({ title, moods }) {
  const wanting = moods.filter((mood) => mood === "waiting" || mood === "unread" || mood === "failed").length
  const count = wanting > 0 ? `(${wanting}) ` : ""
  const working = moods.includes("running") ? "● " : ""
  return `${count}${working}${title === null ? "" : `${title} · `}Liminal Builder`
}

/** @param {readonly Mood[]} moods @returns {"waiting" | "unread" | "running" | "idle"} */
export function iconOf(moods) {
  if (moods.includes("waiting")) return "waiting"
  if (moods.includes("unread") || moods.includes("failed")) return "unread"
  return moods.includes("running") ? "running" : "idle"
}

/** What a change of a session's state is worth telling, or null.
 * @param {SessionListItem | undefined} before @param {SessionListItem} after @returns {string | null} */
export function newsOf(before, after) {
  if (!before || before.state === after.state) return null
  if (after.state === "waiting") return "Waiting for your permission"
  const worked = before.state === "running" || before.state === "waiting" || before.state === "starting"
  if (worked && after.state === "idle") return "Finished"
  if (worked && after.state === "failed") return "Failed"
  return null
}

/** @param {Document} document @param {{ open(sessionId: string): void }} deps */
export function mountAttention(document, deps) {
  const link = document.querySelector("link[rel=icon]")
  return {
    /** @param {{ title: string | null, sessions: readonly { mood: Mood }[] }} state */
    update({ title, sessions }) {
      const moods = sessions.map(({ mood }) => mood)
      const words = titleOf({ title, moods })
      if (document.title !== words) document.title = words
      const icon = `/icons/${iconOf(moods)}.svg`
      if (link instanceof HTMLLinkElement && link.getAttribute("href") !== icon) link.setAttribute("href", icon)
    },
    /** @param {SessionListItem} session @param {string} news */
    notify(session, news) {
      if (!("Notification" in globalThis) || Notification.permission !== "granted") return
      const notification = new Notification(session.title, { body: news, tag: session.id })
      notification.onclick = () => {
        window.focus()
        deps.open(session.id)
        notification.close()
      }
    },
  }
}

/** @returns {"granted" | "denied" | "default" | "missing"} */
export const notificationPermission = () => "Notification" in globalThis ? Notification.permission : "missing"

/** Asks the browser for leave, where it has not decided. */
export async function allowNotifications() {
  if (!("Notification" in globalThis)) return false
  return (Notification.permission === "default" ? await Notification.requestPermission() : Notification.permission) === "granted"
}

/** The sessions with their moods. @param {Iterable<SessionListItem>} sessions @param {(session: SessionListItem) => boolean} isUnread */
export const withMoods = (sessions, isUnread) => [...sessions].map((session) => ({ session, mood: moodOf(session, isUnread(session)) }))
