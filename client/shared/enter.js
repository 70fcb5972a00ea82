/** What Enter means where one writes: it sends or saves, and Shift+Enter starts a new line. A touch keyboard has no
 * Shift+Enter, so there Enter starts a new line and a button sends. Ctrl+Enter (or ⌘ Enter) always sends. */

export const isTouch = () => matchMedia("(pointer: coarse)").matches

/** Whether this key sends or saves what was written. @param {KeyboardEvent} event */
export const isSubmit = ({ key, shiftKey, altKey, ctrlKey, metaKey }) =>
  key === "Enter" && !shiftKey && !altKey && (ctrlKey || metaKey || !isTouch())
