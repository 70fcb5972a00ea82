import { createRequire } from "node:module"
import { readFile } from "node:fs/promises"
import { expect, test } from "../support/story.js"

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const cards = (shell) => shell.now.locator(".now-card")
const row = (shell, title) => shell.now.locator(".now-row").filter({ hasText: title })
const section = (shell, name) => shell.now.getByRole("region", { name })

/** Sessions of two agents in two projects: two wait, one works, one is done, one failed. */
async function many(shell, liminal) {
  const [web, api] = [await shell.hasProject("web"), await shell.hasProject("api")]
  const ids = {}
  for (const [title, path, agent] of [
    ["First asks", web, "helper"],
    ["Then asks", api, "helper"],
    ["Works", api, "helper"],
    ["Done", web, "other"],
    ["Fails", web, "helper"],
  ])
    ids[title] = await shell.hasSession(path, title, agent)
  await liminal.say(ids["First asks"], "ask me")
  await expect(cards(shell)).toHaveCount(1)
  await liminal.say(ids["Then asks"], "ask me")
  await liminal.say(ids.Works, "hold one")
  await liminal.say(ids.Fails, "fail now")
  await expect(cards(shell)).toHaveCount(2)
  await expect(section(shell, "Working").locator(".now-row")).toHaveCount(1)
  await expect(section(shell, "Stopped").locator(".now-row")).toHaveCount(1)
  return ids
}

test("what waits is answered in place, and the focus goes to the next", async ({ shell, page, liminal }) => {
  await many(shell, liminal)
  await expect(cards(shell).locator(".now-title")).toHaveText(["First asks", "Then asks"])
  await expect(page.locator(".tab-now .badge")).toHaveText("2")
  await expect(page).toHaveTitle("(2) Liminal Builder")
  await expect(row(shell, "Works").locator(".now-line")).toHaveText("Holding one.")
  await expect(row(shell, "Fails").locator(".now-line")).toContainText("out of order")

  await page.keyboard.press("Alt+0")
  await shell.answersNow()
  await expect(cards(shell)).toHaveCount(1)
  await expect(cards(shell).locator(".ask")).toBeFocused()
  await expect(row(shell, "First asks").locator(".now-line")).toHaveText("Thank you.")
  await cards(shell).getByRole("button", { name: "Deny" }).click()
  await expect(cards(shell)).toHaveCount(0)
  await expect(row(shell, "Then asks").locator(".now-line")).toHaveText("Then not.")
  await expect(page.locator(".tab-now .badge")).toBeHidden()
  await expect(page).toHaveTitle("Liminal Builder")
  await expect(shell.tabs, "no session was opened").toHaveCount(0)
})

test("who comes from a session answers in Now, not in the session", async ({ shell, page, liminal }) => {
  const path = await shell.hasProject("web")
  const [asking, open] = [await shell.hasSession(path, "Asks"), await shell.hasSession(path, "Open")]
  await shell.open("Open")
  await liminal.say(open, "ask me")
  await expect(shell.portlet.locator(".ask")).toBeVisible()
  await liminal.say(asking, "ask me")
  await expect(page.locator(".tab-now .badge")).toHaveText("2")
  await shell.composer.focus()
  await page.keyboard.press("Alt+0")
  await expect(cards(shell).locator(".now-title")).toHaveText(["Open", "Asks"])
  await shell.answersNow()
  await expect(cards(shell).locator(".now-title")).toHaveText(["Asks"])
  await shell.answersNow()
  await expect(cards(shell)).toHaveCount(0)
  await shell.tab("Open").click()
  await expect(shell.composer).toHaveValue("")
})

test("J, K and Enter go through the rows, and opening one marks it as looked at", async ({ shell, page, liminal }) => {
  await many(shell, liminal)
  await page.keyboard.press("Alt+0")
  await expect(cards(shell).nth(0).locator(".ask")).toBeFocused()
  await page.keyboard.press("j")
  await expect(cards(shell).nth(1).locator(".ask")).toBeFocused()
  await page.keyboard.press("j")
  await expect(row(shell, "Works")).toBeFocused()
  await page.keyboard.press("j")
  await expect(row(shell, "Done")).toBeFocused()
  await page.keyboard.press("k")
  await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await expect(shell.activeTab).toHaveText("Done")
  await page.keyboard.press("Alt+0")
  await expect(row(shell, "Done")).toHaveCount(0)
})

test("a digit answers the card that J went to, at once, and none from a row", async ({ shell, page, liminal }) => {
  await many(shell, liminal)
  await page.keyboard.press("Alt+0")
  await expect(cards(shell).nth(0).locator(".ask")).toBeFocused()
  await page.keyboard.press("j")
  await page.keyboard.press("1")
  await expect(cards(shell).locator(".now-title")).toHaveText(["First asks"])
  await expect(row(shell, "Then asks").locator(".now-line")).toHaveText("Thank you.")

  await row(shell, "Works").focus()
  for (const key of ["1", "3", "Escape", "Escape"]) await page.keyboard.press(key)
  // What was answered is busy at once.
  await expect(cards(shell).locator(".ask:not([aria-busy])")).toHaveCount(1)
  await page.keyboard.press("k")
  await shell.answersNow()
  await expect(row(shell, "First asks").locator(".now-line")).toHaveText("Thank you.")
})

test("a key that is held does one thing", async ({ shell, page, liminal }) => {
  const ids = await many(shell, liminal)
  await page.keyboard.press("Alt+0")
  await row(shell, "Fails").focus()
  for (let times = 0; times < 5; times += 1) {
    await page.keyboard.down("r")
    await expect(section(shell, "Stopped").locator(".now-row")).toHaveCount(1)
  }
  await page.keyboard.up("r")
  const failures = async () => (await liminal.said(ids.Fails)).filter((words) => words === "fail now").length
  await expect.poll(failures).toBe(2)

  await row(shell, "Works").focus()
  await page.keyboard.down("j")
  await page.keyboard.down("j")
  await expect(row(shell, "Fails"), "held keys move on").toBeFocused()
  await page.keyboard.up("j")
})

