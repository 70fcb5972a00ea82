// The cost of a turn and of a new session when the server has very many sessions.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnEnd, withAgent } from "../conversation.mjs"
import { median, used } from "../liminal.mjs"

const FEW = 20,
  MANY = 20_000,
  // The system counts a process's time in steps of 10 ms.
  TURNS = 400,
  CREATIONS = 40

function records(count) {
  const at = (n) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
  return Array.from({ length: count }, (_, n) => ({
    id: `bench:kept-${n}`,
    projectId: "elsewhere",
    cliType: "bench",
    archived: false,
    title: `A session that is kept, the ${n}th`,
    lastActiveAt: at(n),
    createdAt: at(n),
  }))
}

/** Runs `use({turn, make, server})` with a server that has this many sessions. */
function withKept(binary, count, use) {
  return withAgent(
    binary,
    [{ on: "any", steps: [{ say: "Yes." }] }],
    async (socket, make, server) => {
      const sessionId = await make()
      const turn = async () => {
        await socket.ask({ type: "session:send", sessionId, content: "go" })
        await turnEnd(socket, sessionId)
      }
      await turn()
      // The file with the list is written some time after a session is created; that must not count as part of a turn.
      while (!readFileSync(join(server.data, "sessions.json"), "utf8").includes(sessionId))
        await new Promise((resolve) => setTimeout(resolve, 50))
      return use({ turn, make, server })
    },
    {},
    (data) =>
      writeFileSync(join(data, "sessions.json"), JSON.stringify({ version: 1, sessions: records(count) }), {
        mode: 0o600,
      }),
  )
}

/** The medians of a step on each server. The servers alternate, so that other load on the machine slows both. */
async function timed(servers, step, times) {
  const took = servers.map(() => [])
  for (let n = 0; n < times; n += 1) {
    for (const [at, server] of servers.entries()) {
      const began = performance.now()
      await server[step]()
      took[at].push(performance.now() - began)
    }
  }
  return took.map(median)
}

export default [
  {
    slow: true,
    name: "kept: a turn and a new session with 20,000 sessions kept, against 20",
    wanted: "at most 1.2x each",
    measure: ({ binary }) =>
      withKept(binary, FEW, (few) =>
        withKept(binary, MANY, async (many) => {
          const servers = [few, many]
          const before = servers.map(({ server }) => used(server.pid))
          const turnMs = await timed(servers, "turn", TURNS)
          const after = servers.map(({ server }) => used(server.pid))
          const createMs = await timed(servers, "make", CREATIONS)
          const each = (what) => servers.map((_, at) => (after[at][what] - before[at][what]) / TURNS)
          const values = { turnMs, createMs, cpuMs: each("cpuMs"), written: each("written") }
          const ratio = ([few, many]) => many / few
          const text = (what, unit, by = 1) =>
            `${ratio(values[what]).toFixed(2)}x (${(values[what][1] / by).toFixed(1)} ${unit})`
          return {
            figure:
              `turn ${text("turnMs", "ms")}, its CPU ${text("cpuMs", "ms")}, ` +
              `its disk ${text("written", "KB", 1000)}; create ${text("createMs", "ms")}`,
            pass: Object.values(values).every((pair) => ratio(pair) <= 1.2),
            values,
          }
        }),
      ),
  },
]
