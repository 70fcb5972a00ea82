/**
 * The soak test: ten sessions with three kinds of agent, some in worktrees, in three browsers, with random actions.
 * Users prompt, choose commands, queue, stop, answer, reload and close; a script does the rest (`script.js`);
 * connections are cut, agents are killed, and the server twice. At the end every session must still answer in all
 * browsers, every browser must show what the journal has, nothing a browser received may be missing, no message may
 * stand twice, the repository must be whole, no process may be left, and the server must not have grown.
 *
 *   scripts/soak [seconds] [seed]
 */

import { expect } from "@playwright/test"
import { connected } from "../../bench/socket.mjs"
import { Liminal } from "../support/liminal.js"
import { COMMAND, habits, kinds, writeAgents } from "./agents.js"
import { chanceOf } from "./chance.js"
import { commandsOf, compare, differences, journalOf, losses, repeated } from "./judge.js"
import { agentsOf, atHome, descendants, living, memoryOf } from "./processes.js"
import { makeRepository, Script } from "./script.js"
import { MUST, Seat } from "./seat.js"
import { layWire } from "./wire.js"

const TITLES = ["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine"]
/** The sessions after these have a worktree each. */
const WITHOUT_WORKTREE = 6
/** By how many megabytes a server may grow, in all and in the second half of its life. What grows at first are caches,
 * such as those of the highlighter; a leak goes on. */
const GROWTH = { all: 30, late: 12 }
const PATIENCE = 60_000

const seconds = Number(process.argv[2] ?? 600)
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000)
if (!(seconds > 0) || !Number.isInteger(seed)) {
  console.error("usage: scripts/soak [seconds] [seed]")
  process.exit(2)
}
console.log(`soak: ${seconds} seconds, seed ${seed}`)

const fate = chanceOf(seed)
/** @type {string[]} */
const defects = []
const counts = new Map()
const growth = []
let prompts = 0
const count = (name) => counts.set(name, (counts.get(name) ?? 0) + 1)
const pause = (ms) => new Promise((done) => setTimeout(done, ms))

/** Waits for a fact. */
async function until(what, holds) {
  const end = Date.now() + PATIENCE
  while (!(await holds())) {
    if (Date.now() > end) return void defects.push(`timed out: ${what}`)
    await pause(100)
  }
}

const names = ["first", "second", "third"]
/** One for each browser, and one for a fresh page at the end. */
const wires = await Promise.all([...names, "fresh"].map(() => layWire()))
const liminal = await Liminal.start({}, async (fresh) => {
  await writeAgents(fresh.home, fresh.dataDir, fresh.binary)
  fresh.args = wires.flatMap(({ origin }) => ["--allow-origin", origin])
})
const port = Number(new URL(liminal.origin).port)
wires.forEach((wire) => wire.leadTo(port))
const stranger = () => connected({ address: liminal.origin, token: liminal.token })

/** The server's memory once everything lazy is loaded: each kind of agent has answered, and the search finds it. */
async function warmUp() {
  const word = `warming${(warmings += 1)}`
  const some = sessions.slice(0, kinds.length).map(({ id }) => id)
  for (const id of some)
    await until(`a turn of ${id} starts`, () =>
      liminal.say(id, `everything ${word}`).then(
        () => true,
        () => false,
      ),
    )
  const socket = await stranger()
  await until("the first turns end", async () => {
    const list = await socket.ask({ type: "session:list", projectId })
    return some.every((id) => list.sessions.find((session) => session.id === id)?.state === "idle")
  })
  await until("the search finds them", async () => {
    const { hits } = await socket.ask({ type: "search", query: word })
    return some.every((id) => hits.some(({ sessionId }) => sessionId === id))
  })
  socket.close()
  return memoryOf(liminal.pid)
}

const sessions = []
/** @type {Seat[]} */
const seats = []
/** @type {Seat[]} */
const others = []
const journals = new Map()
let projectId = ""
/** @type {ReturnType<typeof makeRepository>} */
let repository
const script = new Script({ liminal, socket: stranger, projectId: () => projectId, next: () => (prompts += 1) })
let warmings = 0
let baseline = 0
/** Half-way through a server's life. */
let halfway = 0
let rows = 0
let commands = 0

/** Ten sessions, open in every browser. */
async function begin() {
  const work = await liminal.directory("work")
  repository = makeRepository(work)
  const maker = await stranger()
  projectId = (await maker.ask({ type: "project:add", path: work })).project.id
  for (const [at, title] of TITLES.entries()) {
    const cliType = kinds[at % kinds.length]
    const workspace = { kind: at < WITHOUT_WORKTREE ? "project" : "worktree" }
    const { id } = (await maker.ask({ type: "session:create", projectId, cliType, workspace })).session
    await maker.ask({ type: "session:rename", sessionId: id, title })
    sessions.push({ id, title })
  }
  maker.close()
  for (const [at, name] of names.entries()) seats.push(await Seat.take(name, wires[at], liminal))
  for (const seat of seats) for (const session of sessions) await seat.show(session)
  baseline = await warmUp()
}

