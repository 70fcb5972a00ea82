// A server with an agent that plays a script, and a socket to it.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { withLiminal } from "./liminal.mjs"
import { connected } from "./socket.mjs"

/** Runs `use(socket, make, server)` with an agent that plays these rules; `make()` returns an open session.
 * `more(data)` may put further files into the data directory. */
export function withAgent(binary, rules, use, about = {}, more = () => {}) {
  const prepare = (data) => {
    more(data)
    const script = join(data, "script.json")
    writeFileSync(script, JSON.stringify({ about, rules }))
    writeFileSync(
      join(data, "agents.json"),
      JSON.stringify({
        agents: [{ id: "bench", name: "Bench", command: binary, args: ["demo-agent", "--script", script] }],
      }),
    )
  }
  return withLiminal(
    binary,
    async (server) => {
      const socket = await connected(server)
      const { project } = await socket.ask({ type: "project:add", path: server.home })
      const make = async () => {
        const { sessionId } = await socket.ask({ type: "session:create", projectId: project.id, cliType: "bench" })
        await socket.ask({ type: "session:open", sessionId, tails: true })
        return sessionId
      }
      try {
        return await use(socket, make, server)
      } finally {
        socket.close()
      }
    },
    prepare,
  )
}

/** Waits for the end of the running turn. */
export const turnEnd = (socket, sessionId) =>
  socket.sees(
    (frame) => frame.type === "session:turn" && frame.sessionId === sessionId && frame.payload.type !== "turn_started",
    "the end of the turn",
  )
