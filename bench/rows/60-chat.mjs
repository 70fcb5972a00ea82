// The chat in Chromium: scrolling a long history, streaming a long answer. The portlet is the real one; this
// script plays the shell.
import { chromium } from "@playwright/test"
import { turnEnd, withAgent } from "../conversation.mjs"
import { nothingYet } from "../../client/portlet/transcript.js"
import { withLiminal } from "../liminal.mjs"

const at = new Date().toISOString()

/** Runs `measure` in a page that contains one portlet and may `post` frames to it; `beside` can work with the page
 * meanwhile. */
function inPortlet(binary, measure, given, beside = (_page, run) => run()) {
  return withLiminal(binary, async ({ address }) => {
    const browser = await chromium.launch({
      executablePath: process.env.LIMINAL_TEST_CHROMIUM || "/usr/bin/chromium",
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    })
    try {
      const page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
      await page.route("**/bench.html", (route) =>
        route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }),
      )
      await page.goto(`${address}/bench.html`)
      await page.evaluate(
        () =>
          new Promise((ready) => {
            const frame = document.body.appendChild(
              Object.assign(document.createElement("iframe"), {
                src: "/portlet/index.html#demo%3A1",
                width: 1150,
                height: 850,
              }),
            )
            window.post = (message) => frame.contentWindow.postMessage(message, location.origin)
            window.portlet = frame
            window.longTasks = []
            new PerformanceObserver((list) =>
              list.getEntries().forEach(({ duration }) => window.longTasks.push(duration)),
            ).observe({ entryTypes: ["longtask"] })
            window.addEventListener("message", ({ data }) => {
              if (data.type === "portlet:ready") ready()
            })
          }),
      )
      const errors = []
      page.on("pageerror", (error) => errors.push(error))
      const row = await beside(page, () => page.evaluate(measure, { ...given, facts: nothingYet.facts }))
      if (errors.length > 0) throw errors[0]
      return row
    } finally {
      await browser.close()
    }
  })
}

/** Adds the CPU time of the longest task to a row's figures: on a busy machine, a task's duration also includes waiting
 * for other programs. */
