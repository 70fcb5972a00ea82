// How long a word takes through the server: from the agent's write to the browser's read, compared with the same two
// Node processes connected directly. So the difference is the server's time and the socket's, nothing more.
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnEnd } from "../conversation.mjs"
import { ended, median, quantile, withLiminal } from "../liminal.mjs"
import { connected } from "../socket.mjs"

const agentArgs = (pieces, every) => [join(import.meta.dirname, "../stamping-agent.mjs"), String(pieces), String(every)]

/** Records how long each piece of a text took that arrives in parts. */
function stopwatch() {
  const took = []
  return {
    took,
    read(text) {
      const now = process.hrtime.bigint()
      for (const [, number, stamp] of text.matchAll(/(\d+)@(\d+) /g)) {
        if (Number(number) === took.length + 1) took.push(Number(now - BigInt(stamp)) / 1e6)
      }
    },
  }
}

const withStampingAgent = (pieces, every) => (data) =>
  writeFileSync(
    join(data, "agents.json"),
    JSON.stringify({
      agents: [{ id: "stamping", name: "Stamping", command: process.execPath, args: agentArgs(pieces, every) }],
    }),
  )

/** The milliseconds from the end of each turn to the prompt of the next queued message, as the agent sees it. */
function gaps(binary, turns) {
  return withLiminal(
    binary,
    async (server) => {
      const found = new Map()
      let ends = 0
      const arrived = (frame) => {
        if (frame.type === "session:turn" && frame.payload.type !== "turn_started") ends += 1
        const gap = /gap=(\d+) /.exec(frame.type === "session:upsert" ? (frame.payload.content ?? "") : "")
        if (gap) found.set(frame.payload.itemId, Number(gap[1]) / 1e6)
      }
      const socket = await connected(server, arrived)
      const { project } = await socket.ask({ type: "project:add", path: server.home })
      const { sessionId } = await socket.ask({ type: "session:create", projectId: project.id, cliType: "stamping" })
      await socket.ask({ type: "session:open", sessionId })
      await socket.ask({ type: "session:send", sessionId, content: "go" })
      for (let n = 1; n < turns; n += 1)
        await socket.ask({ type: "session:send", sessionId, content: `message ${n}`, whenBusy: "queue" })
      while (ends < turns) await turnEnd(socket, sessionId)
      socket.close()
      return [...found.values()]
    },
    withStampingAgent(4, 50),
  )
}

/** The milliseconds each piece took through the server. */
function latencies(binary, pieces, every) {
  return withLiminal(
    binary,
    async (server) => {
      const { took, read } = stopwatch()
      const arrived = (frame) =>
        read(
          frame.type === "session:tail"
            ? frame.text
            : frame.type === "session:upsert" && frame.payload.origin === "agent"
              ? frame.payload.content
              : "",
        )
      const socket = await connected(server, arrived)
      const { project } = await socket.ask({ type: "project:add", path: server.home })
      const { sessionId } = await socket.ask({ type: "session:create", projectId: project.id, cliType: "stamping" })
      await socket.ask({ type: "session:open", sessionId, tails: true })
      await socket.ask({ type: "session:send", sessionId, content: "go" })
      await turnEnd(socket, sessionId)
      socket.close()
      if (took.length !== pieces) throw new Error(`${took.length} of ${pieces} pieces arrived`)
      return took
    },
    withStampingAgent(pieces, every),
  )
}

/** The milliseconds each piece took without the server. */
async function direct(pieces, every) {
  const { took, read } = stopwatch()
  const agent = spawn(process.execPath, agentArgs(pieces, every), { stdio: ["pipe", "pipe", "inherit"] })
  await new Promise((resolve) => {
    agent.stdout.setEncoding("utf8").on("data", (text) => {
      read(text)
      if (took.length === pieces) resolve()
    })
    agent.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/prompt", params: { sessionId: "s" } })}\n`,
    )
  })
  await ended(agent)
  return took
}

export default [
  {
    name: "latency: end of a turn to the prompt of the next queued message",
    wanted: "median under 5 ms",
    measure: async ({ binary }) => {
      const took = await gaps(binary, 20)
      const [mid, longest] = [median(took), Math.max(...took)]
      return {
        figure: `median ${mid.toFixed(2)} ms, at most ${longest.toFixed(2)} ms, ${took.length} turns`,
        pass: mid < 5,
        values: { median: mid, longest, turns: took.length },
      }
    },
  },
  {
    name: "latency: one piece per 50 ms, agent's write to browser's read",
    wanted: "median 0.3 ms more than directly, p99 2 ms",
    measure: async ({ binary }) => {
      const [through, without] = [await latencies(binary, 400, 50), await direct(400, 50)]
      const [mid, p99, directly] = [median(through), quantile(through, 0.99), median(without)]
      return {
        figure: `median ${mid.toFixed(2)} ms (${directly.toFixed(2)} directly), p99 ${p99.toFixed(2)} ms`,
        pass: mid - directly <= 0.3 && p99 <= 2,
        values: { median: mid, p99, directly },
      }
    },
  },
  {
    name: "latency: one piece per 5 ms, agent's write to browser's read",
    wanted: "p50 8 ms, p99 20 ms",
    measure: async ({ binary }) => {
      const took = await latencies(binary, 2000, 5)
      const [mid, p99] = [median(took), quantile(took, 0.99)]
      return {
        figure: `median ${mid.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
        pass: mid <= 8 && p99 <= 20,
        values: { median: mid, p99 },
      }
    },
  },
]
