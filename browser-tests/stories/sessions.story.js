import { readFile } from "node:fs/promises"
import { expect, test } from "../support/story.js"

test("a new session: the agents with their state, one click, its tab and row", async ({ shell, page }) => {
  await shell.hasProject("web")
  await expect(shell.project("web").getByText("No sessions yet")).toBeVisible()
  await page.getByRole("button", { name: "New session in web" }).click()
  await expect(shell.starting.getByLabel("Project")).toContainText("web")
  for (const agent of ["Helper", "Claude Code", "Codex", "OpenCode", "Demo"])
    await expect(shell.agentChoice(agent)).toHaveCount(1)
  await expect(shell.agentChoice("Gemini")).toContainText("not installed")
  await shell.agentChoice("Gemini").click()
  await expect(shell.starting.locator(".start-todo")).toContainText("Gemini is not installed. Run npm install")
  await expect(shell.starting.getByRole("button", { name: /^Start/ })).toBeDisabled()
  await expect(shell.agentChoice("Qwen")).toHaveCount(0)
  await shell.starting.getByRole("button", { name: "More agents" }).click()
  await expect(shell.agentChoice("Qwen Code")).toContainText("not installed")
  await shell.start("Helper")
  await expect(shell.tabs).toHaveText(["New Session"])
  await expect(shell.sessions("web")).toHaveText(["New Session"])
  await expect(shell.session("New Session").locator(".session-open")).toHaveAttribute("aria-current", "true")
  await expect(shell.session("New Session").locator(".session-age")).toHaveText("now")
})

test("the agents are chosen with the arrows; Escape creates nothing; the last used comes first", async ({
  shell,
  page,
}) => {
  /** @type {string[]} */
  const created = []
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      if (JSON.parse(String(payload)).type === "session:create") created.push(String(payload))
    }),
  )
  await page.reload()
  await shell.isConnected()
  await shell.hasProject("web")
  const add = page.getByRole("button", { name: "New session in web" })
  await add.click()
  await expect(shell.starting.getByLabel("What should be done?")).toBeFocused()
  await shell.starting.getByRole("radio").first().focus()
  await page.keyboard.press("ArrowDown")
  await expect(shell.starting.locator(".start-agent").nth(1).getByRole("radio")).toBeChecked()
  await page.keyboard.press("Escape")
  await expect(shell.starting).toHaveCount(0)
  await expect(add).toBeFocused()
  await expect(shell.tabs).toHaveCount(0)
  expect(created, "nothing is sent on cancel").toEqual([])
  await shell.newSession("web", "Other")
  await expect(shell.sessions("web")).toHaveCount(1)
  await expect.poll(() => created).toHaveLength(1)
  await add.click()
  await expect(shell.starting.locator(".start-agent").first()).toContainText("Other")
  await expect(shell.starting.getByRole("radio").first()).toBeChecked()
})

test("a session starts with its first message, and a start that fails keeps the words", async ({ shell, page }) => {
  await shell.hasProject("web")
  await page.keyboard.press("Alt+n")
  await shell.start("Refusing", "Find the leak")
  await expect(shell.activePane.getByRole("alert")).toContainText("Not on a Monday.")
  await expect(shell.activePane).toContainText("Find the leak")
  await shell.activePane.getByRole("button", { name: "Close" }).click()
  await page.keyboard.press("Alt+n")
  await expect(shell.starting.getByLabel("What should be done?")).toHaveValue("Find the leak")
  await shell.start("Helper", "Find the other leak")
  await expect(shell.portlet.getByText("You said: Find the other leak")).toBeVisible()
  await expect(shell.activeTab).toHaveText("Find the other leak")
  await page.keyboard.press("Alt+n")
  await expect(shell.starting.getByLabel("What should be done?")).toHaveValue("")
})

test("one types on while the agent starts", async ({ shell, page, liminal }) => {
  await shell.hasProject("web")
  await page.getByRole("button", { name: "New session in web", exact: true }).click()
  await shell.start("Slow Start", "First")
  const writing = shell.activePane.getByLabel("Message")
  await expect(writing).toBeFocused()
  await page.keyboard.type("Second")
  await page.keyboard.press("Enter")
  await expect(shell.activePane.locator(".creating-prompt")).toHaveText(["First", "Second"])
  await page.keyboard.type("Third, not sent")
  await liminal.release("launch")
  const own = shell.portlet.locator('.message[data-origin="user"] .rendered')
  await expect(own).toHaveText(["First", "Second"])
  await expect(shell.composer).toHaveValue("Third, not sent")
})

