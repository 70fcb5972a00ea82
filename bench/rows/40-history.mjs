// Opening and taking away what is long.
import { turnEnd, withAgent } from "../conversation.mjs"
import { median, peak, resident } from "../liminal.mjs"

const ENTRY = "Some **words** of an answer with `code`.\n\n- one\n- two\n"

/** How long opening a session of so many entries takes, at its end and around an item, and what it does to the server's memory. */
function opening(entries) {
  return ({ binary }) => withAgent(binary, [{ on: "any", steps: [{ repeat: [entries, ["new_message", { say: ENTRY }]] }] }], async (socket, make, server) => {
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
    const { entries: [middle] } = await socket.ask({ type: "session:older", sessionId, before: entries / 2 })
    const around = await timed({ around: middle.itemId })
    const after = resident(server.pid)
    return {
      figure: `end ${ms.toFixed(1)} ms, around an item ${around.toFixed(1)} ms, memory ${before.toFixed(1)} -> ${after.toFixed(1)} MB`,
      pass: ms <= 20 && around <= 20,
      values: { ms, around, megabytesBefore: before, megabytesAfter: after },
    }
  })
}

export default [
  { name: "history: 2,000 entries, asked to received", wanted: "20 ms", measure: opening(2000) },
  { name: "history: 50,000 entries, asked to received", wanted: "20 ms, and no more memory", measure: opening(50_000) },
  {
    name: "history: a tool's output of 200 MB, resident memory",
    wanted: "less than the output",
    measure: ({ binary }) => {
      const text = `${"What a talkative tool says, again and again, in a line. ".repeat(2)}\n`.repeat(560)
      const count = Math.ceil(200e6 / text.length)
      const steps = [{ tool: { id: "c", name: "Bash", title: "make noise", kind: "execute", input: { command: "make noise" } } }, { repeat: [count, [{ tool_output: { id: "c", text } }]] }, { tool_end: { id: "c", output: "" } }]
      return withAgent(binary, [{ on: "any", steps }], async (socket, make, server) => {
        const sessionId = await make()
        const before = resident(server.pid)
        const began = performance.now()
        const { turnId } = await socket.ask({ type: "session:send", sessionId, content: "go" })
        await turnEnd(socket, sessionId)
        const seconds = (performance.now() - began) / 1000
        const produced = peak(server.pid)
        const answer = await fetch(`${server.address}/api/session/${encodeURIComponent(sessionId)}/item/${encodeURIComponent(`${turnId}:call:c`)}/output`, { headers: { authorization: `Bearer ${server.token}` } })
        let bytes = 0
        for await (const piece of answer.body) bytes += piece.length
        if (bytes !== count * text.length) throw new Error(`${bytes} of ${count * text.length} bytes came back`)
        const downloaded = peak(server.pid)
        return {
          figure: `${before.toFixed(0)} MB before, at most ${produced.toFixed(0)} while it grew (${seconds.toFixed(0)} s, ${(socket.counts.bytes / 1e6).toFixed(0)} MB to the browser), ${downloaded.toFixed(0)} while it was downloaded`,
          pass: downloaded < 200,
          values: { before, produced, downloaded, seconds, socketMegabytes: socket.counts.bytes / 1e6 },
        }
      }, { terminal_meta: true })
    },
  },
]
