import { expect, test } from "../support/story.js"
import { Shell } from "../support/shell.js"

/** Three sessions with a tab each, the last one active. */
async function threeTabs(shell) {
  const path = await shell.hasProject("web")
  for (const title of ["Alpha", "Beta", "Gamma"]) await shell.hasSession(path, title)
  for (const title of ["Alpha", "Beta", "Gamma"]) await shell.open(title)
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  return path
}

test("each open session has one tab with its agent's mark; opening again brings it to the front", async ({
  shell,
  page,
}) => {
  await threeTabs(shell)
  await expect(shell.activeTab).toHaveText("Gamma")
  await expect(shell.tab("Alpha").locator(".agent-mark")).toHaveText("HE")
  await shell.open("Alpha")
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  await expect(page.locator("iframe.portlet")).toHaveCount(3)
  await expect(shell.activePane).toHaveCount(1)
})

test("the cross closes a tab and its right neighbour comes to the front; the session stays in the sidebar", async ({
  shell,
  page,
}) => {
  await threeTabs(shell)
  await shell.open("Beta")
  await shell.tab("Beta").hover()
  await shell.tab("Beta").locator(".tab-close").click()
  await expect(shell.tabs).toHaveText(["Alpha", "Gamma"])
  await expect(shell.activeTab).toHaveText("Gamma")
  await expect(page.locator("iframe.portlet")).toHaveCount(2)
  await expect(shell.sessions("web")).toHaveCount(3)
})

test("the middle button closes a tab; with the last one gone the page says what to do", async ({ shell, page }) => {
  await threeTabs(shell)
  for (const title of ["Gamma", "Beta", "Alpha"]) await shell.tab(title).click({ button: "middle" })
  await expect(shell.tabs).toHaveCount(0)
  await expect(shell.now.getByText("Nothing needs you")).toBeVisible()
})

test("tabs are dragged to another place, and the order is remembered", async ({ shell, page }) => {
  await threeTabs(shell)
  await shell.tab("Gamma").dragTo(shell.tab("Beta"), { targetPosition: { x: 5, y: 10 } })
  await expect(shell.tabs).toHaveText(["Alpha", "Gamma", "Beta"])
  expect((await shell.stored("liminal:tabs")).tabOrder).toHaveLength(3)
  await page.reload()
  await expect(shell.tabs).toHaveText(["Alpha", "Gamma", "Beta"])
})

test("tabs are moved, switched and closed with the keyboard", async ({ shell, page }) => {
  await threeTabs(shell)
  await shell.tab("Gamma").getByRole("tab").focus()
  await page.keyboard.press("Shift+ArrowLeft")
  await expect(shell.tabs).toHaveText(["Alpha", "Gamma", "Beta"])
  await expect(shell.tab("Gamma").getByRole("tab")).toBeFocused()
  await page.keyboard.press("ArrowRight")
  await expect(shell.activeTab).toHaveText("Beta")
  await expect(shell.tab("Beta").getByRole("tab")).toBeFocused()
  await page.keyboard.press("Home")
  await expect(shell.activeTab).toHaveText("Alpha")
  await page.keyboard.press("Delete")
  await expect(shell.tabs).toHaveText(["Gamma", "Beta"])
  await expect(shell.activeTab).toHaveText("Gamma")
  await expect(shell.tab("Gamma").getByRole("tab")).toBeFocused()

  await shell.open("Gamma")
  await page.getByRole("button", { name: "Now", exact: true }).click()
  await expect(shell.activeTab).toHaveCount(0)
  await page.getByRole("button", { name: "Now", exact: true }).focus()
  await page.keyboard.press("Tab")
  await expect(shell.tab("Gamma").getByRole("tab")).toBeFocused()
})

