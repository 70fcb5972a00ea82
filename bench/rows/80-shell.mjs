// The shell in Chromium, end to end: real program, real page, a scripted agent.
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { median } from "../liminal.mjs"
import { agentArgs, busyWhile, inPage, prepared } from "../page.mjs"

const FRAME = 1000 / 60
const sorted = (figures) => figures.toSorted((a, b) => a - b)
const percentile = (figures, share) => sorted(figures)[Math.max(0, Math.ceil(figures.length * share) - 1)]
const round = (value) => Math.round(value * 10) / 10

const portletOf = (page) => page.frameLocator(".pane[data-active] iframe")

/** Ten tabs with two hundred messages each. Every tab is shown once, then they are clicked in turn. */
function tabSwitch(binary) {
  return inPage(binary, { prepare: prepared(binary) }, async ({ page, enter, session }) => {
    const ids = []
    for (let n = 0; n < 10; n += 1) ids.push(await session("be long"))
    await enter({ "liminal:tabs": { openTabs: ids, activeTab: ids[0], tabOrder: ids } })
    const tabs = page.locator(".tab-open")
    for (let n = 0; n < ids.length; n += 1) {
      await tabs.nth(n).click()
      await portletOf(page).locator(".turn-end").waitFor()
    }
    await page.evaluate(() => {
      window.switches = []
      window.tasks = []
      new PerformanceObserver((list) =>
        window.tasks.push(...list.getEntries().map(({ duration }) => duration)),
      ).observe({ entryTypes: ["longtask"] })
      document.querySelector(".tab-list").addEventListener(
        "click",
        (event) => {
          const clicked = event.timeStamp
          let frames = 0
          // A frame's callbacks run before its paint; a message posted there is read after the paint.
          requestAnimationFrame(function look() {
            frames += 1
            if (!document.querySelector(".pane[data-active]").id.endsWith(event.target.closest(".tab").dataset.id))
              return requestAnimationFrame(look)
            const { port1, port2 } = new MessageChannel()
            port1.onmessage = () => {
              window.switches.push({ frames, took: performance.now() - clicked })
              // What the switch leaves to the next frames counts too.
              requestAnimationFrame(() => requestAnimationFrame(window.switched))
            }
            port2.postMessage(null)
          })
        },
        { capture: true },
      )
    })
    let busy = 0
    for (let n = 1; n <= 50; n += 1) {
      // The mouse alone: what Playwright checks before a click of its own takes longer than the switch.
      const { x, y } = await page.evaluate(
        (at) => {
          window.isSwitched = new Promise((done) => (window.switched = done))
          const tab = document.querySelectorAll(".tab-open")[at]
          tab.scrollIntoView({ block: "nearest", inline: "nearest" })
          return tab.getBoundingClientRect().toJSON()
        },
        (n * 3) % ids.length,
      )
      busy += await busyWhile(page, async () => {
        await page.mouse.click(x + 20, y + 10)
        await page.evaluate(() => window.isSwitched)
      })
    }
    const { switches, tasks } = await page.evaluate(() => ({ switches: window.switches, tasks: window.tasks }))
    const took = switches.map((each) => each.took)
    const values = {
      median: round(median(took)),
      p95: round(percentile(took, 0.95)),
      frames: Math.max(...switches.map(({ frames }) => frames)),
      longestTask: Math.round(Math.max(0, ...tasks)),
      busy: round(busy / switches.length),
    }
    return {
      figure:
        `in the next frame ${switches.filter(({ frames }) => frames === 1).length} of ${switches.length}; ` +
        `click to painted median ${values.median} ms, p95 ${values.p95} ms; ` +
        `main thread busy ${values.busy} ms a switch`,
      // A click waits for the frame to begin, then for that frame.
      pass: values.frames === 1 && values.median <= 2 * FRAME && values.busy <= 16,
      values,
    }
  })
}

