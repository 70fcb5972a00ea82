import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, script, test } from "../support/chat.js"
import { git, makeRepository, worktrees } from "../support/repository.js"

/** A session in a worktree with a commit, whose repository has a remote; returns the panel.
 * @param {import("../support/chat.js").Chat} chat @param {string} home */
async function withCommit(chat, home) {
  const directory = join(home, "work")
  const remote = join(home, "remote")
  mkdirSync(remote)
  git(remote, "init", "--quiet", "--bare")
  makeRepository(directory)
  git(directory, "remote", "add", "origin", remote)
  await chat.shell.startInWorktree("work", { name: "fix" })
  await expect(chat.frame.locator(".session-header")).toContainText("fix")
  await chat.say("Mend it")
  await expect(chat.ends).toHaveCount(1)
  const [at = ""] = worktrees(directory)
  git(at, "commit", "--quiet", "--allow-empty", "--message", "Mend the notes")
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await panel.getByRole("button", { name: "Pull request…" }).click()
  return { panel, remote, at }
}

test.use({ script: script() })

test("a pull request is proposed, changed and opened, and its link is shown", async ({ chat, liminal, complaints }) => {
  const tools = join(liminal.home, "tools")
  mkdirSync(tools)
  writeFileSync(
    join(tools, "gh"),
    `#!/bin/sh\nprintf '%s\\n' "$@" > ${join(liminal.home, "called")}\necho https://example.org/pull/7\n`,
  )
  chmodSync(join(tools, "gh"), 0o755)
  complaints.expectLostServer()
  liminal.hasEnvironment({ PATH: `${tools}:${process.env.PATH}` })
  await liminal.stop()
  await liminal.up()
  await chat.page.reload()
  await chat.shell.isConnected()

  const { panel, remote } = await withCommit(chat, liminal.home)
  const dialog = chat.frame.getByRole("dialog", { name: "Open a pull request" })
  const title = dialog.getByRole("textbox", { name: "Title" })
  await expect(title).toHaveValue("Mend the notes")
  await expect(dialog).toContainText("liminal/fix will be pushed to origin, with a pull request into main.")
  await expect(dialog).toContainText("This can't be undone with one click.")
  await title.fill("")
  await expect(dialog.getByRole("button", { name: "Open pull request" })).toBeDisabled()
  await title.fill("Mend all notes")
  await dialog.getByRole("textbox", { name: "Message" }).fill("They were wrong.")
  await dialog.getByRole("button", { name: "Open pull request" }).click()
  await expect(panel.getByRole("link", { name: "Open it" })).toHaveAttribute("href", "https://example.org/pull/7")
  await expect(chat.frame.getByRole("region", { name: "Notice" }).getByRole("link")).toHaveText(
    "https://example.org/pull/7",
  )
  const called = readFileSync(join(liminal.home, "called"), "utf8").split("\n")
  expect(called).toContain("--title=Mend all notes")
  expect(called).toContain("--body=They were wrong.")
  expect(git(remote, "log", "-1", "--format=%s", "liminal/fix")).toBe("Mend the notes")
})

test("without gh there is a command to copy", async ({ chat, liminal, complaints }) => {
  const tools = join(liminal.home, "only-git")
  mkdirSync(tools)
  const found = execFileSync("sh", ["-c", "command -v git"]).toString().trim()
  execFileSync("ln", ["-s", found, join(tools, "git")])
  complaints.expectLostServer()
  liminal.hasEnvironment({ PATH: tools })
  await liminal.stop()
  await liminal.up()
  await chat.page.reload()
  await chat.shell.isConnected()

  const { at } = await withCommit(chat, liminal.home)
  const dialog = chat.frame.getByRole("dialog", { name: "Open a pull request" })
  await expect(dialog).toContainText("gh is not installed")
  await expect(dialog.locator(".command-line code")).toHaveText(`git -C ${at} push --set-upstream origin liminal/fix`)
  await expect(dialog.getByRole("button", { name: "Open pull request" })).toBeDisabled()
})
