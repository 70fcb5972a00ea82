import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, script, test } from "../support/chat.js"
import { git, makeRepository, worktrees } from "../support/repository.js"

/** @param {string} home */
const repository = (home) => makeRepository(join(home, "work"), { ".gitignore": "built\n" })

/** A session in a worktree, with a file that is in no commit and an ignored one.
 * @param {import("../support/chat.js").Chat} chat @param {string} directory */
async function inWorktree(chat, directory) {
  await chat.shell.startInWorktree("work", { name: "fix" })
  await expect(chat.frame.locator(".session-header")).toContainText("fix")
  await chat.say("Mend it")
  await expect(chat.ends).toHaveCount(1)
  const [at = ""] = worktrees(directory)
  writeFileSync(join(at, "made.txt"), "made\n")
  writeFileSync(join(at, "built"), "built\n")
  return at
}

test.use({ script: script() })

test("a discarded worktree comes back from its session, with all that was in it", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const at = await inWorktree(chat, directory)
  await chat.shell.sessionMenu("Mend it", "Discard worktree…")
  const dialog = chat.page.getByRole("dialog", { name: "Discard this worktree?" })
  await expect(dialog).toContainText("made.txt")
  await expect(dialog).toContainText("ignored files too")
  await expect(dialog).toContainText("The branch liminal/fix stays")
  await dialog.getByRole("checkbox", { name: "Delete the branch too" }).check()
  await expect(dialog).toContainText("is deleted too. Bringing the worktree back restores it.")
  await dialog.getByRole("checkbox", { name: "Delete the branch too" }).uncheck()
  await expect(dialog).toContainText("The branch liminal/fix stays")
  await dialog.getByRole("button", { name: "Discard", exact: true }).click()
  await expect(chat.page.getByText(/Discarded the worktree of liminal\/fix/).first()).toBeVisible()
  await expect(chat.frame.getByRole("heading", { name: "The worktree was discarded" })).toBeVisible()
  await chat.page.keyboard.press("Alt+c")
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await expect(panel).toContainText("Discarded. Bring it back to see its changes.")
  await expect(panel.getByRole("button", { name: "Commit…" })).toBeHidden()
  await chat.page.keyboard.press("Escape")
  expect(existsSync(at)).toBe(false)
  expect(git(directory, "branch", "--list", "liminal/fix")).toContain("liminal/fix")

  await chat.frame.getByRole("button", { name: "Bring back" }).click()
  await expect(chat.frame.getByRole("heading", { name: "The worktree was discarded" })).toBeHidden()
  await chat.page.keyboard.press("Alt+c")
  await expect(panel.getByRole("option")).toHaveText([/made\.txt/])
  await expect(panel.getByRole("button", { name: "Commit…" })).toBeVisible()
  expect(readFileSync(join(at, "made.txt"), "utf8")).toBe("made\n")
  expect(readFileSync(join(at, "built"), "utf8")).toBe("built\n")
  await chat.page.keyboard.press("Escape")
  await chat.say("Go on")
  await expect(chat.ends).toHaveCount(2)
})

test("deleting a session asks about its worktree, and Settings brings that back", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const at = await inWorktree(chat, directory)
  await chat.shell.sessionMenu("Mend it", "Delete…")
  const sure = chat.page.getByRole("alertdialog", { name: "Delete “Mend it”?" })
  await expect(sure.getByRole("radio", { name: "Keep it" })).toBeChecked()
  await expect(sure).toContainText("The branch liminal/fix stays.")
  await sure.getByRole("radio", { name: /Discard it/ }).check()
  await sure.getByRole("button", { name: "Delete" }).click()
  await expect(chat.shell.sessions("work").filter({ hasText: "Mend it" })).toHaveCount(0)
  expect(existsSync(at)).toBe(false)

  await chat.page.getByRole("button", { name: "Settings" }).click()
  const settings = chat.page.getByRole("dialog", { name: "Settings" })
  await expect(settings.getByText(/work · liminal\/fix · discarded .* kept until/)).toBeVisible()
  await settings.getByRole("button", { name: "Bring back Mend it" }).click()
  await expect(settings.getByText(/Brought the worktree back/)).toBeVisible()
  await expect(settings.getByRole("button", { name: "Bring back Mend it" })).toHaveCount(0)
  expect(worktrees(directory)).toEqual([at])
  expect(readFileSync(join(at, "built"), "utf8")).toBe("built\n")
})

test("a discarded worktree can be deleted for good", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const at = await inWorktree(chat, directory)
  await chat.shell.sessionMenu("Mend it", "Discard worktree…")
  await chat.page.getByRole("dialog").getByRole("button", { name: "Discard", exact: true }).click()
  await expect(chat.frame.getByRole("heading", { name: "The worktree was discarded" })).toBeVisible()
  await chat.page.getByRole("button", { name: "Settings" }).click()
  const settings = chat.page.getByRole("dialog", { name: "Settings" })
  await settings.getByRole("button", { name: "Delete Mend it now" }).click()
  const sure = chat.page.getByRole("alertdialog", { name: "Delete the worktree of “Mend it”?" })
  await expect(sure).toContainText("lost for good")
  await sure.getByRole("button", { name: "Delete now" }).click()
  await expect(settings.getByText("Deleted.")).toBeVisible()
  expect(existsSync(at)).toBe(false)
  expect(git(directory, "for-each-ref", "refs/liminal")).toBe("")
})
