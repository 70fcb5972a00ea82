/** Where the page begins: get in, or show how, then start the shell. */

import { need } from "../shared/dom.js"
import { credential, keepCredential, logIn, prove, takeFromAddress } from "../shared/door.js"
import { resolveTheme, showTheme, themeChoice } from "../shared/theme.js"
import { startApp } from "./app.js"
import { mountDoor } from "./door-view.js"

/** @param {string} problem why the user sees this, or nothing */
function showDoor(problem) {
  const door = mountDoor(need(document, "#door", HTMLElement), {
    problem,
    async logIn(token) {
      const answer = await logIn({ token })
      if ("problem" in answer) return answer.problem
      keepCredential(localStorage, answer.token)
      door.destroy()
      startApp(document)
      return null
    },
  })
}

async function begin() {
  const system = matchMedia("(prefers-color-scheme: light)")
  const dress = () => showTheme(document, resolveTheme(themeChoice(localStorage), system.matches))
  dress()
  system.addEventListener("change", dress)
  const given = takeFromAddress(location, history)
  const known = credential(localStorage)
  if (given) {
    const answer = await logIn(given)
    if ("token" in answer) keepCredential(localStorage, answer.token)
    // A link that was used already is no harm where the browser is logged in.
    else if (known === null || "token" in given) return showDoor(answer.problem)
  } else if (known === null) return showDoor("")
  const token = credential(localStorage)
  if (token !== null && await prove(token) === "stranger") return showDoor("The token of this browser is not the server's any more.")
  startApp(document)
}

begin()
// A link opened in a page that is there already changes only the part after the “#”.
window.addEventListener("hashchange", () => { if (/^#(token|code)=/.test(location.hash)) location.reload() })
