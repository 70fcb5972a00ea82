// Sessions made in a terminal: finding them by the ends of their files, and following one that is in use there.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { appendFileSync, closeSync, mkdirSync, openSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { ended, median, quantile, resident, withLiminal } from "../liminal.mjs"
import { connected } from "../socket.mjs"

const FILES = 1000
const BYTES = 1e6
const LINES = 40

/** A record of Claude Code's, after the one of this id. */
const record = (type, parentUuid, cwd, message) => ({
  parentUuid,
  isSidechain: false,
  type,
  uuid: randomUUID(),
  cwd,
  gitBranch: "main",
  version: "2.1.325",
  timestamp: "2026-01-02T03:04:05.000Z",
  message: { role: type, ...message },
})

const typed = (parent, cwd, words) => record("user", parent, cwd, { content: words })

const answered = (parent, cwd, words) =>
  record("assistant", parent, cwd, {
    id: `msg_${randomUUID()}`,
    model: "claude",
    stop_reason: "tool_use",
    content: [{ type: "text", text: words }],
  })

const text = (lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join("")

/** Files of 1 MB. Before the first message are lines of other kinds, as in real ones; the middle is a hole, because
 * nobody reads it. */
function transcripts(home, cwd) {
  const folder = join(home, ".claude/projects/bench")
  mkdirSync(folder, { recursive: true })
  const wall = { type: "file-history-snapshot", body: "x".repeat(40_000) }
  const tail = text(Array.from({ length: 20 }, (_, n) => answered(null, cwd, `Words ${n} `.repeat(300))))
  for (let n = 0; n < FILES; n += 1) {
    const path = join(folder, `${randomUUID()}.jsonl`)
    writeFileSync(path, text([wall, typed(null, cwd, `Question ${n}: why does the parser fail?`)]))
    truncateSync(path, BYTES - tail.length)
    const file = openSync(path, "a")
    writeSync(file, `\n${tail}`)
    closeSync(file)
  }
}

async function timed(ask) {
  const began = performance.now()
  const answer = await ask()
  return { answer, took: performance.now() - began }
}

/** The first look, looking again, and what the index takes in memory. */
function found({ binary }) {
  return withLiminal(
    binary,
    async (server) => {
      const socket = await connected(server)
      const look = () => socket.ask({ type: "outside:list" })
      const before = resident(server.pid)
      const first = await timed(look)
      const count = first.answer.directories.reduce((sum, each) => sum + each.count, 0)
      if (count !== FILES) throw new Error(`${count} were found`)
      const grown = resident(server.pid) - before
      const again = []
      for (let n = 0; n < 21; n += 1) again.push((await timed(look)).took)
      socket.close()
      const againMs = median(again)
      return {
        figure: `${first.took.toFixed(0)} ms, again ${againMs.toFixed(0)} ms, ${grown.toFixed(1)} MB`,
        pass: first.took < 1000 && againMs < 50 && grown < 10,
        values: { firstMs: first.took, againMs, grownMb: grown },
      }
    },
    (data) => {
      const home = join(data, "..")
      const cwd = join(home, "work")
      mkdirSync(cwd)
      transcripts(home, cwd)
    },
  )
}

/** From the write to the file until a browser has the words. */
function followed({ binary }) {
  const id = randomUUID()
  const sessionId = `claude-code:${id}`
  return withLiminal(binary, async (server) => {
    const cwd = join(server.home, "work")
    const folder = join(server.home, ".claude/projects/bench")
    mkdirSync(cwd)
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `${id}.jsonl`)
    let last = typed(null, cwd, "Begin")
    writeFileSync(path, text([last]))
    // A program that has the session, as far as anyone can see.
    const claude = spawn("sleep", ["600"], { argv0: "claude", cwd, stdio: "ignore" })
    try {
      const socket = await connected(server)
      const { project } = await socket.ask({ type: "project:add", path: cwd })
      await socket.ask({ type: "outside:adopt", projectId: project.id, cliType: "claude-code", refs: [id] })
      await socket.ask({ type: "session:open", sessionId })
      const took = []
      for (let n = 0; n < LINES; n += 1) {
        last = answered(last.uuid, cwd, `Line ${n} of it.`)
        const words = last.message.content[0].text
        const seen = socket.sees((frame) => frame.type === "session:upsert" && JSON.stringify(frame).includes(words))
        const began = performance.now()
        appendFileSync(path, text([last]))
        await seen
        took.push(performance.now() - began)
      }
      socket.close()
      const [p50, p99] = [median(took), quantile(took, 0.99)]
      return {
        figure: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
        pass: p99 < 100,
        values: { p50, p99 },
      }
    } finally {
      await ended(claude)
    }
  })
}

export default [
  {
    slow: true,
    name: "outside: 1,000 transcripts of 1 MB, first look / again / memory",
    wanted: "1 s, 50 ms, under 10 MB",
    measure: found,
  },
  {
    name: "outside: a line that a terminal adds, from the file to the browser",
    wanted: "under 100 ms",
    measure: followed,
  },
]
