// Waiting for a message that somebody will send, but not for ever.

/** Longer than anything that is measured takes. */
const PATIENCE = 180_000

/** Messages of `who` as they come: `take` each, `sees(find, what)` waits for one and fails when none came in time or `end(how)` said that
 * no more will. With `keep`, what nobody waited for yet is kept for who asks later. */
export function waited(who, { keep = false } = {}) {
  const unseen = []
  let waiting = new Set(), over = null

  function sees(find, what = "what is waited for") {
    const at = unseen.findIndex((message) => find(message))
    if (at >= 0) return Promise.resolve(unseen.splice(at, 1)[0])
    const seen = new Promise((resolve, reject) => {
      if (over !== null) return reject(new Error(`${who} ${over} before ${what}`))
      const timer = setTimeout(() => fail(`said nothing for ${PATIENCE / 1000} s of ${what}`), PATIENCE)
      const waiter = { find, done: (message) => { clearTimeout(timer); waiting.delete(waiter); resolve(message) }, fail: (how) => fail(`${how} before ${what}`) }
      function fail(how) {
        clearTimeout(timer)
        waiting.delete(waiter)
        reject(new Error(`${who} ${how}`))
      }
      waiting.add(waiter)
    })
    // Who waits for two things stops at the first that fails.
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