/** @param {number} pid */
function killed(pid) {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    /* It had already ended. */
  }
}

/** Whether the user waits for the end of a running turn. Otherwise the message is queued. */
const waits = async (seat, chance) => (await seat.work()) !== "idle" && chance.below(3) > 0

/** The random actions. Any of them may come too late, when its target is gone; that counts as missed. */
const acts = {
  async prompt(seat, session, chance) {
    await seat.glance(session)
    if (await waits(seat, chance)) return count("busy")
    await seat.say(`${chance.weighed(habits)} ${(prompts += 1)}`)
  },
  async command(seat, session, chance) {
    await seat.glance(session)
    if (await waits(seat, chance)) return count("busy")
    await seat.command(COMMAND.name, String((prompts += 1)))
  },
  async answer(seat, session, chance) {
    await seat.glance(session)
    await seat.answer((buttons) => chance.of(buttons))
  },
  async now(seat, _session, chance) {
    await seat.answerInNow((buttons) => chance.of(buttons))
  },
  async stop(seat, session) {
    await seat.glance(session)
    await seat.stop()
  },
  show: (seat, session) => seat.glance(session),
  async policy(seat, session) {
    await seat.glance(session)
    await seat.chat.permits("Ask before acting")
  },
  close: (seat, session) => seat.close(session),
  reload: (seat) => seat.reload(),
  async cut(seat) {
    seat.wire.cut()
  },
  async kill(_seat, _session, chance) {
    const agents = agentsOf(liminal.pid)
    if (agents.length > 0) killed(chance.of(agents))
  },
}
const weights = { prompt: 44, command: 5, answer: 12, now: 4, stop: 9, show: 10, policy: 2 }
Object.assign(weights, { close: 3, reload: 3, cut: 5, kill: 3 })

/** One thing that the script does. */
async function scripted(chance) {
  const name = await script.act(chance.of(sessions), chance)
  if (name) count(name)
  await pause(chance.below(300))
}

async function act(seat, chance) {
  const name = chance.weighed(weights)
  count(name)
  await acts[name](seat, chance.of(sessions), chance).catch((reason) => {
    if (!/Timeout|detached|closed|navigat/i.test(String(reason))) throw reason
    count(`missed ${name}`)
  })
  await pause(chance.below(80))
}

function readLog() {
  for (const line of liminal.log().split("\n"))
    if (/panicked|INTERNAL_ERROR|\bERROR\b/.test(line)) defects.push(`the server's log: ${line}`)
}

async function killServer() {
  growth.push(grownBy())
  const theirs = descendants(liminal.pid)
  count("server kill")
  await liminal.kill()
  readLog()
  await pause(fate.below(1500))
  await liminal.up()
  await until("all agents of the killed server end", () => living(theirs).length === 0)
  baseline = await warmUp()
}

function grownBy() {
  const now = memoryOf(liminal.pid)
  return { all: now - baseline, late: now - halfway }
}

/** Random actions until the time is up. */
async function play() {
  const chances = seats.map((_, at) => chanceOf(seed + at + 1))
  const itsChance = chanceOf(seed + seats.length + 1)
  const began = Date.now()
  for (let life = 1; life <= 3; life += 1) {
    const isTime = () => Date.now() - began < (seconds * 1000 * life) / 3
    const halfTime = setTimeout(() => (halfway = memoryOf(liminal.pid)), (seconds * 1000) / 6)
    const script = async () => {
      while (isTime()) await scripted(itsChance)
    }
    await Promise.all([
      ...seats.map(async (seat, at) => {
        while (isTime()) await act(seat, chances[at])
      }),
      script(),
    ])
    clearTimeout(halfTime)
    if (life < 3) await killServer()
  }
  console.log(`did: ${[...counts].map(([name, times]) => `${times} ${name}`).join(", ")}; ${prompts} prompts`)
}

