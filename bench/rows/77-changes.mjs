// Reviewing changes: the panel in Chromium, checkpoints in a large repository, and counts of many busy worktrees.
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { chromium } from "@playwright/test"
import { turnEnd, withAgent } from "../conversation.mjs"
import { median, quantile } from "../liminal.mjs"

const git = (directory, ...words) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...words], { cwd: directory })

const linesOf = (lines) => Array.from({ length: lines }, (_, n) => `let value_${n} = compute(${n});\n`).join("")
const pathOf = (n) => `src/module_${n % 100}/file_${n}.rs`

/** A repository with this many files, of which each has `lines(n)` lines, all committed. */
function repository(root, files, lines) {
  for (let n = 0; n < files; n += 1) {
    if (n < 100) mkdirSync(join(root, `src/module_${n}`), { recursive: true })
    writeFileSync(join(root, pathOf(n)), linesOf(lines(n)))
  }
  git(root, "init", "--quiet", "--initial-branch", "main")
  git(root, "add", ".")
  git(root, "commit", "--quiet", "--message", "first")
}

/** The processor time of a process and of the children it waited for, in milliseconds. */
function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * 10
}

const says = [{ on: "any", steps: [{ say: "Done." }] }]

/** How long each frame takes while a list is scrolled down. */
function framesOfScrolling(list) {
  return new Promise((resolve) => {
    const took = []
    let last = performance.now()
    requestAnimationFrame(function step(now) {
      took.push(now - last)
      last = now
      list.scrollTop += 240
      if (took.length < 120) requestAnimationFrame(step)
      else resolve(took.slice(2))
    })
  })
}

/** Records, in a session's frame, when the first removed line is painted, from the last click. */
function watchDifference() {
  if (!location.pathname.startsWith("/portlet/")) return
  let clicked = 0
  addEventListener("click", (event) => (clicked = event.timeStamp), { capture: true })
  requestAnimationFrame(function look() {
    if (!document.querySelector(".panel-diff .del")) return requestAnimationFrame(look)
    // A frame's callbacks run before its paint; a message posted there is read after the paint.
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => top.openedAfter.push(performance.now() - clicked)
    port2.postMessage(null)
  })
}

/** 500 files in which every line changed, 25,000 removed and 25,000 added, half of them in the first file. */
function panel(binary) {
  return withAgent(binary, says, async (socket, _make, server) => {
    const root = join(server.home, "review")
    mkdirSync(root)
    const lines = (n) => (n === 0 ? 12_525 : 25)
    repository(root, 500, lines)
    for (let n = 0; n < 500; n += 1)
      writeFileSync(join(root, pathOf(n)), linesOf(lines(n)).replaceAll("compute", "changed"))
    const { project } = await socket.ask({ type: "project:add", path: root })
    const { sessionId } = await socket.ask({ type: "session:create", projectId: project.id, cliType: "bench" })
    const browser = await chromium.launch({
      executablePath: process.env.LIMINAL_TEST_CHROMIUM || "/usr/bin/chromium",
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    })
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      await page.addInitScript(
        (id) => localStorage.setItem("liminal:tabs", JSON.stringify({ openTabs: [id], activeTab: id, tabOrder: [id] })),
        sessionId,
      )
      await page.addInitScript(() => {
        if (window === top) window.openedAfter = []
      })
      await page.addInitScript(watchDifference)
      await page.goto(`${server.address}/#token=${server.token}`)
      const frame = page.frameLocator(".pane[data-active] iframe")
      const button = frame.getByRole("button", { name: "Changes" })
      const opened = []
      for (let n = 0; n < 5; n += 1) {
        if (n > 0) await page.reload()
        await button.waitFor()
        await button.click()
        await page.waitForFunction(() => window.openedAfter.length > 0)
        opened.push(await page.evaluate(() => window.openedAfter[0]))
      }
      // The last lines of a file are there once it was scrolled to its end.
      const scrolled = []
      for (const list of [".changed-files", ".panel-diff"])
        scrolled.push(quantile(await frame.locator(list).evaluate(framesOfScrolling), 0.95))
      await frame.locator(".panel-diff").evaluate((list) => list.scrollTo(0, list.scrollHeight))
      await frame.locator(".panel-diff .add", { hasText: "value_12524 " }).waitFor()
      const rows = await frame.locator(".panel-diff :is(.add, .del, .same)").count()
      const [open, scroll] = [median(opened), Math.max(...scrolled)]
      return {
        figure:
          `click to painted ${open.toFixed(0)} ms, scroll p95 ${scrolled[0].toFixed(1)} ms in the list and ` +
          `${scrolled[1].toFixed(1)} ms in the lines, ${rows} rows in the page`,
        pass: open <= 300 && scroll <= 20,
        values: { openMs: open, scrollP95: scroll },
      }
    } finally {
      await browser.close()
    }
  })
}

