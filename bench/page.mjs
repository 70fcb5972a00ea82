// The page of the real program in Chromium, with a scripted agent, for the rows of the shell.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { chromium } from "@playwright/test"
import { withLiminal } from "./liminal.mjs"

const prose =
  "Some words of an answer with `code` in them, long enough to fill a line or two of the column that it stands in."
const code = `\`\`\`rust\n${'fn main() { println!("{}", 1 + 2); }\n'.repeat(8)}\`\`\``
const script = {
  rules: [
    {
      on: { contains: "be long" },
      steps: Array.from({ length: 200 }, (_, n) => [
        { say: n % 5 === 4 ? code : `${n}. ${prose}\n\n- one\n- two` },
        "new_message",
      ]).flat(),
    },
    {
      on: { contains: "be 2,000" },
      steps: Array.from({ length: 2000 }, (_, n) => [{ say: `${n}. ${prose}` }, "new_message"]).flat(),
    },
    {
      on: { contains: "stream" },
      steps: [{ say_chopped: { text: `${prose} `.repeat(2000), size: 20, every_ms: 20 } }],
    },
    { on: "any", steps: [{ say: "Here is a word." }] },
  ],
}

export const agentArgs = (home) => [
  "demo-agent",
  "--script",
  join(home, "bench.script.json"),
  "--history",
  join(home, "bench-history"),
]

/** Fills the data directory before the program starts: the agent, projects, and sessions per project. */
export function prepared(binary, { projects = 1, sessions = 0 } = {}) {
  return (data) => {
    const home = join(data, "..")
    writeFileSync(join(home, "bench.script.json"), JSON.stringify(script))
    writeFileSync(
      join(data, "agents.json"),
      JSON.stringify({ agents: [{ id: "bench", name: "Bench", command: binary, args: agentArgs(home) }] }),
      { mode: 0o600 },
    )
    const at = (n) => new Date(Date.now() - n * 60_000).toISOString()
    const id = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
    const all = Array.from({ length: projects }, (_, n) => {
      const path = join(home, `project-${n}`)
      mkdirSync(path)
      return { id: id(n), path, name: `project-${n}`, addedAt: at(n) }
    })
    writeFileSync(join(data, "projects.json"), JSON.stringify({ version: 1, projects: all }), { mode: 0o600 })
    const records = all.flatMap((project, p) =>
      Array.from({ length: sessions }, (_, n) => ({
        id: `bench:s${p}-${n}`,
        projectId: project.id,
        cliType: "bench",
        archived: false,
        title: `Session ${n} of ${project.name}`,
        lastActiveAt: at(n),
        createdAt: at(n),
      })),
    )
    writeFileSync(join(data, "sessions.json"), JSON.stringify({ version: 1, sessions: records }), { mode: 0o600 })
  }
}

/** Runs `use` with a page that can log in. `stored` is put into the page's storage before it starts; `watch` runs in
 * every frame. */
export function inPage(binary, { prepare, stored = {}, watch = () => {} }, use) {
  return withLiminal(
    binary,
    async (liminal) => {
      const browser = await chromium.launch({
        executablePath: process.env.LIMINAL_TEST_CHROMIUM || "/usr/bin/chromium",
        args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
      })
      try {
        const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
        await page.addInitScript(watch)
        const enter = async (keep = stored) => {
          await page.addInitScript((keep) => {
            for (const [key, value] of Object.entries(keep))
              if (localStorage.getItem(key) === null) localStorage.setItem(key, JSON.stringify(value))
          }, keep)
          await page.goto(`${liminal.address}/#token=${liminal.token}`)
          await page.locator('.sidebar-connection[data-connection="open"]').waitFor()
        }
        const api = async (path, body) => {
          const answer = await fetch(liminal.address + path, {
            method: "POST",
            headers: { authorization: `Bearer ${liminal.token}`, "content-type": "application/json" },
            body: JSON.stringify(body),
          })
          if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
          return answer.json()
        }
        const session = async (message) => {
          const { sessionId } = await api("/api/session/create", {
            cliType: "bench",
            projectDir: join(liminal.home, "project-0"),
          })
          if (message) await api(`/api/session/${encodeURIComponent(sessionId)}/send`, { content: message })
          return sessionId
        }
        return await use({ ...liminal, page, enter, session })
      } finally {
        await browser.close()
      }
    },
    prepare,
  )
}

/** The CPU time of the page's main thread while `act` runs (milliseconds). Other programs do not count. */
export async function busyWhile(page, act) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" })
  const spent = async () =>
    (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000
  const before = await spent()
  await act()
  const busy = (await spent()) - before
  await devtools.detach()
  return busy
}
