import { expect, test } from "../support/story.js"

test("a turn's end and a permission notify the desktop while the page is not looked at, and a click leads there", async ({ shell, page, context, liminal }) => {
  await context.grantPermissions(["notifications"], { origin: liminal.origin })
  // The desktop of a test can't be read: what the page hands to it is.
  await page.addInitScript(() => {
    globalThis.shown = []
    globalThis.Notification = class {
      static permission = "granted"
      static requestPermission = async () => "granted"
      constructor(title, { body }) { globalThis.shown.push({ title, body, it: this }) }
      close() {}
    }
    let away = false
    Document.prototype.hasFocus = () => !away
    globalThis.lookAway = () => { away = true; globalThis.dispatchEvent(new Event("blur")) }
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
  await liminal.say(works, "hold two")
  await liminal.release("two")
  await expect.poll(shown).toEqual(["Asks: Waiting for your permission", "Works: Finished"])
  await expect(page).toHaveTitle("(2) Asks · Liminal Builder")
  await page.evaluate(() => globalThis.shown[1].it.onclick())
  await expect(shell.activeTab).toHaveText("Works")
})
