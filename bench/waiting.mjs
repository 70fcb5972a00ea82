// Waits for a message, with a time limit.

/** Longer than any measurement takes (milliseconds). */
const PATIENCE = 180_000

/** Messages from `who`: pass each to `take`. `sees(find, what)` waits for one; it fails when none comes in time, or
 * after `end(how)`, when no more will come. With `keep`, messages that no one waits for are kept for a later `sees`. */
export function waited(who, { keep = false } = {}) {
  const unseen = []
  let waiting = new Set(),
    over = null

  function sees(find, what = "the expected message") {
    const at = unseen.findIndex((message) => find(message))
    if (at >= 0) return Promise.resolve(unseen.splice(at, 1)[0])
    const seen = new Promise((resolve, reject) => {
      if (over !== null) return reject(new Error(`${who} ${over} before ${what}`))
      const timer = setTimeout(() => fail(`did not send ${what} within ${PATIENCE / 1000} s`), PATIENCE)
      const waiter = {
        find,
        done: (message) => {
          clearTimeout(timer)
          waiting.delete(waiter)
          resolve(message)
        },
        fail: (how) => fail(`${how} before ${what}`),
      }
      function fail(how) {
        clearTimeout(timer)
        waiting.delete(waiter)
        reject(new Error(`${who} ${how}`))
      }
      waiting.add(waiter)
    })
    // A caller that waits for two messages may stop at the first failure.
    seen.catch(() => {})
    return seen
  }

  return {
    sees,
    take(message) {
      const waiter = [...waiting].find(({ find }) => find(message))
      if (waiter) waiter.done(message)
      else if (keep) unseen.push(message)
    },
    end(how) {
      over = how
      for (const waiter of waiting) waiter.fail(how)
    },
  }
}
