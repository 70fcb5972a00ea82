import { expect, test } from "../support/story.js"
import { Shell } from "../support/shell.js"

test("the page comes back by itself after the server was gone, and goes on working", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  await shell.hasProject("before")
  await liminal.kill()
  await expect(page.locator(".connection-bar")).toBeVisible()
  await expect(page.locator(".sidebar-connection")).toHaveText("offline")
  await expect(shell.projects).toHaveText(["before"])
  await liminal.up()
  await shell.isConnected()
  await expect(page.locator(".connection-bar")).toBeHidden()
  await shell.hasProject("after")
  await expect(shell.projects).toHaveText(["before", "after"])
})

test("an action while the server is gone fails with words, not in silence", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  await liminal.kill()
  await expect(page.locator(".connection-bar")).toBeVisible()
  await page.getByRole("button", { name: "Add project" }).click()
  await shell.pathField.fill("/tmp")
  await page.getByRole("button", { name: "Add", exact: true }).click()
  await expect(page.locator("#add-project-problem")).toContainText("Not connected")
  await expect(page.getByRole("button", { name: "Add", exact: true })).toBeEnabled()
})

test("a session opened while the server is gone is there as soon as the server is", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Never seen")
  await shell.hasSession(path, "In front")
  await page.reload()
  await shell.isConnected()
  await shell.open("In front")
  await liminal.kill()
  await expect(page.locator(".connection-bar")).toBeVisible()
  await shell.session("Never seen").locator(".session-open").click()
  await expect(page.locator(".pane[data-active] iframe")).toHaveAttribute("title", "Never seen")
  await liminal.up()
  await shell.isConnected()
  await shell.say("hello")
  await expect(shell.portlet.getByText("hello").first()).toBeVisible()
})

test("a server killed during a streaming answer costs nothing, and nothing is left stale or disabled", async ({
  shell,
  page,
  browser,
  liminal,
  complaints,
}) => {
  test.slow()
  complaints.expectLostServer()
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "First name")
  await shell.hasSession(path, "To be archived")
  await shell.hasSession(path, "Quiet")
  await shell.hasSession(path, "Survivor")
  for (const title of ["First name", "To be archived", "Quiet", "Survivor"]) await shell.open(title)
  await shell.say("stream slowly")
  await expect(shell.portlet.getByText(/word word word/)).toBeVisible()
  await expect(shell.session("Survivor")).toHaveAttribute("data-mood", "running")
  const said = (await shell.portlet.getByText(/word word word/).textContent()).trim()
  await liminal.kill()
  await expect(page.locator(".connection-bar")).toBeVisible()
  // The user carries on: another tab, a message. It waits.
  await shell.tab("Quiet").getByRole("tab").click()
  await shell.say("said into the void")
  await expect(shell.portlet.locator("[data-sending]")).toContainText("said into the void")

  await liminal.elsewhere(async () => {
    const context = await browser.newContext()
    const other = new Shell(await context.newPage(), liminal)
    await other.enter()
    await other.hasProject("added meanwhile")
    await other.hasSession(path, "Made meanwhile")
    await other.sessionMenu("To be archived", "Archive")
    await other.sessionMenu("First name", "Rename")
    await other.page.getByLabel("Session title").fill("Second name")
    await other.page.keyboard.press("Enter")
    await expect(other.sessions("web")).toHaveText(["Made meanwhile", "Survivor", "Quiet", "Second name"])
    await context.close()
  })
  await liminal.up()
  await shell.isConnected()
  await expect(page.locator(".connection-bar")).toBeHidden()
  await expect(shell.projects).toHaveText(["web", "added meanwhile"])
  await expect(shell.tabs).toHaveText(["Second name", "Quiet", "Survivor"])
  await expect(shell.portlet.getByText("You said: said into the void")).toBeVisible()
  await expect(shell.portlet.locator('.message[data-origin="user"]', { hasText: "said into the void" })).toHaveCount(1)
  await expect(shell.portlet.locator("[data-sending]")).toHaveCount(0)
  await expect(shell.sessions("web")).toHaveText(["Quiet", "Made meanwhile", "Survivor", "Second name"])
  await expect(page.locator('.session[data-mood="running"]')).toHaveCount(0)

  await shell.open("Survivor")
  await expect(shell.portlet.getByText(/word word word/)).toContainText(said)
  await expect(shell.portlet.locator(".turn-end").last()).toContainText("interrupted")
  await expect(shell.portlet.getByRole("button", { name: "Stop", exact: true })).toBeHidden()
  await shell.say("still there?")
  await expect(shell.portlet.getByText("You said: still there?")).toBeVisible()
})

