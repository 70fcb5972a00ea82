// The real Claude Code and the real codex-acp, through the program and driven directly in the same run, with the fake
// model.
import { execFileSync, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { turnEnd } from "../conversation.mjs"
import { ended, entry, median, quantile, started } from "../liminal.mjs"
import { connected } from "../socket.mjs"
import { waited } from "../waiting.mjs"

const ROUNDS = 9
const MOST = 1.1
/** How long an agent may take to exit after its stdin ends, and again after SIGTERM (milliseconds). */
const GRACE = 10_000
const root = join(import.meta.dirname, "../..")

/** The program that the variable names, or the one installed by scripts/test. */
function installed(variable, package_, command) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "liminal-builder-tests")
  try {
    return (
      process.env[variable] ||
      join(
        cache,
        readdirSync(cache).find((name) => name.startsWith(package_)),
        "node_modules/.bin",
        command,
      )
    )
  } catch {
    return null
  }
}

/** Runs `use` with the fake model and a home directory where both agents are set up to use it. */
async function withModel(use) {
  execFileSync("cargo", ["build", "--quiet", "--package", "liminal-fake-model"], { cwd: root, stdio: "inherit" })
  const model = drivenDirectly(
    join(process.env.CARGO_TARGET_DIR || join(root, "target"), "debug/fake-model"),
    [],
    { project: root, env: {} },
    (line) => line,
  )
  const home = realpathSync(mkdtempSync(join(tmpdir(), "liminal-bench-")))
  try {
    const url = await model.sees(() => true, "its address")
    const [data, project] = [join(home, "data"), join(home, "project")]
    mkdirSync(data, { mode: 0o700 })
    mkdirSync(project)
    mkdirSync(join(home, ".codex"))
    writeFileSync(
      join(home, ".codex/config.toml"),
      `model = "gpt-5.5"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n` +
        `base_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_API_KEY"\n`,
    )
    const env = {
      HOME: home,
      TERM: "dumb",
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "test-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      FAKE_API_KEY: "test-key",
      NO_BROWSER: "1",
    }
    return await use({ home, data, project, env })
  } finally {
    await model.end()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The base of an agent's environment, in both cases. Other variables of this process (certificates to read, say) would
 * slow down only one of the two. */
const bare = { PATH: process.env.PATH, LANG: "C.UTF-8" }

/** A program driven directly: writes lines, waits for lines. `began` is when it was spawned. */
function drivenDirectly(program, args, { project, env }, parse = parsed) {
  const began = performance.now()
  // In its own process group, so that nothing is left when it has to be killed.
  const child = spawn(program, args, {
    cwd: project,
    env: { ...bare, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  })
  const lines = waited(program)
  let complaints = ""
  child.stderr.on("data", (piece) => {
    complaints = (complaints + piece).slice(-2000)
  })
  child.stdin.on("error", () => {}) // The exit handler reports it.
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parse(line)
    if (message !== null) lines.take(message)
  })
  const gone = new Promise((resolve) => {
    child.once("error", (reason) => {
      lines.end(`did not start (${reason.message})`)
      resolve()
    })
    child.once("exit", (code, signal) => {
      lines.end(`ended with ${code ?? signal}, with “${complaints.trim()}” on stderr,`)
      resolve()
    })
  })
  return {
    began,
    write: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    sees: lines.sees,
    async end() {
      child.stdin.end()
      for (const signal of ["SIGTERM", "SIGKILL"]) {
        if (await within(gone, GRACE)) return
        process.kill(-child.pid, signal)
      }
      await gone
    },
  }
}

/** A line as a message; null for other output of the agent. */
function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** Whether the promise resolves within this many milliseconds. */
async function within(fact, milliseconds) {
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds)
  })
  const answer = await Promise.race([fact.then(() => true), late])
  clearTimeout(timer)
  return answer
}

/** Runs `use` with a connected server on this data directory, which is kept. */
async function served(binary, data, use) {
  const { child, line } = await started(binary, ["--port", "0", "--no-open", "--data-dir", data], bare)
  let socket = null
  try {
    socket = await connected(entry(line))
    return await use(socket)
  } finally {
    socket?.close()
    await ended(child)
  }
}

const isFirstWord = ({ type, payload }) =>
  type === "session:upsert" && payload.type === "message" && payload.origin === "agent"
/** Waits until the turn is over; throws if it failed. */
async function complete(socket, sessionId) {
  const { payload } = await turnEnd(socket, sessionId)
  if (payload.type === "turn_error") throw new Error(`the turn failed: ${payload.errorCode}: ${payload.errorMessage}`)
}

const fresh = (socket, sessionId) => socket.ask({ type: "session:open", sessionId })

/** How long both ways took, one after the other in each round. The ratio is the median of the ratios of the rounds,
 * because other load on the machine changes from round to round. */
async function compared(through, direct) {
  const rounds = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push({ direct: await direct(), through: await through() })
  const took = rounds.map((round) => round.through)
  const [ours, p95, theirs] = [median(took), quantile(took, 0.95), median(rounds.map((round) => round.direct))]
  const ratio = median(rounds.map((round) => round.through / round.direct))
  return {
    figure:
      `median ${Math.round(ours)} ms, p95 ${Math.round(p95)} ms, ` +
      `by hand ${Math.round(theirs)} ms: ${ratio.toFixed(2)}x`,
    pass: ratio <= MOST,
    values: { throughMs: ours, throughP95Ms: p95, directMs: theirs, ratio },
  }
}

