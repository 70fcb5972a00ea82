// Opening long sessions and downloading long output.
import { randomUUID } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnEnd, withAgent } from "../conversation.mjs"
import { median, peak, resident, used, withLiminal } from "../liminal.mjs"
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

/** The steps of a turn with this many entries: words, thoughts, edits with a diff, commands with output. */
function variedSteps(entries) {
  const call = (id, name, kind, input) => ({ tool: { id, name, title: name, kind, input } })
  const old = Array.from({ length: 12 }, (_, n) => `    let value_${n} = compute(${n}); // and so on\n`).join("")
  const output = "test parser::reads_a_number_that_is_too_long ... \u001b[32mok\u001b[0m\n".repeat(20)
  return Array.from({ length: entries / 4 }, (_, n) => [
    { think: `The ${n}th thought about **it**.` },
    "new_message",
    { say: ENTRY },
    call(`e${n}`, "Edit", "edit", { file_path: "src/main.rs" }),
    { diff: { id: `e${n}`, path: "src/main.rs", old, new: old.replace("compute(7)", `compute(${n}, 7)`) } },
    { tool_end: { id: `e${n}`, output: "" } },
    call(`c${n}`, "Bash", "execute", { command: "cargo test" }),
    { tool_end: { id: `c${n}`, output } },
  ]).flat()
}

/** What reading a whole history costs the server. */
function allPages({ binary }) {
  const entries = 2000,
    times = 20
  return withAgent(binary, [{ on: "any", steps: variedSteps(entries) }], async (socket, make, server) => {
    const sessionId = await make()
    await socket.ask({ type: "session:send", sessionId, content: "go" })
    await turnEnd(socket, sessionId)
    const read = async () => {
      let page = await socket.ask({ type: "session:open", sessionId })
      let count = page.entries.length
      while (page.older) {
        page = await socket.ask({ type: "session:older", sessionId, before: page.entries[0].index })
        count += page.entries.length
      }
      if (count < entries) throw new Error(`only ${count} entries`)
    }
    await read()
    const before = used(server.pid).cpuMs
    for (let n = 0; n < times; n += 1) await read()
    const ms = (used(server.pid).cpuMs - before) / times
    return { figure: `${ms.toFixed(1)} ms of CPU`, pass: ms <= 20, values: { cpuMs: ms } }
  })
}

/** Many browsers with the same long session open, while an answer of 1 MB is streamed. */
function manyBrowsers({ binary }) {
  const count = 200
  const rules = [
    { on: { exact: "history" }, steps: variedSteps(400) },
    { on: "any", steps: [{ say_chopped: { text: "Words and words. ".repeat(60_000), size: 1000, every_ms: 5 } }] },
  ]
  return withAgent(binary, rules, async (socket, make, server) => {
    const sessionId = await make()
    await socket.ask({ type: "session:send", sessionId, content: "history" })
    await turnEnd(socket, sessionId)
    const alone = resident(server.pid)
    const browsers = []
    for (let n = 0; n < count; n += 1) {
      const browser = await connected(server)
      await browser.ask({ type: "session:open", sessionId, tails: true })
      browsers.push(browser)
    }
    const opened = resident(server.pid)
    await socket.ask({ type: "session:send", sessionId, content: "go" })
    await Promise.all(browsers.map((browser) => turnEnd(browser, sessionId)))
    const most = peak(server.pid)
    for (const browser of browsers) browser.close()
    return {
      figure: `${alone.toFixed(0)} MB with one, ${opened.toFixed(0)} with ${count}, at most ${most.toFixed(0)}`,
      pass: most < 150,
      values: { alone, opened, most },
    }
  })
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
    name: "history: all pages of 2,000 entries, the server's CPU",
    wanted: "at most 20 ms",
    measure: allPages,
  },
  {
    name: "history: 200 browsers on one session, resident memory",
    wanted: "shared frames once: under 150 MB",
    measure: manyBrowsers,
  },
  {
    slow: true,
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
  {
    slow: true,
    name: "history: 50,000 entries, asked to received",
    wanted: "20 ms, and no more memory",
    measure: opening(50_000),
  },
  {
    slow: true,
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