test("tabs come back after a reload; only the one in front is loaded until another is shown", async ({
  shell,
  page,
}) => {
  await threeTabs(shell)
  await shell.open("Beta")
  await page.reload()
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  await expect(shell.activeTab).toHaveText("Beta")
  await expect(page.locator("iframe.portlet")).toHaveCount(1)
  await shell.tab("Alpha").getByRole("tab").click()
  await expect(page.locator("iframe.portlet")).toHaveCount(2)
})

test("tabs come back after the server was restarted", async ({ shell, page, liminal, complaints }) => {
  complaints.expectLostServer()
  await threeTabs(shell)
  await liminal.stop()
  await liminal.up()
  await shell.isConnected()
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  await page.reload()
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  await expect(shell.activeTab).toHaveText("Gamma")
})

test("a tab of a session that is gone does not come back", async ({ shell, page }) => {
  await threeTabs(shell)
  await page.evaluate(() => {
    for (const storage of [localStorage, sessionStorage]) {
      const tabs = JSON.parse(storage.getItem("liminal:tabs"))
      tabs.openTabs.push("helper:never-was")
      storage.setItem("liminal:tabs", JSON.stringify(tabs))
    }
  })
  await page.reload()
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
})

test("a session is as it was left while another was in front: scroll, draft, selection, opened blocks", async ({
  shell,
  liminal,
}) => {
  const path = await shell.hasProject("web")
  const id = await shell.hasSession(path, "Please be long")
  await liminal.say(id, "think first")
  await shell.rests(id, "Please be long")
  await shell.hasSession(path, "Short")
  await shell.open("Short")
  await shell.open("Please be long")
  await shell.portlet.locator(".thinking .line").click()
  await expect(shell.portlet.getByText("The hidden depth of it.")).toBeVisible()
  await shell.composer.fill("half a thought")
  await shell.portlet.getByText("Some words to select.").dblclick({ position: { x: 8, y: 8 } })
  const scroller = shell.portlet.locator(".scroller")
  await shell.portlet.getByText("Paragraph 110 of a long answer.").scrollIntoViewIfNeeded()
  const left = () =>
    scroller.evaluate((box) => ({ top: Math.round(box.scrollTop), selected: String(document.getSelection()) }))
  const before = await left()
  expect(before.top).toBeGreaterThan(0)
  expect(before.selected).toBe("Some")
  await shell.tab("Short").getByRole("tab").click()
  await expect(shell.activeTab).toHaveText("Short")
  await shell.tab("Please be long").getByRole("tab").click()
  await expect(shell.activeTab).toHaveText("Please be long")
  await expect(shell.composer).toHaveValue("half a thought")
  await expect(shell.portlet.getByText("The hidden depth of it.")).toBeVisible()
  await expect.poll(left).toEqual(before)
})