/** Ends all turns; then every session must answer in every browser, whichever asks. */
async function settle() {
  for (const session of sessions) await script.empty(session)
  for (const seat of seats) {
    await seat.isConnected()
    for (const session of sessions) {
      await seat.show(session)
      if (!(await seat.settle(PATIENCE)))
        defects.push(`${session.title} never becomes idle in the ${seat.name} browser`)
    }
  }
  // An agent may send more after its turn; a killed one cannot.
  const theirs = agentsOf(liminal.pid)
  for (const pid of theirs) killed(pid)
  await until("killed agents are gone", () => living(theirs).length === 0)
  for (const [at, session] of sessions.entries()) {
    const asker = seats[at % seats.length]
    await asker.show(session)
    const reconnect = asker.chat.frame.getByRole("button", { name: "Reconnect" })
    if ((await reconnect.count()) > 0) await reconnect.click()
    const words = `last of ${session.title}`
    await asker.say(words, MUST)
    for (const seat of [asker, ...seats.filter((each) => each !== asker)]) {
      await seat.show(session)
      await expect(seat.chat.words.last(), `${session.title} in the ${seat.name} browser`)
        .toHaveText(`You said: ${words}`, { timeout: PATIENCE })
        .catch((reason) => defects.push(String(reason)))
      await expect(seat.chat.frame.locator(".composer"), `${session.title} idle in the ${seat.name} browser`)
        .toHaveAttribute("data-work", "idle", { timeout: PATIENCE })
        .catch((reason) => defects.push(String(reason)))
    }
  }
  growth.push(grownBy())
}

/** Compares every browser with the journal. */
async function judge() {
  const socket = await stranger()
  const fresh = await Seat.take("fresh", wires.at(-1), liminal)
  others.push(fresh)
  for (const session of sessions) {
    const journal = await journalOf(socket, session.id)
    journals.set(session.id, journal)
    const now = await fresh.shown(session)
    rows += now.length
    for (const seat of seats) {
      const shown = await seat.shown(session)
      defects.push(
        ...[...compare(shown, journal), ...differences(shown, now)].map(
          (what) => `${session.title} in the ${seat.name} browser: ${what}`,
        ),
      )
    }
    defects.push(...compare(now, journal).map((what) => `${session.title} in a fresh page: ${what}`))
    const { answered, unanswered } = commandsOf(journal, COMMAND)
    commands += answered.length
    defects.push(...unanswered.map((what) => `${session.title}: ${what} was not answered as a command`))
    defects.push(...repeated(journal).map((what) => `${session.title}: ${what}`))
  }
  for (const session of script.made)
    defects.push(...repeated(await journalOf(socket, session.id)).map((what) => `${session.title}: ${what}`))
  for (const { id, words } of script.adopted) {
    const [first] = (await journalOf(socket, id)).entries
    if (first?.content !== words) defects.push(`${id} was adopted, but begins with ${JSON.stringify(first?.content)}`)
  }
  socket.close()
  defects.push(...repository.faults().map((what) => `the repository: ${what}`))
  for (const seat of [...seats, fresh]) {
    defects.push(
      ...losses(seat.received, journals).map((what) => `lost, from the ${seat.name} browser: ${what}`),
      ...seat.defects.map((what) => `${seat.name} browser: ${what}`),
    )
  }
}

try {
  await begin()
  await play()
  await settle()
  await judge()
} catch (reason) {
  defects.push(`the soak test itself: ${reason.stack}`)
} finally {
  for (const seat of [...seats, ...others]) await seat.browser.close()
  for (const wire of wires) await wire.remove()
}
const theirs = descendants(liminal.pid)
await liminal.stop()
readLog()
await until(
  "every process ends with the server",
  () => living(theirs).length === 0 && atHome(liminal.home).length === 0,
)
for (const { all, late } of growth)
  if (all > GROWTH.all || late > GROWTH.late)
    defects.push(`the server grew by ${Math.round(all)} MB, ${Math.round(late)} of them in the second half`)

const texts = seats.reduce((sum, { received }) => sum + received.size, 0)
const entries = [...journals.values()].reduce((sum, journal) => sum + journal.entries.length, 0)
console.log(
  `compared: ${entries} items of the journal, ${rows} rows in each of ${seats.length + 1} browsers, ` +
    `${texts} texts received, ${commands} commands answered, ${script.adopted.length} transcripts adopted`,
)
const errors = new Map()
for (const { errors: its } of [...seats, script])
  for (const [code, times] of its) errors.set(code, (errors.get(code) ?? 0) + times)
console.log(`refused: ${[...errors].map(([code, times]) => `${times} ${code}`).join(", ") || "none"}`)
const grew = growth.map(({ all, late }) => `${all.toFixed(1)} (${late.toFixed(1)})`).join(", ")
console.log(`memory of each of three servers grew by ${grew} MB (in the second half)`)
if (defects.length > 0) {
  console.error(`${defects.length} defects with seed ${seed}:\n${defects.join("\n")}\nits files are in ${liminal.home}`)
  process.exitCode = 1
} else {
  await liminal.remove()
  console.log("no defects")
}