async function computing(page, run) {
  const session = await page.context().newCDPSession(page)
  const events = []
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value))
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel"] },
  })
  const { figure, pass, values } = await run()
  const complete = new Promise((done) => session.once("Tracing.tracingComplete", done))
  await session.send("Tracing.end")
  await complete
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}:${tid}`),
  )
  const computed = Math.max(
    0,
    ...events
      .filter(({ name, ph, pid, tid }) => ph === "X" && name.endsWith("RunTask") && mains.has(`${pid}:${tid}`))
      .map(({ tdur = 0 }) => tdur / 1000),
  )
  return {
    figure: `${figure}; most computed in one task ${Math.round(computed)} ms`,
    pass,
    values: { ...values, mostComputedMs: computed },
  }
}

async function history({ count, at, facts }) {
  const entries = Array.from({ length: count }, (_, index) => ({
    turnId: `t${index >> 3}`,
    sessionId: "s",
    itemId: `i${index}`,
    sourceTimestamp: at,
    emittedAt: at,
    status: "complete",
    index,
    startedAt: at,
    type: "message",
    origin: index % 8 === 0 ? "user" : "agent",
    content: "a",
    blocks: [
      "<p>Some words of an answer with <code>code</code>, long enough to fill a line or two of the column.</p>",
      "<ul><li>one</li><li>two</li></ul>",
    ],
  }))
  const turns = [...new Set(entries.map(({ turnId }) => turnId))].map((turnId) => ({
    turnId,
    seq: 1,
    origin: "user",
    startedAt: at,
    endedAt: at,
    outcome: "completed",
  }))
  const view = window.portlet.contentWindow
  const began = performance.now()
  window.post({
    type: "session:history",
    sessionId: "demo:1",
    entries,
    stream: "s",
    seq: 1,
    turns,
    mode: "snapshot",
    older: false,
    policy: "ask",
    facts,
  })
  while (!view.document.querySelector(".message")) await new Promise(view.requestAnimationFrame)
  await new Promise(view.requestAnimationFrame)
  const visible = performance.now() - began
  await new Promise((done) => setTimeout(done, 1000))
  window.longTasks.length = 0
  const frames = []
  const box = view.document.querySelector(".scroller")
  for (let n = 0; n < 120; n += 1) {
    const before = performance.now()
    box.scrollTop -= 300
    await new Promise(view.requestAnimationFrame)
    frames.push(performance.now() - before)
  }
  frames.sort((a, b) => a - b)
  const [frame, longest] = [frames[114], Math.max(0, ...window.longTasks)]
  return {
    figure:
      `visible ${Math.round(visible)} ms; scroll frame p95 ${Math.round(frame)} ms; ` +
      `longest task ${Math.round(longest)} ms`,
    pass: (count > 2000 || visible < 250) && frame < 34 && longest <= 50,
    values: { visibleMs: visible, scrollFrameP95Ms: frame, longestTaskMs: longest },
  }
}

/** Streams 100 KB in this many pieces, paced like the server; `at` is the time of the items. */
async function answer({ at, pieces, pause, facts }) {
  window.post({
    type: "session:history",
    sessionId: "demo:1",
    entries: [],
    stream: "s",
    seq: 1,
    turns: [],
    mode: "snapshot",
    older: false,
    policy: "ask",
    facts,
  })
  // What loading the page took is not the answer's.
  await new Promise((idle) => setTimeout(idle, 500))
  window.longTasks.length = 0
  const piece = "twenty bytes of text".repeat(5000 / pieces)
  let blocks = ["<p></p>"]
  for (let n = 0; n < pieces; n += 1) {
    blocks = [
      ...blocks.slice(0, -1),
      `${blocks.at(-1).slice(0, -4)}${piece}</p>`,
      ...(n % (pieces / 125) === pieces / 125 - 1 ? ["<p></p>"] : []),
    ]
    if (pause > 0 && n % 8 !== 0) continue
    window.post({
      type: "session:upsert",
      sessionId: "demo:1",
      seq: n + 2,
      payload: {
        turnId: "t",
        sessionId: "s",
        itemId: "i",
        sourceTimestamp: at,
        emittedAt: at,
        status: "update",
        index: 0,
        startedAt: at,
        type: "message",
        origin: "agent",
        content: "",
        blocks,
      },
    })
    if (pause > 0) await new Promise((done) => setTimeout(done, pause))
    else if (n % 8 === 0) await new Promise(window.portlet.contentWindow.requestAnimationFrame)
  }
  const [longest, over] = [Math.max(0, ...window.longTasks), window.longTasks.filter((task) => task > 50).length]
  return {
    figure: `longest task ${Math.round(longest)} ms, ${over} over 50 ms`,
    pass: over === 0,
    values: { longestTaskMs: longest, over50Ms: over },
  }
}

/** The HTML that the server makes of an answer of one block. */
function rendered(binary, text) {
  return withAgent(binary, [{ on: "any", steps: [{ say: text }] }], async (socket, make) => {
    const sessionId = await make()
    await socket.ask({ type: "session:send", sessionId, content: "go" })
    await turnEnd(socket, sessionId)
    const { entries } = await socket.ask({ type: "session:open", sessionId })
    return entries.find(({ origin }) => origin === "agent").blocks[0]
  })
}

/** Shows one finished answer of `count` blocks, each with `times` pieces, and waits until all of it is on the page. */
async function whole({ at, facts, count = 1, begin = "", piece, end = "", times = 1 }) {
  const blocks = Array.from({ length: count }, () => begin + piece.repeat(times) + end)
  const item = {
    turnId: "t",
    sessionId: "demo:1",
    itemId: "i",
    sourceTimestamp: at,
    emittedAt: at,
    status: "complete",
    index: 0,
    startedAt: at,
    type: "message",
    origin: "agent",
    content: "",
    blocks,
  }
  const turns = [{ turnId: "t", seq: 1, origin: "user", startedAt: at, endedAt: at, outcome: "completed" }]
  const view = window.portlet.contentWindow
  const shown = view.document.getElementsByClassName("block")
  await new Promise((idle) => setTimeout(idle, 500))
  const began = performance.now()
  window.post({
    type: "session:history",
    sessionId: "demo:1",
    entries: [item],
    stream: "s",
    seq: 1,
    turns,
    mode: "snapshot",
    older: false,
    policy: "ask",
    facts,
  })
  while (shown.length < count) await new Promise(view.requestAnimationFrame)
  await new Promise(view.requestAnimationFrame)
  const took = performance.now() - began
  await new Promise((done) => setTimeout(done, 500))
  return { figure: `all there after ${Math.round(took)} ms`, pass: null, values: { thereMs: took } }
}

/** A row that passes if no task took too much CPU time. */
async function computingLittle(page, run) {
  const row = await computing(page, run)
  return { ...row, pass: row.values.mostComputedMs <= 100 }
}

const large = [
  ["20,000 paragraphs", { count: 20_000, piece: "<p>a</p>" }],
  ["100,000 paragraphs", { count: 100_000, piece: "<p>a</p>" }],
  ["50,000 list items", { begin: "<ul>", piece: "<li>one more item</li>", times: 50_000, end: "</ul>" }],
  ["10 MB in one line", { begin: "<p>", piece: "words without an end ", times: 500_000, end: "</p>" }],
]

/** Types into the composer until the answer is there, and measures how long keys waited to be handled. */
async function typing(page, run) {
  const composer = page.frames()[1].locator("textarea")
  await composer.focus()
  await composer.evaluate((box) => {
    box.waited = []
    box.addEventListener("input", (event) => box.waited.push(performance.now() - event.timeStamp))
  })
  const before = (await composer.inputValue()).length
  let [typed, isThere] = ["", false]
  const there = run().then(() => {
    isThere = true
  })
  while (!isThere) {
    const letter = "abcdefghij "[typed.length % 11]
    await page.keyboard.press(letter === " " ? "Space" : letter)
    typed += letter
  }
  await there
  const { waited, value } = await composer.evaluate((box) => ({
    waited: box.waited.sort((a, b) => a - b),
    value: box.value,
  }))
  const lost = typed.length - (value.length - before)
  const [p95, longest] = [waited[Math.floor(waited.length * 0.95)], waited.at(-1)]
  return {
    figure:
      `${typed.length} keys, ${lost} lost; ` +
      `handled after p95 ${p95.toFixed(1)} ms, at most ${longest.toFixed(1)} ms`,
    pass: value.endsWith(typed) && lost === 0 && p95 < 16.7,
    values: { keys: typed.length, lost, p95Ms: p95, longestMs: longest },
  }
}

/** Types at the end of a draft of 1 MB. */
async function typingLong(page) {
  // With this the draft is also kept, as it always is.
  await page.evaluate(() =>
    window.post({
      type: "shell:state",
      session: null,
      project: null,
      agent: null,
      agentState: null,
      connection: "open",
      theme: "dark",
      visible: true,
      storageKey: "bench",
    }),
  )
  const composer = page.frames()[1].locator("textarea")
  await composer.evaluate((box) => {
    box.focus()
    box.value = "a line of the draft\n".repeat(50_000)
    box.dispatchEvent(new InputEvent("input", { bubbles: true }))
  })
  return typing(page, () => new Promise((resolve) => setTimeout(resolve, 5000)))
}

/** The heap of the page in KB, without garbage, once the answer is there for the second time: at first, what the engine
 * compiles grows with the updates. */
async function heap(page, run) {
  await page.evaluate(answer, { at, pieces: 5000, pause: 0, facts: nothingYet.facts })
  await run()
  const session = await page.context().newCDPSession(page)
  await session.send("HeapProfiler.enable")
  for (let n = 0; n < 3; n += 1) await session.send("HeapProfiler.collectGarbage")
  return (await session.send("Runtime.getHeapUsage")).usedSize / 1024
}

async function growth({ binary }) {
  const [few, many] = [
    await inPortlet(binary, answer, { at, pieces: 1000, pause: 0 }, heap),
    await inPortlet(binary, answer, { at, pieces: 5000, pause: 0 }, heap),
  ]
  return {
    figure: `heap ${Math.round(few)} KB after 1,000 updates, ${Math.round(many)} KB after 5,000`,
    pass: many < few * 1.1,
    values: { after1000Kb: few, after5000Kb: many },
  }
}

export default [
  {
    name: "chat: history of 2,000 entries in Chromium",
    wanted: "visible in 250 ms, then no task over 50 ms",
    measure: ({ binary }) => inPortlet(binary, history, { count: 2000, at }, computing),
  },
  {
    slow: true,
    name: "chat: history of 50,000 entries in Chromium",
    wanted: "scrolls smoothly",
    measure: ({ binary }) => inPortlet(binary, history, { count: 50_000, at }, computing),
  },
  {
    name: "chat: a 5,000-piece answer of 100 KB in Chromium",
    wanted: "no task over 50 ms",
    measure: ({ binary }) => inPortlet(binary, answer, { at, pieces: 5000, pause: 8 }, computing),
  },
  ...large.map(([what, given]) => ({
    slow: true,
    name: `chat: an answer of ${what} in Chromium`,
    wanted: "no task over 100 ms",
    measure: ({ binary }) => inPortlet(binary, whole, { at, ...given }, computingLittle),
  })),
  {
    slow: true,
    name: "chat: an answer of 10,000 levels in Chromium",
    wanted: "no task over 100 ms",
    // As the server renders it: it limits how deep its HTML is.
    measure: async ({ binary }) => {
      const piece = await rendered(binary, `${"> ".repeat(10_000)}deep`)
      return inPortlet(binary, whole, { at, piece }, computingLittle)
    },
  },
  {
    slow: true,
    more: ["keys"],
    name: "chat: typing while those 5,000 pieces arrive",
    wanted: "no key lost, each handled within a frame",
    measure: ({ binary }) => inPortlet(binary, answer, { at, pieces: 5000, pause: 8 }, typing),
  },
  {
    slow: true,
    name: "chat: typing at the end of a draft of 1 MB",
    wanted: "no key lost, each handled within a frame",
    measure: ({ binary }) => inPortlet(binary, () => {}, {}, typingLong),
  },
  {
    slow: true,
    name: "chat: memory after the same 100 KB in 1,000 and in 5,000 updates",
    wanted: "does not grow with the updates",
    measure: growth,
  },
]
