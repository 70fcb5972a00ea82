import { expect, test } from "../support/story.js"

/** Searches the transcripts and opens the first hit. */
async function openHit(shell, words) {
  await shell.page.getByRole("button", { name: "Search everything" }).click()
  await shell.page.keyboard.type(words)
  const hit = shell.page.locator(".palette-hit").first()
  await expect(hit.locator("mark").first()).toHaveText(new RegExp(words, "i"))
  await hit.click()
}

test("what was said anywhere is found as one types; opening a hit goes to the item and marks it", async ({
  shell,
  liminal,
}) => {
  const path = await shell.hasProject("web")
  const id = await shell.hasSession(path, "The walrus knows")
  // Far from the end: two long answers follow.
  for (const _ of ["one", "two"]) {
    await liminal.say(id, "Please be long")
    await shell.rests(id, "The walrus knows")
  }
  await shell.hasSession(path, "Something else")
  await shell.open("Something else")
  for (const state of ["the tab is new", "the tab is there, at its end"]) {
    await openHit(shell, "walrus")
    await expect(shell.activeTab, state).toHaveText("The walrus knows")
    const marked = shell.portlet.locator(".revealed")
    await expect(marked, state).toContainText("walrus")
    await expect(marked, state).toBeInViewport()
    await shell.portlet.locator(".to-end").click()
    await expect(marked, state).not.toBeInViewport()
    await shell.open("Something else")
  }
})

test("a search that is asked while the index is behind shows what is found later, and keeps what was chosen", async ({
  shell,
  page,
}) => {
  const path = await shell.hasProject("web")
  for (const title of ["The walrus one", "The walrus two"]) await shell.hasSession(path, title)
  // The page is told that the index is behind, until the story says what the server found. It may be behind itself.
  let found = (_tell) => {}
  const later = new Promise((resolve) => (found = resolve))
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((text) => {
      const frame = JSON.parse(String(text))
      if (frame.type !== "search:results") return socket.send(text)
      socket.send(JSON.stringify({ ...frame, hits: [], behind: true }))
      if (!frame.behind) found(() => socket.send(text))
    })
  })
  await page.reload()
  await shell.isConnected()
  await page.keyboard.press("Control+k")
  const palette = page.getByRole("dialog", { name: "Search everything" })
  await palette.getByRole("combobox").fill("walrus")
  await expect(palette.getByRole("status")).toHaveText("Recent messages are still being indexed.")
  await expect(palette.locator(".palette-hit")).toHaveCount(0)
  await page.keyboard.press("ArrowDown")
  const chosen = await palette.locator('[aria-selected="true"]').innerText()
  const tell = await later
  tell()
  await expect(palette.locator(".palette-hit").first()).toContainText("walrus")
  await expect(palette.getByRole("status")).toBeHidden()
  expect(await palette.locator('[aria-selected="true"]').innerText()).toBe(chosen)
})

test("Enter before the answer has come opens what was found, not what was listed before", async ({
  shell,
  page,
  liminal,
}) => {
  const path = await shell.hasProject("web")
  for (const [title, words] of [
    ["First thing", "a gruffalo with a hatter"],
    ["Second thing", "a gruffalo"],
  ]) {
    const id = await shell.hasSession(path, title)
    await liminal.say(id, words)
    await shell.rests(id, title)
  }
  let answer = (_go) => {}
  const isAsked = new Promise((resolve) => (answer = resolve))
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((text) => {
      const frame = JSON.parse(String(text))
      if (frame.type === "search:results" && frame.query.includes("hatter")) answer(() => socket.send(text))
      else socket.send(text)
    })
  })
  await page.reload()
  await shell.isConnected()
  await page.keyboard.press("Control+k")
  const palette = page.getByRole("dialog", { name: "Search everything" })
  await palette.getByRole("combobox").fill("gruffalo")
  await expect(palette.locator(".palette-hit").first()).toContainText("Second thing")
  await palette.getByRole("combobox").fill("gruffalo hatter")
  await page.keyboard.press("Enter")
  const go = await isAsked
  await expect(palette).toBeVisible()
  go()
  await expect(shell.activeTab).toHaveText("First thing")
})

