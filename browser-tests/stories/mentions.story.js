import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, script, test } from "../support/chat.js"

const commands = [
  { name: "review", description: "Review a pull request" },
  { name: "security-review", description: "Look for holes" },
  { name: "compact", description: "Make room" },
  ...Array.from({ length: 200 }, (_, n) => ({ name: `zz${n}`, description: "One of many" })),
]

test.use({ script: { ...script(), about: { commands } } })

const input = (chat) => chat.frame.locator(".composer-input")
const popup = (chat) => chat.frame.getByRole("listbox", { name: "Suggestions" })
const names = (chat) => popup(chat).locator(".popup-name")

test("a slash lists the agent's commands, and keys choose one", async ({ chat }) => {
  await chat.askAndWait("hello")
  await input(chat).pressSequentially("/")
  await expect(chat.frame.getByText("203 of 203")).toBeVisible()
  await input(chat).pressSequentially("rev")
  await expect(names(chat)).toHaveText(["/review", "/security-review"])
  await expect(names(chat).first().locator("b")).toHaveText("rev")
  await input(chat).press("ArrowDown")
  await expect(input(chat)).toHaveAttribute("aria-activedescendant", "composer-popup-1")
  await input(chat).press("Tab")
  await expect(input(chat)).toHaveValue("/security-review ")
  await expect(popup(chat)).toBeHidden()
  await input(chat).press("ControlOrMeta+z")
  await expect(input(chat)).toHaveValue("/rev")
  await input(chat).press("Escape")
  await expect(popup(chat)).toBeHidden()
  await input(chat).fill("")
  await input(chat).pressSequentially("/com")
  await input(chat).press("Enter")
  await expect(chat.own.last()).toHaveText(/^\/compact/)
  await expect(chat.ends).toHaveCount(2)
})

test("a command that the agent doesn't offer is sent as it is", async ({ chat }) => {
  await chat.askAndWait("hello")
  await input(chat).pressSequentially("/unheard-of")
  await expect(popup(chat)).toBeHidden()
  await input(chat).press("Enter")
  await expect(chat.own.last()).toHaveText(/unheard-of/)
})

test("an at sign finds files of the workspace, by key and by mouse", async ({ chat, liminal }) => {
  const work = join(liminal.home, "work")
  await mkdir(join(work, "src/journal"), { recursive: true })
  for (const name of ["src/journal/write.rs", "my notes.md", "readme.md"]) await writeFile(join(work, name), "")
  await input(chat).pressSequentially("look at @")
  for (const name of ["src", "readme.md", "my notes.md"])
    await expect(names(chat).filter({ hasText: name })).not.toHaveCount(0)
  await input(chat).pressSequentially("jowr")
  await expect(names(chat)).toHaveText(["write.rs"])
  await input(chat).press("Enter")
  await expect(input(chat)).toHaveValue("look at @src/journal/write.rs ")
  await input(chat).pressSequentially("and @not")
  await expect(names(chat)).toHaveText(["my notes.md"])
  await names(chat).getByText("my notes.md").click()
  await expect(input(chat)).toHaveValue('look at @src/journal/write.rs and @"my notes.md" ')
  await input(chat).pressSequentially("me@work")
  await expect(popup(chat)).toBeHidden()
})

test("a directory is entered with Tab", async ({ chat, liminal }) => {
  await mkdir(join(liminal.home, "work/src/deep"), { recursive: true })
  await writeFile(join(liminal.home, "work/src/deep/found.rs"), "")
  await input(chat).pressSequentially("@sr")
  await expect(names(chat).first()).toHaveText("src")
  await input(chat).press("Tab")
  await expect(input(chat)).toHaveValue("@src/")
  await expect(names(chat)).toContainText(["found.rs"])
})
