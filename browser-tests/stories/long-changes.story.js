import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, on, script, test } from "../support/chat.js"
import { makeRepository } from "../support/repository.js"

/** @param {string} word @param {number} lines */
const numbered = (word, lines) => Array.from({ length: lines }, (_, n) => `${word} ${n + 1}\n`).join("")

test.use({ script: script(on("*", { say: "Hello." })) })

test("only the part of a long difference that is looked at is in the page", async ({ chat, liminal }) => {
  const directory = join(liminal.home, "work")
  makeRepository(directory, { "long.txt": `${numbered("old", 3000)}${numbered("same", 3000)}end\n` })
  writeFileSync(join(directory, "long.txt"), `${numbered("new", 3000)}${numbered("same", 3000)}END\n`)
  await chat.say("hello")
  await expect(chat.ends).toHaveCount(1)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  const diff = panel.locator(".panel-diff")
  const line = (/** @type {string} */ text) =>
    diff.locator(":is(.add, .del, .same)").filter({ hasText: new RegExp(`^${text}$`) })
  await expect(line("old 1")).toBeVisible()

  await diff.evaluate((root) => root.scrollTo(0, root.scrollHeight))
  await expect(line("END")).toBeInViewport()
  await expect(line("old 1"), "far away").toHaveCount(0)
  expect(await diff.locator(":is(.add, .del, .same)").count()).toBeLessThan(1200)

  // A comment far down is shown when one comes there, again after a reload.
  await line("END").hover()
  await panel.getByRole("button", { name: "Comment on this line" }).click()
  await panel.getByRole("textbox", { name: "Comment" }).fill("Lower case, please.")
  await panel.getByRole("button", { name: "Add comment" }).click()
  const comment = panel.getByRole("group", { name: "Comment" })
  await expect(comment).toContainText("Lower case")
  await chat.page.reload()
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  await expect(line("old 1")).toBeVisible()
  await expect(comment, "not among lines that are not its own").toHaveCount(0)
  await diff.evaluate((root) => root.scrollTo(0, root.scrollHeight))
  await expect(comment).toBeVisible()

  // Hidden lines can be shown, and the view does not jump.
  await expect(line("same 3")).toBeInViewport()
  await panel.locator(".gap").filter({ hasText: "2994 lines" }).click()
  await expect(panel.locator(".gap").filter({ hasText: "2950 lines" })).toHaveCount(1)
  await expect(line("same 3")).toBeInViewport()

  // Removed lines stand beside the added ones, in every part.
  await panel.getByRole("button", { name: "Side by side" }).click()
  await expect(diff.locator(".pair").filter({ hasText: "same 3" }).first()).toBeInViewport()
  await diff.evaluate((root) => root.scrollTo(0, 0))
  const pair = diff.locator(".pair").filter({ hasText: /old 1new 1$/ })
  await expect(pair).toBeVisible()
  await expect(diff.locator(".pair").filter({ hasText: "END" })).toHaveCount(0)
})
