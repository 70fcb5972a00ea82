/** A user without a browser: a script that talks over the socket. It sets options, queues, moves and steers messages,
 * attaches texts, branches and compares, adopts what was made in a terminal, and acts on changes. Others act at the
 * same time, so many of its requests are refused; the refusals are counted by code. */

import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { habits, kinds } from "./agents.js"

/** Sessions that it may make. They make the run slower and find little after the first ones. */
const BRANCHES = 4
const COMPARISONS = 1
const ADOPTIONS = 6

/** @param {string} directory */
export function makeRepository(directory) {
  const git = (...args) => execFileSync("git", ["-C", directory, ...args], { encoding: "utf8" })
  git("init", "--quiet", "--initial-branch=main")
  git("config", "user.name", "Soak")
  git("config", "user.email", "soak@example.org")
  git("commit", "--quiet", "--allow-empty", "--message=The first one")
  return {
    /** What is wrong with it. @returns {string[]} */
    faults() {
      const said = git("fsck", "--full", "--strict", "--no-dangling", "--no-progress")
      const refs = git("for-each-ref", "--format=%(refname)").split("\n").filter(Boolean)
      return [
        ...said.split("\n").filter(Boolean),
        ...refs.filter((ref) => !/^refs\/(heads|liminal)\//.test(ref)).map((ref) => `a ref of nobody's: ${ref}`),
      ]
    },
  }
}

export class Script {
  /** Errors that it got, counted by code. @type {Map<string, number>} */
  errors = new Map()
  /** The sessions that it made. @type {{ id: string, title: string }[]} */
  made = []
  /** The sessions that it adopted, and what each begins with. @type {{ id: string, words: string }[]} */
  adopted = []
  comparisons = 0

  /** @param {{ liminal: any, socket: () => Promise<any>, projectId: () => string, next: () => number }} deps */
  constructor(deps) {
    this.deps = deps
  }

  /** Does one thing with a session. A refusal is fine, whatever it says; a lost connection too. */
  async act(session, chance) {
    const name = chance.weighed(weights)
    const socket = await this.deps.socket().catch(() => null)
    if (!socket) return null
    try {
      await acts[name].call(this, socket, session, chance)
    } catch (reason) {
      // A lost connection has no code.
      const [, code = "lost"] = /^[a-z-]+:[a-z-]+: ([A-Z_]+):/.exec(reason.message ?? "") ?? []
      this.errors.set(code, (this.errors.get(code) ?? 0) + 1)
    } finally {
      socket.close()
    }
    return name
  }

  /** Takes every message out of a session's queue. */
  async empty(session) {
    const socket = await this.deps.socket()
    const { facts } = await socket.ask({ type: "session:open", sessionId: session.id })
    for (const { message } of facts.queue.messages)
      await socket.ask({ type: "session:queue", sessionId: session.id, message, act: "remove" }).catch(() => {})
    socket.close()
  }

  /** A prompt that nobody wrote before. */
  words(chance) {
    return `${chance.weighed(habits)} ${this.deps.next()}`
  }
}

/** A transcript as Claude Code leaves it. @param {string} home @param {string} words */
function madeInTerminal(home, words) {
  const cwd = join(home, "work")
  const folder = join(home, ".claude", "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"))
  mkdirSync(folder, { recursive: true })
  const [ref, said, answered] = [randomUUID(), randomUUID(), randomUUID()]
  const line = { cwd, timestamp: "2026-01-02T03:04:05.000Z", isSidechain: false }
  const answer = { id: "m", model: "m", stop_reason: "end_turn", content: [{ type: "text", text: "Mended." }] }
  const lines = [
    { ...line, type: "user", uuid: said, parentUuid: null, message: { role: "user", content: words } },
    { ...line, type: "assistant", uuid: answered, parentUuid: said, message: answer },
  ]
  writeFileSync(join(folder, `${ref}.jsonl`), lines.map((each) => `${JSON.stringify(each)}\n`).join(""))
  return ref
}

