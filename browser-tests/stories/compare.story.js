import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"

import { compares, expect, test } from "../support/many-agents.js"
import { git, worktrees } from "../support/repository.js"

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const heads = (page) => page.locator(".pane[data-shown] .compare-head")
const head = (page, agent) => heads(page).filter({ hasText: agent })
const pane = (page, agent) =>
  page.locator(".pane[data-shown]").filter({ has: page.locator(".compare-name", { hasText: agent }) })
const answer = (page, agent) => pane(page, agent).frameLocator("iframe").locator('.message[data-origin="agent"]')

test("three agents get one task, each in its own worktree, and are shown side by side", async ({
  shell,
  page,
  liminal,
  repository,
  complaints,
}) => {
  await page.setViewportSize({ width: 1600, height: 900 })
  await compares(shell, ["Ada", "Bob", "Cleo"], "Make it")
  await expect(heads(page).locator(".compare-name")).toHaveText(["Ada", "Bob", "Cleo"])
  for (const name of ["Ada", "Bob", "Cleo"]) {
    await expect(answer(page, name)).toContainText(`${name} has done: Make it`)
    await expect(head(page, name)).toContainText("+1")
    await expect(head(page, name).locator(".compare-state")).toHaveText("done")
  }
  await expect(shell.sessions("web")).toHaveCount(3)
  expect(git(repository, "branch", "--list", "liminal/*").trim().split("\n")).toHaveLength(3)
  expect(git(repository, "status", "--porcelain")).toBe("")

  // It survives a restart and a reload.
  complaints.expectLostServer()
  await liminal.stop()
  await liminal.up()
  await page.reload()
  await shell.isConnected()
  await expect(heads(page).locator(".compare-name")).toHaveText(["Ada", "Bob", "Cleo"])
  await expect(answer(page, "Bob")).toContainText("Bob has done: Make it")
})

/** A comparison of two agents that both refuse. */
async function comparesInVain({ shell, page, liminal }, file = null) {
  const refuses = { about: { refuse_new: { code: -32603, message: "not today" } }, rules: [] }
  for (const name of ["Ada", "Bob"]) await liminal.hasAgent(name, refuses)
  await page.setViewportSize({ width: 1600, height: 900 })
  await compares(shell, ["Ada", "Bob"], "My precious words", file)
  for (const name of ["Ada", "Bob"]) {
    await expect(pane(page, name)).toContainText("not today")
    await expect(pane(page, name)).toContainText("My precious words")
  }
}

/** Closes it, and opens the dialog for another. */
async function beginsAgain({ shell, page }) {
  await shell.tab("My precious words").locator(".tab-close").click()
  await page.getByRole("button", { name: "New session in web", exact: true }).click()
  await expect(shell.starting.getByLabel("What should be done?")).toHaveValue("My precious words")
}

test("if no agent starts, what was attached is offered again with the words", async ({
  shell,
  page,
  liminal,
  repository,
}) => {
  void repository
  const file = { name: "log.txt", mimeType: "text/plain", buffer: Buffer.from("a long log\n") }
  await comparesInVain({ shell, page, liminal }, file)
  await beginsAgain({ shell, page })
  await expect(shell.starting.locator(".chip")).toContainText("log.txt")
})

test("if no agent starts, the words are shown after a reload and offered again", async ({
  shell,
  page,
  liminal,
  repository,
}) => {
  void repository
  await comparesInVain({ shell, page, liminal })
  await page.reload()
  await shell.isConnected()
  await expect(pane(page, "Ada")).toContainText("My precious words")
  await beginsAgain({ shell, page })
})

test("keeping one discards the others, and Settings brings them back with all that they made", async ({
  shell,
  page,
  repository,
}) => {
  await page.setViewportSize({ width: 1600, height: 900 })
  await compares(shell, ["Ada", "Bob"], "Make it")
  for (const name of ["Ada", "Bob"]) await expect(head(page, name).locator(".compare-state")).toHaveText("done")
  await head(page, "Bob").getByRole("button", { name: "Keep this one" }).click()
  await expect(page.getByRole("alertdialog")).toContainText("Discarding the other archives its session")
  await page.getByRole("alertdialog").getByRole("button", { name: "Discard the other" }).click()
  await expect(shell.sessions("web")).toHaveCount(1)
  await expect(shell.activeTab).toHaveText("Make it")
  await expect(heads(page).filter({ visible: true })).toHaveCount(0)
  expect(git(repository, "branch", "--list", "liminal/*").trim().split("\n")).toHaveLength(2)
  expect(worktrees(repository)).toHaveLength(1)

  await page.getByRole("button", { name: "Settings" }).click()
  const settings = page.getByRole("dialog", { name: "Settings" })
  await expect(settings.getByText("liminal/make-it-ada")).toBeVisible()
  await settings.getByRole("button", { name: "Bring back Make it" }).click()
  await expect(settings.getByText(/Brought the worktree back/)).toBeVisible()
  const at = worktrees(repository).find((path) => path.endsWith("ada")) ?? ""
  expect(await readFile(join(at, "made.txt"), "utf8")).toBe("Ada\n")
})

