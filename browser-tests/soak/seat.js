/** One browser and its user: their actions, and every text the browser received. */

import { chromium, expect } from "@playwright/test"
import { Chat } from "../support/chat.js"
import { Shell } from "../support/shell.js"
import config from "../playwright.config.js"

/** What the page may log when the server or the connection is gone. */
const LOST = /net::ERR_|WebSocket connection to .* failed|Failed to load resource/
/** How long to wait for a target that may be gone, and for one that must exist. */
const REACH = { timeout: 4000 }
export const MUST = { timeout: 60_000 }

export class Seat {
  /** The texts this browser received, by item: none of them may be missing in the journal.
   * @type {Map<string, { sessionId: string, content: string }>} */
  received = new Map()
  /** What went wrong in the page. @type {string[]} */
  defects = []
  /** Received errors, counted by code. @type {Map<string, number>} */
  errors = new Map()

  constructor(name, browser, page, wire, liminal) {
    Object.assign(this, { name, browser, page, wire })
    this.shell = new Shell(page, liminal)
    this.chat = new Chat(this.shell)
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !LOST.test(message.text()))
        this.defects.push(`${message.type()}: ${message.text()}`)
    })
    page.on("pageerror", (error) => this.defects.push(`thrown: ${error.stack ?? error.message}`))
    page.on("crash", () => this.defects.push("the page crashed"))
    page.on("response", (response) => {
      if (response.status() >= 500) this.defects.push(`${response.status()} from ${response.url()}`)
    })
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => this.receive(JSON.parse(String(payload)))),
    )
  }

  static async take(name, wire, liminal) {
    const browser = await chromium.launch(config.use.launchOptions)
    const page = await browser.newPage({ viewport: { width: 1100, height: 800 } })
    const seat = new Seat(name, browser, page, wire, liminal)
    await page.goto(liminal.link.replace(liminal.origin, wire.origin))
    await seat.isConnected()
    return seat
  }

  /** @param {any} frame */
  receive(frame) {
    const keep = ({ itemId, sessionId, content }) => {
      if (typeof content === "string") this.received.set(itemId, { sessionId, content })
    }
    switch (frame.type) {
      case "session:history":
      case "session:older":
        return frame.entries.forEach((entry) => keep({ ...entry, sessionId: frame.sessionId }))
      case "session:upsert":
        return keep({ ...frame.payload, sessionId: frame.sessionId })
      case "session:tail": {
        const before = this.received.get(frame.itemId)?.content ?? ""
        return keep({ ...frame, content: before.slice(0, frame.from) + frame.text })
      }
      case "error":
        this.errors.set(frame.code, (this.errors.get(frame.code) ?? 0) + 1)
        if (frame.code === "INTERNAL_ERROR") this.defects.push(`INTERNAL_ERROR: ${frame.message}`)
    }
  }

  tab(session) {
    return this.page.locator(`.tab[data-id="${session.id}"]`)
  }

  /** Activates a session, opening it if it is closed. */
  async show(session, reach = MUST) {
    if ((await this.tab(session).count()) > 0) await this.tab(session).locator(".tab-open").click(reach)
    else await this.page.evaluate((id) => (location.hash = `session=${id}`), session.id)
    await this.tab(session).and(this.page.locator("[data-active]")).waitFor(reach)
    await this.chat.composer.waitFor(reach)
  }

  /** Like `show`, but gives up early. */
  glance(session) {
    return this.show(session, REACH)
  }

  async close(session) {
    if ((await this.tab(session).count()) > 0)
      await this.tab(session)
        .locator(".tab-open")
        .click({ button: "middle", ...REACH })
  }

  /** @param {string} text */
  async say(text, reach = REACH) {
    await this.chat.composer.fill(text, reach)
    await this.chat.composer.press("Enter", reach)
  }

  /** Chooses one of the agent's commands as a user does, by its first letters, and sends it with these words.
   * @param {string} name @param {string} words */
  async command(name, words) {
    // While suggestions are open it is a combobox, so its role doesn't find it.
    const input = this.chat.frame.locator(".composer-input")
    await input.fill(`/${name.slice(0, 2)}`, REACH)
    await this.chat.frame.getByRole("option", { name: `/${name}` }).waitFor(REACH)
    await input.press("Tab", REACH)
    await expect(input).toHaveValue(`/${name} `, REACH)
    await input.pressSequentially(words, REACH)
    await input.press("Enter", REACH)
  }

  async stop() {
    if (await this.chat.stopButton.isVisible()) await this.chat.stopButton.click(REACH)
  }

  /** Answers a permission, if there is one, with one of its buttons. @param {(buttons: any[]) => any} choose */
  async answer(choose) {
    const buttons = await this.chat.ask.locator(".actions button:enabled").all()
    if (buttons.length > 0) await choose(buttons).click(REACH)
  }

  /** Answers in Now, without opening the session. @param {(buttons: any[]) => any} choose */
  async answerInNow(choose) {
    await this.page.locator(".tab-now").click(REACH)
    const buttons = await this.shell.now.locator(".now-card .actions button:enabled").all()
    if (buttons.length > 0) await choose(buttons).click(REACH)
  }

  isConnected() {
    return this.page.locator('.sidebar-connection[data-connection="open"]').waitFor(MUST)
  }

  async reload() {
    await this.page.reload()
    await this.isConnected()
  }

  /** The state of the active session: `idle`, or one that will end. */
  work() {
    return this.chat.frame.locator(".composer").getAttribute("data-work", MUST)
  }

  /** Ends all work in the active session by answering and stopping. */
  async settle(patience) {
    const until = Date.now() + patience
    for (;;) {
      if ((await this.work()) === "idle" && (await this.chat.ask.count()) === 0) return true
      if (Date.now() > until) return false
      // Either may be gone before the click.
      await this.answer((buttons) => buttons[0]).catch(() => {})
      await this.stop().catch(() => {})
      await this.page.waitForTimeout(50)
    }
  }

  /** All rows of a session as the browser shows them, with everything expanded. */
  async shown(session) {
    await this.show(session)
    // The composer appears before the transcript.
    await this.chat.frame.locator(".segment, .invitation").first().waitFor(MUST)
    const frame = await (await this.page.locator(".pane[data-active] iframe").elementHandle())?.contentFrame()
    return frame.evaluate(readAll)
  }
}

