/** The real program, started for a story: its own data directory, its own home, any free port, ended by its id. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { gate, writeAgents } from "./agents.js"

const root = resolve(fileURLToPath(import.meta.url), "../../..")
/** Where cargo puts a program. @param {string} name */
export const built = (name) => join(process.env.CARGO_TARGET_DIR || join(root, "target"), "debug", name)
const binary = process.env.LIMINAL_TEST_BINARY || built("liminal")
/** While one works on the page: its files from the checkout, so that nothing needs to be built. */
const fromDisk = Boolean(process.env.LIMINAL_TEST_FROM_DISK)

export class Liminal {
  #home
  #env
  #child = null
  #agents = []
  /** How each scripted agent is started, as a shell reads it. */
  #starts = new Map()
  #port = 0
  /** Further arguments of the program. @type {string[]} */
  args = []
  /** Directories of this story: `home` is also HOME. */
  constructor(home, env) {
    this.#home = home
    this.#env = env
  }

  /** `prepare` may put things into the data directory before the program starts. */
  static async start(env = {}, prepare = async (_app) => {}) {
    await access(binary).catch(() => { throw new Error(`no program at ${binary}: build it with “cargo build”`) })
    const app = new Liminal(await mkdtemp(join(tmpdir(), "liminal-story-")), env)
    await writeAgents(app.home, app.dataDir, binary)
    await prepare(app)
    await app.up()
    return app
  }

  /** Starts it (again), on the port it had before. */
  async up() {
    await this.#start(this.#port)
    this.#port = Number(new URL(this.origin).port)
  }

  /** While the pages of its usual address have lost it, the program runs at another one for a while, and `change` happens there. */
  async elsewhere(change) {
    const { origin, link } = this
    await this.#start(0)
    await change()
    await this.stop()
    Object.assign(this, { origin, link })
  }

  async #start(port) {
    const child = spawn(binary, ["serve", "--no-open", "--port", String(port), "--data-dir", this.dataDir, ...(fromDisk ? ["--dev"] : []), ...this.args], {
      cwd: fromDisk ? root : this.#home,
      env: { PATH: process.env.PATH, HOME: this.#home, LANG: "C.UTF-8", ...this.#env },
      stdio: ["ignore", "pipe", "pipe"],
    })
    this.#child = child
    let said = ""
    child.stderr.on("data", (chunk) => { said += chunk })
    const lines = createInterface({ input: child.stdout })
    const line = await Promise.race([
      once(lines, "line").then(([text]) => text),
      once(child, "exit").then(([code]) => { throw new Error(`liminal ended with ${code}: ${said}`) }),
    ])
    this.link = /http:\S+/.exec(line)?.[0] ?? ""
    const address = new URL(this.link)
    this.origin = address.origin
    this.token = new URLSearchParams(address.hash.slice(1)).get("token")
    this.log = () => said
  }

  /** Makes an agent of a script known, under this name (see docs/script.md). More goes into its entry of `agents.json`. */
  async hasAgent(name, script, more = {}) {
    const id = name.toLowerCase()
    const file = join(this.#home, `${id}.script.json`)
    await writeFile(file, JSON.stringify(script))
    this.#agents = [...this.#agents.filter((agent) => agent.id !== id), { id, name, command: binary, args: ["demo-agent", "--script", file, "--history", join(this.#home, `${id}-history`)], ...more }]
    this.#starts.set(id, [binary, "demo-agent", "--script", file, "--history", join(this.#home, `${id}-history`)].join(" "))
    await this.#writeAgents()
  }

  async #writeAgents() {
    await mkdir(this.dataDir, { recursive: true, mode: 0o700 })
    await writeFile(join(this.dataDir, "agents.json"), JSON.stringify({ agents: this.#agents }), { mode: 0o600 })
  }

  /** Has the script played by what is started as Claude Code. */
  async isClaude(script) {
    const file = join(this.#home, "claude.script.json")
    await writeFile(file, JSON.stringify(script))
    this.#env = { ...this.#env, CLAUDE_CMD: `${binary} demo-agent --face claude --script ${file}` }
  }

  /** Environment of the next start. */
  hasEnvironment(env) { this.#env = { ...this.#env, ...env } }

  /** Starts the program again, its agents' entries changed by `change(the command that started one)`. */
  async restartsWith(complaints, change) {
    complaints.expectLostServer()
    await this.stop()
    this.#agents = this.#agents.map((agent) => ({ ...agent, ...change(`exec ${this.#starts.get(agent.id)}`) }))
    await this.#writeAgents()
    await this.up()
  }

  get dataDir() { return join(this.#home, "data") }
  get home() { return this.#home }
  get binary() { return binary }
  get pid() { return this.#child?.pid }

  /** Puts an empty file into the project `work`, for a step of a script that waits for it. @param {string} name */
  touch(name) { return writeFile(join(this.#home, "work", name), "") }

  /** Lets an answer that an agent holds go on. @param {string} name */
  release(name) { return gate(this.#home).open(name) }

  /** Makes a session as a script would, and says something in it. Its title is what was said. */
  async session(projectDir, message, cliType = "helper") {
    const { sessionId } = await this.api("/api/session/create", { method: "POST", body: { projectDir, cliType } })
    if (message) await this.say(sessionId, message)
    return sessionId
  }

  say(sessionId, content) {
    return this.api(`/api/session/${encodeURIComponent(sessionId)}/send`, { method: "POST", body: { content } })
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

  /** As `kill -9` does: nothing is said to anybody. */
  kill() { return this.#end("SIGKILL") }
  stop() { return this.#end("SIGTERM") }

  async remove() {
    await this.stop()
    await rm(this.#home, { recursive: true, force: true, maxRetries: 5 })
  }

  /** A call of `/api`, as a script makes it. */
  async api(path, { method = "GET", body } = {}) {
    const answer = await fetch(this.origin + path, {
      method, headers: { authorization: `Bearer ${this.token}`, ...(body ? { "content-type": "application/json" } : {}) }, body: body ? JSON.stringify(body) : undefined,
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.headers.get("content-type")?.includes("json") ? answer.json() : answer.text()
  }
}
