/**
 * Debian's Firefox, driven over Marionette, its own remote protocol: Playwright only drives builds of its own. Each
 * message is JSON with its length in front, over TCP: `[0, id, command, parameters]` and `[1, id, error, result]`.
 */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "@playwright/test"

const program = process.env.LIMINAL_TEST_FIREFOX || "/usr/bin/firefox-esr"
/** In milliseconds. Firefox takes long to start on a busy machine. */
const patience = 60_000
/** How Marionette marks an element in a result. */
const element = "element-6066-11e4-a52e-4f735466cecf"

export class Firefox {
  #child
  #profile
  #socket
  #nextId = 1
  #waiting = new Map()

  static async start() {
    const firefox = new Firefox()
    const profile = await mkdtemp(join(tmpdir(), "liminal-firefox-"))
    firefox.#profile = profile
    const preferences = {
      "marionette.port": 0,
      "app.update.enabled": false,
      "network.captive-portal-service.enabled": false,
    }
    await writeFile(
      join(profile, "user.js"),
      Object.entries(preferences)
        .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
        .join(""),
    )
    firefox.#child = spawn(
      program,
      ["--headless", "--marionette", "--no-remote", "--profile", profile, "about:blank"],
      {
        env: { PATH: process.env.PATH, HOME: profile },
        stdio: "ignore",
      },
    )
    await Promise.race([
      once(firefox.#child, "spawn"),
      once(firefox.#child, "error").then(([error]) => Promise.reject(error)),
    ])
    let port = NaN
    await expect
      .poll(
        async () => (port = parseInt(await readFile(join(profile, "MarionetteActivePort"), "utf8").catch(() => ""))),
        {
          timeout: patience,
        },
      )
      .toBeGreaterThan(0)
    await firefox.#connect(port)
    await firefox.#ask("WebDriver:NewSession", { capabilities: {} })
    return firefox
  }

  async #connect(port) {
    const socket = connect(port, "127.0.0.1")
    this.#socket = socket
    let received = Buffer.alloc(0)
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk])
      for (;;) {
        const colon = received.indexOf(":")
        const end = colon + 1 + Number(received.subarray(0, Math.max(colon, 0)))
        if (colon < 0 || received.length < end) return
        const message = JSON.parse(String(received.subarray(colon + 1, end)))
        received = received.subarray(end)
        if (!Array.isArray(message)) continue // the greeting
        const [, id, error, result] = message
        const waiting = this.#waiting.get(id)
        this.#waiting.delete(id)
        if (error) waiting?.reject(new Error(`${error.error}: ${error.message}`))
        else waiting?.resolve(result?.value ?? null)
      }
    })
    await once(socket, "connect")
  }

  #ask(command, parameters = {}) {
    const id = this.#nextId++
    const text = JSON.stringify([0, id, command, parameters])
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`)
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  async open(url) {
    await this.#ask("WebDriver:Navigate", { url })
  }
  async reload() {
    await this.#ask("WebDriver:Refresh")
  }

  /** Runs a function in the page, or in the frame that was entered, and returns its result. */
  run(what, ...args) {
    const script = `const done = arguments[arguments.length - 1]
      const given = Array.prototype.slice.call(arguments, 0, -1)
      Promise.resolve((${what})(...given)).then(done, (error) => done(String(error)))`
    return this.#ask("WebDriver:ExecuteAsyncScript", { script, args, sandbox: null })
  }

  /** Waits for an element with this text, and returns it. */
  async sees(selector, text = "") {
    let found = null
    const look = async () => {
      found = await this.run(
        (selector, text) => [...document.querySelectorAll(selector)].find((each) => each.textContent.includes(text)),
        selector,
        text,
      ).catch((error) => {
        // A frame that was entered before it had loaded gets its document meanwhile.
        if (/unload/i.test(error.message)) return null
        throw error
      })
      return found !== null
    }
    await expect.poll(look, { message: `${selector} with “${text}”`, timeout: patience }).toBe(true)
    return found
  }

  async click(selector, text) {
    const found = await this.sees(selector, text)
    await this.#ask("WebDriver:ElementClick", { id: found[element] })
  }
  async type(selector, text) {
    const found = await this.sees(selector)
    await this.#ask("WebDriver:ElementSendKeys", { id: found[element], text })
  }

  /** Enters a frame of the page; without a selector, the page itself. */
  async enter(selector) {
    await this.#ask("WebDriver:SwitchToFrame", {})
    if (selector === undefined) return
    const found = await this.sees(selector)
    await this.#ask("WebDriver:SwitchToFrame", { element: found[element] })
  }

  async close() {
    const ended = once(this.#child, "exit")
    this.#child.kill()
    await ended
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 })
  }
}
