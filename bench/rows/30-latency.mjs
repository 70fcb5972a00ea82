// How long a word takes from the agent's write to the browser's read. The agent stamps each piece, so the figures include both pipes and
// both Node processes: they are an upper bound of the way through the server.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnEnd } from "../conversation.mjs"
import { median, quantile, withLiminal } from "../liminal.mjs"
import { connected } from "../socket.mjs"

/** The milliseconds each piece took. */
function latencies(binary, pieces, every) {
  const prepare = (data) => writeFileSync(join(data, "agents.json"), JSON.stringify({ agents: [{ id: "stamping", name: "Stamping", command: process.execPath, args: [join(import.meta.dirname, "../stamping-agent.mjs"), String(pieces), String(every)] }] }))
  return withLiminal(binary, async (server) => {
    const took = []
    let last = 0
    const arrived = (frame) => {
      const now = process.hrtime.bigint()
      const text = frame.type === "session:tail" ? frame.text : frame.type === "session:upsert" && frame.payload.origin === "agent" ? frame.payload.content : ""
      for (const [, number, stamp] of text.matchAll(/(\d+)@(\d+) /g)) {
        if (Number(number) <= last) continue
        last = Number(number)
        took.push(Number(now - BigInt(stamp)) / 1e6)
      }
    }
    const socket = await connected(server, arrived)
    const { project } = await socket.ask({ type: "project:add", path: server.home })
    const { sessionId } = await socket.ask({ type: "session:create", projectId: project.id, cliType: "stamping" })
    await socket.ask({ type: "session:open", sessionId, tails: true })
    await socket.ask({ type: "session:send", sessionId, content: "go" })
    await turnEnd(socket, sessionId)
    socket.close()
    if (took.length !== pieces) throw new Error(`${took.length} of ${pieces} pieces arrived`)
    return took
  }, prepare)
}

function outcome(took, pass) {
  const [mid, p99] = [median(took), quantile(took, 0.99)]
  return { figure: `median ${mid.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`, pass: pass(mid, p99), values: { median: mid, p99, pieces: took.length } }
}

export default [
  {
    name: "latency: one piece per 50 ms, agent's write to browser's read",
    wanted: "median 0.3 ms, p99 2 ms",
    measure: async ({ binary }) => outcome(await latencies(binary, 400, 50), (mid, p99) => mid <= 0.3 && p99 <= 2),
  },
  {
    name: "latency: one piece per 5 ms, agent's write to browser's read",
    wanted: "p99 45 ms",
    measure: async ({ binary }) => outcome(await latencies(binary, 2000, 5), (_mid, p99) => p99 <= 45),
  },
]