/** Records when each WebSocket opened, in every frame (only the shell has one). */
function watchSockets() {
  window.opened = []
  const Plain = window.WebSocket
  window.WebSocket = class extends Plain {
    constructor(...given) {
      super(...given)
      this.addEventListener("open", () => window.opened.push(performance.timeOrigin + performance.now()))
    }
  }
}

/** The server is killed in the middle of an answer and started again; three tabs are open. */
function resync(binary) {
  return inPage(
    binary,
    { prepare: prepared(binary, { projects: 5, sessions: 20 }), watch: watchSockets },
    async ({ page, enter, session, killed, back }) => {
      const ids = [await session("be long"), await session("be long"), await session("first")]
      await enter({ "liminal:tabs": { openTabs: ids, activeTab: ids[0], tabOrder: ids } })
      for (let n = 0; n < ids.length; n += 1) {
        await page.locator(".tab-open").nth(n).click()
        await portletOf(page).locator(".turn-end").first().waitFor()
      }
      const composer = portletOf(page).locator("textarea")
      const figures = []
      for (let n = 0; n < 5; n += 1) {
        await composer.fill("stream")
        await composer.press("Enter")
        await portletOf(page)
          .locator('.message[data-origin="agent"]')
          .nth(n + 1)
          .waitFor()
        await killed()
        await page.locator('.sidebar-connection[data-connection="lost"]').waitFor()
        const before = await page.evaluate(() => window.opened.length)
        // Down for a while, so that the page waits its longest between two attempts.
        await new Promise((done) => setTimeout(done, 1500 + n * 170))
        const watched = page.evaluate(
          ({ ends }) =>
            new Promise((done) =>
              requestAnimationFrame(function look() {
                const portlet = document.querySelector(".pane[data-active] iframe").contentDocument
                const isThere =
                  document.querySelector('.sidebar-connection[data-connection="open"]') &&
                  document.querySelector(".connection-bar").hidden &&
                  portlet.querySelectorAll(".turn-end").length === ends &&
                  portlet.querySelector(".status-word").textContent !== "no connection" &&
                  !portlet.querySelector("textarea").disabled &&
                  document.querySelectorAll('.session[data-mood="running"]').length === 0
                if (isThere) done(performance.timeOrigin + performance.now())
                else requestAnimationFrame(look)
              }),
            ),
          { ends: n + 2 },
        )
        await back()
        const up = Date.now()
        const synced = await watched
        const opened = await page.evaluate((before) => window.opened[before], before)
        figures.push({ open: synced - opened, up: synced - up })
      }
      const values = {
        fromOpen: Math.round(Math.max(...figures.map(({ open }) => open))),
        fromBack: Math.round(Math.max(...figures.map(({ up }) => up))),
        medianFromOpen: Math.round(median(figures.map(({ open }) => open))),
      }
      return {
        figure:
          `socket open to resynced ${values.medianFromOpen} ms, worst of 5 ${values.fromOpen} ms; ` +
          `server back to resynced, worst ${values.fromBack} ms`,
        pass: values.fromOpen < 300 && values.fromBack < 2000,
        values,
      }
    },
  )
}

/** Records, in a portlet, the time from Enter until the first word of the answer is painted. */
function watchWords() {
  if (!location.pathname.startsWith("/portlet/")) return
  addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter") return
      const pressed = event.timeStamp
      const had = document.querySelectorAll('.message[data-origin="agent"]').length
      const watcher = new MutationObserver(() => {
        const said = document.querySelectorAll('.message[data-origin="agent"]')
        if (said.length <= had || !said[had].textContent.includes("word")) return
        watcher.disconnect()
        // A portlet updates in the callback of a frame; a message posted there is read after that frame's paint.
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => top.firstWords.push(performance.now() - pressed)
        port2.postMessage(null)
      })
      watcher.observe(document.body, { childList: true, subtree: true, characterData: true })
    },
    { capture: true },
  )
}

