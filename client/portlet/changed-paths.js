/** A path in the conversation opens the changes at that file. */

/** @param {HTMLElement} root the conversation
 * @param {{ reveal(path: string): void, knows(path: string): boolean }} changes @param {AbortSignal} signal */
export function openPathsOnClick(root, changes, signal) {
  root.addEventListener(
    "click",
    (event) => {
      const named = event.target instanceof Element ? event.target.closest(`${headed}, :not(pre) > code`) : null
      const path = named?.textContent?.trim() ?? ""
      if (path === "" || named?.closest("a") || document.getSelection()?.isCollapsed === false) return
      // Words in code are paths only if there is such a file.
      if (!named?.matches(headed) && !changes.knows(path)) return
      event.preventDefault()
      event.stopPropagation()
      changes.reveal(path)
    },
    { signal, capture: true },
  )
}

/** Where the server writes the path of a difference. */
const headed = ".diff > .file > .path"
