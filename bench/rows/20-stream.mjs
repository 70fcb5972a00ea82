// From an agent's line to a browser's socket: what it costs in time, bytes and memory.
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { turnEnd, withAgent } from "../conversation.mjs"
import { megabytes, peak, resident, used, withLiminal } from "../liminal.mjs"
import { connected } from "../socket.mjs"

const SIZE = 100_000,
  PIECES = 5000
const upTo = (piece) =>
  Array.from({ length: Math.ceil(SIZE / piece(0).length) }, (_, n) => piece(n))
    .join("")
    .slice(0, SIZE)
const TEXTS = {
  paragraphs: upTo(
    (n) => `Paragraph ${n} says a few words about something that matters to nobody, and then it ends here.\n\n`,
  ),
  list: upTo((n) => `- item ${n} of a list that goes on for a very long time\n`),
  table: `| a | b |\n| --- | --- |\n${upTo((n) => `| cell ${n} | and what stands beside it |\n`)}`.slice(0, SIZE),
  fence: `\`\`\`rust\n${upTo((n) => `    let line_${n} = compute(${n}, "text"); // and so on\n`)}`.slice(0, SIZE),
}

const LARGE = 10_000_000,
  LARGE_PIECES = 500_000

/** An answer of 10 MB to a browser that reads everything, as tails and whole. */
async function largeAnswer(binary) {
  const text = "twenty bytes, nl \n\n.".slice(0, LARGE / LARGE_PIECES)
  const steps = [{ flood: { count: LARGE_PIECES, text } }]
  return withAgent(binary, [{ on: "any", steps }], async (socket, make, server) => {
    const sessionId = await make()
    const items = new Map()
    const whole = await connected(server, ({ type, payload }) => {
      if (type === "session:upsert" && payload.origin === "agent") items.set(payload.itemId, payload.content)
    })
    await whole.ask({ type: "session:open", sessionId })
    const [before, tails] = [whole.counts.bytes, socket.counts.bytes]
    await socket.ask({ type: "session:send", sessionId, content: "go" })
    await Promise.all([turnEnd(socket, sessionId), turnEnd(whole, sessionId)])
    whole.close()
    return {
      isWhole: [...items.values()].join("") === text.repeat(LARGE_PIECES),
      tails: (socket.counts.bytes - tails) / LARGE,
      whole: (whole.counts.bytes - before) / LARGE,
      memory: peak(server.pid),
    }
  })
}

const MANY = 100,
  WORDS = 500,
  EVERY_MS = 20

/** A hundred sessions that say a word every 20 ms, all followed by one browser. */
function manySessions({ binary }) {
  const steps = [{ say_chopped: { text: "word ".repeat(WORDS), size: 5, every_ms: EVERY_MS } }]
  return withAgent(binary, [{ on: "any", steps }], async (socket, make, server) => {
    const ids = []
    for (let n = 0; n < MANY; n += 1) ids.push(await make())
    const before = used(server.pid)
    const bytes = socket.counts.bytes
    await Promise.all(ids.map((sessionId) => socket.ask({ type: "session:send", sessionId, content: "go" })))
    await Promise.all(ids.map((sessionId) => turnEnd(socket, sessionId)))
    const after = used(server.pid)
    // Of the time it takes if nothing else runs on the machine.
    const cores = (after.cpuMs - before.cpuMs) / (WORDS * EVERY_MS)
    const perByte = (what) => what / (MANY * WORDS * 5)
    const [disk, sent] = [perByte(after.written - before.written), perByte(socket.counts.bytes - bytes)]
    return {
      figure:
        `${cores.toFixed(2)} cores; per byte of text ${disk.toFixed(0)} to disk, ` +
        `${sent.toFixed(0)} to the browser`,
      pass: cores < 0.5,
      values: { cores, disk, sent },
    }
  })
}

/** What one small update of a long answer costs on disk, in pages of the journal's log. */
function steadyUpdate({ binary }) {
  const text = "twenty bytes, nl \n\n.".repeat(1000)
  const steps = [{ say_chopped: { text, size: 20, every_ms: 25 } }]
  return withAgent(binary, [{ on: "any", steps }], async (socket, make, server) => {
    const sessionId = await make()
    await socket.ask({ type: "session:send", sessionId, content: "go" })
    const [before, frames] = [used(server.pid).written, socket.counts.frames]
    await turnEnd(socket, sessionId)
    const updates = socket.counts.frames - frames
    const bytes = (used(server.pid).written - before) / updates
    return {
      figure:
        `${(bytes / PAGE).toFixed(2)} pages; ${((bytes * updates) / text.length).toFixed(0)} bytes on disk ` +
        `per byte of text in ${updates} updates`,
      // The end of the answer, which is written whole, is in it.
      pass: bytes / PAGE <= 2.1,
      values: { pages: bytes / PAGE, perByte: (bytes * updates) / text.length },
    }
  })
}

/** A page in the log, with its header. */
const PAGE = 4096 + 24

