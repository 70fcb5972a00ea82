import { createRequire } from "node:module"
import { readFile } from "node:fs/promises"
import { expect, test } from "../support/story.js"

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** The violations that an audit of the shell finds. The portlets have their own audit. */
async function faults(page) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run({ exclude: [["iframe"]] }, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }),
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`),
  )
}

for (const theme of ["dark", "light"]) {
  for (const width of [390, 1600]) {
    test(`in the ${theme} theme at ${width} px everything is readable, named and within the window`, async ({
      shell,
      page,
    }) => {
      test.slow()
      const path = await shell.hasProject("web")
      await shell.hasSession(path, "A title longer than a sidebar has room for")
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
      await page.setViewportSize({ width, height: 844 })
      await expect(page.locator("html")).toHaveAttribute("data-theme", theme)
      const check = async () => {
        expect(await faults(page)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
        // Everything above the page is inside the window, and nothing in it is cut off at the side.
        expect(
          await page.evaluate(() =>
            [...document.querySelectorAll("dialog[open], .menu, .dialog-body, .palette-list, .sidebar-scroll")]
              .filter((box) => {
                const { top, bottom, left, right } = box.getBoundingClientRect()
                return (
                  box.scrollWidth > box.clientWidth ||
                  (box.matches("dialog, .menu") && (top < 0 || left < 0 || bottom > innerHeight || right > innerWidth))
                )
              })
              .map((box) => box.className),
          ),
        ).toEqual([])
      }
      await check()
      if (width === 390) await page.getByRole("button", { name: "Show the sidebar" }).click()
      await check()
      await page.getByRole("button", { name: "New session in web", exact: true }).click()
      await check()
      await page.keyboard.press("Escape")
      await shell.sessionMenu("A title longer than a sidebar has room for", "Archive")
      await expect(shell.toast).toBeVisible()
      await shell.projectMenu("web", "Archived sessions…")
      await expect(page.locator(".archived-row")).toHaveCount(1)
      await check()
      await page.getByRole("button", { name: /^Restore/ }).click()
      await expect(page.locator(".archived-row")).toHaveCount(0)
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: "Settings" }).click()
      await expect(page.locator(".settings-about code")).toBeVisible()
      await check()
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: "Search everything" }).click()
      await expect(page.locator(".palette-row").first()).toBeVisible()
      await check()
      await page.keyboard.type("longer")
      await expect(page.locator(".palette-hit").first()).toBeVisible()
      await check()
      await page.keyboard.press("Escape")
      if (width === 390) await page.getByRole("button", { name: "Show the sidebar" }).click()
      await shell.session("A title longer").locator(".session-open").click()
      await expect(shell.activePane).toHaveCount(1)
      await check()
      if (width === 390) return
      await shell.hasSession(path, "Another one")
      await shell.sessionMenu("Another one", "Show beside")
      await expect(page.locator(".pane-head:visible")).toHaveCount(2)
      await check()
    })
  }
}

test("the ways in are readable and named, in both themes", async ({ page, liminal, complaints }) => {
  void complaints
  await page.goto(liminal.origin)
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme })
    await page.reload()
    await expect(page.getByLabel("Token")).toBeVisible()
    expect(await faults(page)).toEqual([])
  }
})

test("text size, density and wrapping are chosen once, for the page and every session in it", async ({
  shell,
  page,
}) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Read me")
  await shell.open("Read me")
  const size = () =>
    shell.portlet
      .locator(".message .rendered")
      .first()
      .evaluate((box) => getComputedStyle(box).fontSize)
  expect(await size()).toBe("15px")
  await page.getByRole("button", { name: "Settings" }).click()
  await page.getByLabel("Text size").selectOption("Large")
  await page.getByLabel("Density").selectOption("Compact")
  await page.getByLabel("Wrap long lines of code").check()
  await page.keyboard.press("Escape")
  await expect.poll(size).toBe("17px")
  await page.reload()
  await expect.poll(size).toBe("17px")
  for (const root of [page.locator("html"), shell.portlet.locator("html")]) {
    await expect(root).toHaveAttribute("data-density", "compact")
    await expect(root).toHaveAttribute("data-wrap", "true")
  }
})

test("the demo's commands can be clicked", async ({ shell }) => {
  await shell.hasProject("web")
  await shell.newSession("web", "Demo")
  await shell.say("help")
  await shell.portlet.getByRole("button", { name: "think hard" }).click()
  await expect(shell.portlet.locator('.message[data-origin="user"] .rendered')).toHaveText(["help", "think hard"])
})

test("the demo has MCP servers and a background task", async ({ shell }) => {
  await shell.hasProject("web")
  await shell.newSession("web", "Demo")
  await shell.say("background task")
  const info = shell.portlet.getByRole("button", { name: /^Session info/ })
  await expect(info).toHaveAccessibleName(/1 task running$/)
  await info.click()
  const panel = shell.portlet.getByRole("group", { name: "Session info" })
  await expect(panel).toContainText("Connected · 3 tools")
  await expect(panel).toContainText("never starts")
  await panel.getByRole("button", { name: "Stop: Count the grains of sand" }).click()
  await expect(panel).toContainText("Stopped · ")
})
