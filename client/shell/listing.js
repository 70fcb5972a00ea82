/** Asks for the sessions of projects, a few projects at a time: all at once may be more than a slow browser can take,
 * and then the server ends the connection. */

const AT_ONCE = 3

/** @param {(projectId: string) => Promise<unknown>} ask
 * @param {() => void} begun the first answer is here, or will not come */
export function createListing(ask, begun) {
  /** @type {Set<string>} */
  const waiting = new Set()
  let underWay = 0
  let hasBegun = false

  function next() {
    for (const id of waiting) {
      if (underWay >= AT_ONCE) return
      waiting.delete(id)
      underWay += 1
      const done = () => {
        underWay -= 1
        next()
        if (!hasBegun) begun()
        hasBegun = true
      }
      ask(id).then(done, done) // after a reconnect, all are asked for again
    }
  }

  return {
    /** @param {Iterable<string>} projectIds the first ones are asked for first */
    add(projectIds) {
      for (const id of projectIds) waiting.add(id)
      next()
    },
  }
}
