// How quickly the program stops with agents running, the memory of a guard, and that no process is left.
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { children, descendants, living } from "../../browser-tests/soak/processes.js"
import { resident, withLiminal } from "../liminal.mjs"

const AGENTS = 5

/** Starts a server and five agents with this command, then stops the server. */
function stop(binary, command, args) {
  const agents = Array.from({ length: AGENTS }, (_, n) => ({ id: `agent-${n}`, command, args }))
  const prepare = (data) => writeFileSync(join(data, "agents.json"), JSON.stringify({ agents }), { mode: 0o600 })
  return withLiminal(
    binary,
    async ({ address, token, pid, home, stopped }) => {
      for (const { id } of agents) {
        const answer = await fetch(`${address}/api/session/create`, {
          method: "POST",
          headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
          body: JSON.stringify({ cliType: id, projectDir: home }),
        })
        if (!answer.ok) throw new Error(`no session: ${await answer.text()}`)
      }
      const all = descendants(pid)
      const guard = Math.max(...children(pid).map(resident))
      const began = performance.now()
      return stopped(() => {
        const took = (performance.now() - began) / 1000
        return { took, left: living(all).length, processes: all.length, guard }
      })
    },
    prepare,
  )
}

async function idle({ binary }) {
  const { took, left, guard } = await stop(binary, binary, ["demo-agent"])
  const figure = `${took.toFixed(2)} s, ${left} left; a guard has ${guard.toFixed(1)} MB`
  return { figure, pass: took < 1 && left === 0 && guard < 6, values: { seconds: took, left, guardMB: guard } }
}

/** Each agent is behind a wrapper that ignores SIGTERM and the end of its stdin, with a child that does the same in a
 * separate session. */
async function stubborn({ binary }) {
  const script = 'trap "" TERM; setsid sleep 600 & "$0" demo-agent; while :; do sleep 1; done'
  const { took, left, processes } = await stop(binary, "/bin/sh", ["-c", script, binary])
  return {
    figure: `${took.toFixed(2)} s, ${left} of ${processes} left`,
    pass: took < 4 && left === 0,
    values: { seconds: took, left, processes },
  }
}

export default [
  { name: "processes: stop with five idle agents", wanted: "under 1 s, 0 left; a guard under 6 MB", measure: idle },
  { slow: true, name: "processes: stop with five stubborn ones", wanted: "under 4 s, 0 left", measure: stubborn },
]
