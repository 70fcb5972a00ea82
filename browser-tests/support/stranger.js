/** Another program that takes our port while our server is down, and the page it serves there. */

import { createServer } from "node:http"
import { once } from "node:events"

export class Stranger {
  /** Every request it received. @type {{ url: string, headers: object, body: string }[]} */
  got = []
  #server

  /** `answers`: `{ type, body, headers }` by path; other paths are answered like `/`. */
  static async at(origin, answers) {
    const stranger = new Stranger()
    const server = createServer(async (request, response) => {
      let body = ""
      for await (const chunk of request) body += chunk
      stranger.got.push({ url: request.url, headers: request.headers, body })
      const answer = answers[new URL(request.url, origin).pathname] ?? answers["/"]
      response.writeHead(200, { "content-type": answer.type ?? "text/html", ...answer.headers }).end(answer.body)
    })
    server.on("upgrade", (request, socket) => {
      stranger.got.push({ url: request.url, headers: request.headers, body: "" })
      socket.destroy()
    })
    stranger.#server = server
    server.listen(Number(new URL(origin).port), "127.0.0.1")
    await once(server, "listening")
    return stranger
  }

  async leaves() {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** Runs in the stranger's page: returns all texts it can read, and whether the keys it finds can be exported. */
export async function harvest() {
  const texts = []
  const keys = []
  const take = (value) => {
    if (typeof value === "string") texts.push(value)
    else if (value instanceof CryptoKey) keys.push(value)
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(take)
  }
  const done = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  for (const storage of [localStorage, sessionStorage]) {
    for (const [, text] of Object.entries(storage)) {
      take(text)
      try {
        take(JSON.parse(text))
      } catch {
        /* not JSON */
      }
    }
  }
  take(document.cookie)
  for (const { name } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name))
    for (const store of database.objectStoreNames)
      take(await done(database.transaction(store).objectStore(store).getAll()))
    database.close()
  }
  const exported = []
  for (const key of keys) {
    for (const format of ["raw", "pkcs8", "jwk"])
      exported.push(
        await crypto.subtle.exportKey(format, key).then(
          () => `exported as ${format}`,
          () => "refused",
        ),
      )
  }
  return { texts, keys: keys.length, exported }
}
