// How quickly the program stops with agents running, the memory of a guard, and that no process is left.
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { children, descendants, living } from "../../browser-tests/soak/processes.js"
import { ended, resident, started } from "../liminal.mjs"

const AGENTS = 5

/** Starts a server and five agents with this command, then stops the server. */
async function stop(binary, command, args) {
  const home = mkdtempSync(join(tmpdir(), "liminal-bench-"))
  const [data, project] = [join(home, "data"), join(home, "project")]
  mkdirSync(data, { mode: 0o700 })
  mkdirSync(project)
  const agents = Array.from({ length: AGENTS }, (_, n) => ({ id: `agent-${n}`, command, args }))
  const projects = [
    { id: randomUUID(), path: realpathSync(project), name: "project", addedAt: new Date().toISOString() },
  ]
  writeFileSync(join(data, "agents.json"), JSON.stringify({ agents }), { mode: 0o600 })
  writeFileSync(join(data, "projects.json"), JSON.stringify({ version: 1, projects }), { mode: 0o600 })
  const { child, line } = await started(binary, ["--port", "0", "--no-open", "--data-dir", data])
  const [address, token] = line.replace(/^.* at /, "").split(/\/\S*#token=/)
  try {
    for (const { id } of agents) {
      const answer = await fetch(`${address}/api/session/create`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ cliType: id, projectId: projects[0].id }),
      })
      if (!answer.ok) throw new Error(`no session: ${await answer.text()}`)
    }
  } catch (error) {
    await ended(child)
    throw error
  }
  const all = descendants(child.pid)
  const guards = children(child.pid).map(resident)
  const began = performance.now()
  await ended(child)
  const took = (performance.now() - began) / 1000
  const left = living(all).length
  rmSync(home, { recursive: true })
  return { took, left, processes: all.length, guard: Math.max(...guards) }
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
  { name: "processes: stop with five idle agents", wanted: "under 1 s, 0 left; about 4 MB", measure: idle },
  { slow: true, name: "processes: stop with five stubborn ones", wanted: "under 4 s, 0 left", measure: stubborn },
]
