import { join } from "node:path"

import { compares } from "../support/many-agents.js"
import { agents, expect, running, test } from "../support/real.js"
import { git, makeRepository, worktrees } from "../support/repository.js"

test("Claude Code and Codex get one task, ask in Now, and the work of one is kept", async ({
  liminal,
  shell,
  page,
}) => {
  await page.setViewportSize({ width: 1600, height: 900 })
  const directory = await shell.hasProject("web")
  makeRepository(directory, { "notes.txt": "one\n" })
  await compares(shell, agents, "FAKE:TEXT Ready.")
  const pane = (agent) =>
    page.locator(".pane[data-shown]").filter({ has: page.locator(".compare-name", { hasText: agent }) })
  for (const agent of agents) {
    const frame = pane(agent).frameLocator("iframe")
    await expect(frame.locator('.message[data-origin="agent"] .rendered')).toHaveText("Ready.")
    await expect(pane(agent).locator(".compare-state")).toHaveText("done")
    await frame.getByRole("textbox", { name: "Message", exact: true }).fill(running[agent]("echo here > made.txt"))
    await page.keyboard.press("Enter")
    await expect(frame.locator(".ask pre")).toHaveText("echo here > made.txt")
  }

  await page.keyboard.press("Alt+0")
  const cards = shell.now.locator(".now-card")
  await expect(cards).toHaveCount(2)
  await shell.answersNow()
  await expect(cards).toHaveCount(1)
  await cards.locator("[data-answer=allow_once]").click()
  await expect(cards).toHaveCount(0)
  await shell.tab("FAKE:TEXT Ready.").click()
  for (const agent of agents) await expect(pane(agent).locator(".compare-head")).toContainText("+1")
  expect(git(directory, "status", "--porcelain")).toBe("")

  await pane("Codex").getByRole("button", { name: "Keep this one" }).click()
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard the other" }).click()
  await expect(shell.sessions("web")).toHaveCount(1)
  expect(worktrees(directory)).toHaveLength(1)
  void liminal
})
