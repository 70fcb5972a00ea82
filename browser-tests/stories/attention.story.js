import { expect, test } from "../support/story.js"

test("a finished turn and a permission notify the desktop while the user is away, and a click leads there", async ({
  shell,
  page,
  context,
  liminal,
}) => {
  await context.grantPermissions(["notifications"], { origin: liminal.origin })
  // A test can't read the desktop, so it records what the page sends there.
  await page.addInitScript(() => {
    globalThis.shown = []
    globalThis.Notification = class {
      static permission = "granted"
      static requestPermission = async () => "granted"
      constructor(title, { body }) {
        globalThis.shown.push({ title, body, it: this })
      }
      close() {}
    }
    let away = false
    Document.prototype.hasFocus = () => !away
    globalThis.lookAway = () => {
      away = true
      globalThis.dispatchEvent(new Event("blur"))
    }
  })
  await page.reload()
  await shell.isConnected()
  const path = await shell.hasProject("web")
  const works = await shell.hasSession(path, "Works")
  const asks = await shell.hasSession(path, "Asks")
  await shell.open("Asks")
  await page.getByRole("button", { name: "Settings" }).click()
  await page.getByLabel("Desktop notifications").check()
  await page.keyboard.press("Escape")
  const shown = () => page.evaluate(() => globalThis.shown.map(({ title, body }) => `${title}: ${body}`))

  await liminal.say(works, "hold one")
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "running")
  await liminal.release("one")
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "unread")
  expect(await shown(), "nothing while the user looks").toEqual([])

  await page.evaluate(() => globalThis.lookAway())
  await liminal.say(asks, "ask me")
  await expect(shell.session("Asks")).toHaveAttribute("data-mood", "waiting")
  await expect.poll(shown).toHaveLength(1)
  await liminal.say(works, "hold two")
  await liminal.release("two")
  await expect
    .poll(shown)
    .toEqual([expect.stringMatching(/^Asks · web: Asks for permission: \S/), "Works · web: Finished"])
  await expect(page).toHaveTitle("(1) Asks · Liminal Builder")
  await page.evaluate(() => globalThis.shown[1].it.onclick())
  await expect(shell.activeTab).toHaveText("Works")
  await page.evaluate(() => globalThis.shown[0].it.onclick())
  await expect(shell.activeTab).toHaveText("Asks")
  await expect(shell.portlet.locator(".ask")).toBeInViewport()
})

/** A browser in which the user has not decided about notifications yet. */
async function undecided(shell, page) {
  await page.addInitScript(() => {
    globalThis.Notification = class {
      static permission = "default"
      static requestPermission = async () => (Notification.permission = "granted")
    }
  })
  await page.reload()
  await shell.isConnected()
}

test("notifications are offered once, when a session first waits unseen", async ({ shell, page, liminal }) => {
  await undecided(shell, page)
  const path = await shell.hasProject("web")
  const asks = await shell.hasSession(path, "Asks")
  const later = await shell.hasSession(path, "Later")
  await shell.open("Later")
  await expect(shell.toast).toHaveCount(0)
  await liminal.say(asks, "ask me")
  await expect(shell.toast).toContainText("“Asks” is waiting for you.")
  await shell.toast.getByRole("button", { name: "Turn on" }).click()
  await page.getByRole("button", { name: "Settings" }).click()
  await expect(page.getByLabel("Desktop notifications")).toBeChecked()
  await page.getByLabel("Desktop notifications").uncheck()
  await page.keyboard.press("Escape")
  await shell.session("Asks").locator(".session-open").click()
  await expect(shell.activeTab).toHaveText("Asks")
  await liminal.say(later, "ask me")
  await expect(shell.session("Later")).toHaveAttribute("data-mood", "waiting")
  await expect(shell.toast).toHaveCount(0)
})

test("the offer of notifications hides nothing, and leaves with what it names", async ({ shell, page, liminal }) => {
  await undecided(shell, page)
  const path = await shell.hasProject("web")
  const asks = await shell.hasSession(path, "Asks")
  await shell.hasSession(path, "Later")
  await shell.open("Later")
  await liminal.say(asks, "ask me")
  await expect(shell.toast).toContainText("“Asks” is waiting for you.")
  const [toast, panes] = [await shell.toast.boundingBox(), await page.locator("#panes").boundingBox()]
  expect(toast.x + toast.width).toBeLessThanOrEqual(panes.x)
  await page.keyboard.press("Alt+0")
  await shell.answersNow()
  await expect(shell.toast).toHaveCount(0)
})

test("a phone is offered no notifications", async ({ shell, page, liminal }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await undecided(shell, page)
  const path = await liminal.directory("web")
  await page.getByRole("button", { name: "Show the sidebar" }).click()
  await shell.addProject(path)
  const asks = await shell.hasSession(path, "Asks")
  await shell.hasSession(path, "Later")
  await shell.session("Later").locator(".session-open").click()
  await liminal.say(asks, "ask me")
  await expect(page).toHaveTitle(/^\(1\) /)
  await expect(shell.toast).toHaveCount(0)
})