/** Runs in the portlet: scrolls through the transcript, because only rows near the view are in the DOM. */
async function readAll() {
  const frames = async (count) => {
    for (let n = 0; n < count; n += 1) await new Promise(requestAnimationFrame)
  }
  const scroller = document.querySelector(".scroller")
  for (let n = 0; n < 200 && !document.querySelector(".above").hidden; n += 1) {
    scroller.scrollTop = 0
    await frames(5)
  }
  const rows = []
  for (const segment of document.querySelectorAll(".segment")) {
    for (let n = 0; n < 300 && segment.childElementCount === 0; n += 1) {
      segment.scrollIntoView()
      await frames(1)
    }
    for (const kind of ["fold", "tool", "thinking"])
      segment.querySelectorAll(`.${kind} > .line[aria-expanded="false"]`).forEach((line) => line.click())
    for (const row of segment.querySelectorAll("[data-item], .turn-end")) {
      const copy = row.cloneNode(true)
      // The times at a turn's end are this browser's until the server's arrive.
      copy
        .querySelectorAll("time, .turn-figures, .code-bar, .message-aside, .chips, .actions, .tool-inner")
        .forEach((part) => part.remove())
      rows.push({
        id: row.dataset.item ?? null,
        kind: row.classList[0],
        state: row.dataset.state ?? row.dataset.outcome ?? null,
        text: copy.textContent.replace(/\s+/g, " ").trim(),
      })
    }
  }
  // Unsent messages are shown too; at the end there must be none.
  for (const row of document.querySelectorAll(".message[data-sending]:not([data-refused])"))
    rows.push({ id: null, kind: "sending", state: null, text: row.textContent })
  return rows
}
