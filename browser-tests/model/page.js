/**
 * Pages without a browser: the page's own socket and the portlet's own transcript, driven by the server's model test
 * (`crates/server/src/sessions/tests/model.rs`). Each line on stdin is a command; each line on stdout is its result:
 * the messages the page sent to the server, or its state. No code of the page is copied; only the WebSocket and the
 * clock are replaced.
 */

import { createInterface } from "node:readline"
import { applyFrame, firstIndex, lastIndex, nothingYet } from "../../client/portlet/transcript.js"
import { createSocket } from "../../client/shared/socket.js"

// No real waiting: a timer fires as soon as everything else is done.
globalThis.setTimeout = (then) => setImmediate(then)
globalThis.clearTimeout = clearImmediate

const settled = () => new Promise((then) => setImmediate(() => setImmediate(then)))

/** @type {Map<number, ReturnType<typeof openPage>>} */
const pages = new Map()

/** A page that shows one session, like the shell and its portlet together. */
function openPage(sessionId) {
  let transcript = nothingYet
  let web = null
  let sent = []
  const take = (frame) => {
    const next = applyFrame(transcript, frame)
    if (next) transcript = next
    else throw new Error(`a tail that does not fit: ${JSON.stringify(frame)}`)
  }
  const socket = createSocket({
    enter: async () => ({ ticket: "ticket" }),
    open: () => (web = { send: (text) => sent.push(JSON.parse(text)), close() {} }),
    onFrame(frame) {
      if (
        frame.type === "session:history" ||
        frame.type === "session:upsert" ||
        frame.type === "session:tail" ||
        frame.type === "session:turn" ||
        frame.type === "session:facts"
      )
        take(frame)
      else if (frame.type === "error") throw new Error(`the page received ${frame.code}: ${frame.message}`)
    },
    onStatus() {},
    onOpen() {},
    keepSends() {},
    sends: [],
    isHidden: () => false,
  })
  return {
    async connect() {
      if (!web) await socket.start()
      web.onopen()
    },
    follow: (around) => socket.follow(sessionId, around ?? undefined),
    /** Each message is a task of its own, as in a browser: what its reply resolves is done before the next one. */
    async receive(texts) {
      for (const text of texts) {
        web.onmessage({ data: text })
        await settled()
      }
    },
    lose() {
      const lost = web
      web = null
      lost.onclose()
    },
    older() {
      if (!transcript.older) return
      socket.request({ type: "session:older", sessionId, before: firstIndex(transcript) ?? 0 }).then(take, () => {})
    },
    newer() {
      if (!transcript.newer) return
      socket.request({ type: "session:newer", sessionId, after: lastIndex(transcript) }).then(take, () => {})
    },
    state: () => ({
      items: transcript.runs.flatMap((run) => run.items),
      turns: Object.fromEntries([...transcript.turns].map(([id, known]) => [id, known.turn])),
      older: transcript.older,
      newer: transcript.newer,
    }),
    takeSent: () => sent.splice(0),
    stop: socket.stop,
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { page: number, ...command } = JSON.parse(line)
  if (command.do === "load") {
    pages.get(number)?.stop()
    pages.set(number, openPage(command.session))
  }
  const page = pages.get(number)
  switch (command.do) {
    case "connect":
      await page.connect()
      break
    case "follow":
      page.follow(command.around)
      break
    case "receive":
      await page.receive(command.texts)
      break
    case "lose":
      page.lose()
      break
    case "older":
      page.older()
      break
    case "newer":
      page.newer()
      break
  }
  await settled()
  console.log(JSON.stringify(command.do === "state" ? page.state() : page.takeSent()))
}
