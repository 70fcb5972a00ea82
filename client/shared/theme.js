/** Dark or light: the system's choice until the user makes one, then theirs, in every document and window of ours. */

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
export const resolveTheme = (choice, systemIsLight) => choice === "system" ? (systemIsLight ? "light" : "dark") : choice

/** Shows a theme in this document. @param {Document} document @param {Theme} theme */
export function showTheme(document, theme) {
  document.documentElement.dataset.theme = theme
}