const absent = (what) => ({
  figure: `no ${what} here: “scripts/test --browser” installs the pinned one`,
  pass: null,
  values: {},
})

async function claude({ binary }) {
  const program = installed("LIMINAL_TEST_CLAUDE", "@anthropic-ai_claude-code@", "claude")
  if (program === null) return absent("Claude Code")
  return withModel(async (place) => {
    writeFileSync(
      join(place.data, "agents.json"),
      JSON.stringify({ agents: [{ id: "claude-code", command: program, env: place.env }] }),
      { mode: 0o600 },
    )
    async function direct() {
      const agent = drivenDirectly(
        program,
        [
          "--output-format",
          "stream-json",
          "--verbose",
          "--input-format",
          "stream-json",
          "--include-partial-messages",
          "--permission-prompt-tool=stdio",
          "--permission-mode=default",
          "--setting-sources=user,project,local",
          `--session-id=${randomUUID()}`,
        ],
        place,
      )
      try {
        const ready = agent.sees(({ type }) => type === "control_response", "its initialize response")
        const word = agent.sees(
          ({ type, event }) => type === "stream_event" && event.delta?.type === "text_delta",
          "its first word",
        )
        agent.write({ type: "control_request", request_id: "r", request: { subtype: "initialize" } })
        await ready
        agent.write({
          type: "user",
          message: { role: "user", content: [{ type: "text", text: "FAKE:TEXT Good morning." }] },
          parent_tool_use_id: null,
          session_id: "",
        })
        await word
        return performance.now() - agent.began
      } finally {
        await agent.end()
      }
    }
    return served(binary, place.data, async (socket) => {
      const { project } = await socket.ask({ type: "project:add", path: place.project })
      return compared(async () => {
        const began = performance.now()
        const { sessionId } = await socket.ask({
          type: "session:create",
          projectId: project.id,
          cliType: "claude-code",
        })
        await fresh(socket, sessionId)
        const word = socket.sees((frame) => frame.sessionId === sessionId && isFirstWord(frame), "the first word")
        await socket.ask({ type: "session:send", sessionId, content: "FAKE:TEXT Good morning." })
        await word
        return performance.now() - began
      }, direct)
    })
  })
}

async function codex({ binary }) {
  const program = installed("LIMINAL_TEST_CODEX_ACP", "@agentclientprotocol_codex-acp@", "codex-acp")
  if (program === null) return absent("codex-acp")
  return withModel(async (place) => {
    writeFileSync(
      join(place.data, "agents.json"),
      JSON.stringify({ agents: [{ id: "codex", command: program, env: place.env }] }),
      { mode: 0o600 },
    )
    const sessionId = await served(binary, place.data, async (socket) => {
      const { project } = await socket.ask({ type: "project:add", path: place.project })
      const { sessionId: made } = await socket.ask({ type: "session:create", projectId: project.id, cliType: "codex" })
      await fresh(socket, made)
      await socket.ask({ type: "session:send", sessionId: made, content: "FAKE:TEXT I remember apple." })
      await complete(socket, made)
      return made
    })
    async function direct() {
      const agent = drivenDirectly(program, [], place)
      const ask = async (id, method, params) => {
        const answer = agent.sees(
          (message) => message.id === id && message.method === undefined,
          `an answer to ${method}`,
        )
        agent.write({ jsonrpc: "2.0", id, method, params })
        const { error, result } = await answer
        if (error) throw new Error(`${method}: ${error.message}`)
        return result
      }
      try {
        await ask(0, "initialize", {
          protocolVersion: 1,
          clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
        })
        const theirs = sessionId.slice(sessionId.indexOf(":") + 1)
        const { modes } = await ask(1, "session/resume", { sessionId: theirs, cwd: place.project, mcpServers: [] })
        // Here too it is put into a mode that asks before acting, as the program does.
        if (modes.currentModeId !== "workspace-write")
          await ask(2, "session/set_mode", { sessionId: theirs, modeId: "workspace-write" })
        const word = agent.sees(
          ({ params }) => params?.update?.sessionUpdate === "agent_message_chunk",
          "its first word",
        )
        const over = ask(3, "session/prompt", { sessionId: theirs, prompt: [{ type: "text", text: "FAKE:TEXT Yes." }] })
        await Promise.race([word, over.then(() => word)])
        const took = performance.now() - agent.began
        await over
        return took
      } finally {
        await agent.end()
      }
    }
    return compared(
      () =>
        served(binary, place.data, async (socket) => {
          await fresh(socket, sessionId)
          const word = socket.sees((frame) => frame.sessionId === sessionId && isFirstWord(frame), "the first word")
          const began = performance.now()
          await socket.ask({ type: "session:send", sessionId, content: "FAKE:TEXT Yes." })
          const over = complete(socket, sessionId)
          await Promise.race([word, over.then(() => word)])
          const took = performance.now() - began
          await over
          return took
        }),
      direct,
    )
  })
}

export default [
  {
    slow: true,
    name: "real Claude Code: create to first word, against driving it by hand",
    wanted: `at most ${MOST}x`,
    measure: claude,
  },
  {
    slow: true,
    name: "real Codex: taking a session up again to first word, against driving it by hand",
    wanted: `at most ${MOST}x`,
    measure: codex,
  },
]