for (const [how, leave] of /** @type {const} */ ([
  ["the page is reloaded", "reload"],
  ["the server is killed", "kill"],
]))
  test(`what was written to a new session arrives once although ${how} while its agent starts`, async ({
    shell,
    page,
    liminal,
    complaints,
  }) => {
    await shell.hasProject("web")
    await page.getByRole("button", { name: "New session in web", exact: true }).click()
    await shell.start("Slow Start", "First")
    await expect(shell.activePane.getByLabel("Message")).toBeFocused()
    await page.keyboard.type("Second")
    await page.keyboard.press("Enter")
    await page.keyboard.type("Third, not sent")
    if (leave === "reload") await page.reload()
    else {
      complaints.expectLostServer()
      await liminal.kill()
      await expect(shell.activePane).toContainText("Offline. The session starts when you reconnect.")
      await liminal.up()
    }
    await shell.isConnected()
    await expect(shell.activePane.locator(".creating-prompt")).toHaveText(["First", "Second"])
    await expect(shell.activePane.getByLabel("Message")).toHaveValue("Third, not sent")
    await liminal.release("launch")
    const own = shell.portlet.locator('.message[data-origin="user"] .rendered')
    await expect(own).toHaveText(["First", "Second"])
    await expect(shell.portlet.getByText("At last.")).toHaveCount(2)
    await expect(shell.composer).toHaveValue("Third, not sent")
    await expect(shell.sessions("web")).toHaveText(["First"])
    await expect(shell.tabs).toHaveCount(1)
    await page.reload()
    await expect(own).toHaveText(["First", "Second"])
    await expect(shell.sessions("web")).toHaveText(["First"])
  })

test("the words of a start that failed are offered again after a reload, with what was written since", async ({
  shell,
  page,
}) => {
  await shell.hasProject("web")
  await page.keyboard.press("Alt+n")
  await shell.start("Refusing", "Find the leak")
  await expect(shell.activePane.getByRole("alert")).toContainText("Not on a Monday.")
  await page.keyboard.press("Alt+n")
  await shell.starting.getByLabel("What should be done?").fill("Something else")
  await page.reload()
  await shell.isConnected()
  await expect(shell.tabs).toHaveCount(0)
  await page.keyboard.press("Alt+n")
  await expect(shell.starting.getByLabel("What should be done?")).toHaveValue("Something else\n\nFind the leak")
})

test("creating shows progress in its tab at once", async ({ shell, liminal }) => {
  await shell.hasProject("web")
  await shell.newSession("web", "Slow Start")
  await expect(shell.activeTab).toHaveText("New Session")
  await expect(shell.activePane).toContainText("Starting Slow Start")
  await expect(shell.sessions("web")).toHaveCount(0)
  await liminal.release("launch")
  await expect(shell.sessions("web")).toHaveText(["New Session"])
  await expect(shell.activePane.locator("iframe")).toBeVisible()
})

test("a failed creation says why, offers Retry, and leaves nothing behind", async ({ shell, page }) => {
  await shell.hasProject("web")
  await shell.newSession("web", "Refusing")
  await expect(shell.activePane.getByRole("alert")).toContainText("Not on a Monday.")
  await shell.activePane.getByRole("button", { name: "Retry" }).click()
  await expect(shell.activePane.getByRole("alert")).toContainText("Not on a Monday.")
  await page.reload()
  await expect(shell.projects).toHaveText(["web"])
  await expect(shell.tabs).toHaveCount(0)
  await expect(shell.sessions("web")).toHaveCount(0)
})

test("an agent that wants a login says what to do, and the choice of agents remembers it", async ({ shell, page }) => {
  await shell.hasProject("web")
  await shell.newSession("web", "Locked Out")
  await expect(shell.activePane.getByRole("alert")).toContainText("Log in with a key")
  await shell.activePane.getByRole("button", { name: "Close" }).click()
  await expect(shell.tabs).toHaveCount(0)
  await page.getByRole("button", { name: "New session in web" }).click()
  await expect(shell.agentChoice("Locked Out")).toContainText("needs login")
})

test("sessions stand newest first, and a message brings one to the top", async ({ shell, liminal }) => {
  const path = await shell.hasProject("web")
  const first = await shell.hasSession(path, "The first one")
  await shell.hasSession(path, "The second one")
  await expect(shell.sessions("web")).toHaveText(["The second one", "The first one"])
  await liminal.say(first, "again")
  await expect(shell.sessions("web")).toHaveText(["The first one", "The second one"])
})

test("the age of a session keeps itself current", async ({ shell, page }) => {
  await page.clock.install()
  await page.reload()
  await shell.isConnected()
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Growing old")
  const age = shell.session("Growing old").locator(".session-age")
  await expect(age).toHaveText("now")
  await page.clock.fastForward("05:10")
  await expect(age).toHaveText("5m")
  await page.clock.fastForward("03:00:00")
  await expect(age).toHaveText("3h")
})

test("working, waiting, failed and unread are seen at the row, the tab and the page's title", async ({
  shell,
  page,
  liminal,
}) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "In front")
  const works = await shell.hasSession(path, "Works")
  const asks = await shell.hasSession(path, "Asks")
  const fails = await shell.hasSession(path, "Fails")
  for (const title of ["Works", "Asks", "Fails", "In front"]) await shell.open(title)
  await liminal.say(works, "hold one")
  await liminal.say(asks, "ask me")
  await liminal.say(fails, "fail now")
  for (const [title, mood] of [
    ["Works", "running"],
    ["Asks", "waiting"],
    ["Fails", "failed"],
  ]) {
    await expect(shell.session(title)).toHaveAttribute("data-mood", mood)
    await expect(shell.tab(title)).toHaveAttribute("data-mood", mood)
  }
  await expect(page).toHaveTitle("(1) In front · Liminal Builder")
  await expect(page.locator("link[rel=icon]")).toHaveAttribute("href", "/icons/waiting.svg")
  await liminal.release("one")
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "unread")
  await shell.open("Works")
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "idle")
  await expect(shell.tab("Works")).toHaveAttribute("data-mood", "idle")
})