test("a hit in an archived session opens without restoring it, says so, and its tab survives a reload", async ({
  shell,
  page,
  context,
  liminal,
}) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "The old walrus")
  await shell.sessionMenu("The old walrus", "Archive")
  await expect(shell.sessions("web")).toHaveCount(0)
  await openHit(shell, "walrus")
  await expect(shell.activeTab).toHaveText("The old walrus")
  await expect(shell.activePane).toContainText("This session is archived.")
  await page.reload()
  await expect(shell.activeTab).toHaveText("The old walrus")
  await expect(shell.portlet.getByText("You said: The old walrus")).toBeVisible()
  await expect(shell.sessions("web")).toHaveCount(0)
  await shell.activePane.getByRole("button", { name: "Restore" }).click()
  await expect(shell.sessions("web")).toHaveText(["The old walrus"])
  await expect(shell.activePane.getByText("This session is archived.")).toBeHidden()

  await shell.sessionMenu("The old walrus", "Archive")
  await expect(shell.tabs).toHaveCount(0)
  await shell.projectMenu("web", "Archived sessions…")
  await page.getByRole("dialog").getByRole("button", { name: "Open The old walrus" }).click()
  await expect(shell.activeTab).toHaveText("The old walrus")
  await page.goto("about:blank")
  const elsewhere = await context.newPage()
  await elsewhere.goto(liminal.origin)
  await elsewhere.locator(".project").hover()
  await elsewhere.getByRole("button", { name: "Actions for web" }).click()
  await elsewhere.getByRole("menuitem", { name: "Archived sessions…" }).click()
  await elsewhere.getByRole("button", { name: "Delete The old walrus" }).click()
  await elsewhere.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click()
  await expect(elsewhere.locator(".tab")).toHaveCount(0)
  await page.goto(liminal.origin)
  await shell.isConnected()
  await expect(shell.tabs, "deleted while this window was away").toHaveCount(0)
})

test("Ctrl+K finds sessions, projects and commands by name; Enter goes there; Escape leaves", async ({
  shell,
  page,
}) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Paint the shed")
  await page.keyboard.press("Control+k")
  const palette = page.getByRole("dialog", { name: "Search everything" })
  await expect(palette.getByRole("combobox")).toBeFocused()
  await page.keyboard.press("Escape")
  await expect(palette).toHaveCount(0)
  await page.keyboard.press("Control+k")
  await expect(palette.getByRole("combobox")).toBeFocused()
  // Also in the moment before the browser tells that the dialog is closed.
  await palette.evaluate((dialog) => {
    dialog.dispatchEvent(new Event("cancel"))
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", code: "KeyK", ctrlKey: true, bubbles: true }))
  })
  await expect(palette.getByRole("combobox")).toBeFocused()
  await page.keyboard.type("web")
  await expect(palette.getByRole("option").filter({ hasText: "Paint the shed" })).toContainText("web")
  await expect(palette.getByRole("option").filter({ hasText: "New session in web" })).toBeVisible()
  await palette.getByRole("combobox").fill("shed")
  await expect(palette.getByRole("option").first()).toContainText("Paint the shed")
  await page.keyboard.press("Enter")
  await expect(shell.activeTab).toHaveText("Paint the shed")
  await page.keyboard.press("Control+k")
  await expect(palette.getByRole("combobox")).toBeFocused()
  await page.keyboard.type("keyboard sh")
  await page.keyboard.press("Enter")
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible()
})

test("what is typed into the palette stays there when a session takes the focus late", async ({ shell, page }) => {
  await shell.hasSession(await shell.hasProject("web"), "Alpha")
  await shell.open("Alpha")
  const composer = shell.portlet.getByRole("textbox")
  await expect(composer).toBeFocused()
  await page.keyboard.press("Control+k")
  const field = page.getByRole("dialog", { name: "Search everything" }).getByRole("combobox")
  await expect(field).toBeFocused()
  await composer.evaluate((box) => box.focus())
  await expect(field).toBeFocused()
  await page.keyboard.type("alp")
  await expect(field).toHaveValue("alp")
})

