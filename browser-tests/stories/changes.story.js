import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, newChat, on, script, test, tool } from "../support/chat.js"
import { git, makeRepository, worktrees } from "../support/repository.js"

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

test.use({
  script: script(
    on(
      "edit",
      { say: "I begin. " },
      tool("e", "Edit notes.txt", "edit", { locations: ["notes.txt"] }),
      { wait_for_file: "edited" },
      { tool_end: { id: "e" } },
      { say: "Edited." },
    ),
    on("*", { say: "Hello." }),
  ),
})

test("the changes of a session's directory are reviewed beside it", async ({ chat, liminal }) => {
  const directory = join(liminal.home, "work")
  makeRepository(directory, { ".gitignore": "edited\n", "notes.txt": "one\ntwo\n" })
  await chat.say("edit")
  await expect(chat.tool("Edit notes.txt")).toBeVisible()
  writeFileSync(join(directory, "notes.txt"), "one\nTWO\nthree\n")
  writeFileSync(join(directory, "another.txt"), "new\n")
  await liminal.touch("edited")
  await expect(chat.ends).toHaveCount(1)

  const button = chat.frame.getByRole("button", { name: "Changes" })
  await expect(button).toHaveAccessibleName("Changes +2 −1")
  await button.click()
  const files = chat.frame.getByRole("listbox", { name: "Changed files" }).getByRole("option")
  await expect(files.filter({ hasText: "notes.txt" })).toContainText("+2")
  await files.filter({ hasText: "notes.txt" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await expect(panel.locator(".add")).toHaveText([/TWO/, /three/])
  await chat.page.keyboard.press("p")
  await expect(files.filter({ hasText: "another.txt" })).toHaveAttribute("aria-selected", "true")
  await expect(panel.locator(".add")).toHaveText([/new/])

  git(directory, "checkout", "--quiet", "--", "notes.txt")
  await panel.getByRole("button", { name: "Refresh" }).click()
  await expect(files.filter({ hasText: "notes.txt" })).toHaveCount(0)
  await chat.page.keyboard.press("Escape")
  await expect(panel).toBeHidden()
  await expect(chat.composer).toBeFocused()
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("one\ntwo\n")

  await chat.page.setViewportSize({ width: 390, height: 844 })
  await expect(button).toHaveAccessibleName(/^Changes/)
  await button.click()
  await expect(panel.getByRole("button", { name: "Ignore whitespace" })).toBeVisible()
  await expect(panel.getByRole("button", { name: "Side by side" })).toBeHidden()
})

test("a moved file is renamed, and another session in the directory is named though it is idle", async ({
  chat,
  liminal,
}) => {
  const directory = join(liminal.home, "work")
  makeRepository(directory, { "notes.txt": "one\ntwo\n" })
  renameSync(join(directory, "notes.txt"), join(directory, "words.txt"))
  await chat.say("The first one")
  await expect(chat.ends).toHaveCount(1)
  await newChat(chat.shell)
  await chat.say("The second one")
  await expect(chat.ends).toHaveCount(1)

  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const files = chat.frame.getByRole("listbox", { name: "Changed files" }).getByRole("option")
  await expect(files).toHaveText([/notes\.txt → .*words\.txt/])
  await expect(files).toHaveAccessibleName(/^renamed .*notes\.txt to .*words\.txt/)
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await expect(panel.getByText("Other sessions in this directory: “The first one”.")).toBeVisible()
})

test("of many other sessions in the directory two are named, and none where nothing changed", async ({
  chat,
  liminal,
}) => {
  const directory = join(liminal.home, "work")
  makeRepository(directory, { "notes.txt": "one\n" })
  for (const [at, words] of ["One", "Two", "Three", "Four is about a rather long matter"].entries()) {
    if (at > 0) await newChat(chat.shell)
    await chat.say(words)
    await expect(chat.ends).toHaveCount(1)
  }
  await newChat(chat.shell)
  await chat.say("The last one")
  await expect(chat.ends).toHaveCount(1)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await panel.getByRole("radio", { name: "Uncommitted" }).click()
  await expect(panel).toContainText("Nothing has changed since the last commit.")
  await expect(panel).not.toContainText("Other sessions")

  writeFileSync(join(directory, "notes.txt"), "two\n")
  await panel.getByRole("button", { name: "Refresh" }).click()
  await expect(panel).toContainText("Other sessions in this directory: “Four is about a rather long mat…”, “Three”")
  await expect(panel).not.toContainText("“Two”")
  await panel.getByRole("button", { name: "and 2 more" }).click()
  await expect(panel).toContainText("“Four is about a rather long matter”, “Three”, “Two”, “One”.")
})

test("a turn's changes are told apart, marked as viewed, and shown side by side", async ({ chat, liminal }) => {
  const directory = join(liminal.home, "work")
  makeRepository(directory, { ".gitignore": "edited\n", "notes.txt": "one\ntwo\n" })
  writeFileSync(join(directory, "earlier.txt"), "not of this turn\n")
  await chat.say("edit")
  await expect(chat.words).toHaveText(/I begin/)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await panel.getByRole("radio", { name: "This turn" }).click()
  await chat.isRecorded(panel)
  writeFileSync(join(directory, "notes.txt"), "one\nTWO\nthree\n")
  writeFileSync(join(directory, "pixel.png"), Buffer.from(pixel, "base64"))
  await liminal.touch("edited")
  await expect(chat.ends).toHaveCount(1)

  const files = panel.getByRole("option")
  await panel.getByRole("radio", { name: "Uncommitted" }).click()
  await expect(files).toHaveCount(3)
  await panel.getByRole("radio", { name: "This turn" }).click()
  await expect(files).toHaveCount(2)
  await expect(panel).toContainText("perhaps not by this agent")
  await files.filter({ hasText: "pixel.png" }).click()
  await expect(panel.getByRole("img", { name: "After" })).toBeVisible()

  await files.filter({ hasText: "notes.txt" }).click()
  await panel.getByRole("button", { name: "Side by side" }).click()
  await expect(panel.locator(".pair").filter({ hasText: "TWO" }).locator(".del")).toHaveText(/two/)
  await chat.page.keyboard.press("v")
  await expect(panel).toContainText("1 of 2 viewed")
  await expect(files.filter({ hasText: "pixel.png" })).toHaveAttribute("aria-selected", "true")

  await chat.page.reload()
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  await expect(panel).toContainText("1 of 2 viewed")
  await panel.getByRole("radio", { name: "Since I looked" }).click()
  await expect(files).toHaveCount(2)
  await chat.page.keyboard.press("Escape")
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  await expect(panel).toContainText("Nothing has changed since you looked.")
})

test("the answer to what was asked last is shown, also if it comes first", async ({ chat, liminal }) => {
  const directory = join(liminal.home, "work")
  makeRepository(directory, { "notes.txt": "one\ntwo\n" })
  writeFileSync(join(directory, "notes.txt"), "one\nTWO\n")
  // Each answer that is not side by side waits for the one that is.
  const waiting = []
  await chat.page.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((text) => {
      const frame = JSON.parse(String(text))
      if (frame.type === "changes:file" && !frame.split) return void waiting.push(text)
      socket.send(text)
      if (frame.type === "changes:file") waiting.splice(0).forEach((late) => socket.send(late))
    })
  })
  await chat.page.reload()
  await chat.say("The first one")
  await expect(chat.ends).toHaveCount(1)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await panel.getByRole("radio", { name: "Uncommitted" }).click()
  await expect(panel.getByRole("option")).toHaveCount(1)
  await expect.poll(() => waiting.length).toBeGreaterThan(0)
  await panel.getByRole("button", { name: "Side by side" }).click()
  await expect(panel.locator(".pair").filter({ hasText: "TWO" }).locator(".del")).toHaveText(/two/)
  await panel.getByRole("button", { name: "Refresh" }).click()
  await expect.poll(() => waiting.length).toBe(0)
  await expect(panel.locator(".pair").filter({ hasText: "TWO" }).locator(".del")).toHaveText(/two/)
})

