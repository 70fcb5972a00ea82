/**
 * Pages without a browser: the page's own socket and the portlet's own transcript, driven by the server's model test
 * (`crates/server/src/sessions/tests/model.rs`). Each line on stdin is a command, each line on stdout what came of it:
 * what the page said to the server, or what it holds. Nothing of the page is copied here; only the WebSocket and the
 * clock are stand-ins.
 */

import { createInterface } from "node:readline"
import { applyFrame, firstIndex, lastIndex, nothingYet } from "../../client/portlet/transcript.js"
import { createSocket } from "../../client/shared/socket.js"

// Waiting is for people: here the next try comes as soon as everything else is done.
globalThis.setTimeout = (then) => setImmediate(then)
globalThis.clearTimeout = clearImmediate

const at = "2026-01-01T00:00:00.000Z"
const settled = () => new Promise((then) => setImmediate(() => setImmediate(then)))

/** @type {Map<number, ReturnType<typeof openPage>>} */
const pages = new Map()

/** A page that shows one session, as the shell and its portlet do together. */
function openPage(sessionId) {
  let transcript = nothingYet
  let web = null
  let said = []
  const take = (frame) => { transcript = applyFrame(transcript, frame, at) }
  const socket = createSocket({
    token: () => "token",
    prove: async () => "ours",
    open: () => (web = { send: (text) => said.push(JSON.parse(text)), close() {} }),
    onFrame(frame) {
      if (frame.type === "session:history" || frame.type === "session:upsert" || frame.type === "session:turn") take(frame)
      else if (frame.type === "error") throw new Error(`the page was told ${frame.code}: ${frame.message}`)
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
    receive(texts) {
      for (const text of texts) web.onmessage({ data: text })
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
    said: () => said.splice(0),
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
    case "connect": await page.connect(); break
    case "follow": page.follow(command.around); break
    case "receive": page.receive(command.texts); break
    case "lose": page.lose(); break
    case "older": page.older(); break
    case "newer": page.newer(); break
  }
  await settled()
  console.log(JSON.stringify(command.do === "state" ? page.state() : page.said()))
}
