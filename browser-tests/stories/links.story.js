import { expect, test } from "../support/story.js"
import { Shell } from "../support/shell.js"

test.use({ permissions: ["clipboard-read", "clipboard-write"] })

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText())

/** A session with three turns, of which the first is far above the end. */
async function longSession(shell, liminal) {
  const path = await shell.hasProject("web")
  const id = await shell.hasSession(path, "The walrus knows")
  for (const _ of ["one", "two"]) {
    await liminal.say(id, "Please be long")
    await shell.rests(id, "The walrus knows")
  }
  return id
}

/** Copies the link of the first message of the active session. */
async function copyLinkOfFirst(shell) {
  await shell.composer.press("Control+f")
  await shell.portlet.getByRole("textbox", { name: "Find in this conversation" }).fill("walrus")
  const first = shell.portlet.locator(".message").first()
  await expect(first).toContainText("walrus")
  await first.hover()
  await first.getByRole("button", { name: "Copy link" }).click()
}

test("a message's link opens its session there in another browser, after a login, and starts no agent", async ({
  shell,
  liminal,
  page,
  browser,
  complaints,
}) => {
  complaints.expectLostServer()
  const id = await longSession(shell, liminal)
  await shell.open("The walrus knows")
  await copyLinkOfFirst(shell)
  await expect.poll(() => clipboard(page)).toMatch(/#session=.+&item=/)
  const link = await clipboard(page)
  expect(link.startsWith(`${liminal.origin}/#session=`)).toBe(true)
  expect(link).not.toContain(liminal.token)
  await liminal.stop()
  await liminal.up()

  const context = await browser.newContext()
  const other = new Shell(await context.newPage(), liminal)
  await other.page.goto(link)
  await other.page.getByLabel("Token").fill(liminal.token)
  await other.page.keyboard.press("Enter")
  await expect(other.activeTab).toHaveText("The walrus knows")
  await expect(other.portlet.locator(".revealed")).toContainText("walrus")
  await expect(other.portlet.locator(".revealed")).toBeInViewport()
  expect(new URL(other.page.url()).hash).toBe("")
  expect((await liminal.api(`/api/session/${encodeURIComponent(id)}/status`)).isAlive).toBe(false)
  await context.close()
})

test("a session's link is in its menu, works in an open page and for an archived session, or says why not", async ({
  shell,
  liminal,
  page,
}) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Alpha")
  await shell.hasSession(path, "Beta")
  await shell.sessionMenu("Alpha", "Copy link")
  await expect(shell.toast).toHaveText(/Link copied/)
  const link = await clipboard(page)
  await shell.open("Beta")
  await page.goto(link)
  await expect(shell.activeTab).toHaveText("Alpha")
  await expect(shell.composer).toBeFocused()
  await page.getByRole("tab", { name: /Alpha/ }).press("Delete")
  await shell.sessionMenu("Alpha", "Archive")
  await expect(shell.sessions("web")).toHaveText(["Beta"])
  await page.goto(link)
  await expect(shell.activeTab).toHaveText("Alpha")
  await expect(page.getByText("This session is archived.")).toBeVisible()
  await page.goto(`${liminal.origin}/#session=helper%3Agone`)
  await expect(shell.toast.filter({ hasText: "no longer exists" })).toBeVisible()
})
