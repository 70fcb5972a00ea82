// Opening long sessions and downloading long output.
import { randomUUID } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnEnd, withAgent } from "../conversation.mjs"
import { median, peak, resident, withLiminal } from "../liminal.mjs"
import { connected } from "../socket.mjs"

const ENTRY = "Some **words** of an answer with `code`.\n\n- one\n- two\n"

/** Measures opening a session with this many entries, at its end and around an item, and the server's memory. */
function opening(entries) {
  return ({ binary }) =>
    withAgent(
      binary,
      [{ on: "any", steps: [{ repeat: [entries, ["new_message", { say: ENTRY }]] }] }],
      async (socket, make, server) => {
        const sessionId = await make()
        await socket.ask({ type: "session:send", sessionId, content: "go" })
        await turnEnd(socket, sessionId)
        const before = resident(server.pid)
        const timed = async (more) => {
          const took = []
          for (let n = 0; n < 21; n += 1) {
            const began = performance.now()
            await socket.ask({ type: "session:open", sessionId, ...more })
            took.push(performance.now() - began)
          }
          return median(took)
        }
        const ms = await timed({})
        const {
          entries: [middle],
        } = await socket.ask({ type: "session:older", sessionId, before: entries / 2 })
        const around = await timed({ around: middle.itemId })
        const after = resident(server.pid)
        return {
          figure:
            `end ${ms.toFixed(1)} ms, around an item ${around.toFixed(1)} ms, ` +
            `memory ${before.toFixed(1)} -> ${after.toFixed(1)} MB`,
          pass: ms <= 20 && around <= 20,
          values: { ms, around, megabytesBefore: before, megabytesAfter: after },
        }
      },
    )
}

/** A session file of Claude Code with this many bytes: questions, answers with code, commands with their output. */
function claudeFile(bytes) {
  const lines = []
  let [size, parent] = [0, null]
  const record = (type, content, more = {}) => {
    const uuid = randomUUID()
    const line = JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      type,
      uuid,
      timestamp: "2026-01-02T03:04:05.000Z",
      message: { id: `msg_${uuid}`, model: "claude", role: type, content },
      ...more,
    })
    lines.push(line)
    size += line.length + 1
    parent = uuid
  }
  for (let n = 0; size < bytes; n += 1) {
    record("user", `Question ${n}: why does the parser fail?`)
    record("assistant", [
      {
        type: "text",
        text:
          `${ENTRY}\n\`\`\`rust\nfn parse_${n}(text: &str) -> Option<u32> {\n` +
          `    text.trim().parse().ok() // the ${n}th\n}\n\`\`\`\n\nSo it **never** returns an error.\n`,
      },
    ])
    record("assistant", [
      {
        type: "tool_use",
        id: `toolu_${n}`,
        name: "Bash",
        input: { command: "cargo test", description: "Run the tests" },
      },
    ])
    const stdout = "test parser::reads_a_number_that_is_too_long ... ok\n".repeat(40)
    record("user", [{ type: "tool_result", tool_use_id: `toolu_${n}`, content: stdout, is_error: false }], {
      toolUseResult: { stdout, stderr: "", interrupted: false },
    })
    record("assistant", [{ type: "text", text: ENTRY.repeat(8) }], {})
  }
  return `${lines.join("\n")}\n`
}

export default [
  {
    name: "history: 50 MB of Claude Code's own, never seen before",
    wanted: "no more memory than the file; then 20 ms",
    measure: ({ binary }) => {
      const id = randomUUID()
      const text = claudeFile(50e6)
      const sessionId = `claude-code:${id}`
      return withLiminal(
        binary,
        async (server) => {
          const socket = await connected(server)
          const before = resident(server.pid)
          const timed = async () => {
            const began = performance.now()
            const { entries } = await socket.ask({ type: "session:open", sessionId })
            if (entries.length === 0) throw new Error("the history was not read")
            return performance.now() - began
          }
          const first = await timed()
          const again = []
          for (let n = 0; n < 21; n += 1) again.push(await timed())
          const most = peak(server.pid)
          socket.close()
          return {
            figure:
              `first ${(first / 1000).toFixed(2)} s, then ${median(again).toFixed(1)} ms; ` +
              `memory ${before.toFixed(0)} MB before, at most ${most.toFixed(0)}`,
            pass: median(again) <= 20 && most < 50,
            values: { first, again: median(again), before, most },
          }
        },
        (data) => {
          const project = join(data, "..")
          const at = "2026-01-02T03:04:05.000Z"
          const folder = join(project, ".claude/projects/bench")
          mkdirSync(folder, { recursive: true })
          writeFileSync(join(folder, `${id}.jsonl`), text)
          writeFileSync(
            join(data, "projects.json"),
            JSON.stringify({ version: 1, projects: [{ id: "p", path: project, name: "bench", addedAt: at }] }),
          )
          writeFileSync(
            join(data, "sessions.json"),
            JSON.stringify({
              version: 1,
              sessions: [
                {
                  id: sessionId,
                  projectId: "p",
                  cliType: "claude-code",
                  archived: false,
                  title: "Long",
                  lastActiveAt: at,
                  createdAt: at,
                },
              ],
            }),
          )
        },
      )
    },
  },
  { name: "history: 2,000 entries, asked to received", wanted: "20 ms", measure: opening(2000) },
  { name: "history: 50,000 entries, asked to received", wanted: "20 ms, and no more memory", measure: opening(50_000) },
  {
    name: "history: a tool's output of 200 MB, resident memory",
    wanted: "less than the output",
    measure: ({ binary }) => {
      const text = `${"What a talkative tool says, again and again, in a line. ".repeat(2)}\n`.repeat(560)
      const count = Math.ceil(200e6 / text.length)
      const steps = [
        { tool: { id: "c", name: "Bash", title: "make noise", kind: "execute", input: { command: "make noise" } } },
        { repeat: [count, [{ tool_output: { id: "c", text } }]] },
        { tool_end: { id: "c", output: "" } },
      ]
      return withAgent(
        binary,
        [{ on: "any", steps }],
        async (socket, make, server) => {
          const sessionId = await make()
          const before = resident(server.pid)
          const began = performance.now()
          const { turnId } = await socket.ask({ type: "session:send", sessionId, content: "go" })
          await turnEnd(socket, sessionId)
          const seconds = (performance.now() - began) / 1000
          const produced = peak(server.pid)
          const item = `${encodeURIComponent(sessionId)}/item/${encodeURIComponent(`${turnId}:call:c`)}`
          const answer = await fetch(`${server.address}/api/session/${item}/output`, {
            headers: { authorization: `Bearer ${server.token}` },
          })
          let bytes = 0
          for await (const piece of answer.body) bytes += piece.length
          if (bytes !== count * text.length) throw new Error(`${bytes} of ${count * text.length} bytes came back`)
          const downloaded = peak(server.pid)
          return {
            figure:
              `${before.toFixed(0)} MB before, at most ${produced.toFixed(0)} while it grew ` +
              `(${seconds.toFixed(0)} s, ${(socket.counts.bytes / 1e6).toFixed(0)} MB to the browser), ` +
              `${downloaded.toFixed(0)} while it was downloaded`,
            pass: downloaded < 200,
            values: { before, produced, downloaded, seconds, socketMegabytes: socket.counts.bytes / 1e6 },
          }
        },
        { terminal_meta: true },
      )
    },
  },
]
