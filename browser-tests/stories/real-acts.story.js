import { readFileSync } from "node:fs"
import { join } from "node:path"

import { Chat } from "../support/chat.js"
import { expect, test } from "../support/real.js"
import { git, makeRepository, worktrees } from "../support/repository.js"

for (const { agent, readsFirst } of [
  // It only edits files it has read.
  { agent: "Claude Code", readsFirst: true },
  { agent: "Codex", readsFirst: false },
]) {
  test(`work of ${agent} is reviewed, undone, brought back, committed and landed`, async ({ liminal, shell }) => {
    await shell.hasProject("work")
    const directory = join(liminal.home, "work")
    makeRepository(directory, { "notes.txt": "alpha\nomega\n" })
    await shell.startInWorktree("work", { name: "fix", agent })
    const chat = new Chat(shell)
    await expect(chat.frame.locator(".session-header")).toContainText("fix")
    await expect(chat.composer).toBeEditable()
    const [at = ""] = worktrees(directory)
    const notes = join(at, "notes.txt")
    const read = () => readFileSync(notes, "utf8")

    if (readsFirst) await chat.askAndWait(`FAKE:READ ${notes}`)
    const ends = await chat.ends.count()
    await chat.say(`FAKE:EDIT ${notes}`)
    await expect(chat.ask).toBeVisible()
    await chat.frame.getByRole("button", { name: "Changes" }).click()
    const panel = chat.frame.getByRole("complementary", { name: "Changes" })
    const says = (words) => expect(panel.getByRole("status").filter({ hasText: words })).toBeVisible()
    await panel.getByRole("radio", { name: "This turn" }).click()
    await chat.isRecorded(panel)
    await panel.getByRole("button", { name: "Close changes" }).click()
    await chat.ask.locator("[data-answer=allow_once]").click()
    await expect(chat.ends).toHaveCount(ends + 1)
    expect(read()).toBe("beta\nomega\n")
    await chat.frame.getByRole("button", { name: "Changes" }).click()
    await expect(panel.locator(".add")).toHaveText([/beta/])
    await panel.getByRole("button", { name: "Undo this turn" }).click()
    await chat.frame.getByRole("dialog").getByRole("button", { name: "Undo turn" }).click()
    await says("Undid a turn in 1 file.")
    expect(read()).toBe("alpha\nomega\n")
    await panel.getByRole("button", { name: "Undo", exact: true }).click()
    await says("Undid it")
    expect(read()).toBe("beta\nomega\n")

    await panel.getByRole("button", { name: "Commit…" }).click()
    const committing = chat.frame.getByRole("dialog", { name: "Commit" })
    await committing.getByRole("textbox", { name: "Message" }).fill("Beta")
    await committing.getByRole("button", { name: "Commit", exact: true }).click()
    await says("Committed 1 file on liminal/fix.")
    await panel.getByRole("button", { name: "Land into main…" }).click()
    await chat.frame.getByRole("dialog").getByRole("button", { name: "Land", exact: true }).click()
    await says("Landed liminal/fix in main.")
    expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("beta\nomega\n")
    expect(git(directory, "log", "-1", "--format=%s", "main")).toBe("Beta")
  })
}
