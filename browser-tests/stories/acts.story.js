import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, on, script, test } from "../support/chat.js"
import { git, makeRepository, worktrees } from "../support/repository.js"

const nine = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]

/** @param {Record<number, string>} [replaced] */
const lines = (replaced = {}) => nine.map((line, at) => `${replaced[at + 1] ?? line}\n`).join("")

/** @param {string} home */
const repository = (home) => makeRepository(join(home, "work"), { ".gitignore": "go\n", "notes.txt": lines() })

/** The agent edits once the state before its turn is recorded; returns the panel, at what is not committed.
 * @param {import("../support/chat.js").Chat} chat @param {string} directory */
async function edits(chat, directory) {
  await chat.say("edit")
  await expect(chat.words).toHaveText(/I begin/)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await panel.getByRole("radio", { name: "This turn" }).click()
  await chat.isRecorded(panel)
  writeFileSync(join(directory, "go"), "")
  await expect(chat.ends).toHaveCount(1)
  // A list of the turn that is asked for after its end comes once the state after it is taken: what a story changes
  // from then on is not the turn's.
  for (const scope of ["Uncommitted", "This turn", "Uncommitted"]) {
    await panel.getByRole("radio", { name: scope }).click()
    await expect(panel.getByRole("option")).toHaveCount(2)
  }
  return panel
}

test.use({
  script: script(
    on(
      "edit",
      { say: "I begin. " },
      { wait_for_file: "go" },
      {
        tool: {
          id: "c",
          name: "Bash",
          title: "edit notes.txt new.txt",
          kind: "execute",
          input: { command: "edit notes.txt new.txt" },
        },
      },
      { write_file: { path: "notes.txt", content: lines({ 1: "agent", 8: "eight" }) } },
      { write_file: { path: "new.txt", content: "new\n" } },
      { tool_end: { id: "c", output: "" } },
      { say: "Edited." },
    ),
    on("commit message", { say: "Say it plainly" }),
  ),
})

test("a commit message outlasts Escape, and Ctrl Enter commits", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const panel = await edits(chat, directory)
  const dialog = chat.frame.getByRole("dialog", { name: "Commit" })
  const message = dialog.getByRole("textbox", { name: "Message" })
  await panel.getByRole("button", { name: "Commit…" }).click()
  await message.press("Control+Enter")
  await message.fill("Write it all")
  await message.press("Escape")
  await expect(dialog).toHaveCount(0)
  await panel.getByRole("button", { name: "Commit…" }).click()
  await expect(message).toHaveValue("Write it all")
  await message.press("Control+Enter")
  await expect(panel.getByRole("status").filter({ hasText: "Committed 2 files" })).toBeVisible()
  expect(git(directory, "log", "-1", "--format=%s").trim()).toBe("Write it all")
  writeFileSync(join(directory, "notes.txt"), "again\n")
  await panel.getByRole("button", { name: "Refresh" }).click()
  await panel.getByRole("button", { name: "Commit…" }).click()
  await expect(message).toHaveValue("")
})

test("a turn is undone after a look at what happens, and comes back with one click", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const read = () => readFileSync(join(directory, "notes.txt"), "utf8")
  const panel = await edits(chat, directory)
  writeFileSync(join(directory, "mine.txt"), "mine\n")
  await panel.getByRole("radio", { name: "This turn" }).click()
  await panel.getByRole("button", { name: "Undo this turn" }).click()
  const dialog = chat.frame.getByRole("dialog", { name: "Undo this turn?" })
  await expect(dialog.getByRole("checkbox")).toHaveCount(2)
  await expect(dialog).toContainText("removed")
  await expect(dialog).toContainText("Ignored files and submodules")
  await expect(dialog.locator(".act-cannot")).toHaveCount(0)
  await dialog.getByRole("button", { name: "Undo turn" }).click()
  await expect(panel.getByRole("status").filter({ hasText: "Undid a turn" })).toBeVisible()
  expect(read()).toBe(lines())
  expect(existsSync(join(directory, "new.txt"))).toBe(false)
  expect(readFileSync(join(directory, "mine.txt"), "utf8")).toBe("mine\n")
  const again = panel.getByRole("button", { name: "Undo this turn" })
  await expect(again).toBeDisabled()
  await expect(again).toHaveAttribute("title", "The files are as they were before this turn.")
  await expect(panel).toContainText("This turn is undone")
  await expect(panel).toHaveAttribute("data-undone")
  for (const act of ["Revert file", "Viewed"]) await expect(panel.getByRole("button", { name: act })).toBeHidden()
  await expect(panel.getByRole("button", { name: "Revert these lines" })).toHaveCount(0)

  await expect(chat.frame.getByRole("region", { name: "Notice" })).toContainText("Undid a turn")
  await panel.getByRole("button", { name: "Undo", exact: true }).click()
  await expect(panel.getByRole("status").filter({ hasText: "Undid it" })).toBeVisible()
  expect(read()).toBe(lines({ 1: "agent", 8: "eight" }))
  expect(existsSync(join(directory, "new.txt"))).toBe(true)
  await expect(again).toBeEnabled()
  await expect(panel.getByRole("button", { name: "Revert file" })).toBeVisible()
})

