/**
 * Stories with the real Claude Code and the real codex-acp. Each gets its own home, a fake API key, and as its model
 * `crates/fake-model` on loopback, which does what the prompt says (`FAKE:BASH ls` calls a tool).
 */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { test as base, Chat, expect } from "./chat.js"
import { built, Liminal } from "./liminal.js"

/** The program that a variable names. Without it a story fails: skipping it would prove nothing.
 * @param {string} variable */
function named(variable) {
  const path = process.env[variable]
  if (!path)
    throw new Error(
      `${variable} must name the real agent; “scripts/test --browser” installs the pinned one and sets it`,
    )
  return path
}

/** The fake model, as a separate process that ends when its stdin closes. */
async function startModel() {
  const child = spawn(built("fake-model"), { stdio: ["pipe", "pipe", "inherit"] })
  const [url] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "error").then(([cause]) => {
      throw new Error(`no fake model (build it with “cargo build -p liminal-fake-model”): ${cause.message}`)
    }),
  ])
  return {
    url: String(url),
    async end() {
      const ended = once(child, "exit")
      child.stdin.end()
      await ended
    },
  }
}

/** Sets both agents up as a user would, except for the address of their model.
 * @param {Liminal} app @param {{ claude: string, codex: string }} programs @param {string} model */
async function hasRealAgents(app, programs, model) {
  const codex = await app.directory(".codex")
  await writeFile(
    join(codex, "config.toml"),
    [
      'model = "gpt-5.5"',
      'model_provider = "fake"',
      "",
      "[model_providers.fake]",
      'name = "fake"',
      `base_url = "${model}/v1"`,
      'wire_api = "responses"',
      'env_key = "FAKE_API_KEY"',
      "request_max_retries = 1",
      "stream_max_retries = 1",
      "",
    ].join("\n"),
  )
  const quiet = { TMPDIR: await app.directory("tmp"), TERM: "dumb", NO_BROWSER: "1" }
  const claude = {
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: "test-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
  }
  await mkdir(app.dataDir, { recursive: true, mode: 0o700 })
  await writeFile(
    join(app.dataDir, "agents.json"),
    JSON.stringify({
      agents: [
        { id: "claude-code", command: programs.claude, env: { ...quiet, ...claude } },
        { id: "codex", command: programs.codex, env: { ...quiet, FAKE_API_KEY: "test-key" } },
      ],
    }),
    { mode: 0o600 },
  )
}

/** The prompt that makes each agent's model run a command that needs permission. Codex asks because the command is to
 * run outside its sandbox. */
export const running = {
  "Claude Code": (/** @type {string} */ command) => `FAKE:BASH ${command}`,
  Codex: (/** @type {string} */ command) => {
    const input = { cmd: command, sandbox_permissions: "require_escalated", justification: "test" }
    return `FAKE:TOOL exec_command ${JSON.stringify(input)}`
  },
}
/** Their names. */
export const agents = /** @type {(keyof typeof running)[]} */ (Object.keys(running))

export const test = base.extend({
  env: [{ ACP_START_TIMEOUT_MS: "120000" }, { option: true }],

  liminal: async ({ env }, use) => {
    const programs = { claude: named("LIMINAL_TEST_CLAUDE"), codex: named("LIMINAL_TEST_CODEX_ACP") }
    const model = await startModel()
    const app = await Liminal.start(env, (fresh) => hasRealAgents(fresh, programs, model.url))
    await use(app)
    await app.remove()
    await model.end()
  },

  /** Starts a session with one of them in the project `work`. */
  begin: async ({ shell }, use) => {
    await shell.hasProject("work")
    await use(async (agent) => {
      await shell.newSession("work", agent)
      const chat = new Chat(shell)
      await expect(chat.composer).toBeEditable()
      return chat
    })
  },
})

export { expect }
