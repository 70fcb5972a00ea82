import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, on, script, test } from "../support/chat.js"
import { makeRepository, worktrees } from "../support/repository.js"

/** @param {import("../support/chat.js").Chat} chat */
const bar = (chat) => chat.frame.locator(".going-back")

/** A button of a message, which shows while the message is hovered or has the focus.
 * @param {import("@playwright/test").Locator} message @param {string} name */
const act = async (message, name) => {
  await message.hover()
  await message.getByRole("button", { name }).click()
}

/** @param {string} home */
const repository = (home) => makeRepository(join(home, "work"), { ".gitignore": "may-*\n" })

/** @param {string} name */
const makes = (name) => [
  { say: `I begin ${name}. ` },
  { wait_for_file: `may-${name}` },
  {
    tool: {
      id: name,
      name: "Bash",
      title: `make ${name}.txt`,
      kind: "execute",
      input: { command: `make ${name}.txt` },
    },
  },
  { write_file: { path: `${name}.txt`, content: `${name}\n` } },
  { tool_end: { id: name, output: "" } },
  { say: `Made ${name}. ` },
]

test.use({ script: script(on("one", ...makes("one")), on("two", ...makes("two"))) })

/** Two turns, with a file each. The agent writes once the state before its turn is recorded.
 * @param {import("../support/chat.js").Chat} chat @param {string} at */
async function twoTurns(chat, at) {
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  for (const [n, words] of ["one", "two"].entries()) {
    await chat.say(words)
    await expect(chat.words.filter({ hasText: `I begin ${words}` })).toBeVisible()
    await panel.getByRole("radio", { name: "This turn" }).click()
    await chat.isRecorded(panel)
    writeFileSync(join(at, `may-${words}`), "")
    await expect(chat.ends).toHaveCount(n + 1)
    // The panel no longer says what it said before the file was written, so the next turn can wait for that again.
    await expect(panel.getByRole("option")).toHaveText([new RegExp(`${words}.txt`)])
  }
  await panel.getByRole("button", { name: "Close changes" }).click()
  await expect(panel).toBeHidden()
}

test("an edited message puts files back after a look at them, and one click undoes that", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  await chat.page.reload()
  await chat.shell.isConnected()
  await twoTurns(chat, directory)
  writeFileSync(join(directory, "mine.txt"), "mine\n")
  await act(chat.own.nth(1), "Edit and continue from here")
  await expect(bar(chat)).toContainText("Files stay as they are now.")
  await bar(chat).getByRole("button", { name: "Put files back…" }).click()
  const dialog = chat.frame.getByRole("dialog", { name: "Put files back too?" })
  await expect(dialog.getByRole("checkbox", { name: /two.txt/ })).toBeChecked()
  await expect(dialog.getByRole("checkbox", { name: /mine.txt/, checked: true })).toHaveCount(0)
  await dialog.getByRole("button", { name: "Put back when sent" }).click()
  await expect(bar(chat)).toContainText("1 file goes back to before it.")
  expect(existsSync(join(directory, "two.txt"))).toBe(true)
  await chat.composer.fill("something else")
  await chat.composer.press("Enter")
  await expect(bar(chat)).toContainText("Edited version of")
  await expect(chat.own.locator(".rendered")).toHaveText(["one", "something else"])
  expect(existsSync(join(directory, "two.txt"))).toBe(false)
  expect(readFileSync(join(directory, "mine.txt"), "utf8")).toBe("mine\n")
  await expect(chat.ends).toHaveCount(2)

  const notice = chat.frame.getByRole("region", { name: "Notice" }).filter({ hasText: "back to an earlier point" })
  await notice.getByRole("button", { name: "Undo" }).click()
  await expect(chat.frame.getByRole("region", { name: "Notice" }).filter({ hasText: "Undid it" })).toBeVisible()
  expect(readFileSync(join(directory, "two.txt"), "utf8")).toBe("two\n")
})

test("a branch of a session in a worktree gets its own, with the files of then", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  await chat.shell.startInWorktree("work", { name: "fix" })
  await expect(chat.frame.locator(".session-header")).toContainText("fix")
  const [at = ""] = worktrees(directory)
  await twoTurns(chat, at)
  await act(chat.said.filter({ hasText: "Made one" }), "Branch from here")
  const dialog = chat.frame.getByRole("alertdialog")
  await expect(dialog.getByRole("checkbox", { name: /a worktree of its own/ })).toBeChecked()
  await dialog.getByRole("button", { name: "Branch" }).click()
  await expect(bar(chat)).toContainText("Branched from")
  await expect(chat.frame.locator(".session-header")).toContainText("fix-2")
  expect(existsSync(join(`${at}-2`, "one.txt"))).toBe(true)
  expect(existsSync(join(`${at}-2`, "two.txt"))).toBe(false)
  expect(existsSync(join(at, "two.txt"))).toBe(true)
})
