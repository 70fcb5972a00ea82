/** The theme, and the place of the sidebar: beside the panes, hidden, or a drawer in narrow windows. */

import { need, setAttribute } from "../shared/dom.js"
import { keys, loadRecord, save } from "../shared/storage.js"
import { resolveTheme, saveThemeChoice, showTheme, themeChoice } from "../shared/theme.js"
import { followReading, readingFrom, saveReading } from "../shared/reading.js"
import { mountSidebarWidth } from "./sidebar-width.js"

/** @import { Reading } from "../shared/reading.js" */
/** @import { ThemeChoice } from "../shared/theme.js" */

/** @typedef {ReturnType<typeof createLook>} Look */

/** @param {Document} document @param {{ changed(): void, storage: Storage }} deps */
export function createLook(document, { changed, storage }) {
  const app = need(document, "#app", HTMLElement)
  const stage = need(document, "#stage", HTMLElement)
  const sidebar = need(document, "#sidebar", HTMLElement)
  const veil = need(document, "#veil", HTMLElement)
  const width = mountSidebarWidth(need(document, "#sidebar-edge", HTMLElement), document.documentElement, storage)
  const narrow = matchMedia("(max-width: 700px)")
  const systemLight = matchMedia("(prefers-color-scheme: light)")
  const reading = followReading(document, storage)
  let drawer = false

  const theme = () => resolveTheme(themeChoice(storage), systemLight.matches)
  const isHidden = () => loadRecord(storage, keys.sidebar).hidden === true

  function apply() {
    showTheme(document, theme())
    if (!narrow.matches) drawer = false
    const shown = narrow.matches ? drawer : !isHidden()
    setAttribute(app, "data-sidebar", shown ? "shown" : "hidden")
    setAttribute(app, "data-drawer", drawer)
    sidebar.inert = !shown
    stage.inert = drawer
    veil.hidden = !drawer
    changed()
  }

  /** @param {boolean} shown */
  function setSidebar(shown) {
    const before = narrow.matches ? drawer : !isHidden()
    if (narrow.matches) drawer = shown
    else save(storage, keys.sidebar, { ...loadRecord(storage, keys.sidebar), hidden: !shown })
    apply()
    if (before === shown) return
    const next = shown ? (drawer ? sidebar.querySelector("button") : null) : stage.querySelector(".sidebar-show")
    if (next instanceof HTMLElement) next.focus()
  }

  narrow.addEventListener("change", apply)
  systemLight.addEventListener("change", apply)
  veil.addEventListener("click", () => setSidebar(false))
  sidebar.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drawer) setSidebar(false)
  })
  queueMicrotask(apply)

  return {
    theme,
    themeChoice: () => themeChoice(storage),
    /** @param {ThemeChoice} choice */
    setTheme(choice) {
      saveThemeChoice(storage, choice)
      apply()
    },
    reading: () => readingFrom(storage),
    /** @param {Partial<Reading>} change */
    setReading(change) {
      saveReading(storage, change)
      reading.show()
    },
    showSidebar: () => setSidebar(true),
    hideSidebar: () => setSidebar(false),
    toggleSidebar: () => setSidebar(app.dataset.sidebar === "hidden"),
    closeDrawer: () => {
      if (drawer) setSidebar(false)
    },
    /** Another window changed something. */
    follow() {
      width.follow()
      apply()
    },
  }
}
