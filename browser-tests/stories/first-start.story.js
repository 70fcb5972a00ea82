import { randomUUID } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Chat } from "../support/chat.js"
import { expect, test } from "../support/story.js"

/** So many sessions of Claude Code in a directory of this name. */
function worked(liminal, name, count) {
  const cwd = join(liminal.home, name)
  const folder = join(liminal.home, ".claude", "projects", name)
  for (const each of [cwd, folder]) mkdirSync(each, { recursive: true })
  for (let n = 0; n < count; n += 1) {
    const line = { type: "user", uuid: randomUUID(), parentUuid: null, isSidechain: false, cwd }
    const message = { role: "user", content: `Task ${n}` }
    writeFileSync(join(folder, `${randomUUID()}.jsonl`), `${JSON.stringify({ ...line, message })}\n`)
  }
}

test("the directories that agents worked in are ready to be added, and their sessions come along", async ({
  shell,
  page,
  liminal,
}) => {
  worked(liminal, "shop", 2)
  worked(liminal, "shed", 1)
  await page.reload()
  await expect(page.getByRole("list", { name: "Agents" }).getByRole("listitem").first()).toContainText("Claude Code")
  const directories = page.getByRole("list", { name: "Directories" }).getByRole("listitem")
  await expect(directories).toHaveText([/^shop.*2 sessions/, /^shed.*1 session/])
  await expect(page.getByText("Their 3 terminal sessions can be opened from the sidebar.")).toBeVisible()
  await directories.nth(1).getByRole("checkbox").uncheck()
  await page.getByRole("button", { name: "Add 1 project" }).click()
  await expect(shell.projects).toHaveText(["shop"])
  await expect(page.getByRole("button", { name: "2 from the terminal" })).toBeVisible()
  await expect(page.getByText("No sessions yet")).toHaveCount(0)
})

test("somebody with no project starts with the demo", async ({ shell, page }) => {
  await page.getByRole("button", { name: "Try the demo" }).click()
  await expect(shell.projects).toHaveText(["demo"])
  const chat = new Chat(shell)
  await expect(chat.own).toHaveText(/hello/)
  await expect(chat.words.first()).toBeVisible()
  await expect(chat.composer).toBeEditable()
})
