import assert from "node:assert/strict"
import { test } from "node:test"
import { draftOf, keepDraft, keepingOf, moveDraft } from "../../client/portlet/drafts.js"

function store() {
  const values = new Map()
  return { getItem: (key) => values.get(key) ?? null, setItem: (key, value) => void values.set(key, value) }
}
const words = (text) => ({ text, attachments: [] })
const picture = { kind: "image", name: "dot.png", id: "1.png" }

test("a draft, its attachments and the edit it belongs to are kept", () => {
  const storage = store()
  assert.deepEqual(draftOf(storage, "a"), { ...words(""), edit: null })
  keepDraft(storage, "a", words("hello"))
  assert.deepEqual(draftOf(storage, "a"), { ...words("hello"), edit: null })
  const edit = { itemId: "t1:user", before: { text: "before", attachments: [picture] } }
  keepDraft(storage, "a", { text: "", attachments: [picture] }, edit)
  assert.deepEqual(draftOf(storage, "a"), { text: "", attachments: [picture], edit })
  keepDraft(storage, "a", words(""))
  assert.deepEqual(draftOf(storage, "a"), { ...words(""), edit: null })
})

test("a stored draft of any form is read", () => {
  for (const odd of [null, 7, [], {}, { edit: 3 }, { edit: { itemId: 4 } }, { text: 1, attachments: 2, edit: null }]) {
    const storage = store()
    storage.setItem("liminal:drafts", JSON.stringify({ a: odd }))
    assert.deepEqual(draftOf(storage, "a"), { ...words(""), edit: null })
  }
})

test("the draft from before an edit goes on in the new version", () => {
  const storage = store()
  keepDraft(storage, "old", words("edited"), { itemId: "t1:user", before: words("my draft") })
  moveDraft(storage, "old", "new")
  assert.deepEqual(draftOf(storage, "new"), { ...words("my draft"), edit: null })
  assert.deepEqual(draftOf(storage, "old"), { ...words(""), edit: null })
})

test("a long draft is kept when the user pauses or leaves, a short one at once", () => {
  const kept = []
  let [later, leave] = [() => {}, () => {}]
  const page = {
    addEventListener: (_type, run) => (leave = run),
    setTimeout: (run) => {
      later = run
      return 0
    },
  }
  const keep = keepingOf(({ text }) => kept.push(text.length), page)
  keep(words("short"))
  assert.deepEqual(kept, [5])
  keep(words("x".repeat(30_000)))
  keep(words("x".repeat(30_001)))
  assert.deepEqual(kept, [5])
  later()
  assert.deepEqual(kept, [5, 30_001])
  keep(words("x".repeat(30_002)))
  leave()
  leave()
  assert.deepEqual(kept, [5, 30_001, 30_002])
})
