import assert from "node:assert/strict"
import { test } from "node:test"

import { createFrames } from "../../client/shared/frames.js"

/** The page's clock, paints and pointer. */
function page(t) {
  let now = 0
  let paints = []
  const listeners = new Map()
  t.mock.method(performance, "now", () => now)
  globalThis.addEventListener = (name, listen) => listeners.set(name, listen)
  globalThis.requestAnimationFrame = (paint) => paints.push(paint)
  t.after(() => {
    delete globalThis.addEventListener
    delete globalThis.requestAnimationFrame
  })
  return {
    does: (name) => listeners.get(name)(),
    passes: (ms) => (now += ms),
    paints() {
      const due = paints
      paints = []
      for (const paint of due) paint()
    },
  }
}

test("nothing changes between the press and the release of a pointer", (t) => {
  const { does, paints, passes } = page(t)
  const { beforePaint } = createFrames()
  let updates = 0
  does("pointerdown")
  beforePaint(() => (updates += 1))
  passes(100)
  paints()
  assert.equal(updates, 0)
  does("pointerup")
  paints()
  assert.equal(updates, 1)
})

test("a long press doesn't stop the page", (t) => {
  const { does, paints, passes } = page(t)
  const { beforePaint, isHeld } = createFrames()
  let updates = 0
  does("pointerdown")
  assert.equal(isHeld(), true)
  beforePaint(() => (updates += 1))
  passes(600)
  paints()
  assert.equal(updates, 1)
  assert.equal(isHeld(), false)
})
