// An agent that puts the time into each piece it sends: `node stamping-agent.mjs PIECES EVERY_MS`. Speaks just enough
// of the Agent Client Protocol. It uses the system's monotonic clock, which is the same in every process.
import { createInterface } from "node:readline"

const [pieces, every] = process.argv.slice(2).map(Number)
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)

/** When the last turn ended. */
let endedAt = null

function speak(id, sessionId) {
  let sent = 0
  // How long after the end of the last turn this prompt came.
  const gap = endedAt === null ? "" : `gap=${process.hrtime.bigint() - endedAt} `
  const timer = setInterval(() => {
    sent += 1
    const text = `${sent === 1 ? gap : ""}${sent}@${process.hrtime.bigint()} ${sent % 12 === 0 ? "\n\n" : ""}`
    write({
      method: "session/update",
      params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
    })
    if (sent < pieces) return
    clearInterval(timer)
    endedAt = process.hrtime.bigint()
    write({ id, result: { stopReason: "end_turn" } })
  }, every)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === "initialize") write({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  else if (method === "session/new") write({ id, result: { sessionId: `s${id}` } })
  else if (method === "session/prompt") speak(id, params.sessionId)
  else if (id !== undefined) write({ id, result: {} })
}
process.exit(0)
