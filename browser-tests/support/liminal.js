/** The real server, started for one story with its own data directory and home, on any free port. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect } from "@playwright/test"
import { gate, writeAgents } from "./agents.js"

const root = resolve(fileURLToPath(import.meta.url), "../../..")
/** The path of a program that cargo built. @param {string} name */
export const built = (name) => join(process.env.CARGO_TARGET_DIR || join(root, "target"), "debug", name)
const binary = process.env.LIMINAL_TEST_BINARY || built("liminal")
/** The scripted agent, which can also play Claude Code. */
export async function scriptedAgent() {
  const program = built("scripted-agent")
  await access(program).catch(() => {
    throw new Error(`no program at ${program}: build it with “cargo build -p liminal-scripted-agent”`)
  })
  return program
}
/** For work on the page: serves its files from the checkout, so that nothing needs to be built. */
const fromDisk = Boolean(process.env.LIMINAL_TEST_FROM_DISK)

export class Liminal {
  #home
  #env
  #child = null
  #agents = []
  /** The shell command that starts each scripted agent. */
  #starts = new Map()
  #port = 0
  /** Further arguments of the server. @type {string[]} */
  args = []
  /** `home` is also the server's HOME. */
  constructor(home, env) {
    this.#home = home
    this.#env = env
  }

  /** `prepare` may write to the data directory before the server starts. */
  static async start(env = {}, prepare = async (_app) => {}) {
    await access(binary).catch(() => {
      throw new Error(`no program at ${binary}: build it with “cargo build”`)
    })
    const app = new Liminal(await mkdtemp(join(tmpdir(), "liminal-story-")), env)
    await writeAgents(app.home, app.dataDir, binary)
    await prepare(app)
    await app.up()
    return app
  }

  /** Starts the server, on the same port as before. */
  async up() {
    await this.#start(this.#port)
    this.#port = Number(new URL(this.origin).port)
  }

  /** Runs the server at another address while the pages of the usual one can't reach it, and makes a `change` there. */
  async elsewhere(change) {
    const { origin, link } = this
    await this.#start(0)
    await change()
    await this.stop()
    Object.assign(this, { origin, link })
  }

  async #start(port) {
    const child = spawn(
      binary,
      [
        "serve",
        "--no-open",
        "--port",
        String(port),
        "--data-dir",
        this.dataDir,
        ...(fromDisk ? ["--dev"] : []),
        ...this.args,
      ],
      {
        cwd: fromDisk ? root : this.#home,
        env: { PATH: process.env.PATH, HOME: this.#home, LANG: "C.UTF-8", ...this.#env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    )
    this.#child = child
    let stderr = ""
    child.stderr.on("data", (chunk) => {
      stderr += chunk
    })
    const lines = createInterface({ input: child.stdout })
    const line = await Promise.race([
      once(lines, "line").then(([text]) => text),
      once(child, "exit").then(([code]) => {
        throw new Error(`liminal ended with ${code}: ${stderr}`)
      }),
    ])
    this.link = /http:\S+/.exec(line)?.[0] ?? ""
    const address = new URL(this.link)
    this.origin = address.origin
    this.token = new URLSearchParams(address.hash.slice(1)).get("token")
    this.log = () => stderr
  }

  /** Adds an agent that plays a script (see docs/script.md). `more` goes into its entry in `agents.json`. */
  async hasAgent(name, script, more = {}) {
    const id = name.toLowerCase()
    const file = join(this.#home, `${id}.script.json`)
    await writeFile(file, JSON.stringify(script))
    this.#agents = [
      ...this.#agents.filter((agent) => agent.id !== id),
      {
        id,
        name,
        command: binary,
        args: ["demo-agent", "--script", file, "--history", join(this.#home, `${id}-history`)],
        ...more,
      },
    ]
    this.#starts.set(
      id,
      [binary, "demo-agent", "--script", file, "--history", join(this.#home, `${id}-history`)].join(" "),
    )
    await this.#writeAgents()
  }

  async #writeAgents() {
    await mkdir(this.dataDir, { recursive: true, mode: 0o700 })
    await writeFile(join(this.dataDir, "agents.json"), JSON.stringify({ agents: this.#agents }), { mode: 0o600 })
  }

  /** Starts an agent that plays the script in place of Claude Code. */
  async isClaude(script) {
    const file = join(this.#home, "claude.script.json")
    await writeFile(file, JSON.stringify(script))
    this.#env = { ...this.#env, CLAUDE_CMD: `${await scriptedAgent()} --face claude --script ${file}` }
  }

  /** Adds to the environment of the next start. */
  hasEnvironment(env) {
    this.#env = { ...this.#env, ...env }
  }

  /** Restarts the server with each agent's entry changed by `change(command)`, where `command` started it before. */
  async restartsWith(complaints, change) {
    complaints.expectLostServer()
    await this.stop()
    this.#agents = this.#agents.map((agent) => ({ ...agent, ...change(`exec ${this.#starts.get(agent.id)}`) }))
    await this.#writeAgents()
    await this.up()
  }

  get dataDir() {
    return join(this.#home, "data")
  }
  get home() {
    return this.#home
  }
  get binary() {
    return binary
  }
  get pid() {
    return this.#child?.pid
  }

  /** Creates an empty file in the project `work`, for a script that waits for it. @param {string} name */
  touch(name) {
    return writeFile(join(this.#home, "work", name), "")
  }

  /** Lets a held answer continue. @param {string} name */
  release(name) {
    return gate(this.#home).open(name)
  }

  /** Creates a session over HTTP and sends a message, which becomes its title. */
  async session(projectDir, message, cliType = "helper") {
    const { sessionId } = await this.api("/api/session/create", { method: "POST", body: { projectDir, cliType } })
    if (message) await this.say(sessionId, message)
    return sessionId
  }

  say(sessionId, content) {
    return this.api(`/api/session/${encodeURIComponent(sessionId)}/send`, { method: "POST", body: { content } })
  }

  #exported(sessionId) {
    return this.api(`/api/session/${encodeURIComponent(sessionId)}/export?format=json`)
  }

  /** The user's messages in a session, as the journal has them. */
  async said(sessionId) {
    const { entries } = await this.#exported(sessionId)
    return entries.filter((item) => item.origin === "user").map((item) => item.content)
  }

  /** Waits until every turn of a session has ended in the journal. */
  async rests(sessionId) {
    const haveEnded = async () => (await this.#exported(sessionId)).turns.every(({ endedAt }) => endedAt !== undefined)
    await expect.poll(haveEnded).toBe(true)
  }

  /** A directory under the story's home. */
  async directory(name) {
    const path = join(this.#home, name)
    await mkdir(path, { recursive: true })
    return path
  }

  /** @param {NodeJS.Signals} signal */
  async #end(signal) {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill(signal)
    await ended
  }

  /** Like `kill -9`: no goodbye. */
  kill() {
    return this.#end("SIGKILL")
  }
  stop() {
    return this.#end("SIGTERM")
  }

  async remove() {
    await this.stop()
    await rm(this.#home, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Calls `/api` with the token, as scripts do. */
  async api(path, { method = "GET", body } = {}) {
    const answer = await fetch(this.origin + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(body ? { "content-type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.headers.get("content-type")?.includes("json") ? answer.json() : answer.text()
  }
}