test("tabs are switched, moved and closed from anywhere with the keys of the sheet", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  for (const title of ["Alpha", "Beta"]) await shell.hasSession(path, title)
  for (const title of ["Alpha", "Beta"]) await shell.open(title)
  await page.keyboard.press("Alt+,")
  await expect(shell.activeTab).toHaveText("Alpha")
  await page.keyboard.press("Alt+.")
  await expect(shell.activeTab).toHaveText("Beta")
  await page.keyboard.press("Alt+Shift+Digit1")
  await expect(shell.activeTab).toHaveText("Alpha")
  await page.keyboard.press("Alt+Shift+Period")
  await expect(shell.tabs).toHaveText(["Beta", "Alpha"])
  await page.keyboard.press("Alt+p")
  await expect(shell.sidebar).toBeHidden()
  await page.keyboard.press("Alt+p")
  await expect(shell.sidebar).toBeVisible()
  await page.keyboard.press("Alt+w")
  await expect(shell.tabs).toHaveText(["Beta"])
  await page.keyboard.press("Alt+m")
  await expect(shell.composer).toBeFocused()
  await shell.composer.press("Alt+w")
  await expect(shell.tabs).toHaveCount(0)
  await page.keyboard.press("Alt+n")
  await expect(shell.starting.getByLabel("Project")).toContainText("web")
  await expect(shell.starting.getByLabel("What should be done?")).toBeFocused()
  await page.keyboard.press("Escape")
  await expect(shell.starting).toHaveCount(0)
  await page.keyboard.press("?")
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible()
})

test("the sidebar's width is dragged, moved with arrows, and remembered", async ({ shell, page }) => {
  const edge = page.getByRole("separator", { name: "Sidebar width" })
  const box = await edge.boundingBox()
  await page.mouse.move(box.x + 4, 300)
  await page.mouse.down()
  await page.mouse.move(box.x + 84, 300)
  await page.mouse.up()
  await expect(edge).toHaveAttribute("aria-valuenow", "352")
  await edge.focus()
  await page.keyboard.press("ArrowLeft")
  await expect(edge).toHaveAttribute("aria-valuenow", "336")
  await page.reload()
  await expect(edge).toHaveAttribute("aria-valuenow", "336")
  expect((await shell.sidebar.boundingBox()).width).toBe(336)
})

test("settings keep theme, defaults and notifications, and show the agents and where the data is stored", async ({
  shell,
  page,
  liminal,
  context,
}) => {
  await context.grantPermissions(["notifications"], { origin: liminal.origin })
  await page.reload()
  await shell.isConnected()
  await page.getByRole("button", { name: "Settings" }).click()
  const dialog = page.getByRole("dialog", { name: "Settings" })
  await expect(dialog).toContainText(liminal.dataDir)
  await expect(dialog.locator(".settings-agent").filter({ hasText: "Helper" })).toContainText("ready")
  await expect(dialog.locator(".settings-agent").filter({ hasText: "Absent" })).toContainText("not installed")
  await expect(dialog.getByText("Mistral Vibe")).toBeHidden()
  await dialog.getByText("More agents").click()
  await expect(dialog.locator(".settings-agent").filter({ hasText: "Mistral Vibe" })).toContainText("pip install")
  await dialog.getByLabel("Theme").selectOption("light")
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light")
  await dialog.getByLabel("Permissions in new sessions").selectOption("auto")
  await dialog.getByLabel("Agent for new sessions").selectOption("other")
  await dialog.getByLabel("Desktop notifications").check()
  const kept = { policy: "auto", agent: "other", notifications: true }
  await expect.poll(() => shell.stored("liminal:defaults"), "the browser has allowed them").toMatchObject(kept)
  await page.reload()
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light")
  await shell.isConnected()
  expect(await shell.stored("liminal:defaults")).toMatchObject(kept)
  await shell.hasProject("web")
  await page.getByRole("button", { name: "New session in web", exact: true }).click()
  await expect(shell.starting.locator(".start-agent").first()).toContainText("Other")
  await page.keyboard.press("Enter")
  await expect(shell.portlet.getByText("Approve everything")).toBeVisible()
})

test("below 700 px the sidebar is a drawer that Escape and choosing a session close", async ({ shell, page }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "On the phone")
  await page.setViewportSize({ width: 390, height: 800 })
  await expect(shell.sidebar).toBeHidden()
  await page.getByRole("button", { name: "Show the sidebar" }).click()
  await expect(shell.sidebar).toBeVisible()
  await page.keyboard.press("Escape")
  await expect(shell.sidebar).toBeHidden()
  await page.getByRole("button", { name: "Show the sidebar" }).click()
  await shell.session("On the phone").locator(".session-open").click()
  await expect(shell.sidebar).toBeHidden()
  await expect(shell.activeTab).toHaveText("On the phone")
})
