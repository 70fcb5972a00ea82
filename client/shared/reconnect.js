/** When to reconnect: at once, after 250 ms, 500 ms, then every second, or every five if the page is hidden. Pure. */

/** @param {number} failures in a row @param {boolean} hidden @returns {number} milliseconds */
export function retryDelay(failures, hidden) {
  return [0, 250, 500][failures] ?? (hidden ? 5000 : 1000)
}
