/** What users do in the settings. */

import { agentChoices } from "./agent-choice.js"
import { allowNotifications, notificationPermission } from "./attention.js"
import { saveDefaults } from "./defaults.js"
import { openSettings } from "./settings.js"

/** @import { ActionsDeps, Failed } from "./actions.js" */
/** @import { Discarding } from "./discarding.js" */

/** @param {Pick<ActionsDeps, "shell" | "set" | "door" | "preferences" | "socket" | "view" | "lookOutside"> & {
 *   failed: Failed, discarding: Discarding }} deps */
export function createSettingsActions(deps) {
  const { shell, set, door, preferences, socket, view, lookOutside, failed, discarding } = deps
  /** @type {{ update(): void } | null} */
  let panel = null

  return {
    open() {
      panel = openSettings(
        {
          now: () => ({
            theme: view.themeChoice(),
            reading: view.reading(),
            defaults: shell().defaults,
            notifications: notificationPermission(),
            agents: agentChoices(shell().model.agents, shell().model.logins, { preferred: null, lastUsed: [] }),
          }),
          setTheme: view.setTheme,
          setReading: view.setReading,
          setDefaults: (change) => set({ defaults: saveDefaults(preferences, change) }),
          allowNotifications,
          async storage(most) {
            const frame = await socket.request({ type: "changes:storage", ...(most === undefined ? {} : { most }) })
            return frame.type === "changes:storage" ? frame : Promise.reject(new Error("No answer."))
          },
          discarded: discarding,
          keepsOutside: shell().outside.automatic,
          async keepOutside(on) {
            await socket.request({ type: "outside:automatic", on }).catch(failed("Could not change the setting"))
            lookOutside()
          },
          about: async () => (await door.api("/api/about")).json(),
          browsers: async () => (await (await door.api("/api/browsers")).json()).browsers,
          async logOut({ id, isCurrent }) {
            await door.api(`/api/browsers/${encodeURIComponent(id)}`, { method: "DELETE" })
            if (!isCurrent) return
            await door.forget()
            location.reload()
          },
        },
        () => (panel = null),
      )
      socket.request({ type: "agents:list" }).catch(() => {})
    },
    /** Shows the agents' new states in an open panel. */
    update: () => panel?.update(),
  }
}