/** How long the agent alone takes from prompt to first word, driven directly by this script. */
async function agentAlone(binary, home) {
  const agent = spawn(binary, agentArgs(home), { stdio: ["pipe", "pipe", "ignore"] })
  const lines = createInterface({ input: agent.stdout })[Symbol.asyncIterator]()
  const say = (message) => agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const receives = async (wanted) => {
    for (;;) {
      const message = JSON.parse((await lines.next()).value)
      if (wanted(message)) return message
    }
  }
  say({ id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } })
  await receives(({ id }) => id === 0)
  say({ id: 1, method: "session/new", params: { cwd: home, mcpServers: [] } })
  const {
    result: { sessionId },
  } = await receives(({ id }) => id === 1)
  const took = []
  for (let n = 2; n < 22; n += 1) {
    const asked = performance.now()
    say({ id: n, method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: "hello" }] } })
    await receives(({ params }) => params?.update?.sessionUpdate === "agent_message_chunk")
    took.push(performance.now() - asked)
    await receives(({ id }) => id === n)
  }
  agent.kill("SIGKILL")
  return median(took)
}

function firstWord(binary) {
  return inPage(binary, { prepare: prepared(binary), watch: watchWords }, async ({ page, enter, session, home }) => {
    const id = await session("first")
    await enter({ "liminal:tabs": { openTabs: [id], activeTab: id, tabOrder: [id] } })
    await page.evaluate(() => {
      window.firstWords = []
    })
    const composer = portletOf(page).locator("textarea")
    for (let n = 1; n <= 30; n += 1) {
      await composer.fill("hello")
      await composer.press("Enter")
      await page.waitForFunction((count) => window.firstWords.length === count, n)
      await portletOf(page).locator(".turn-end").nth(n).waitFor()
    }
    const own = await agentAlone(binary, home)
    const took = (await page.evaluate(() => window.firstWords)).map((each) => each - own)
    const values = { median: round(median(took)), p95: round(percentile(took, 0.95)), agent: round(own) }
    return {
      figure: `median ${values.median} ms, p95 ${values.p95} ms (the agent's own ${values.agent} ms subtracted)`,
      pass: values.median < 50,
      values,
    }
  })
}

/** Records, in a portlet, when the end of the conversation is painted. */
function watchEnds() {
  if (!location.pathname.startsWith("/portlet/")) return
  requestAnimationFrame(function look() {
    const end = document.querySelector(".turn-end")
    if (!end || end.getBoundingClientRect().top > innerHeight) return requestAnimationFrame(look)
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => top.shownAt.push(performance.timeOrigin + performance.now())
    port2.postMessage(null)
  })
}

/** A session of 2,000 entries that no tab has open: from the click in the sidebar until its end is painted. */
function openLong(binary) {
  return inPage(binary, { prepare: prepared(binary), watch: watchEnds }, async ({ page, enter, session }) => {
    await session("be 2,000")
    await enter()
    const entry = page.locator(".session").first()
    await page.locator('.session[data-mood="running"]').waitFor({ state: "detached" })
    const took = []
    for (let n = 0; n < 10; n += 1) {
      // A tab that is open loads again with the page.
      if (n > 0) await page.keyboard.press("Alt+w")
      await page.locator(".tab[data-id]").waitFor({ state: "detached" })
      await page.reload()
      await page.locator('.sidebar-connection[data-connection="open"]').waitFor()
      await page.evaluate(() => {
        window.shownAt = []
        const clicked = (event) => {
          window.clickedAt = performance.timeOrigin + event.timeStamp
        }
        addEventListener("click", clicked, { capture: true, once: true })
      })
      await entry.click()
      await page.waitForFunction(() => window.shownAt.length > 0)
      took.push(await page.evaluate(() => window.shownAt[0] - window.clickedAt))
    }
    const values = { median: round(median(took)), p95: round(percentile(took, 0.95)) }
    return {
      figure: `click to painted median ${values.median} ms, worst of 10 ${values.p95} ms`,
      pass: values.median < 500,
      values,
    }
  })
}

