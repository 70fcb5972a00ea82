// From an agent's line to a browser's socket: what it costs in time, bytes and memory.
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { turnEnd, withAgent } from "../conversation.mjs"
import { megabytes, resident, withLiminal } from "../liminal.mjs"

const SIZE = 100_000, PIECES = 5000
const upTo = (piece) => Array.from({ length: Math.ceil(SIZE / piece(0).length) }, (_, n) => piece(n)).join("").slice(0, SIZE)
const TEXTS = {
  paragraphs: upTo((n) => `Paragraph ${n} says a few words about something that matters to nobody, and then it ends here.\n\n`),
  list: upTo((n) => `- item ${n} of a list that goes on for a very long time\n`),
  table: `| a | b |\n| --- | --- |\n${upTo((n) => `| cell ${n} | and what stands beside it |\n`)}`.slice(0, SIZE),
  fence: `\`\`\`rust\n${upTo((n) => `    let line_${n} = compute(${n}, "text"); // and so on\n`)}`.slice(0, SIZE),
}

/** What a process has handed to the disk, in bytes (Linux): here nearly all of it is the journal's log. */
const written = (pid) => Number(readFileSync(`/proc/${pid}/io`, "utf8").match(/^write_bytes: (\d+)$/m)?.[1])

export default [
  {
    name: "stream: 20,000 chunks of 20 bytes at once",
    wanted: "under 0.5 s, under 4 MB, under 100 messages",
    measure: ({ binary }) => withAgent(binary, [{ on: "any", steps: [{ flood: { count: 20_000, text: "twenty bytes of text" } }] }], async (socket, make) => {
      const sessionId = await make()
      const { frames, bytes } = { ...socket.counts }
      const began = performance.now()
      await socket.ask({ type: "session:send", sessionId, content: "go" })
      await turnEnd(socket, sessionId)
      const [seconds, megabytes, messages] = [(performance.now() - began) / 1000, (socket.counts.bytes - bytes) / 1e6, socket.counts.frames - frames]
      return {
        figure: `${seconds.toFixed(2)} s, ${megabytes.toFixed(2)} MB, ${messages} messages`,
        pass: seconds < 0.5 && megabytes < 4 && messages < 100,
        values: { seconds, megabytes, messages },
      }
    }),
  },
  {
    name: "stream: 100 KB in 5,000 pieces over 60 s, bytes per byte",
    wanted: "socket at most 10x each; journal at most 5x",
    measure: async ({ binary }) => {
      const journal = (server) => statSync(join(server.data, "journal.db")).size
      // While it runs, even its empty tables may be only in the log.
      const empty = await withLiminal(binary, (server) => server.stopped(() => journal(server)))
      // All four at once: one after the other would only take longer.
      const figures = await Promise.all(Object.entries(TEXTS).map(([kind, text]) => withAgent(binary, [{ on: "any", steps: [{ say_chopped: { text, size: SIZE / PIECES, every_ms: 12 } }] }], async (socket, make, server) => {
        const sessionId = await make()
        const [bytes, disk] = [socket.counts.bytes, written(server.pid)]
        await socket.ask({ type: "session:send", sessionId, content: "go" })
        await turnEnd(socket, sessionId)
        const [sent, logged] = [(socket.counts.bytes - bytes) / SIZE, (written(server.pid) - disk) / SIZE]
        return server.stopped(() => ({ kind, sent, logged, kept: (journal(server) - empty) / SIZE }))
      })))
      return {
        figure: figures.map(({ kind, sent, kept, logged }) => `${kind} ${sent.toFixed(1)}x/${kept.toFixed(1)}x (written ${logged.toFixed(0)}x)`).join(", "),
        pass: figures.every(({ sent, kept }) => sent <= 10 && kept <= 5),
        values: Object.fromEntries(figures.map(({ kind, sent, kept, logged }) => [kind, { sent, kept, logged }])),
      }
    },
  },
  {
    name: "stream: ten sessions made and spoken to at the same instant",
    wanted: "10 of 10 answer, each its own",
    measure: ({ binary }) => withAgent(binary, [{ on: "any", steps: [{ say: "You said: " }, "say_prompt"] }], async (socket, make) => {
      const began = performance.now()
      const answers = await Promise.all(Array.from({ length: 10 }, async (_, n) => {
        const sessionId = await make()
        await socket.ask({ type: "session:send", sessionId, content: `word ${n}` })
        await turnEnd(socket, sessionId)
        const { entries } = await socket.ask({ type: "session:open", sessionId })
        return entries.some(({ origin, content }) => origin === "agent" && content === `You said: word ${n}`)
      }))
      const [right, seconds] = [answers.filter(Boolean).length, (performance.now() - began) / 1000]
      return { figure: `${right} of 10 in ${seconds.toFixed(2)} s`, pass: right === 10, values: { right, seconds } }
    }),
  },
  {
    name: "stream: resident memory, ten sessions in five languages",
    wanted: "at most 40 MB",
    measure: ({ binary }) => {
      const say = (language, code) => ({ on: { exact: language }, steps: [{ say_chopped: { text: `Some ${language}:\n\n\`\`\`${language}\n${code.repeat(40)}\`\`\`\n`.repeat(5), size: 40, every_ms: 5 } }] })
      const rules = [say("rust", "fn main() { println!(\"{}\", 1 + 1); }\n"), say("typescript", "export const a: number = f(1) // one\n"), say("python", "def f(x):\n    return [y for y in x if y]\n"), say("go", "func f(x int) string { return \"a\" }\n"), say("sql", "SELECT a, b FROM t WHERE c = 'd';\n")]
      return withAgent(binary, rules, async (socket, make, server) => {
        const sessions = []
        for (let n = 0; n < 10; n += 1) sessions.push(await make())
        await Promise.all(sessions.map((sessionId, n) => socket.ask({ type: "session:send", sessionId, content: rules[n % 5].on.exact })))
        await Promise.all(sessions.map((sessionId) => turnEnd(socket, sessionId)))
        return megabytes(resident(server.pid), 40)
      })
    },
  },
]
