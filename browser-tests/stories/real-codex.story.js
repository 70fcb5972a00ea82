import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "../support/real.js"

const file = (liminal, name) => join(liminal.home, "work", name)
const read = (liminal, name) => readFile(file(liminal, name), "utf8").catch(() => null)
/** A command that Codex must ask for, because it wants out of its sandbox. */
const asksFor = (command) => `FAKE:TOOL exec_command ${JSON.stringify({ cmd: command, sandbox_permissions: "require_escalated", justification: "test" })}`

test("Codex answers word by word, then again, and both answers are there after a reload", async ({ begin, page }) => {
  const chat = await begin("Codex")
  await chat.askAndWait("FAKE:TEXT Good **morning**.")
  await expect(chat.words).toHaveText("Good morning.")
  await expect(chat.words.locator("strong")).toHaveText("morning")
  // The model never ends this one: what is seen came while the turn was under way.
  await chat.say("FAKE:STALL one two three")
  await expect(chat.words.last()).toHaveText("one two three")
  await expect(chat.working).toBeVisible()
  await page.reload()
  await expect(chat.words).toHaveText(["Good morning.", "one two three"])
  await expect(chat.working).toBeVisible()
})

test("a command of Codex runs when it is allowed, with its output, and does not when it is refused", async ({ begin, liminal }) => {
  const chat = await begin("Codex")
  await chat.say(asksFor("echo from-the-command | tee allowed.txt"))
  await expect(chat.ask).toContainText("echo from-the-command | tee allowed.txt")
  expect(await read(liminal, "allowed.txt")).toBe(null)
  await chat.ask.locator("[data-answer=allow_once]").click()
  await expect(chat.ends).toHaveCount(1)
  const allowed = chat.tool("tee allowed.txt")
  await expect(allowed).toHaveAttribute("data-state", "done")
  await allowed.locator(".line").click()
  await expect(allowed.locator(".parts")).toContainText("from-the-command")
  await expect(chat.words.last()).toContainText("from-the-command")
  expect(await read(liminal, "allowed.txt")).toBe("from-the-command\n")

  // Codex takes a refusal for the end of the turn.
  await chat.say(asksFor("touch refused.txt"))
  await chat.ask.locator("[data-answer^=reject]").first().click()
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.tool("touch refused.txt")).toHaveAttribute("data-state", "refused")
  expect(await read(liminal, "refused.txt")).toBe(null)
  await chat.askAndWait("FAKE:TEXT Still here.")
})

test("an edit of Codex is shown as a diff", async ({ begin, liminal }) => {
  const chat = await begin("Codex")
  await writeFile(file(liminal, "notes.txt"), "alpha\n")
  await chat.askAndWait(`FAKE:EDIT ${file(liminal, "notes.txt")}`)
  const edit = chat.tools.last()
  await expect(edit).toContainText("notes.txt")
  await expect(edit.locator(".tool-counts")).toHaveText("+1−1")
  await expect(edit.locator(".diff .del")).toHaveText(/alpha/)
  await expect(edit.locator(".diff .add")).toHaveText(/beta/)
  expect(await read(liminal, "notes.txt")).toBe("beta\n")
})

test("Stop ends a turn of Codex, keeps its words, and the next message is answered", async ({ begin }) => {
  const chat = await begin("Codex")
  await chat.say("FAKE:STALL half an answer")
  await expect(chat.words).toHaveText("half an answer")
  await chat.stopButton.click()
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.words).toHaveText("half an answer")
  await chat.askAndWait("FAKE:TEXT Still here.")
  await expect(chat.words.last()).toHaveText("Still here.")
})

test("a conversation with Codex goes on after the server was started again", async ({ begin, liminal, complaints, shell }) => {
  const chat = await begin("Codex")
  await chat.askAndWait("Remember the apple. FAKE:TEXT I will.")
  complaints.expectLostServer()
  await liminal.stop()
  await liminal.up()
  await shell.isConnected()
  await chat.askAndWait("FAKE:HEARD")
  await expect(chat.words).toHaveText(["I will.", "You said before: Remember the apple. FAKE:TEXT I will."])
})

test("Claude Code and Codex side by side: each tab keeps its own conversation, also when it is closed and opened again", async ({ begin, shell, page }) => {
  const claude = await begin("Claude Code")
  await claude.askAndWait("FAKE:TEXT Claude was here.")
  const codex = await begin("Codex")
  await codex.askAndWait("FAKE:TEXT Codex was here.")
  const tabs = shell.page.getByRole("tab")
  await expect(tabs).toHaveCount(2)
  // One goes on while the other is in front.
  await codex.say("FAKE:LONG 60 30")
  await tabs.first().click()
  await expect(claude.words).toHaveText(["Claude was here."])
  await claude.askAndWait("FAKE:TEXT Claude again.")
  await tabs.last().click()
  await expect(codex.ends).toHaveCount(2)
  await expect(codex.words).toHaveText(["Codex was here.", /^word0 .*word59$/])
  await tabs.first().click()
  await expect(claude.words).toHaveText(["Claude was here.", "Claude again."])

  await page.locator(".tab-close").first().click()
  await page.locator(".tab-close").first().click()
  await expect(page.locator("iframe")).toHaveCount(0)
  await shell.session("FAKE:TEXT Claude was here.").locator(".session-open").click()
  await expect(claude.words).toHaveText(["Claude was here.", "Claude again."])
  await shell.session("FAKE:TEXT Codex was here.").locator(".session-open").click()
  await expect(codex.words).toHaveText(["Codex was here.", /^word0 .*word59$/])
})