test("a double-click on Allow answers one card, and a card out of view is shown before it is answered", async ({
  shell,
  page,
  liminal,
}) => {
  await page.setViewportSize({ width: 1024, height: 280 })
  const path = await shell.hasProject("web")
  for (const [at, title] of ["One", "Two", "Three", "Four", "Five"].entries()) {
    await liminal.say(await shell.hasSession(path, title), "ask me")
    await expect(cards(shell)).toHaveCount(at + 1)
  }
  await page.keyboard.press("Alt+0")
  const allow = cards(shell).nth(0).getByRole("button", { name: "Allow" }).first()
  await allow.click()
  await expect(cards(shell).locator(".now-title")).toHaveText(["Two", "Three", "Four", "Five"])
  // The second click comes where the next card is by now.
  await allow.hover()
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
  const first = cards(shell).nth(0).locator(".ask")
  await expect(first).not.toHaveAttribute("aria-busy")

  await first.focus()
  await cards(shell)
    .nth(3)
    .evaluate((card) => card.scrollIntoView({ block: "end" }))
  await expect(first.locator(".actions")).not.toBeInViewport()
  await first.evaluate((card) => (card.dataset.opened = ""))
  const same = shell.now.locator(`.ask[data-item="${await first.getAttribute("data-item")}"]`)
  await page.keyboard.press("1")
  await expect(same.locator(".actions")).toBeInViewport()
  await expect(same).not.toHaveAttribute("aria-busy")
  await shell.answersNow()
  await expect(cards(shell).locator(".now-title")).toHaveText(["Three", "Four", "Five"])
})

test("a row keeps the focus when its session is done", async ({ shell, page, liminal }) => {
  const id = await shell.hasSession(await shell.hasProject("web"), "Works")
  await liminal.say(id, "hold one")
  await expect(section(shell, "Working").locator(".now-row")).toHaveCount(1)
  await row(shell, "Works").focus()
  await liminal.release("one")
  await expect(section(shell, "Done, not looked at").locator(".now-row")).toBeFocused()
  await page.keyboard.press("Enter")
  await expect(shell.activeTab).toHaveText("Works")
})

test("what is looked at on the phone is looked at on the desktop", async ({ shell, context, liminal }) => {
  const path = await shell.hasProject("web")
  for (const title of ["One", "Two"]) await shell.hasSession(path, title)
  await expect(section(shell, "Done, not looked at").locator(".now-row")).toHaveCount(2)
  const phone = await context.newPage()
  await phone.setViewportSize({ width: 390, height: 844 })
  await phone.goto(liminal.origin)
  const now = phone.frameLocator("#pane-now iframe")
  await expect(now.locator(".now-row")).toHaveCount(2)
  await now.getByRole("button", { name: "Mark all as looked at" }).click()
  await expect(now.getByText("Nothing needs you")).toBeVisible()
  await expect(shell.now.getByText("Nothing needs you")).toBeVisible()
  await expect(shell.session("One")).toHaveAttribute("data-mood", "idle")
})

test("after a crash everything that was interrupted is sent again at once", async ({ shell, liminal, complaints }) => {
  complaints.expectLostServer()
  const path = await shell.hasProject("web")
  for (const title of ["One", "Two"]) {
    const id = await shell.hasSession(path, title)
    await liminal.say(id, "hold one")
    await expect(shell.session(title)).toHaveAttribute("data-mood", "running")
  }
  await liminal.stop()
  await liminal.up()
  const stopped = section(shell, "Stopped")
  await expect(stopped.locator(".now-line")).toHaveText([
    "Liminal Builder stopped during this turn.",
    "Liminal Builder stopped during this turn.",
  ])
  await liminal.release("one")
  await stopped.getByRole("button", { name: "Retry all" }).click()
  await expect(section(shell, "Done, not looked at").locator(".now-line")).toHaveText([/Let go\./, /Let go\./])
})

for (const theme of ["dark", "light"]) {
  for (const width of [390, 1024, 1600]) {
    test(`Now in the ${theme} theme at ${width} px is readable, named and within the window`, async ({
      shell,
      page,
      liminal,
    }) => {
      await many(shell, liminal)
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
      await page.setViewportSize({ width, height: 844 })
      const frame = page.frames().find((each) => each.url().endsWith("/now/index.html"))
      await expect.poll(() => frame.evaluate(() => document.documentElement.dataset.theme)).toBe(theme)
      await frame.evaluate(axe)
      const { violations } = await frame.evaluate(() =>
        globalThis.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }),
      )
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.failureSummary)}`)).toEqual([])
      expect(
        await frame.evaluate(() =>
          [document.documentElement, ...document.querySelectorAll(".now-sections, .ask")].every(
            (box) => box.scrollWidth <= box.clientWidth,
          ),
        ),
      ).toBe(true)
      // What can be done ends where the times do.
      const ends = await frame.evaluate(() =>
        [...document.querySelectorAll(".now-act:not([hidden])")].map((act) => {
          const time = act.closest(".now-section").querySelector(".now-time")
          const inset = parseFloat(getComputedStyle(act).paddingInlineEnd)
          return act.getBoundingClientRect().right - inset - time.getBoundingClientRect().right
        }),
      )
      expect(ends.length).toBeGreaterThan(1)
      expect(ends.every((apart) => Math.abs(apart) < 1)).toBe(true)
    })
  }
}
