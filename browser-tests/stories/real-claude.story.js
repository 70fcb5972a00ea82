import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "../support/real.js"

const file = (liminal, name) => join(liminal.home, "work", name)
const read = (liminal, name) => readFile(file(liminal, name), "utf8").catch(() => null)

test("Claude Code answers word by word, then again, and both answers are there after a reload", async ({ begin, page }) => {
  const chat = await begin("Claude Code")
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

test("a command of Claude Code runs when it is allowed, with its output, and does not when it is refused", async ({ begin, liminal }) => {
  const chat = await begin("Claude Code")
  await chat.say("FAKE:BASH echo from-the-command | tee allowed.txt")
  await expect(chat.ask).toContainText("echo from-the-command | tee allowed.txt")
  expect(await read(liminal, "allowed.txt")).toBe(null)
  await chat.ask.getByRole("button", { name: /^Allow once/ }).click()
  await expect(chat.ends).toHaveCount(1)
  const allowed = chat.tool("tee allowed.txt")
  await expect(allowed).toHaveAttribute("data-state", "done")
  await allowed.locator(".line").click()
  await expect(allowed.locator(".parts")).toContainText("from-the-command")
  await expect(chat.words.last()).toContainText("The tool answered: from-the-command")
  expect(await read(liminal, "allowed.txt")).toBe("from-the-command\n")

  await chat.say("FAKE:BASH touch refused.txt")
  await chat.ask.getByRole("button", { name: /^Deny/ }).click()
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.tool("touch refused.txt")).toHaveAttribute("data-state", "refused")
  await expect(chat.answered.last()).toContainText("Deny")
  expect(await read(liminal, "refused.txt")).toBe(null)
})

test("an edit of Claude Code is shown as a diff before and after it is allowed", async ({ begin, liminal }) => {
  const chat = await begin("Claude Code")
  await writeFile(file(liminal, "notes.txt"), "alpha\nomega\n")
  await chat.askAndWait(`FAKE:READ ${file(liminal, "notes.txt")}`)
  await chat.say(`FAKE:EDIT ${file(liminal, "notes.txt")}`)
  await expect(chat.ask.locator(".diff .del")).toHaveText(/alpha/)
  await expect(chat.ask.locator(".diff .add")).toHaveText(/beta/)
  await chat.ask.getByRole("button", { name: /^Allow once/ }).click()
  await expect(chat.ends).toHaveCount(2)
  const edit = chat.tool("Edit notes.txt")
  await expect(edit.locator(".tool-counts")).toHaveText("+1−1")
  await expect(edit.locator(".diff .add")).toHaveText(/beta/)
  expect(await read(liminal, "notes.txt")).toBe("beta\nomega\n")
})

test("Stop ends a turn of Claude Code, keeps its words, and the next message is answered", async ({ begin }) => {
  const chat = await begin("Claude Code")
  await chat.say("FAKE:STALL half an answer")
  await expect(chat.words).toHaveText("half an answer")
  await chat.stopButton.click()
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.words).toHaveText("half an answer")
  await chat.askAndWait("FAKE:TEXT Still here.")
  await expect(chat.words.last()).toHaveText("Still here.")
})

test("a conversation with Claude Code goes on after the server was started again", async ({ begin, liminal, complaints, shell }) => {
  const chat = await begin("Claude Code")
  await chat.askAndWait("Remember the apple. FAKE:TEXT I will.")
  complaints.expectLostServer()
  await liminal.stop()
  await liminal.up()
  await shell.isConnected()
  await chat.askAndWait("FAKE:HEARD")
  await expect(chat.words.last()).toHaveText("You said before: Remember the apple. FAKE:TEXT I will.")
})

test("a turn of Claude Code that the server's death broke off is there once, with its words, and the conversation goes on", async ({ begin, liminal, complaints, shell }) => {
  const chat = await begin("Claude Code")
  await chat.askAndWait("Remember the apple. FAKE:TEXT I will.")
  // The model never ends it, so neither can the agent in the moment it outlives the server.
  await chat.say("FAKE:STALL half an answer")
  await expect(chat.words.last()).toHaveText("half an answer")
  complaints.expectLostServer()
  await liminal.kill()
  await liminal.up()
  await shell.isConnected()
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.ends.last()).toContainText("The turn was interrupted")
  await expect(chat.own.locator(".rendered")).toHaveText(["Remember the apple. FAKE:TEXT I will.", "FAKE:STALL half an answer"])
  await expect(chat.words).toHaveText(["I will.", "half an answer"])
  await chat.askAndWait("FAKE:TEXT Here again.")
  await expect(chat.words.last()).toHaveText("Here again.")
  await expect(chat.own).toHaveCount(3)
  await expect(chat.frame.locator(".notice")).toHaveCount(0)
})
