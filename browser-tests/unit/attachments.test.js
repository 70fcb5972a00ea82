import assert from "node:assert/strict"
import { test } from "node:test"

import { attachmentOf, attachmentsIn, detailOf, isLong, refsOf } from "../../client/portlet/attachments.js"

const url = (id) => `/api/attachment/${id}`
const picture = { kind: "image", name: "shot.png", id: "0a-1.png", url: url("0a-1.png") }
const paste = { kind: "paste", name: "a log", id: "0b-1.txt", url: url("0b-1.txt"), lines: [1, 214], bytes: 7000 }
const frozen = { kind: "lines", name: "a.rs:2-3", id: "0c-1.txt", url: url("0c-1.txt"), path: "a.rs", lines: [2, 3] }
const file = { kind: "file", name: "a.rs", path: "a.rs" }

test("a paste of more than 40 lines or 4 KB is long", () => {
  assert.equal(isLong("x\n".repeat(40)), false)
  assert.equal(isLong("x\n".repeat(41)), true)
  assert.equal(isLong("é".repeat(2048)), false)
  assert.equal(isLong("é".repeat(2049)), true)
})

test("a message refers to what was attached, not to what its text mentions", () => {
  assert.deepEqual(refsOf([picture, paste, frozen, file, { ...file, mentioned: true }]), [
    { id: "0a-1.png", name: "shot.png" },
    { id: "0b-1.txt", name: "a log" },
    { id: "0c-1.txt", name: "a.rs:2-3", path: "a.rs", lines: [2, 3] },
    { path: "a.rs" },
  ])
})

test("an unanswered message shows its attachments as far as they are known", () => {
  const { lines: _many, bytes: _size, ...shown } = paste
  assert.deepEqual(refsOf([picture, paste, frozen, file]).map(attachmentOf), [picture, shown, frozen, file])
})

test("a chip says how much it stands for", () => {
  assert.deepEqual([picture, paste, frozen, file].map(detailOf), ["", "214 lines, 7 KB", "2 lines", ""])
})

test("a stored draft that isn't ours has no attachments", () => {
  assert.deepEqual(attachmentsIn([picture, { kind: "image" }, null, 7]), [picture])
  assert.deepEqual(attachmentsIn("x"), [])
})