test("a session that moved on while no page was open is unread", async ({ shell, page, context, liminal }) => {
  const path = await shell.hasProject("web")
  const id = await shell.hasSession(path, "Left alone")
  await shell.open("Left alone")
  await shell.hasSession(path, "Another")
  await shell.open("Another")
  await page.close()
  await liminal.say(id, "news")
  const later = await context.newPage()
  await later.goto(liminal.origin)
  await expect(later.locator('.session[data-mood="unread"] .session-title')).toHaveText(["Left alone"])
})

test("archiving hides a session and closes its tab; Undo brings both back", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  for (const title of ["New work", "Old work"]) await shell.hasSession(path, title)
  for (const title of ["Old work", "New work"]) await shell.open(title)
  await shell.sessionMenu("Old work", "Archive")
  await expect(shell.sessions("web")).toHaveText(["New work"])
  await expect(shell.tabs).toHaveText(["New work"])
  await expect(shell.toast).toContainText("Archived “Old work”.")
  await page.getByRole("button", { name: "Undo" }).click()
  await expect(shell.sessions("web")).toHaveText(["Old work", "New work"])
  await expect(shell.tabs).toHaveText(["Old work", "New work"])
  await expect(shell.activeTab).toHaveText("New work")
})

test("archived sessions are listed and restored", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Old work")
  await shell.sessionMenu("Old work", "Archive")
  await expect(shell.sessions("web")).toHaveCount(0)
  await shell.projectMenu("web", "Archived sessions…")
  const dialog = page.getByRole("dialog", { name: "Archived in web" })
  await expect(dialog).toContainText("Old work")
  await dialog.getByRole("button", { name: "Restore Old work" }).click()
  await expect(dialog).toContainText("No archived sessions.")
  await page.keyboard.press("Escape")
  await expect(shell.sessions("web")).toHaveText(["Old work"])
})

test("a session is renamed in place, and its tab follows", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "First name")
  await shell.open("First name")
  await shell.sessionMenu("First name", "Rename")
  const field = page.getByLabel("Session title")
  await expect(field).toBeFocused()
  await field.fill("never mind")
  await page.keyboard.press("Escape")
  await expect(shell.sessions("web")).toHaveText(["First name"])
  await shell.session("First name").locator(".session-open").focus()
  await page.keyboard.press("F2")
  await field.fill("Second name")
  await page.keyboard.press("Enter")
  await expect(shell.sessions("web")).toHaveText(["Second name"])
  await expect(shell.tabs).toHaveText(["Second name"])
  await page.reload()
  await expect(shell.tabs).toHaveText(["Second name"])
})

test("deleting asks first, then the session is gone for good", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Throw away")
  await shell.open("Throw away")
  await shell.sessionMenu("Throw away", "Delete…")
  await page.keyboard.press("Escape")
  await expect(shell.sessions("web")).toHaveText(["Throw away"])
  await shell.sessionMenu("Throw away", "Delete…")
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click()
  await expect(shell.sessions("web")).toHaveCount(0)
  await expect(shell.tabs).toHaveCount(0)
  await shell.projectMenu("web", "Archived sessions…")
  await expect(page.getByRole("dialog")).toContainText("No archived sessions.")
})

test("a session is exported as Markdown and as JSON", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Take me out")
  for (const [item, extension] of [
    ["Export as Markdown", "md"],
    ["Export as JSON", "json"],
  ]) {
    const downloading = page.waitForEvent("download")
    await shell.sessionMenu("Take me out", item)
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`Take me out.${extension}`)
    expect(await readFile(await download.path(), "utf8")).toContain("You said: ")
  }
})

test("removing a project closes its tabs and keeps its sessions", async ({ shell, page }) => {
  const web = await shell.hasProject("web")
  const api = await shell.hasProject("api")
  await shell.hasSession(web, "Web work")
  await shell.hasSession(api, "Api work")
  await shell.open("Web work")
  await shell.open("Api work")
  await shell.projectMenu("web", "Remove from list…")
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click()
  await expect(shell.tabs).toHaveText(["Api work"])
  await shell.addProject(web)
  await expect(shell.sessions("web")).toHaveText(["Web work"])
})

test("what one browser does with sessions appears in another", async ({ shell, browser, liminal }) => {
  const { Shell } = await import("../support/shell.js")
  const path = await shell.hasProject("web")
  const context = await browser.newContext()
  const other = new Shell(await context.newPage(), liminal)
  await other.enter()
  await shell.hasSession(path, "Both see me")
  await other.open("Both see me")
  await shell.sessionMenu("Both see me", "Archive")
  await expect(other.sessions("web")).toHaveCount(0)
  await expect(other.tabs).toHaveCount(0)
  await context.close()
})
