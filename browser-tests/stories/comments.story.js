import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, on, script, test } from "../support/chat.js"
import { makeRepository, worktrees } from "../support/repository.js"

/** @param {string} directory */
const repository = (directory) => makeRepository(directory, { "notes.txt": "one\ntwo\nthree\n" })

test.use({ script: script(on("*", { say: "Understood." })) })

test("comments on changed lines are kept, edited and sent as one message", async ({ chat, liminal }) => {
  const directory = join(liminal.home, "work")
  repository(directory)
  writeFileSync(join(directory, "notes.txt"), "one\nTWO\nthree\nfour\n")
  await chat.say("hello")
  await expect(chat.ends).toHaveCount(1)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  const row = panel.locator(".add").filter({ hasText: "TWO" })
  await expect(row).toBeVisible()

  await row.hover()
  await panel.getByRole("button", { name: "Comment on this line" }).click()
  const text = panel.getByRole("textbox", { name: "Comment" })
  await expect(text).toBeFocused()
  await text.fill("Why upper case?")
  await text.press("Control+Enter")
  const comment = panel.getByRole("group", { name: "Comment" })
  await expect(comment).toContainText("Why upper case?")
  await expect(comment).toContainText("Pending")
  await expect(panel).toContainText("1 comment")

  await chat.page.reload()
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  await expect(comment).toContainText("Why upper case?")
  await comment.getByRole("button", { name: "Edit comment" }).click()
  await text.fill("Lower case, please.")
  await panel.getByRole("button", { name: "Save" }).click()
  await expect(comment).toContainText("Lower case, please.")

  writeFileSync(join(directory, "notes.txt"), "zero\none\nTWO\nthree\nfour\n")
  await panel.getByRole("button", { name: "Refresh" }).click()
  await expect(comment).toContainText("Moved to line 3")

  await panel.getByRole("button", { name: "Discard" }).click()
  await expect(comment).toHaveCount(0)
  await panel.getByRole("button", { name: "Undo" }).click()
  await expect(comment).toContainText("Lower case, please.")
  await panel.getByRole("button", { name: /^Send 1 comment to the agent/ }).click()
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.frame.locator("#conversation")).toContainText("Lower case, please.")
  await expect(comment).toHaveCount(0)
})

test("a comment that is being written stays when the user points at other lines or another file", async ({
  chat,
  liminal,
}) => {
  const directory = join(liminal.home, "work")
  repository(directory)
  writeFileSync(join(directory, "notes.txt"), "one\nTWO\nthree\nfour\n")
  writeFileSync(join(directory, "other.txt"), "other\n")
  await chat.say("hello")
  await expect(chat.ends).toHaveCount(1)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  const file = (name) => panel.getByRole("option", { name: new RegExp(name) })
  await file("notes.txt").click()
  const row = panel.locator(".add").filter({ hasText: "TWO" })
  await row.hover()
  await panel.getByRole("button", { name: "Comment on this line" }).click()
  const text = panel.getByRole("textbox", { name: "Comment" })
  await text.fill("Why upper")
  await panel.locator(".add").filter({ hasText: "four" }).hover()
  await panel.getByRole("button", { name: "Comment on this line" }).click()
  await expect(text).toBeFocused()
  await expect(text).toHaveValue("Why upper")

  await file("other.txt").click()
  await expect(panel.locator(".add").filter({ hasText: "other" })).toBeVisible()
  await expect(text).toHaveCount(0)
  await file("notes.txt").click()
  await expect(text).toHaveValue("Why upper")
  await text.press("Escape")
  await expect(text).toHaveCount(0)
})

test("a worktree is prepared by the project's command, and made again when it vanished", async ({ chat, liminal }) => {
  const { page } = chat
  const directory = join(liminal.home, "work")
  repository(directory)
  await chat.shell.startInWorktree("work", { name: "prepared", setup: "echo getting ready; exit 3" })
  const setup = chat.frame.getByRole("status", { name: "Setup command" })
  await expect(setup).toContainText("exit code 3")
  await expect(setup).toContainText("getting ready")
  await chat.say("hello")
  await setup.getByRole("button", { name: "Start anyway" }).click()
  await expect(chat.ends).toHaveCount(1)

  const [path = ""] = worktrees(directory)
  rmSync(path, { recursive: true })
  await page.reload()
  await expect(chat.frame.getByRole("heading", { name: "The worktree no longer exists" })).toBeVisible()
  await chat.frame.getByRole("button", { name: "Make it again" }).click()
  await expect(chat.frame.getByRole("heading", { name: "The worktree no longer exists" })).toBeHidden()
  await chat.say("go on")
  await expect(chat.ends).toHaveCount(2)
})

test("settings show and limit the space for checkpoints", async ({ chat }) => {
  await chat.page.getByRole("button", { name: "Settings" }).click()
  const dialog = chat.page.getByRole("dialog", { name: "Settings" })
  const space = dialog.getByLabel("Space for checkpoints")
  await expect(space).toHaveValue(String(2 * 1024 ** 3))
  await space.selectOption({ label: "5 GB" })
  await chat.page.keyboard.press("Escape")
  await expect(dialog).toBeHidden()
  await chat.page.getByRole("button", { name: "Settings" }).click()
  await expect(space).toHaveValue(String(5 * 1024 ** 3))
})
