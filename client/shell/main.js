/** The entry point: logs in, or shows how to, then starts the shell. */

import { need } from "../shared/dom.js"
import { createDoor, endWorkers, takeFromAddress, takeStoredToken } from "../shared/door.js"
import { tameHeldKeys } from "../shared/held.js"
import { retryDelay } from "../shared/reconnect.js"
import { resolveTheme, showTheme, themeChoice } from "../shared/theme.js"
import { startApp } from "./app.js"
import { mountDoor } from "./door-view.js"
import { stayAboveKeyboard } from "./keyboard.js"

tameHeldKeys()
const door = createDoor()

/** @param {string} problem why the user sees this; may be empty */
function showDoor(problem) {
  const view = mountDoor(need(document, "#door", HTMLElement), {
    problem,
    async logIn(token) {
      const refusal = await door.logIn({ token })
      if (refusal !== null) return refusal
      view.destroy()
      await enter()
      return null
    },
  })
}

async function begin() {
  const system = matchMedia("(prefers-color-scheme: light)")
  const applyTheme = () => showTheme(document, resolveTheme(themeChoice(localStorage), system.matches))
  applyTheme()
  system.addEventListener("change", applyTheme)
  const knowing = door.isLoggedIn()
  // Before the address is read: a page that came through another program's service worker is reloaded unchanged.
  if (await endWorkers()) return location.reload()
  const stored = takeStoredToken(localStorage)
  const isKnown = await knowing
  const given = takeFromAddress(location, history) ?? (isKnown ? null : stored)
  if (given) {
    const problem = await door.logIn(given)
    // A used link does no harm if the browser is already logged in.
    if (problem !== null && (!isKnown || "token" in given)) return showDoor(problem)
  } else if (!isKnown) return showDoor("")
  await enter()
}

/** Starts the shell with a first entry, without which it can't read what it stored. */
async function enter() {
  let entry = await door.enter()
  // The server has just served this page, so it is seldom away, and not for long.
  for (let failures = 0; entry === "away"; failures += 1) {
    need(document, "#door", HTMLElement).textContent = "Connecting to the server…"
    await new Promise((resolve) => setTimeout(resolve, retryDelay(failures, document.hidden)))
    entry = await door.enter()
  }
  need(document, "#door", HTMLElement).textContent = ""
  if (entry === "stranger") return showDoor("This browser is no longer logged in to this server.")
  startApp(document, door, entry)
}

// A file that is dropped beside a session must not replace the page.
for (const type of /** @type {const} */ (["dragover", "drop"]))
  window.addEventListener(type, (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault())
stayAboveKeyboard(document.documentElement, window.visualViewport)
begin()
// Opening a link in an already open page changes only the part after the “#”.
window.addEventListener("hashchange", () => {
  if (/^#(token|code)=/.test(location.hash)) location.reload()
})