test("two windows keep their own tabs, and a third begins with the newest", async ({ shell, context, liminal }) => {
  await threeTabs(shell)
  const second = new Shell(await context.newPage(), liminal)
  await second.page.goto(liminal.origin)
  await expect(second.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  await second.tab("Beta").click({ button: "middle" })
  await expect(second.tabs).toHaveText(["Alpha", "Gamma"])
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  const third = new Shell(await context.newPage(), liminal)
  await third.page.goto(liminal.origin)
  await expect(third.tabs).toHaveText(["Alpha", "Gamma"])
  await shell.page.reload()
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
  await second.page.reload()
  await expect(second.tabs).toHaveText(["Alpha", "Gamma"])
})

test("one click previews a session, and the next one replaces it, until one writes in it or clicks twice", async ({
  shell,
}) => {
  const path = await shell.hasProject("web")
  for (const title of ["Alpha", "Beta", "Gamma"]) await shell.hasSession(path, title)
  const preview = async (title) => {
    await shell.session(title).locator(".session-open").click()
    await expect(shell.activeTab).toHaveText(title)
    await expect(shell.composer).toBeFocused()
  }
  await preview("Alpha")
  await expect(shell.tab("Alpha")).toHaveAttribute("data-preview", "")
  await preview("Beta")
  await expect(shell.tabs).toHaveText(["Beta"])
  await shell.composer.pressSequentially("a")
  await expect(shell.tab("Beta")).not.toHaveAttribute("data-preview")
  await preview("Gamma")
  await expect(shell.tabs).toHaveText(["Beta", "Gamma"])
  await shell.tab("Gamma").getByRole("tab").dblclick()
  await preview("Alpha")
  await expect(shell.tabs).toHaveText(["Beta", "Gamma", "Alpha"])
})

test("a closed tab can be reopened, and all others closed, by its menu, by keys and from the palette", async ({
  shell,
  page,
}) => {
  test.slow()
  await threeTabs(shell)
  await shell.tab("Beta").click({ button: "middle" })
  await expect(shell.tabs).toHaveText(["Alpha", "Gamma"])
  await page.keyboard.press("Alt+Shift+W")
  await expect(shell.tabs).toHaveText(["Alpha", "Gamma", "Beta"])
  // A session that takes the focus later closes a menu.
  await expect(shell.composer).toBeFocused()
  await shell.tab("Gamma").click({ button: "right" })
  await page.getByRole("menuitem", { name: "Close others" }).click()
  await expect(shell.tabs).toHaveText(["Gamma"])
  const command = async (name) => {
    await page.getByRole("button", { name: "Search everything" }).click()
    await page.keyboard.type(name)
    await page.getByRole("option", { name, exact: false }).first().click()
  }
  await command("Reopen closed tab")
  await expect(shell.tabs).toHaveCount(2)
  await expect(shell.composer).toBeFocused()
  await command("Rename this session")
  await page.getByLabel("Session title").fill("Delta")
  await page.keyboard.press("Enter")
  await expect(shell.activeTab).toHaveText("Delta")
  await command("Archive this session")
  await expect(shell.tabs).toHaveText(["Gamma"])
})

test("a row of the palette that is pressed stays until it is released, whatever is found meanwhile", async ({
  shell,
  page,
}) => {
  await threeTabs(shell)
  await page.getByRole("button", { name: "Search everything" }).click()
  await page.keyboard.type("Archive this session")
  const row = page.getByRole("option", { name: "Archive this session" })
  await row.hover()
  await page.mouse.down()
  await page.locator(".palette-input").evaluate((input) => input.dispatchEvent(new Event("input")))
  await page.mouse.up()
  await expect(shell.tabs).toHaveCount(2)
})

test("where there is no room, the menu of all tabs names project and state", async ({ shell, page, liminal }) => {
  await threeTabs(shell)
  await page.setViewportSize({ width: 390, height: 700 })
  await page.getByRole("button", { name: "All open sessions" }).click()
  await expect(page.getByRole("menuitem", { name: /^Alpha/ })).toContainText("web")
  await page.keyboard.press("Escape")
  await page.setViewportSize({ width: 1024, height: 768 })
  await liminal.say(await shell.hasSession(liminal.home + "/web", "Asks"), "ask me")
  await expect(shell.session("Asks")).toHaveAttribute("data-mood", "waiting")
  await page.getByRole("button", { name: "Search everything" }).click()
  const option = page.getByRole("option", { name: /Asks/ })
  await expect(option).toContainText("waiting for your permission")
  await expect(option).toContainText("web")
})

test("a session that a restart interrupted is marked until the user looks at it", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  const path = await shell.hasProject("web")
  const works = await shell.hasSession(path, "Works")
  await shell.hasSession(path, "Rests")
  await shell.open("Works")
  await shell.open("Rests")
  await liminal.say(works, "hold one")
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "running")
  await liminal.stop()
  await liminal.up()
  await shell.isConnected()
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "interrupted")
  await page.reload()
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "interrupted")
  await shell.open("Works")
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "idle")
  await page.reload()
  await shell.isConnected()
  await expect(shell.session("Works")).toHaveAttribute("data-mood", "idle")
})