test("a directory without git has no changes to show", async ({ chat }) => {
  let refused = 0
  chat.page.on("websocket", (socket) =>
    socket.on("framereceived", ({ payload }) => {
      if (payload.includes("NOT_A_REPOSITORY")) refused += 1
    }),
  )
  await chat.page.reload()
  await chat.say("hello")
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.frame.getByRole("button", { name: "Changes" })).toBeHidden()
  expect(refused, "nothing is asked where the answer is known").toBe(0)
  await chat.page.keyboard.press("Alt+c")
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await expect(panel, "only the user asks").toContainText("isn't in a git repository")
  await chat.page.keyboard.press("Escape")
  await expect(panel).toBeHidden()
  await expect(chat.frame.getByRole("button", { name: "Changes" })).toBeHidden()
})

test("a session gets a worktree of its own, and its changes are not the project's", async ({ chat, liminal }) => {
  const directory = join(liminal.home, "work")
  makeRepository(directory, { "notes.txt": "one\n" })
  await chat.shell.startInWorktree("work", { name: "fix login" })
  await expect(chat.frame.locator(".session-header")).toContainText("fix-login")
  await chat.say("hello")
  await expect(chat.ends).toHaveCount(1)
  const branches = git(directory, "branch", "--list", "liminal/*").toString()
  expect(branches).toContain("liminal/fix-login")
  const [path = ""] = worktrees(directory)
  writeFileSync(join(path, "notes.txt"), "one\ntwo\n")
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const files = chat.frame.getByRole("listbox", { name: "Changed files" }).getByRole("option")
  await chat.frame.getByRole("button", { name: "Refresh" }).click()
  await expect(files.filter({ hasText: "notes.txt" })).toContainText("+1")
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("one\n")

  git(path, "commit", "--quiet", "--all", "--message", "Two")
  await chat.say("hello again")
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.frame.getByRole("button", { name: "Changes +1" })).toBeVisible()
  await chat.page.reload()
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  await expect(chat.frame.getByRole("radio", { name: "Branch vs main" })).toBeChecked()
  await expect(files.filter({ hasText: "notes.txt" })).toContainText("+1")
  await chat.frame.getByRole("radio", { name: "Uncommitted" }).click()
  await expect(chat.frame.getByText("Nothing has changed since the last commit.")).toBeVisible()
})
