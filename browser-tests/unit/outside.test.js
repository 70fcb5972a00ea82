import assert from "node:assert/strict"
import { test } from "node:test"

import { keepingWords } from "../../client/shell/keeping.js"
import { dueWords, isMatch, placeIn } from "../../client/shell/outside.js"

const now = Date.parse("2026-11-17T00:00:00Z")
const session = {
  cliType: "claude-code",
  ref: "r",
  title: "Shed",
  said: "Paint it green",
  directory: "/home/me/shop",
  branch: "main",
  began: "2026-11-10T00:00:00Z",
  changed: "2026-11-15T00:00:00Z",
  bytes: 1,
}
const any = { query: "", agent: "", branch: "", days: "" }

test("a session is found by words of its title, first message and branch, and narrowed by the filters", () => {
  const fits = (/** @type {Partial<typeof any>} */ filter) => isMatch(session, { ...any, ...filter }, now)
  assert.equal(fits({}), true)
  assert.equal(fits({ query: "GREEN shed" }), true)
  assert.equal(fits({ query: "shed cart" }), false)
  assert.equal(fits({ agent: "codex" }), false)
  assert.equal(fits({ branch: "main", days: "7" }), true)
  assert.equal(fits({ days: "1" }), false)
})

test("where and until when a session is kept is said in words", () => {
  assert.equal(placeIn("/home/me/shop", "/home/me/shop"), "")
  assert.equal(placeIn("/home/me/shop/api", "/home/me/shop"), "api")
  assert.equal(placeIn("/home/me/shop-fix", "/home/me/shop"), "/home/me/shop-fix")
  assert.equal(dueWords("2026-11-16T00:00:00Z", now), "due for deletion")
  assert.equal(dueWords("2026-11-18T00:00:00Z", now), "deleted in 1 day")
  assert.equal(dueWords("2026-11-19T12:00:00Z", now), "deleted in 3 days")
})

test("the progress of keeping is said in words", () => {
  const words = (/** @type {"keeping" | "done" | "stopped"} */ state, failed = 0) =>
    keepingWords({ state, done: 1, total: 4, failed })
  assert.equal(words("keeping"), "Keeping 1 of 4 sessions")
  assert.equal(words("done"), "Kept 1 session.")
  assert.equal(words("stopped"), "Stopped. 1 of 4 sessions are kept.")
  assert.match(words("done", 1), /1 could not be read yet/)
})
