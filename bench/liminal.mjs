// Starts the program for a row, in its own data directory, and stops it afterwards.
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

/** The address and the token in the line that the program prints. */
export function entry(line) {
  const [address, token] = line.replace(/^.* at /, "").split(/\/[^/\s]*#token=/)
  return { address, token }
}

/** Ends a child and waits until it has exited. */
export function ended(child, signal = "SIGTERM") {
  const gone = new Promise((resolve) => child.once("exit", resolve))
  child.kill(signal)
  return gone
}

/** Runs `use({address, token, pid, home, data, stopped, killed, back})` with a new server; `prepare(data)` may put
 * files into its data directory first. `stopped(look)` stops the server and then calls `look`, for figures that are
 * final only then. `killed()` ends it like `kill -9`; `back()` starts it again at the same address. */
export async function withLiminal(binary, use, prepare = () => {}) {
  const home = mkdtempSync(join(tmpdir(), "liminal-bench-"))
  const data = join(home, "data")
  mkdirSync(data, { mode: 0o700 })
  prepare(data)
  // A row must not see the user's own agents and files.
  const start = (port) =>
    started(binary, ["--port", port, "--no-open", "--data-dir", data], { ...process.env, HOME: home })
  let { child, line } = await start("0")
  let gone = null
  const end = (signal) => (gone ??= ended(child, signal))
  try {
    const { address, token } = entry(line)
    const back = async () => {
      ;({ child } = await start(new URL(address).port))
      gone = null
    }
    return await use({
      address,
      token,
      pid: child.pid,
      home,
      data,
      stopped: async (look) => {
        await end()
        return look()
      },
      killed: () => end("SIGKILL"),
      back,
    })
  } finally {
    await end()
    rmSync(home, { recursive: true })
  }
}

/** The resident memory of a process in megabytes (Linux), now and at its peak. */
export const resident = (pid) => memory(pid, "VmRSS")
export const peak = (pid) => memory(pid, "VmHWM")

/** What a process has used so far (Linux): CPU time in ms, of its ended threads too, and bytes written to disk. Other
 * programs on the machine do not count. */
export function used(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13)
  const written = readFileSync(`/proc/${pid}/io`, "utf8").match(/^write_bytes: (\d+)$/m)?.[1]
  return { cpuMs: (Number(user) + Number(system)) * 10, written: Number(written) }
}

function memory(pid, what) {
  const line = readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`^${what}:\\s+(\\d+) kB$`, "m"))
  return Number(line?.[1]) / 1024
}

export const median = (figures) => quantile(figures, 0.5)

/** The figure below which this share of all figures lies. */
export function quantile(figures, share) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length * share)]
}

/** The outcome of a row that measures one size, at most `limit`. */
export function megabytes(size, limit) {
  return { figure: `${size.toFixed(1)} MB`, pass: size <= limit, values: { megabytes: size } }
}
