/** What users do in a session, and the fixtures of stories whose agent follows a script. */

import { expect, test as base } from "./story.js"
import { Liminal } from "./liminal.js"
import { Shell } from "./shell.js"

/** The active session. */
export class Chat {
  constructor(shell) {
    this.shell = shell
    this.page = shell.page
  }

  get frame() {
    // Now is in front too while a session opens from it, and has cards of its own.
    return this.page.frameLocator(".pane[data-active]:not(#pane-now) iframe")
  }
  get composer() {
    return this.frame.getByRole("textbox", { name: "Message", exact: true })
  }
  get sendButton() {
    return this.frame.getByRole("button", { name: "Send", exact: true })
  }
  get stopButton() {
    return this.frame.getByRole("button", { name: "Stop", exact: true })
  }
  get working() {
    return this.frame.locator(".composer-work")
  }
  get own() {
    return this.frame.locator('.message[data-origin="user"]')
  }
  get said() {
    return this.frame.locator('.message[data-origin="agent"]')
  }
  /** The text of the agent's messages, without times and buttons. */
  get words() {
    return this.said.locator(".rendered")
  }
  get thoughts() {
    return this.frame.locator(".thinking")
  }
  get tools() {
    return this.frame.locator(".tool")
  }
  tool(title) {
    return this.frame
      .locator(".tool")
      .filter({ has: this.frame.locator(".line", { hasText: title }) })
      .last()
  }
  get ask() {
    return this.frame.locator(".ask")
  }
  get answered() {
    return this.frame.locator(".answered")
  }
  get notices() {
    return this.frame.locator(".notice")
  }
  get trouble() {
    return this.frame.locator(".trouble")
  }
  get launching() {
    return this.frame.locator(".launching")
  }
  get plan() {
    return this.frame.locator(".plan")
  }
  get ends() {
    return this.frame.locator(".turn-end")
  }
  get status() {
    return this.frame.locator(".status-word")
  }
  get decides() {
    return this.frame.getByRole("button", { name: "Acts without asking" })
  }
  get toEnd() {
    return this.frame.locator(".to-end")
  }
  get scroller() {
    return this.frame.locator(".scroller")
  }

  id() {
    return this.page
      .locator(".pane[data-active] iframe")
      .evaluate((frame) => decodeURIComponent(frame.src.split("#")[1]))
  }

  async say(text) {
    await this.composer.fill(text)
    await this.composer.press("Enter")
  }

  /** Picks an entry of the menu of permissions. */
  async permits(name) {
    await this.frame.locator(".permission").click()
    await this.frame.getByRole("menuitemradio", { name }).click()
  }

  /** Picks a value of one of the agent's options. */
  async chooses(option, value) {
    await this.frame.getByRole("button", { name: new RegExp(`^${option}: `) }).click()
    await this.frame.getByRole("menuitemradio", { name: value }).click()
  }

  /** Sends a message and waits until its turn ends. */
  async askAndWait(text) {
    const before = await this.ends.count()
    await this.say(text)
    await expect(this.ends).toHaveCount(before + 1)
  }

  /** Waits until the state before the running turn is recorded; the agent may begin earlier. What is changed later is
   * the turn's. @param {import("@playwright/test").Locator} panel the changes, at those of this turn */
  async isRecorded(panel) {
    await expect(async () => {
      await panel.getByRole("button", { name: "Refresh" }).click()
      await expect(panel).toContainText(/changed no files|before the first state was recorded/, { timeout: 2000 })
    }).toPass()
  }

  /** Runs `what` with the scrolling element. */
  measure(what) {
    return this.scroller.evaluate(what)
  }
  isAtEnd() {
    return this.measure((box) => box.scrollHeight - box.clientHeight - box.scrollTop <= 4)
  }
}

export const test = base.extend({
  /** The agent's script; stories set it with `test.use`. */
  script: [{ rules: [] }, { option: true }],
  /** Further fields of the agent's entry in `agents.json`; also set with `test.use`. */
  agent: [{}, { option: true }],
  /** Which agent plays the script: `Scripted` over ACP, or `Claude Code` in its own protocol. */
  player: ["Scripted", { option: true }],

  liminal: async ({ env, script, agent, player }, use) => {
    const app = await Liminal.start(env, (fresh) =>
      player === "Scripted" ? fresh.hasAgent(player, script, agent) : fresh.isClaude(script),
    )
    await use(app)
    await app.remove()
  },

  /** A session with that agent, active and ready. */
  chat: async ({ shell, player }, use) => {
    await shell.hasProject("work")
    await newChat(shell, "work", player)
    await use(new Chat(shell))
  },

  /** The page's connection, which the story can cut: `line.cutAt(type)` drops the connection instead of passing on the
   * next request of that type; the page then reconnects automatically. `line.holdAt(type)` keeps such a request and
   * all after it, until the function it returns is called. */
  line: async ({ page }, use) => {
    let cutting = ""
    let holding = ""
    /** Passes on what is held. @type {(() => void)[] | null} */
    let held = null
    await page.routeWebSocket(/\/ws$/, (socket) => {
      const server = socket.connectToServer()
      socket.onMessage((message) => {
        if (holding !== "" && JSON.parse(String(message)).type === holding) {
          holding = ""
          held = []
        }
        if (held) return held.push(() => server.send(message))
        if (cutting === "" || JSON.parse(String(message)).type !== cutting) return server.send(message)
        cutting = ""
        server.close()
        socket.close()
      })
    })
    await use({
      cutAt: (type) => {
        cutting = type
      },
      holdAt: (type) => {
        holding = type
        return () => {
          const all = held ?? []
          held = null
          all.forEach((pass) => pass())
        }
      },
    })
  },

  /** The same session in a second browser. */
  elsewhere: async ({ browser, liminal, chat }, use) => {
    void chat
    const context = await browser.newContext()
    const shell = new Shell(await context.newPage(), liminal)
    await shell.enter()
    await use(async () => {
      await shell.page.locator(".session").first().click()
      const other = new Chat(shell)
      await expect(other.composer).toBeVisible()
      return other
    })
    await context.close()
  },
})

/** Starts a session with the scripted agent. */
export async function newChat(shell, project = "work", agent = "Scripted") {
  await shell.page.getByRole("button", { name: `New session in ${project}` }).click()
  await shell.start(agent)
  await expect(new Chat(shell).composer).toBeEditable()
}

/** A rule of a script: these steps answer this prompt. */
export const on = (prompt, ...steps) => ({ on: prompt === "any" ? "any" : { contains: prompt }, steps })
export const script = (...rules) => ({ rules: [...rules, { on: "any", steps: [{ say: "All right." }] }] })
export const tool = (id, title, kind, more = {}) => ({
  tool: { id, name: kind, title, kind, input: {}, locations: [], ...more },
})
export const done = (id, output, more = {}) => ({ tool_end: { id, output, ...more } })

export { expect }