test("a session at work says so, and the words go when it is done", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  writeFileSync(join(directory, "mine.txt"), "mine\n")
  await chat.say("edit")
  await expect(chat.words).toHaveText(/I begin/)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await panel.getByRole("radio", { name: "Uncommitted" }).click()
  await panel.getByRole("button", { name: "Commit…" }).click()
  const said = panel.getByRole("status").filter({ hasText: "This session is still working." })
  await expect(said).toBeVisible()
  writeFileSync(join(directory, "go"), "")
  await expect(chat.ends).toHaveCount(1)
  await expect(said).toBeHidden()
})

test("one block of lines is reverted, and then the file", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const panel = await edits(chat, directory)
  await panel.getByRole("option").filter({ hasText: "notes.txt" }).click()
  await expect(panel.locator(".add")).toHaveText([/agent/, /eight/])
  await panel.getByRole("button", { name: "Revert these lines" }).first().click()
  await chat.frame.getByRole("dialog").getByRole("button", { name: "Revert", exact: true }).click()
  await expect(panel.locator(".add")).toHaveText([/eight/])
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe(lines({ 8: "eight" }))
  await panel.getByRole("button", { name: "Revert file" }).click()
  await chat.frame.getByRole("dialog").getByRole("button", { name: "Revert", exact: true }).click()
  await expect(panel.getByRole("option").filter({ hasText: "notes.txt" })).toHaveCount(0)
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe(lines())
})

test("chosen files are committed with a message that the agent proposed", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const panel = await edits(chat, directory)
  await panel.getByRole("button", { name: "Commit…" }).click()
  const dialog = chat.frame.getByRole("dialog", { name: "Commit" })
  const commit = dialog.getByRole("button", { name: "Commit", exact: true })
  await expect(commit).toBeDisabled()
  await dialog.getByRole("checkbox", { name: /new.txt/ }).uncheck()
  await dialog.getByRole("button", { name: "Let the agent write it" }).click()
  await expect(dialog.getByRole("textbox", { name: "Message" })).toHaveValue("Say it plainly")
  await expect(dialog.getByRole("checkbox", { name: /new.txt/ })).not.toBeChecked()
  await commit.click()
  await expect(panel.getByRole("status").filter({ hasText: "Committed 1 file on main." })).toBeVisible()
  expect(git(directory, "log", "-1", "--format=%an: %s")).toBe("Ada: Say it plainly")
  expect(git(directory, "status", "--porcelain")).toBe("?? new.txt")
})

test("a merge that was resolved to this side can be committed, although nothing differs", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  const commits = (text) => {
    writeFileSync(join(directory, "notes.txt"), text)
    git(directory, "commit", "--quiet", "--all", "--message", "change")
  }
  git(directory, "checkout", "--quiet", "-b", "other")
  commits(lines({ 1: "theirs" }))
  git(directory, "checkout", "--quiet", "main")
  commits(lines({ 1: "ours" }))
  expect(() => git(directory, "merge", "--quiet", "other")).toThrow()
  git(directory, "checkout", "--ours", "notes.txt")
  git(directory, "add", "notes.txt")
  await chat.say("commit message")
  await expect(chat.ends).toHaveCount(1)
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  await panel.getByRole("radio", { name: "Uncommitted" }).click()
  await expect(panel.getByRole("option")).toHaveCount(0)
  await expect(panel.getByRole("button", { name: "Abort merge…" })).toBeVisible()
  await panel.getByRole("button", { name: "Commit…" }).click()
  const dialog = chat.frame.getByRole("dialog")
  await dialog.getByRole("textbox", { name: "Message" }).fill("Merge other")
  await dialog.getByRole("button", { name: "Commit", exact: true }).click()
  await expect(dialog).toBeHidden()
  await expect.poll(() => git(directory, "log", "-1", "--format=%s %P").split(" ").length).toBe(4)
  await expect(panel.getByRole("button", { name: "Abort merge…" })).toBeHidden()
})

