// A client of the socket, as a page is one: sends requests, waits for frames, and counts them.
import { randomBytes } from "node:crypto"
import { request } from "node:http"
import { waited } from "./waiting.mjs"

/** `arrived` is called with every frame as it comes.
 * @returns {Promise<{
 *   ask: (message: object) => Promise<any>,
 *   send: (message: object) => void,
 *   sees: (find: (frame: any) => any, what?: string) => Promise<any>,
 *   counts: {frames: number, bytes: number},
 *   close: () => void
 * }>} */
export function connected({ address, token }, arrived = () => {}) {
  const { host } = new URL(address)
  return new Promise((resolve, reject) => {
    const upgrade = request(`${address}/ws`, {
      headers: {
        Host: host,
        Origin: address,
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        "Sec-WebSocket-Protocol": `liminal.1, ${token}`,
      },
    })
    upgrade
      .on("error", reject)
      .on("upgrade", (_answer, socket, head) => resolve(speaking(socket, head, arrived)))
      .end()
  })
}

function speaking(socket, head, arrived) {
  const counts = { frames: 0, bytes: 0 }
  const frames = waited("the server", { keep: true })
  let buffer = Buffer.alloc(0),
    parts = [],
    requests = 0

  socket.on("data", function read(piece) {
    counts.bytes += piece.length
    buffer = buffer.length === 0 ? piece : Buffer.concat([buffer, piece])
    for (;;) {
      if (buffer.length < 2) return
      const short = buffer[1] & 127
      const start = short === 127 ? 10 : short === 126 ? 4 : 2
      if (buffer.length < start) return
      const length = short === 127 ? Number(buffer.readBigUInt64BE(2)) : short === 126 ? buffer.readUInt16BE(2) : short
      if (buffer.length < start + length) return
      const [code, last] = [buffer[0] & 15, (buffer[0] & 128) !== 0]
      const body = buffer.subarray(start, start + length)
      buffer = buffer.subarray(start + length)
      if (code > 2) continue
      parts.push(body)
      if (!last) continue
      counts.frames += 1
      const frame = JSON.parse(Buffer.concat(parts).toString())
      arrived(frame)
      frames.take(frame)
      parts = []
    }
  })
  if (head.length > 0) socket.emit("data", head)
  socket.on("error", () => {}).on("close", () => frames.end("closed the connection"))

  function send(message) {
    const text = Buffer.from(JSON.stringify(message))
    const length =
      text.length < 126
        ? Buffer.from([128 | text.length])
        : Buffer.from([128 | 126, text.length >> 8, text.length & 255])
    socket.write(Buffer.concat([Buffer.from([129]), length, Buffer.alloc(4), text]))
  }
  /** Returns the server's reply; throws if it is an error. */
  async function ask(message) {
    const requestId = `r${(requests += 1)}`
    send({ ...message, requestId })
    const frame = await frames.sees((each) => each.requestId === requestId, `an answer to ${message.type}`)
    if (frame.type === "error") throw new Error(`${message.type}: ${frame.code}: ${frame.message}`)
    return frame
  }
  return { ask, send, sees: frames.sees, counts, close: () => socket.destroy() }
}
