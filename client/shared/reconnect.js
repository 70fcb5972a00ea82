/** When to try again: at once, after 250 ms, after 500 ms, then each second while the page is looked at, else every five. Pure. */

/** @param {number} failures tries in a row that failed @param {boolean} hidden @returns {number} milliseconds */
export function retryDelay(failures, hidden) {
  return [0, 250, 500][failures] ?? (hidden ? 5000 : 1000)
}