export default [
  {
    name: "stream: 100 sessions that say a word every 20 ms, the server's CPU",
    wanted: "under half a core",
    measure: manySessions,
  },
  {
    name: "stream: one steady update, written to disk",
    wanted: "at most two pages",
    measure: steadyUpdate,
  },
  {
    slow: true,
    more: ["whole"],
    name: "stream: 10 MB in 500,000 pieces, to a browser with and one without tails",
    wanted: "10 of 10 whole, under 120 MB, socket at most 30x",
    measure: async ({ binary }) => {
      const runs = []
      for (let n = 0; n < 10; n += 1) runs.push(await largeAnswer(binary).catch(() => ({ isWhole: false })))
      const whole = runs.filter(({ isWhole }) => isWhole)
      const most = (what) => Math.max(0, ...whole.map((run) => run[what]))
      return {
        figure:
          `${whole.length} of 10 whole, at most ${most("memory").toFixed(0)} MB, ` +
          `socket ${most("tails").toFixed(1)}x with tails and ${most("whole").toFixed(1)}x without`,
        pass: whole.length === 10 && most("memory") < 120 && most("tails") <= 30 && most("whole") <= 30,
        values: { whole: whole.length, memory: most("memory"), tails: most("tails"), without: most("whole") },
      }
    },
  },
  {
    name: "stream: 20,000 chunks of 20 bytes at once",
    wanted: "under 0.5 s, under 4 MB, under 100 messages",
    measure: ({ binary }) =>
      withAgent(
        binary,
        [{ on: "any", steps: [{ flood: { count: 20_000, text: "twenty bytes of text" } }] }],
        async (socket, make) => {
          const sessionId = await make()
          const { frames, bytes } = { ...socket.counts }
          const began = performance.now()
          await socket.ask({ type: "session:send", sessionId, content: "go" })
          await turnEnd(socket, sessionId)
          const [seconds, megabytes, messages] = [
            (performance.now() - began) / 1000,
            (socket.counts.bytes - bytes) / 1e6,
            socket.counts.frames - frames,
          ]
          return {
            figure: `${seconds.toFixed(2)} s, ${megabytes.toFixed(2)} MB, ${messages} messages`,
            pass: seconds < 0.5 && megabytes < 4 && messages < 100,
            values: { seconds, megabytes, messages },
          }
        },
      ),
  },
  {
    slow: true,
    name: "stream: 100 KB in 5,000 pieces over 60 s, bytes per byte",
    wanted: "socket at most 10x each; journal at most 5x",
    measure: async ({ binary }) => {
      const journal = (server) => statSync(join(server.data, "journal.db")).size
      // While the server runs, even its empty tables may be only in the log.
      const empty = await withLiminal(binary, (server) => server.stopped(() => journal(server)))
      // All four at once, to save time.
      const figures = await Promise.all(
        Object.entries(TEXTS).map(([kind, text]) =>
          withAgent(
            binary,
            [{ on: "any", steps: [{ say_chopped: { text, size: SIZE / PIECES, every_ms: 12 } }] }],
            async (socket, make, server) => {
              const sessionId = await make()
              const [bytes, disk] = [socket.counts.bytes, used(server.pid).written]
              await socket.ask({ type: "session:send", sessionId, content: "go" })
              await turnEnd(socket, sessionId)
              const [sent, logged] = [(socket.counts.bytes - bytes) / SIZE, (used(server.pid).written - disk) / SIZE]
              return server.stopped(() => ({ kind, sent, logged, kept: (journal(server) - empty) / SIZE }))
            },
          ),
        ),
      )
      return {
        figure: figures
          .map(
            ({ kind, sent, kept, logged }) =>
              `${kind} ${sent.toFixed(1)}x/${kept.toFixed(1)}x (written ${logged.toFixed(0)}x)`,
          )
          .join(", "),
        pass: figures.every(({ sent, kept }) => sent <= 10 && kept <= 5),
        values: Object.fromEntries(figures.map(({ kind, sent, kept, logged }) => [kind, { sent, kept, logged }])),
      }
    },
  },
  {
    more: ["right"],
    name: "stream: ten sessions made and spoken to at the same instant",
    wanted: "10 of 10 answer, each its own",
    measure: ({ binary }) =>
      withAgent(binary, [{ on: "any", steps: [{ say: "You said: " }, "say_prompt"] }], async (socket, make) => {
        const began = performance.now()
        const answers = await Promise.all(
          Array.from({ length: 10 }, async (_, n) => {
            const sessionId = await make()
            await socket.ask({ type: "session:send", sessionId, content: `word ${n}` })
            await turnEnd(socket, sessionId)
            const { entries } = await socket.ask({ type: "session:open", sessionId })
            return entries.some(({ origin, content }) => origin === "agent" && content === `You said: word ${n}`)
          }),
        )
        const [right, seconds] = [answers.filter(Boolean).length, (performance.now() - began) / 1000]
        return { figure: `${right} of 10 in ${seconds.toFixed(2)} s`, pass: right === 10, values: { right, seconds } }
      }),
  },
  {
    name: "stream: resident memory, ten sessions in five languages",
    wanted: "at most 40 MB",
    measure: ({ binary }) => {
      const say = (language, code) => ({
        on: { exact: language },
        steps: [
          {
            say_chopped: {
              text: `Some ${language}:\n\n\`\`\`${language}\n${code.repeat(40)}\`\`\`\n`.repeat(5),
              size: 40,
              every_ms: 5,
            },
          },
        ],
      })
      const rules = [
        say("rust", 'fn main() { println!("{}", 1 + 1); }\n'),
        say("typescript", "export const a: number = f(1) // one\n"),
        say("python", "def f(x):\n    return [y for y in x if y]\n"),
        say("go", 'func f(x int) string { return "a" }\n'),
        say("sql", "SELECT a, b FROM t WHERE c = 'd';\n"),
      ]
      return withAgent(binary, rules, async (socket, make, server) => {
        const sessions = []
        for (let n = 0; n < 10; n += 1) sessions.push(await make())
        await Promise.all(
          sessions.map((sessionId, n) =>
            socket.ask({ type: "session:send", sessionId, content: rules[n % 5].on.exact }),
          ),
        )
        await Promise.all(sessions.map((sessionId) => turnEnd(socket, sessionId)))
        return megabytes(resident(server.pid), 40)
      })
    },
  },
]
