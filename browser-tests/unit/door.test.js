import assert from "node:assert/strict"
import { test } from "node:test"
import { createDoor } from "../../client/shared/door.js"

const pages = ["indexedDB", "location", "fetch"]

/** A browser that stored this login, at a server that answers everything. */
function standIn(t, login) {
  const found = pages.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)])
  t.after(() => {
    for (const [name, before] of found) {
      if (before) Object.defineProperty(globalThis, name, before)
      else delete globalThis[name]
    }
  })
  const stand = (name, value) => Object.defineProperty(globalThis, name, { configurable: true, value })
  stand("location", { origin: "http://127.0.0.1:3000" })
  stand("fetch", async () => Response.json({ challenge: "c", proof: "00", ticket: "t", storageKey: "k" }))
  stand("indexedDB", { open: () => opened(login) })
}

/** An IndexedDB that has this login, as far as the door uses one. */
function opened(login) {
  const transaction = { objectStore: () => ({ get: () => ({ result: login }) }) }
  const opening = { result: { transaction: () => transaction, close() {} } }
  queueMicrotask(() => {
    opening.onsuccess()
    transaction.oncomplete()
  })
  return opening
}

test("a browser whose stored key can't be used is told to log in again", async (t) => {
  const usages = ["sign", "verify"]
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, usages)
  // A key of another algorithm: checking the server's proof with it throws.
  standIn(t, { browser: "b", key: pair.privateKey, proofKey: pair.publicKey })
  const door = createDoor()
  assert.equal(await door.isLoggedIn(), true)
  assert.equal(await door.enter(), "stranger")
})
