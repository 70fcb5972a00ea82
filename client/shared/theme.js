/** Dark or light: the system's theme until the user chooses one, then that, in every window. */

import { keys, load, save } from "./storage.js"

/** @import { Theme } from "./bridge.js" */
/** @typedef {"system" | Theme} ThemeChoice */

/** @param {Storage} storage @returns {ThemeChoice} */
export function themeChoice(storage) {
  const choice = load(storage, keys.theme)
  return choice === "dark" || choice === "light" ? choice : "system"
}

/** @param {Storage} storage @param {ThemeChoice} choice */
export const saveThemeChoice = (storage, choice) => save(storage, keys.theme, choice)

/** @param {ThemeChoice} choice @param {boolean} systemIsLight @returns {Theme} */
export const resolveTheme = (choice, systemIsLight) =>
  choice === "system" ? (systemIsLight ? "light" : "dark") : choice

/** @param {Document} document @param {Theme} theme */
export function showTheme(document, theme) {
  document.documentElement.dataset.theme = theme
}