/** Records when the first session of the sidebar is painted, from the start of the page. */
function watchSidebar() {
  if (window !== top) return
  requestAnimationFrame(function look() {
    if (!document.querySelector(".session")) return requestAnimationFrame(look)
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      window.sidebarAt = performance.now()
    }
    port2.postMessage(null)
  })
}

/** Forty projects with five hundred sessions each, thirty tabs: when the sidebar is first painted, how it scrolls with
 * all older sessions of two projects shown, and how many tabs are loaded. */
function manySessions(binary) {
  const prepare = prepared(binary, { projects: 40, sessions: 500 })
  return inPage(binary, { prepare, watch: watchSidebar }, async ({ page, enter }) => {
    const ids = Array.from({ length: 30 }, (_, n) => `bench:s0-${n}`)
    await enter({ "liminal:tabs": { openTabs: ids, activeTab: ids[0], tabOrder: ids } })
    await page.waitForFunction(() => document.querySelectorAll(".session").length >= 40 * 12)
    const painted = []
    for (let n = 0; n < 5; n += 1) {
      await page.reload()
      await page.waitForFunction(() => window.sidebarAt !== undefined)
      painted.push(await page.evaluate(() => window.sidebarAt))
      await page.waitForFunction(() => document.querySelectorAll(".session").length >= 40 * 12)
    }
    for (const n of [0, 1]) await page.locator(".project-older").nth(n).click()
    await page.waitForFunction(() => document.querySelectorAll(".session").length > 1000)
    await page.waitForTimeout(1000)
    let measured
    const busy = await busyWhile(page, async () => {
      measured = await page.evaluate(async () => {
        const tasks = []
        new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
          entryTypes: ["longtask"],
        })
        const box = document.querySelector(".sidebar-scroll")
        const frames = []
        let last = await new Promise(requestAnimationFrame)
        for (const by of [240, -240]) {
          for (let n = 0; n < 130; n += 1) {
            box.scrollTop += by
            const now = await new Promise(requestAnimationFrame)
            frames.push(now - last)
            last = now
          }
        }
        return { frames, tasks, portlets: document.querySelectorAll("iframe").length }
      })
    })
    const { frames, tasks, portlets } = measured
    const values = {
      painted: Math.round(median(painted)),
      paintedWorst: Math.round(Math.max(...painted)),
      busy: round(busy / frames.length),
      p95: round(percentile(frames, 0.95)),
      median: round(median(frames)),
      longestTask: Math.round(Math.max(0, ...tasks)),
      portlets,
    }
    return {
      figure:
        `first painted after ${values.painted} ms, worst of 5 ${values.paintedWorst} ms; ` +
        `scroll frame median ${values.median} ms, p95 ${values.p95} ms; ` +
        `main thread busy ${values.busy} ms a frame, longest task ${values.longestTask} ms; ` +
        `${portlets} of 30 tabs loaded`,
      pass: values.painted < 300 && values.p95 < 20 && values.longestTask <= 50 && portlets === 1,
      values,
    }
  })
}

export default [
  {
    name: "shell: tab switch, click to next paint, 10 tabs of 200 messages",
    wanted: "one frame; main thread busy at most 16 ms",
    measure: ({ binary }) => tabSwitch(binary),
  },
  {
    slow: true,
    name: "shell: resync after the server was killed in an answer",
    wanted: "socket open to resynced under 300 ms, server back to resynced under 2 s",
    measure: ({ binary }) => resync(binary),
  },
  {
    name: "shell: send to first word on screen",
    wanted: "under 50 ms without the agent's own time",
    measure: ({ binary }) => firstWord(binary),
  },
  {
    name: "shell: a session of 2,000 entries, click to painted",
    wanted: "under 500 ms",
    measure: ({ binary }) => openLong(binary),
  },
  {
    slow: true,
    name: "shell: 40 projects with 500 sessions each, 30 tabs",
    wanted: "first paint under 300 ms, scroll frame p95 under 20 ms, no task over 50 ms, one tab loaded",
    measure: ({ binary }) => manySessions(binary),
  },
]
