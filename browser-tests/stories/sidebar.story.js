import { expect, test } from "../support/story.js"

const projects = (page) => page.locator(".project-name")

test("projects are moved by key and by dragging, and stay so", async ({ shell, page }) => {
  for (const name of ["alpha", "beta", "gamma"]) await shell.hasProject(name)
  await page.locator(".project-fold").nth(2).focus()
  await page.keyboard.press("Shift+ArrowUp")
  await expect(projects(page)).toHaveText(["alpha", "gamma", "beta"])
  await page
    .locator(".project-head")
    .nth(2)
    .dragTo(page.locator(".project-head").nth(0), {
      targetPosition: { x: 40, y: 4 },
    })
  await expect(projects(page)).toHaveText(["beta", "alpha", "gamma"])
  await page.reload()
  await expect(projects(page)).toHaveText(["beta", "alpha", "gamma"])
})

test("a pinned session stays on top and is moved among the pinned ones", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  for (const title of ["First", "Second", "Third"]) await shell.hasSession(path, title)
  await shell.sessionMenu("First", "Pin")
  await expect(shell.sessions("web")).toHaveText(["First", "Third", "Second"])
  await shell.open("Second")
  await page.keyboard.press("Alt+i")
  await expect(shell.sessions("web")).toHaveText(["First", "Second", "Third"])
  await shell.session("Second").locator(".session-open").focus()
  await page.keyboard.press("Shift+ArrowUp")
  await expect(shell.sessions("web")).toHaveText(["Second", "First", "Third"])
  await page.reload()
  await expect(shell.sessions("web")).toHaveText(["Second", "First", "Third"])
  await shell.sessionMenu("Second", "Unpin")
  await expect(shell.session("Second")).not.toHaveAttribute("data-pinned", "")
})

test("sessions are filtered by state and by agent, across projects", async ({ shell, page, liminal }) => {
  const [web, api] = [await shell.hasProject("web"), await shell.hasProject("api")]
  const asks = await shell.hasSession(web, "Asks")
  await shell.hasSession(web, "Rests")
  await shell.hasSession(api, "Else", "other")
  await liminal.say(asks, "ask me")
  await expect(shell.session("Asks")).toHaveAttribute("data-mood", "waiting")
  const choose = async (item) => {
    await page.getByRole("button", { name: "Filter sessions" }).click()
    await page.getByRole("menuitemradio", { name: item }).click()
  }
  await choose("Waiting for you")
  await expect(page.locator(".session-title")).toHaveText(["Asks"])
  await expect(projects(page)).toHaveText(["web"])
  await choose("All states")
  await choose("Other")
  await expect(page.locator(".session-title")).toHaveText(["Else"])
  await expect(page.locator(".sidebar-filtered")).toContainText("Other")
  await choose("Stopped")
  await expect(page.getByText("No session matches.")).toBeVisible()
  await page.getByRole("button", { name: "Show all sessions" }).click()
  await expect(page.locator(".session")).toHaveCount(3)
})

test("several sessions are archived at once, and come back at once", async ({ shell, page, liminal }) => {
  const path = await shell.hasProject("web")
  for (const title of ["One", "Two", "Three"]) await shell.hasSession(path, title)
  const busy = await shell.hasSession(path, "Busy")
  await liminal.say(busy, "hold one")
  await expect(shell.session("Busy")).toHaveAttribute("data-mood", "running")
  await shell.projectMenu("web", "Archive sessions…")
  const dialog = page.getByRole("dialog", { name: "Archive sessions of web" })
  await expect(dialog.getByLabel("Busy")).toBeDisabled()
  await dialog.getByRole("button", { name: "Select all" }).click()
  await dialog.getByLabel("Two").uncheck()
  await dialog.getByRole("button", { name: "Archive 2 sessions" }).click()
  await expect(shell.sessions("web")).toHaveText(["Busy", "Two"])
  await shell.toast.getByRole("button", { name: "Undo" }).click()
  await expect(shell.sessions("web")).toHaveCount(4)
})

test("Delete that is held archives one session", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  for (const title of ["First", "Second", "Third"]) await shell.hasSession(path, title)
  await shell.session("Third").locator(".session-open").focus()
  for (let times = 0; times < 3; times += 1) await page.keyboard.down("Delete")
  await page.keyboard.up("Delete")
  await expect(shell.toast).toHaveCount(1)
  await expect(shell.sessions("web")).toHaveText(["Second", "First"])
})

test("the keys for a session's most used things are in its menu and in the help", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Work")
  await shell.open("Work")
  await shell.session("Work").hover()
  await page.getByRole("button", { name: "Actions for Work", exact: true }).click()
  for (const [item, keys] of [
    ["Rename", "Alt R"],
    ["Pin", "Alt I"],
    ["Archive", "Alt A"],
    ["Copy link", "Alt U"],
  ])
    await expect(page.getByRole("menuitem", { name: item })).toContainText(keys)
  await page.keyboard.press("Escape")
  await shell.say("hold one")
  await expect(shell.session("Work")).toHaveAttribute("data-mood", "running")
  await shell.composer.press("Alt+x")
  await expect(shell.portlet.locator(".turn-end").last()).toContainText("Stopped")
  await shell.composer.press("Alt+a")
  await expect(shell.sessions("web")).toHaveCount(0)
  await expect(shell.toast).toContainText("Archived “Work”.")
})

test("the sidebar's foot has each agent with its state, and restarts one", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Work")
  await page.getByRole("button", { name: "Agents", exact: true }).click()
  const menu = page.getByRole("menu", { name: "Agents" })
  await expect(menu.getByRole("menuitem", { name: /Helper/ })).toContainText("running")
  await expect(menu.getByRole("menuitem", { name: /Gemini/ })).toContainText("npm install")
  await menu.getByRole("menuitem", { name: /Helper/ }).click()
  await expect(shell.toast).toContainText("Helper restarts.")
})