/** A message waits for the state of 30,000 files, of which one changed. */
function checkpoint(binary) {
  return withAgent(binary, says, async (socket, _make, server) => {
    const root = join(server.home, "large")
    mkdirSync(root)
    repository(root, 30_000, () => 3)
    const { project } = await socket.ask({ type: "project:add", path: root })
    const ask = { projectId: project.id, cliType: "bench" }
    const { sessionId } = await socket.ask({ type: "session:create", ...ask })
    await socket.ask({ type: "session:open", sessionId })
    const took = []
    for (let n = 0; n < 5; n += 1) {
      writeFileSync(join(root, "src/module_0/file_0.rs"), `${n}\n`)
      const began = performance.now()
      const end = turnEnd(socket, sessionId)
      await socket.ask({ type: "session:send", sessionId, content: "hello" })
      await end
      took.push(performance.now() - began)
      await socket.ask({ type: "changes:list", sessionId, scope: { kind: "turn" } })
    }
    const whole = median(took)
    return { figure: `${whole.toFixed(0)} ms`, pass: whole <= 400, values: { turnMs: whole } }
  })
}

/** Twenty sessions in worktrees of their own, each writing a file every 100 ms for ten seconds. */
function counts(binary) {
  const steps = Array.from({ length: 100 }, (_, n) => [
    { write_file: { path: `made_${n}.txt`, content: "made\n", call: `w${n}` } },
    { pause: 100 },
  ]).flat()
  return withAgent(binary, [{ on: "any", steps: [...steps, { say: "Done." }] }], async (socket, _make, server) => {
    const root = join(server.home, "busy")
    mkdirSync(root)
    repository(root, 1000, () => 10)
    const { project } = await socket.ask({ type: "project:add", path: root })
    const workspace = { kind: "worktree" }
    const ask = { projectId: project.id, cliType: "bench", workspace }
    const sessions = []
    for (let n = 0; n < 20; n += 1) {
      const { sessionId } = await socket.ask({ type: "session:create", ...ask })
      await socket.ask({ type: "session:open", sessionId })
      sessions.push(sessionId)
    }
    const before = cpu(server.pid)
    const began = performance.now()
    const ends = sessions.map((sessionId) => turnEnd(socket, sessionId))
    for (const sessionId of sessions) await socket.ask({ type: "session:send", sessionId, content: "work" })
    await Promise.all(ends)
    const share = (cpu(server.pid) - before) / (performance.now() - began)
    return {
      figure: `${(share * 100).toFixed(0)} % of one processor, git included`,
      pass: share <= 1,
      values: { processors: share },
    }
  })
}

export default [
  {
    name: "changes: 500 files and 50,000 lines, open to visible / scroll p95",
    wanted: "300 ms / 20 ms",
    measure: ({ binary }) => panel(binary),
  },
  {
    name: "changes: a turn in 30,000 files, with its checkpoint before the prompt",
    wanted: "400 ms",
    measure: ({ binary }) => checkpoint(binary),
  },
  {
    name: "changes: counts of 20 busy worktrees",
    wanted: "at most one processor",
    measure: ({ binary }) => counts(binary),
  },
]
