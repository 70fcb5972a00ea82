import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, on, script, test } from "../support/chat.js"

/** An agent that can't start while the project contains the file `broken`. */
const fragile = (liminal) => (start) => ({
  command: "sh",
  args: [
    "-c",
    `if test -e '${join(liminal.home, "work", "broken")}'; then echo "the disk is full" >&2; exit 3; fi; ${start}`,
  ],
})

test.use({ script: script(on("crash", { say: "Half a " }, { crash: { code: 3, stderr: "segfault in the mind" } })) })

const remove = (liminal, name) => rm(join(liminal.home, "work", name))

test("an agent that starts is said to, in the header and in the conversation, until it is there", async ({
  chat,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  await chat.askAndWait("hello")
  await expect(chat.status).toHaveText("connected")
  await liminal.stop()
  await liminal.hasAgent("Scripted", { ...script(), on_launch: [{ wait_for_file: join(liminal.home, "work", "go") }] })
  await liminal.up()
  await expect(chat.status).toHaveText("ready")
  await chat.say("again")
  await expect(chat.status).toHaveText("starting")
  await expect(chat.launching).toHaveText("Starting Scripted")
  await liminal.touch("go")
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.status).toHaveText("connected")
  await expect(chat.launching).toHaveCount(0)
})

test.describe("a session that its agent names", () => {
  test.use({ script: script(on("Make it work", { title: "Fix the login" }, { say: "Done." })) })

  test("has that title instead of the first message, until the user gives another", async ({ chat, shell, page }) => {
    await chat.askAndWait("Make it work")
    await expect(shell.activeTab).toHaveText("Fix the login")
    await expect(shell.sessions("work")).toHaveText(["Fix the login"])
    await shell.sessionMenu("Fix the login", "Rename")
    await page.getByLabel("Session title").fill("Mine")
    await page.keyboard.press("Enter")
    await chat.askAndWait("Make it work")
    await expect(shell.activeTab).toHaveText("Mine")
  })
})

test.describe("an agent that died", () => {
  test("comes back by itself; the header shows the attempt and when the next one starts", async ({
    chat,
    liminal,
    complaints,
  }) => {
    await liminal.restartsWith(complaints, fragile(liminal))
    await chat.askAndWait("hello")
    await liminal.touch("broken")
    await chat.askAndWait("crash")
    await expect(chat.status).toHaveText(/^reconnecting · try \d( · in \d+ s)?$/)
    await expect(chat.status).toHaveText(/^reconnecting · try [2-4] · in \d+ s$/)
    await expect(chat.composer).toBeEditable()
    await remove(liminal, "broken")
    await expect(chat.status).toHaveText("connected")
    await chat.askAndWait("hello again")
  })

  test("and can't start again says why, what it wrote, and comes back on Reconnect", async ({
    chat,
    liminal,
    complaints,
  }) => {
    await chat.askAndWait("hello")
    await liminal.touch("broken")
    await liminal.restartsWith(complaints, fragile(liminal))
    await chat.say("anyone?")
    await expect(chat.status).toHaveText("disconnected")
    await expect(chat.trouble).toContainText("Scripted is disconnected")
    await expect(chat.trouble.getByText("the disk is full")).toBeHidden()
    await chat.trouble.getByText("Agent output").click()
    await expect(chat.trouble.getByText("the disk is full")).toBeVisible()
    await remove(liminal, "broken")
    await chat.trouble.getByRole("button", { name: "Reconnect" }).click()
    await expect(chat.status).toHaveText("connected")
    await expect(chat.trouble).toHaveCount(0)
    await chat.askAndWait("hello again")
  })
})

test("an agent that is not installed says so, and is there after Retry once it is", async ({
  chat,
  liminal,
  complaints,
}) => {
  await chat.askAndWait("hello")
  const program = join(liminal.home, "installed-later")
  let start = ""
  await liminal.restartsWith(complaints, (command) => {
    start = command
    return { command: program, args: [] }
  })
  await expect(chat.trouble).toContainText("Scripted is not installed")
  await writeFile(program, `#!/bin/sh\n${start}\n`, { mode: 0o755 })
  await chat.trouble.getByRole("button", { name: "Retry" }).click()
  await expect(chat.status).toHaveText("connected")
  await expect(chat.trouble).toHaveCount(0)
  await chat.askAndWait("hello again")
})

test.describe("an agent without a mode that asks", () => {
  test.use({ agent: { askMode: "careful" } })

  test("is said to act without asking: on open, in a second browser, and after a restart", async ({
    chat,
    elsewhere,
    liminal,
    complaints,
  }) => {
    await expect(chat.decides).toBeVisible()
    await expect(chat.frame.getByRole("button", { name: "Ask before acting" })).toBeHidden()
    await expect((await elsewhere()).decides).toBeVisible()
    complaints.expectLostServer()
    await liminal.stop()
    await liminal.up()
    await chat.page.reload()
    await expect(chat.decides).toBeVisible()
    await expect(chat.status).toHaveText("ready")
  })
})

test("an agent that asks is not said to act without asking", async ({ chat }) => {
  await expect(chat.frame.getByRole("button", { name: "Ask before acting" })).toBeVisible()
  await expect(chat.decides).toBeHidden()
})

test.describe("Claude Code", () => {
  test.use({ player: "Claude Code" })

  test("that is gone says what to type, with copy and Retry", async ({ chat, liminal, context, complaints }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: liminal.origin })
    complaints.expectLostServer()
    await chat.askAndWait("hello")
    await liminal.stop()
    liminal.hasEnvironment({ CLAUDE_CMD: "/nowhere/claude" })
    await liminal.up()
    await expect(chat.trouble).toContainText("Claude Code is not installed")
    await expect(chat.trouble.locator(".command-line code")).toHaveText(/install.*claude/)
    await chat.trouble.getByRole("button", { name: "Copy the command" }).click()
    await expect.poll(() => chat.page.evaluate(() => navigator.clipboard.readText())).toMatch(/install.*claude/)
    await expect(chat.trouble.getByRole("button", { name: "Retry" })).toBeVisible()
  })
})

test.describe("an agent that wants a login", () => {
  test("says so, and goes on after Retry", async ({ chat, liminal, complaints }) => {
    await chat.askAndWait("hello")
    complaints.expectLostServer()
    await liminal.stop()
    await liminal.hasAgent("Scripted", {
      ...script(),
      about: { refuse_initialize: { code: -32000, message: "Authentication required" } },
    })
    await liminal.up()
    await chat.say("anyone?")
    await expect(chat.trouble).toContainText("Scripted needs you to log in")
    await liminal.hasAgent("Scripted", script())
    await chat.trouble.getByRole("button", { name: "Retry" }).click()
    await expect(chat.status).toHaveText("connected")
    await expect(chat.trouble).toHaveCount(0)
    await chat.askAndWait("hello again")
  })
})
