// Starts the program for a row, in a data directory of its own, and ends it again.
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Starts a command and waits for its first line on stdout. */
export function started(command, args, env = process.env) {
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "inherit"] })
  return new Promise((resolve, reject) => {
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      text += piece
      if (text.includes("\n")) resolve({ child, line: text.split("\n")[0] })
    })
    child.on("error", reject)
    child.on("exit", (code) => reject(new Error(`${command} ended with ${code}: ${text}`)))
  })
}

/** Ends a child and waits until it is gone. */
export function ended(child, signal = "SIGTERM") {
  const gone = new Promise((resolve) => child.once("exit", resolve))
  child.kill(signal)
  return gone
}

/** Runs `use({address, token, pid, home, data, stopped, killed, back})` with a fresh server; `prepare(data)` may put files there first.
 * `stopped(look)` ends the server and then looks, for figures that are true only then. `killed()` ends it as `kill -9` does, `back()`
 * starts it again at the same address. */
export async function withLiminal(binary, use, prepare = () => {}) {
  const home = mkdtempSync(join(tmpdir(), "liminal-bench-"))
  const data = join(home, "data")
  mkdirSync(data, { mode: 0o700 })
  prepare(data)
  // The user's own agents and their files are none of a row's.
  const start = (port) => started(binary, ["--port", port, "--no-open", "--data-dir", data], { ...process.env, HOME: home })
  let { child, line } = await start("0")
  let gone = null
  const end = (signal) => gone ??= ended(child, signal)
  try {
    const [address, token] = line.replace(/^.* at /, "").split("/#token=")
    const back = async () => { ({ child } = await start(new URL(address).port)); gone = null }
    return await use({ address, token, pid: child.pid, home, data, stopped: async (look) => { await end(); return look() }, killed: () => end("SIGKILL"), back })
  } finally {
    await end()
    rmSync(home, { recursive: true })
  }
}

/** The resident memory of a process in megabytes (Linux), now and at most. */
export const resident = (pid) => memory(pid, "VmRSS")
export const peak = (pid) => memory(pid, "VmHWM")

function memory(pid, what) {
  const line = readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`^${what}:\\s+(\\d+) kB$`, "m"))
  return Number(line?.[1]) / 1024
}

export const median = (figures) => quantile(figures, 0.5)

/** The figure that this share of all is below. */
export function quantile(figures, share) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length * share)]
}

/** A row's outcome that is one size, wanted to be at most `limit`. */
export function megabytes(size, limit) {
  return { figure: `${size.toFixed(1)} MB`, pass: size <= limit, values: { megabytes: size } }
}
