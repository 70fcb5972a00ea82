import { readFile, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { expect, names, test } from "../support/many-agents.js"
import { git } from "../support/repository.js"

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const opens = (page) => page.getByRole("button", { name: "New session in web", exact: true }).click()
const prompt = (shell) => shell.starting.getByLabel("What should be done?")

test("a session starts with a mention, an attachment, the chosen options and a worktree of its own", async ({
  shell,
  page,
  repository,
}) => {
  // What it offers is known from an earlier session.
  await shell.hasSession(repository, "Earlier", "ada")
  await writeFile(join(repository, "uncommitted.txt"), "two\n")
  await opens(page)
  await shell.agentChoice("Ada").click()
  await prompt(shell).fill("Look at @not")
  await expect(shell.starting.getByRole("option", { name: /notes.txt/ })).toBeVisible()
  await page.keyboard.press("Tab")
  await expect(prompt(shell)).toHaveValue("Look at @notes.txt ")
  await shell.starting
    .getByLabel("Files to attach")
    .setInputFiles({ name: "log.txt", mimeType: "text/plain", buffer: Buffer.from("a long log\n") })
  await expect(shell.starting.locator(".draft-chip button.chip"), "it is uploaded").toContainText("log.txt")
  await shell.starting.getByRole("button", { name: "Model: Small" }).click()
  await page.getByRole("menuitemradio", { name: "Large" }).click()
  await shell.starting.getByText("New worktree", { exact: true }).click()
  await expect(shell.starting.getByLabel("Based on")).toBeVisible()
  await expect(shell.starting.getByLabel(/^bring \d+ uncommitted files? along$/)).toBeChecked()
  await shell.starting.getByLabel("Name of the worktree").fill("look")
  await prompt(shell).press("Enter")
  await expect(shell.starting).toHaveCount(0)
  await expect(shell.portlet.locator('.message[data-origin="agent"]')).toContainText("Ada has done: Look at")
  await expect(shell.portlet.locator('.message[data-origin="user"] .chip').first()).toBeVisible()
  await expect(shell.portlet.getByRole("button", { name: "Model: Large" })).toBeVisible()
  await expect(shell.portlet.locator(".session-header")).toContainText("look")
  expect(git(repository, "branch", "--list", "liminal/look")).toContain("liminal/look")

  // The next one in this project starts in the same way.
  await opens(page)
  await expect(shell.starting.getByRole("radio", { name: /Ada/ })).toBeChecked()
  await expect(shell.starting.getByRole("radio", { name: "New worktree" })).toBeChecked()
  await expect(shell.starting.getByRole("button", { name: "Model: Large" })).toBeVisible()
})

test("before an agent's first session the dialog names the mode that it starts in", async ({
  shell,
  page,
  liminal,
  complaints,
  repository,
}) => {
  void repository
  const choices = [
    { id: "read-only", name: "Read-only" },
    { id: "auto", name: "Auto" },
  ]
  const mode = { id: "mode", name: "Mode", category: "mode", value: "auto", choices }
  const about = { name: "ivo", title: "Ivo", options: [mode] }
  const rules = [{ on: "any", steps: [{ say: "Hello." }, { stop: "end_turn" }] }]
  await liminal.hasAgent("Ivo", { about, rules }, { askMode: "read-only" })
  await liminal.restartsWith(complaints, () => ({}))
  await page.reload()
  await shell.isConnected()
  await opens(page)
  await shell.agentChoice("Ivo").click()
  await expect(shell.starting.getByRole("button", { name: "Read-only" })).toBeVisible()
  await expect(shell.starting.getByRole("button", { name: "Ask before acting" })).toHaveCount(0)
  await prompt(shell).fill("Hello")
  await prompt(shell).press("Enter")
  await expect(shell.portlet.locator('.message[data-origin="agent"]')).toContainText("Hello.")
  await expect(shell.portlet.getByRole("button", { name: "Read-only" })).toBeVisible()
})

test("the words of the dialog outlive Escape and a reload, with what is attached", async ({
  shell,
  page,
  repository,
}) => {
  void repository
  await opens(page)
  await prompt(shell).fill("Half a thought")
  await shell.starting
    .getByLabel("Files to attach")
    .setInputFiles({ name: "log.txt", mimeType: "text/plain", buffer: Buffer.from("a log\n") })
  await expect(shell.starting.locator(".draft-chip button.chip"), "it is uploaded").toContainText("log.txt")
  await page.keyboard.press("Escape")
  await expect(shell.starting).toHaveCount(0)
  await page.reload()
  await shell.isConnected()
  await opens(page)
  await expect(prompt(shell)).toHaveValue("Half a thought")
  await expect(shell.starting.locator(".chip")).toContainText("log.txt")
})

test("a choice that skips questions is confirmed before it starts", async ({ shell, page, repository }) => {
  await shell.hasSession(repository, "Earlier", "ada")
  await opens(page)
  await shell.agentChoice("Ada").click()
  await shell.starting.getByRole("button", { name: "Careful" }).click()
  await page.getByRole("menuitemradio", { name: "Bypass" }).click()
  await page.getByRole("alertdialog").getByRole("button", { name: "Bypass" }).click()
  await expect(shell.starting.getByRole("button", { name: "Bypass" })).toBeVisible()
  await prompt(shell).fill("Go")
  await prompt(shell).press("Enter")
  await expect(shell.portlet.getByRole("button", { name: "Bypass" })).toBeVisible()
})

test("eight agents work at once, and Now shows every one", async ({ shell, page, repository, liminal }) => {
  for (const name of names) {
    const id = await liminal.session(repository, null, name.toLowerCase())
    await liminal.say(id, name < "E" ? `ask me, ${name}` : `hold ${name}`)
  }
  await expect(shell.now.locator(".now-card")).toHaveCount(4)
  await expect(shell.now.getByRole("region", { name: "Working" }).locator(".now-row")).toHaveCount(4)
  await expect(page.locator(".tab-now .badge")).toHaveText("4")
  await page.keyboard.press("Alt+0")
  for (let left = 4; left > 0; left -= 1) {
    await expect(shell.now.locator(".now-card")).toHaveCount(left)
    await shell.answersNow()
  }
  await expect(shell.now.locator(".now-card")).toHaveCount(0)
  await liminal.release("one")
  await expect(shell.now.getByRole("region", { name: "Done, not looked at" }).locator(".now-row")).toHaveCount(8)
})

for (const theme of ["dark", "light"]) {
  for (const width of [390, 1024, 1600]) {
    test(`the Start dialog in the ${theme} theme at ${width} px is readable, named and within the window`, async ({
      shell,
      page,
      repository,
    }) => {
      await shell.hasSession(repository, "Earlier", "ada")
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
      await page.setViewportSize({ width, height: 844 })
      await page.keyboard.press("Alt+n")
      await expect(prompt(shell)).toBeFocused()
      await shell.agentChoice("Ada").click()
      await shell.starting.getByRole("button", { name: "Compare", exact: true }).click()
      await shell.agentChoice("Bob").click()
      await expect(shell.starting.getByLabel("Based on")).toBeVisible()
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run(document.querySelector("dialog.start"), { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }),
      )
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.failureSummary)}`)).toEqual([])
      expect(
        await page.evaluate(() =>
          ["dialog.start", "dialog.start form"].every((selector) => {
            const box = document.querySelector(selector)
            return box.scrollWidth <= box.clientWidth && box.getBoundingClientRect().right <= innerWidth
          }),
        ),
      ).toBe(true)
    })
  }
}