test("a worktree lands in its base, and says no with names when the base is not clean", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  await chat.shell.startInWorktree("work", { name: "fix" })
  await expect(chat.frame.locator(".session-header")).toContainText("fix")
  const [at = ""] = worktrees(directory)
  const panel = await edits(chat, at)
  writeFileSync(join(directory, "notes.txt"), "mine\n")

  await panel.getByRole("button", { name: "Commit…" }).click()
  const committing = chat.frame.getByRole("dialog", { name: "Commit" })
  await committing.getByRole("textbox", { name: "Message" }).fill("Fix the notes")
  await committing.getByRole("button", { name: "Commit", exact: true }).click()
  await expect(panel.getByRole("status").filter({ hasText: "Committed 2 files" })).toBeVisible()
  await panel.getByRole("button", { name: "Land into main…" }).click()
  const dialog = chat.frame.getByRole("dialog", { name: "Land into main", exact: true })
  await expect(dialog).toContainText("not committed: notes.txt")
  await expect(dialog.getByRole("button", { name: "Land", exact: true })).toBeDisabled()
  git(directory, "checkout", "--quiet", "notes.txt")
  await dialog.getByRole("radio", { name: "With its commits" }).check()
  await expect(dialog.getByRole("button", { name: "Land", exact: true })).toBeEnabled()
  await dialog.getByRole("button", { name: "Land", exact: true }).click()
  await expect(panel.getByRole("status").filter({ hasText: "Landed liminal/fix in main." })).toBeVisible()
  expect(git(directory, "log", "-1", "--format=%s")).toBe("Fix the notes")
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe(lines({ 1: "agent", 8: "eight" }))
  await panel.getByRole("radio", { name: "Branch" }).click()
  await expect(panel).toContainText("This branch is the same as its base.")
  for (const name of ["Commit…", "Land into main…", "Pull request…"])
    await expect(panel.getByRole("button", { name })).toBeDisabled()

  await panel.getByRole("button", { name: "Discard worktree…" }).click()
  const discarding = chat.frame.getByRole("dialog", { name: "Discard this worktree?" })
  await discarding.getByRole("button", { name: "Discard", exact: true }).click()
  await expect(discarding).toBeHidden()
  await expect(panel).toContainText("Discarded. Bring it back to see its changes.")
  expect(worktrees(directory)).toHaveLength(0)
})

test("a landing that is refused after its files were committed says so", async ({ chat, liminal }) => {
  const directory = repository(liminal.home)
  await chat.shell.startInWorktree("work", { name: "fix" })
  await expect(chat.frame.locator(".session-header")).toContainText("fix")
  const [at = ""] = worktrees(directory)
  const panel = await edits(chat, at)
  writeFileSync(join(directory, "notes.txt"), lines({ 1: "mine" }))
  git(directory, "commit", "--quiet", "--all", "--message", "mine")

  await panel.getByRole("button", { name: "Land into main…" }).click()
  const dialog = chat.frame.getByRole("dialog", { name: "Land into main" })
  await expect(dialog).toContainText("2 files not committed yet.")
  await dialog.getByRole("textbox", { name: "Message" }).fill("Fix the notes")
  await dialog.getByRole("button", { name: "Land", exact: true }).click()
  await expect(dialog.locator(".act-file")).toHaveText([/notes.txt\s*conflict/])
  await expect(dialog).not.toContainText("not committed yet")
  await expect(dialog).toContainText("changed the same lines in notes.txt")
  await expect(dialog.getByRole("button", { name: "Hand to the agent" })).toBeVisible()
  await expect(dialog.getByRole("textbox", { name: "Message" })).toHaveValue("Fix the notes")
  expect(git(at, "log", "-1", "--format=%s")).toBe("Fix the notes")
})
