import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { Chat } from "../support/chat.js"
import { agents, expect, running, test } from "../support/real.js"
import { makeRepository, worktrees } from "../support/repository.js"

for (const agent of agents)
  test(`${agent} works in a worktree of its own, and its changes are shown there`, async ({ liminal, shell }) => {
    await shell.hasProject("work")
    const directory = join(liminal.home, "work")
    makeRepository(directory, { "notes.txt": "one\n" })
    await shell.startInWorktree("work", { name: "side", agent })
    const chat = new Chat(shell)
    await expect(chat.frame.locator(".session-header")).toContainText("side")
    await expect(chat.composer).toBeEditable()
    await chat.say(running[agent]("echo made-here > made.txt"))
    await chat.ask.locator("[data-answer=allow_once]").click()
    await expect(chat.ends).toHaveCount(1)

    const [path = ""] = worktrees(directory)
    expect(readFileSync(join(path, "made.txt"), "utf8")).toBe("made-here\n")
    expect(existsSync(join(directory, "made.txt"))).toBe(false)
    await chat.frame.getByRole("button", { name: "Changes" }).click()
    const panel = chat.frame.getByRole("complementary", { name: "Changes" })
    await expect(panel.getByRole("option").filter({ hasText: "made.txt" })).toContainText("+1")
  })
