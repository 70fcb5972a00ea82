/**
 * What every story begins with: a program of its own and a browser that watches itself. At its end no page may have logged
 * an error or a warning, or asked another host for anything.
 */

import { test as base, expect } from "@playwright/test"
import { Liminal } from "./liminal.js"
import { Shell } from "./shell.js"

export const test = base.extend({
  /** Environment of the program; stories change it with `test.use`. */
  env: [{}, { option: true }],

  liminal: async ({ env }, use) => {
    const app = await Liminal.start(env)
    await use(app)
    await app.remove()
  },

  /** Watches every page of the story. A story that provokes one says so first. */
  complaints: async ({ context, liminal }, use) => {
    const heard = []
    const home = liminal.origin
    const expected = []
    const watch = (page) => {
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type()) && !expected.some((pattern) => pattern.test(message.text()))) heard.push(`${message.type()}: ${message.text()}`)
      })
      page.on("pageerror", (error) => heard.push(`thrown: ${error.message}`))
      page.on("request", (request) => {
        const { origin, protocol } = new URL(request.url())
        if (protocol.startsWith("http") && origin !== home && !expected.some((pattern) => pattern.test(origin))) heard.push(`request to ${origin}`)
      })
    }
    context.pages().forEach(watch)
    context.on("page", watch)
    await use({
      expect: (pattern) => expected.push(pattern),
      expectLostServer: () => expected.push(/net::ERR_(CONNECTION|EMPTY|NETWORK)|WebSocket connection to .* failed|Failed to load resource/),
    })
    expect(heard).toEqual([])
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