test("messages sent while the server is gone survive a reload of the page, and arrive once, in their order", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  const path = await shell.hasProject("web")
  const id = await shell.hasSession(path, "Patient")
  await shell.open("Patient")
  await liminal.kill()
  await shell.say("held back")
  await expect(shell.portlet.locator("[data-sending]")).toContainText("held back")
  await shell.say("and then this")
  await expect(shell.portlet.locator(".tray")).toContainText("and then this")
  await page.goto("about:blank") // forgets what a reload would; the server is still gone
  await liminal.up()
  await page.goto(liminal.origin)
  await expect(shell.portlet.getByText("You said: held back")).toBeVisible()
  await expect(shell.portlet.locator('.message[data-origin="user"]', { hasText: "held back" })).toHaveCount(1)
  await page.reload()
  await expect(shell.portlet.getByText("You said: and then this")).toBeVisible()
  expect(await liminal.said(id)).toEqual(["Patient", "held back", "and then this"])
})

test("a message is not lost if the page is left in the moment in which it is sent", async ({
  shell,
  page,
  liminal,
}) => {
  const path = await shell.hasProject("web")
  const id = await shell.hasSession(path, "Hasty")
  await shell.open("Hasty")
  const input = shell.composer
  await input.fill("not lost")
  await input.evaluate((box) => {
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }))
    // In the same task, so that the shell has not got it yet.
    window.parent.location.reload()
  })
  await expect(shell.portlet.getByText("You said: not lost")).toBeVisible()
  expect(await liminal.said(id)).toEqual(["Hasty", "not lost"])
  // What is written next goes where it was.
  await expect(input).toBeFocused()
})

test("a tab that was frozen for ten minutes catches up, though its connection and tickets are gone", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  const path = await shell.hasProject("web")
  await page.clock.install()
  await page.reload()
  await shell.isConnected()
  const id = await shell.hasSession(path, "Sleeper")
  await shell.open("Sleeper")
  const settings = async () => {
    await page.getByRole("button", { name: "Settings" }).click()
    await expect(page.locator(".settings-row")).toHaveCount(1)
    await page.keyboard.press("Escape")
  }
  await settings() // from now on the page has a ticket for its requests
  await whileFrozen(page, async () => {
    await liminal.say(id, "during the sleep")
    await liminal.rests(id)
    await liminal.stop()
    await liminal.up()
    await liminal.say(id, "after a restart")
    await liminal.rests(id)
  })
  await page.clock.fastForward("10:00")
  await expect(shell.portlet.getByText("You said: after a restart")).toBeVisible()
  await shell.isConnected()
  await expect(page.locator(".connection-bar")).toBeHidden()
  await settings()
  await shell.say("awake")
  await expect(shell.portlet.getByText("You said: awake")).toBeVisible()
  const own = ["Sleeper", "during the sleep", "after a restart", "awake"]
  await expect(shell.portlet.locator('.message[data-origin="user"] .rendered')).toHaveText(own)
  expect(await liminal.said(id)).toEqual(own)
})

test("a message that was waiting when its tab froze arrives once", async ({ shell, page, liminal, complaints }) => {
  complaints.expectLostServer()
  const path = await shell.hasProject("web")
  const id = await shell.hasSession(path, "Sleeper")
  await shell.open("Sleeper")
  await liminal.kill()
  await shell.say("held back")
  await expect(shell.portlet.locator("[data-sending]")).toContainText("held back")
  await whileFrozen(page, async () => {
    await liminal.up()
    await liminal.say(id, "said elsewhere")
    await liminal.rests(id)
    expect(await liminal.said(id)).toEqual(["Sleeper", "said elsewhere"])
  })
  await expect(shell.portlet.getByText("You said: held back")).toBeVisible()
  await expect(shell.portlet.locator("[data-sending]")).toHaveCount(0)
  expect(await liminal.said(id)).toEqual(["Sleeper", "said elsewhere", "held back"])
})

/** Stops the processes of the browser's pages meanwhile, so that none of their timers or messages runs. Chromium's own
 * command for freezing a tab does nothing as long as Playwright keeps it in focus. */
async function whileFrozen(page, act) {
  const devtools = await page.context().browser().newBrowserCDPSession()
  const { processInfo } = await devtools.send("SystemInfo.getProcessInfo")
  const pages = processInfo.filter(({ type }) => type === "renderer")
  for (const { id } of pages) process.kill(id, "SIGSTOP")
  try {
    await act()
  } finally {
    for (const { id } of pages) process.kill(id, "SIGCONT")
  }
}