const open = (socket, { id }) => socket.ask({ type: "session:open", sessionId: id })
const send = (socket, { id }, content, more = {}) =>
  socket.ask({ type: "session:send", sessionId: id, content, whenBusy: "queue", ...more })

/** As the page does: looks at what would happen, then does exactly that. */
async function change(socket, { id }, act) {
  const { expect } = await socket.ask({ type: "changes:act", sessionId: id, act, preview: true })
  await socket.ask({ type: "changes:act", sessionId: id, act, expect })
}

/** @type {Record<string, (this: Script, socket: any, session: any, chance: any) => Promise<unknown>>} */
const acts = {
  async option(socket, session, chance) {
    const { facts } = await open(socket, session)
    const option = chance.of(facts.options.filter(({ choices }) => choices.length > 0))
    if (!option) return
    const { value } = chance.of(option.choices)
    await socket.ask({ type: "session:option", sessionId: session.id, id: option.id, value, confirmed: true })
  },
  queue(socket, session, chance) {
    return send(socket, session, this.words(chance))
  },
  async rearrange(socket, session, chance) {
    const { queue } = (await open(socket, session)).facts
    if (queue.messages.length === 0) return
    const { message, content } = chance.of(queue.messages)
    const act = chance.of([
      { act: "remove" },
      { act: "edit", was: content, content: `${content} again` },
      { act: "move", before: queue.messages[0].message },
      { act: "steer" },
      { act: "hold" },
      { act: "release" },
    ])
    await socket.ask({ type: "session:queue", sessionId: session.id, message, ...act })
  },
  resume: (socket, { id }) => socket.ask({ type: "session:queue-resume", sessionId: id }),
  async attach(socket, session, chance) {
    const { origin, token } = this.deps.liminal
    const answer = await fetch(`${origin}/api/attachment?name=log.txt`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: `line ${this.deps.next()}\n`.repeat(60),
    })
    await send(socket, session, this.words(chance), {
      attachments: [{ id: (await answer.json()).id, name: "log.txt" }],
    })
  },
  async branch(socket, session, chance) {
    if (this.made.length >= BRANCHES) return
    const { entries } = await open(socket, session)
    const own = entries.filter(({ type, origin }) => type === "message" && origin === "user")
    if (own.length === 0) return
    const { itemId } = chance.of(own)
    const branch = { itemId, at: chance.of(["before", "after"]), as: "branch", content: this.words(chance) }
    const made = await socket.ask({ type: "session:branch", sessionId: session.id, ...branch })
    this.made.push({ id: made.session.id, title: `a branch of ${session.title}` })
  },
  async adopt(socket) {
    if (this.adopted.length >= ADOPTIONS) return
    const words = `made in a terminal ${this.deps.next()}`
    const ref = madeInTerminal(this.deps.liminal.home, words)
    const projectId = this.deps.projectId()
    await socket.ask({ type: "outside:list", projectId })
    await socket.ask({ type: "outside:adopt", projectId, cliType: "claude-code", refs: [ref] })
    const id = `claude-code:${ref}`
    this.adopted.push({ id, words })
    await open(socket, { id })
  },
  undo: (socket, session) => change(socket, session, { kind: "undo-turn", paths: ["log.txt"] }),
  commit: (socket, session) => change(socket, session, { kind: "commit", message: "Soaked" }),
  land: (socket, session, chance) =>
    change(socket, session, { kind: "land", how: chance.of(["squash", "merge"]), message: "Landed" }),
  async compare(socket, _session, chance) {
    if (this.comparisons >= COMPARISONS) return
    this.comparisons += 1
    const agents = kinds.slice(0, 2).map((cliType) => ({ cliType }))
    await socket.ask({
      type: "compare:start",
      projectId: this.deps.projectId(),
      content: this.words(chance),
      agents,
    })
  },
  changes: (socket, { id }) => socket.ask({ type: "changes:list", sessionId: id, scope: { kind: "uncommitted" } }),
}
const weights = { option: 3, queue: 6, rearrange: 5, resume: 4, attach: 2, branch: 1 }
Object.assign(weights, { undo: 3, commit: 2, land: 2, compare: 1, adopt: 1, changes: 2 })