test("each asks as any session does, also in Now", async ({ shell, page, repository, liminal }) => {
  void repository
  void liminal
  await page.setViewportSize({ width: 1600, height: 900 })
  await compares(shell, ["Ada", "Bob"], "ask me")
  for (const name of ["Ada", "Bob"])
    await expect(pane(page, name).frameLocator("iframe").locator(".ask")).toContainText(`May ${name}?`)
  // One of them has the keys.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("IFRAME")
  await pane(page, "Ada").frameLocator("iframe").getByRole("button", { name: "Deny" }).click()
  await expect(answer(page, "Ada")).toContainText("No.")
  await page.keyboard.press("Alt+0")
  await expect(shell.now.locator(".now-card")).toHaveCount(1)
  // On a phone the one that waits is shown.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.keyboard.press("Alt+Shift+Digit1")
  await expect(head(page, "Bob")).toBeInViewport()
  await expect(head(page, "Bob").locator(".compare-figure").first()).toHaveText(/^\d+:\d\d$/)
  await page.setViewportSize({ width: 1600, height: 900 })
  await page.keyboard.press("Alt+0")
  await shell.now.getByRole("button", { name: /^Allow once/ }).click()
  await shell.tab("ask me").click()
  await expect(answer(page, "Bob")).toContainText("Thanks.")
})

test("one agent is compared with itself, with two models", async ({ shell, page, repository, liminal }) => {
  void repository
  await page.setViewportSize({ width: 1600, height: 900 })
  // What it offers is known from an earlier session.
  await shell.hasSession(repository, "Earlier", "ada")
  await page.getByRole("button", { name: "New session in web", exact: true }).click()
  const dialog = shell.starting
  await shell.agentChoice("Ada").click()
  await dialog.getByLabel("What should be done?").fill("Make it")
  await dialog.getByRole("button", { name: "Compare", exact: true }).click()
  await dialog.getByRole("button", { name: "Add it again, with other options" }).click()
  await expect(dialog.getByRole("button", { name: /^Compare 2/ })).toBeDisabled()
  await dialog.getByRole("button", { name: "Model: Small" }).nth(1).click()
  await page.getByRole("menuitemradio", { name: "Large" }).click()
  await dialog.getByRole("button", { name: /^Compare 2/ }).click()
  await expect(page.locator(".pane[data-shown] iframe")).toHaveCount(2)
  await expect(heads(page).locator(".compare-choices", { hasText: "m1" })).toHaveCount(1)
  // In the document the one that started first comes first.
  const large = page.locator(".pane[data-shown]").filter({ has: page.locator(".compare-choices", { hasText: "m1" }) })
  await expect(
    large
      .frameLocator("iframe")
      .getByRole("button", { name: /Options|Model: Large/ })
      .first(),
  ).toBeVisible()
  void liminal
})

for (const theme of ["dark", "light"]) {
  for (const width of [390, 1024, 1600]) {
    test(`a comparison in the ${theme} theme at ${width} px is readable, named and within reach`, async ({
      shell,
      page,
      repository,
    }) => {
      void repository
      await page.setViewportSize({ width: 1600, height: 844 })
      await compares(shell, ["Ada", "Bob", "Cleo"], "Make it")
      for (const name of ["Ada", "Bob", "Cleo"])
        await expect(head(page, name).locator(".compare-state")).toHaveText("done")
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
      await page.setViewportSize({ width, height: 844 })
      await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme)
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run(document.querySelector("#panes"), {
          runOnly: ["wcag2a", "wcag2aa", "wcag21aa"],
          iframes: false,
        }),
      )
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.failureSummary)}`)).toEqual([])
      if (width > 390) return
      // One page each, which a swipe turns.
      await expect(head(page, "Ada")).toBeInViewport()
      await expect(head(page, "Bob")).not.toBeInViewport()
      await page.locator(".pane-holder").evaluate((box) => box.scrollTo({ left: box.clientWidth, behavior: "instant" }))
      await expect(head(page, "Bob")).toBeInViewport()
      await expect(head(page, "Bob")).toContainText("2 of 3")
      const members = page.getByRole("navigation", { name: "Compared sessions" })
      await expect(members.locator("[aria-current]")).toHaveText("Bob, done")
      await members.getByRole("button", { name: "Cleo" }).click()
      await expect(head(page, "Cleo")).toBeInViewport()
      await expect(members.locator("[aria-current]")).toHaveText("Cleo, done")
    })
  }
}
