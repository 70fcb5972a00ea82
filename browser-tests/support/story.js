/**
 * The fixtures of every story: its own server, and a browser that is watched. At the end no page may have logged an
 * error or a warning, or sent a request to another host.
 */

import { test as base, expect } from "@playwright/test"
import { Liminal } from "./liminal.js"
import { Shell } from "./shell.js"

export const test = base.extend({
  /** The server's environment; stories change it with `test.use`. */
  env: [{}, { option: true }],

  liminal: async ({ env }, use) => {
    const app = await Liminal.start(env)
    await use(app)
    await app.remove()
  },

  /** Watches every page of the story. A story that provokes a complaint must announce it first. */
  complaints: async ({ context, liminal }, use) => {
    const logged = []
    const home = liminal.origin
    const expected = []
    const watch = (page) => {
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type()) && !expected.some((pattern) => pattern.test(message.text())))
          logged.push(`${message.type()}: ${message.text()}`)
      })
      page.on("pageerror", (error) => logged.push(`thrown: ${error.message}`))
      page.on("request", (request) => {
        const { origin, protocol } = new URL(request.url())
        if (protocol.startsWith("http") && origin !== home && !expected.some((pattern) => pattern.test(origin)))
          logged.push(`request to ${origin}`)
      })
    }
    context.pages().forEach(watch)
    context.on("page", watch)
    await use({
      expect: (pattern) => expected.push(pattern),
      expectLostServer: () =>
        expected.push(/net::ERR_(CONNECTION|EMPTY|NETWORK)|WebSocket connection to .* failed|Failed to load resource/),
    })
    expect(logged).toEqual([])
  },

  /** The page, logged in. */
  shell: async ({ page, liminal, complaints }, use) => {
    void complaints
    const shell = new Shell(page, liminal)
    await shell.enter()
    await use(shell)
  },
})

export { expect }
