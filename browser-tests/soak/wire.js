/** A connection between one browser and the server that can be cut. New connections get through afterwards. */

import { once } from "node:events"
import { connect, createServer } from "node:net"

export async function layWire() {
  const open = new Set()
  let port = 0
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    open.add(near)
    near.pipe(far).pipe(near)
    const end = () => {
      open.delete(near)
      near.destroy()
      far.destroy()
    }
    for (const each of [near, far]) each.on("error", end).on("close", end)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    /** Sets the port of the server. @param {number} to */
    leadTo(to) {
      port = to
    },
    cut() {
      for (const socket of open) socket.destroy()
    },
    async remove() {
      this.cut()
      server.close()
      await once(server, "close")
    },
  }
}
