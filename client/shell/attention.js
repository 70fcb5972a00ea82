/**
 * Tells the user that something needs them: by the page's title, its icon and, once allowed, desktop notifications.
 * `titleOf`, `newsOf` and `requestOf` decide and are pure; the rest shows it.
 */

import { isQuestion } from "../shared/questions.js"
import { panesInView } from "./compare-state.js"
import { isAtWork, sessionOf } from "./model.js"
import { isNowInFront } from "./shell-state.js"
import { projectName } from "./views.js"

/** @import { NowRow, SessionListItem } from "../contract.js" */
/** @import { ActionsDeps } from "./actions.js" */
/** @import { Defaults } from "./defaults.js" */

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
  return isQuestion(card) ? `Asks: ${card.title}` : `Asks for permission: ${card.title}`
}

/** @typedef {ReturnType<typeof mountAttention>} Attention */

/** `isLookedAt`: whether the user looks at the page. `expect`: a session waits; once its request is known, `notify`.
 * @param {Document} document @param {Pick<ActionsDeps, "shell" | "toasts"> & {
 *   isLookedAt(): boolean, setDefaults(change: Partial<Defaults>): void, expect(sessionId: string): void,
 *   open(sessionId: string): void }} deps */
export function mountAttention(document, { shell, isLookedAt, setDefaults, toasts, expect, open }) {
  const link = document.querySelector("link[rel=icon]")

  /** @param {SessionListItem} session @param {string} news */
  function notify(session, news) {
    if (!("Notification" in globalThis) || Notification.permission !== "granted") return
    const project = projectName(shell().model, session.projectId)
    const title = project === "" ? session.title : `${session.title} · ${project}`
    const notification = new Notification(title, { body: news, tag: session.id })
    notification.onclick = () => {
      window.focus()
      open(session.id)
      notification.close()
    }
  }

  /** The offer that is shown, for as long as its session waits.
   * @type {{ id: string, isSeen: boolean, leave(): void } | null} */
  let offer = null

  /** Offers notifications once, when a session first waits for a user who does not see it. A phone has no room for an
   * offer beside what waits; its settings have the same switch. @param {SessionListItem} session */
  function offerNotifications({ id, title }) {
    const { offered, notifications } = shell().defaults
    if (offered || notifications || notificationPermission() !== "default") return
    if (matchMedia("(max-width: 700px), (pointer: coarse)").matches) return
    setDefaults({ offered: true })
    const leave = toasts.show({
      text: `“${title}” is waiting for you. Get a desktop notification next time?`,
      stays: true,
      action: { label: "Turn on", run: async () => setDefaults({ notifications: await allowNotifications() }) },
    })
    offer = { id, isSeen: isLookedAt(), leave }
  }

  function withdrawOffer() {
    if (offer === null) return
    offer.isSeen ||= isLookedAt()
    if (sessionOf(shell().model, offer.id)?.state === "waiting") return
    const { isSeen, leave } = offer
    offer = null
    leave()
    if (!isSeen) setDefaults({ offered: false })
  }

  return {
    notify,
    /** @param {{ title: string | null, waiting: number }} state */
    update(state) {
      withdrawOffer()
      const words = titleOf(state)
      if (document.title !== words) document.title = words
      const icon = `/icons/${state.waiting > 0 ? "waiting" : "idle"}.svg`
      if (link instanceof HTMLLinkElement && link.getAttribute("href") !== icon) link.setAttribute("href", icon)
    },
    /** @param {SessionListItem | undefined} before @param {SessionListItem | undefined} after */
    stateChanged(before, after) {
      if (!before || !after) return
      const isAway = !isLookedAt() && shell().defaults.notifications
      const news = newsOf(before, after)
      if (news !== null && isAway) notify(after, news)
      if (after.state !== "waiting" || before.state === "waiting") return
      if (isAway) expect(after.id)
      const isShown = panesInView(shell()).includes(after.id) || isNowInFront(shell())
      if (!isShown || !isLookedAt()) offerNotifications(after)
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
