import assert from "node:assert/strict"
import { test } from "node:test"
import { boundaryWords } from "../../client/portlet/interlude.js"
import { percentOf, usageLines } from "../../client/portlet/meter.js"
import { isLate } from "../../client/portlet/standing.js"

const now = Date.parse("2026-11-17T12:00:00Z")

test("the context is a percentage only if the agent says how large it is", () => {
  assert.equal(percentOf(undefined), null)
  assert.equal(percentOf({ contextUsed: 5 }), null)
  assert.equal(percentOf({ contextUsed: 124_000, contextSize: 200_000 }), 62)
  assert.equal(percentOf({ contextUsed: 300, contextSize: 200 }), 100)
})

test("everything known about usage is listed, and nothing else", () => {
  assert.deepEqual(usageLines({ usage: undefined, turn: undefined, canCompact: false }, now), [])
  const lines = usageLines(
    {
      usage: {
        contextUsed: 124_000,
        contextSize: 200_000,
        costUsd: 1.5,
        limits: [
          { name: "Weekly limit", usedPercent: 31 },
          { name: "5-hour limit", usedPercent: 93, resetsAt: "2026-11-17T14:00:00Z" },
        ],
      },
      turn: { inputTokens: 1200, outputTokens: 80, cacheReadInputTokens: 1000, costUsd: 0.25 },
      canCompact: true,
    },
    now,
  )
  assert.deepEqual(
    lines.map(([name]) => name),
    ["Context", "Cost of the session", "Cost of the last turn", "Last turn", "Cache", "Weekly limit", "5-hour limit"],
  )
  assert.equal(lines[0][1], "124k of 200k tokens (62%)")
  assert.equal(lines[5][1], "31% used")
  assert.match(lines[6][1], /^93% used, resets \d/)
})

test("a boundary says what happened to the conversation", () => {
  const compaction = (more) => ({ type: "compaction", status: "complete", blocks: [], ...more })
  assert.equal(boundaryWords({ type: "cleared" }, false), "Conversation cleared. The agent can't see anything above.")
  assert.equal(boundaryWords(compaction({}), false), "Conversation summarised")
  assert.equal(
    boundaryWords(compaction({ before: 129_000, after: 2900 }), false),
    "Conversation summarised (129k → 2.9k tokens)",
  )
  assert.equal(boundaryWords(compaction({ status: "create" }), true), "Summarising the conversation…")
  assert.equal(boundaryWords(compaction({ status: "create" }), false), "The summary was not finished.")
  assert.equal(boundaryWords(compaction({ status: "error", errorMessage: "Too short." }), false), "Too short.")
})

test("a planned message is late an hour after its time", () => {
  const planned = (at) => ({ at, content: "Continue." })
  assert.equal(isLate(null, now), false)
  assert.equal(isLate(planned("2026-11-17T11:30:00Z"), now), false)
  assert.equal(isLate(planned("2026-11-17T10:30:00Z"), now), true)
})
