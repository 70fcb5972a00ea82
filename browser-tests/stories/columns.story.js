import { expect, test } from "../support/story.js"

test.use({ viewport: { width: 1440, height: 800 } })

/** The titles above the panes in view, left to right. */
const heads = (page) =>
  page.locator(".pane[data-shown] .pane-title").evaluateAll((all) =>
    all
      .map((title) => [title.getBoundingClientRect().left, title.textContent])
      .sort(([a], [b]) => a - b)
      .map(([, text]) => text),
  )
const sees = (page, titles) => expect.poll(() => heads(page)).toEqual(titles)
const composerOf = (page, title) => page.frameLocator(`.pane[data-shown] iframe[title="${title}"]`).locator("textarea")

async function threeTabs(shell) {
  const path = await shell.hasProject("web")
  for (const title of ["Alpha", "Beta", "Gamma"]) await shell.hasSession(path, title)
  for (const title of ["Alpha", "Beta", "Gamma"]) await shell.open(title)
}

/** Drags a tab onto an edge of the panes, which are there only while it is dragged. */
async function dragToEdge(shell, page, title, side) {
  const box = await shell.tab(title).boundingBox()
  await page.mouse.move(box.x + 30, box.y + 15)
  await page.mouse.down()
  await page.mouse.move(box.x + 40, box.y + 25, { steps: 3 })
  const edge = page.locator(`.pane-edge[data-side="${side}"]`)
  await expect(edge).toBeVisible()
  const to = await edge.boundingBox()
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 5 })
  await expect(edge).toHaveAttribute("data-over", "")
  await page.mouse.up()
  await expect(edge).toBeHidden()
}

test("a tab dragged to an edge is shown beside the other, each with its composer, also after a reload", async ({
  shell,
  page,
}) => {
  await threeTabs(shell)
  await dragToEdge(shell, page, "Alpha", "start")
  await sees(page, ["Alpha", "Gamma"])
  await expect(shell.activeTab).toHaveText("Alpha")
  await composerOf(page, "Gamma").fill("for gamma")
  await expect(shell.activeTab).toHaveText("Gamma")
  await composerOf(page, "Alpha").fill("for alpha")
  await expect(shell.activeTab).toHaveText("Alpha")
  await expect(shell.tab("Gamma")).toHaveAttribute("data-beside", "")
  await page.reload()
  await sees(page, ["Alpha", "Gamma"])
  await expect(composerOf(page, "Alpha")).toHaveValue("for alpha")
  await expect(composerOf(page, "Gamma")).toHaveValue("for gamma")
  await expect(page.locator("iframe")).toHaveCount(2)
})

test("keys add a column, go to the next one and back to a single session", async ({ shell, page }) => {
  await threeTabs(shell)
  await shell.composer.press("Alt+l")
  await sees(page, ["Gamma", "Alpha"])
  await expect(composerOf(page, "Alpha")).toBeFocused()
  await composerOf(page, "Alpha").press("Alt+l")
  await sees(page, ["Gamma", "Alpha", "Beta"])
  await expect(composerOf(page, "Beta")).toBeFocused()
  await composerOf(page, "Beta").press("Alt+o")
  await expect(composerOf(page, "Gamma")).toBeFocused()
  await expect(page).toHaveTitle(/^Gamma/)
  await composerOf(page, "Gamma").press("Alt+Shift+L")
  await sees(page, ["Gamma"])
  await expect(page.locator(".pane-head:visible")).toHaveCount(0)
})

test("a session opened from elsewhere takes the focused column; closing a tab closes its column", async ({
  shell,
  page,
}) => {
  await threeTabs(shell)
  await shell.tab("Alpha").click({ button: "right" })
  await page.getByRole("menuitem", { name: "Show beside" }).click()
  await sees(page, ["Gamma", "Alpha"])
  await shell.open("Beta")
  await sees(page, ["Gamma", "Beta"])
  await shell.tab("Gamma").click()
  await expect(composerOf(page, "Gamma")).toBeFocused()
  await sees(page, ["Gamma", "Beta"])
  await composerOf(page, "Gamma").press("Alt+w")
  await sees(page, ["Beta"])
  await expect(shell.activeTab).toHaveText("Beta")
  await expect(shell.tabs).toHaveText(["Alpha", "Beta"])
})

test("what happens in either column counts as seen, and the focus stays where the user writes", async ({
  shell,
  page,
}) => {
  await threeTabs(shell)
  await shell.composer.press("Alt+l")
  await sees(page, ["Gamma", "Alpha"])
  await composerOf(page, "Gamma").fill("wait for me")
  await composerOf(page, "Gamma").press("Enter")
  await composerOf(page, "Alpha").fill("a draft")
  await expect(page.frameLocator('iframe[title="Gamma"]').locator(".turn-end")).toHaveCount(2)
  await expect(shell.session("Gamma")).toHaveAttribute("data-mood", "idle")
  await expect(composerOf(page, "Alpha")).toBeFocused()
})

test("a narrow window shows the focused session alone, and both again when there is room", async ({ shell, page }) => {
  await threeTabs(shell)
  await shell.composer.press("Alt+l")
  await sees(page, ["Gamma", "Alpha"])
  await page.setViewportSize({ width: 800, height: 800 })
  await sees(page, ["Alpha"])
  await expect(page.locator(".pane-head:visible")).toHaveCount(0)
  await page.setViewportSize({ width: 1440, height: 800 })
  await sees(page, ["Gamma", "Alpha"])
  await page
    .locator(".pane", { has: page.locator('iframe[title="Alpha"]') })
    .getByRole("button", { name: "Remove from view" })
    .click()
  await sees(page, ["Gamma"])
  await expect(shell.tabs).toHaveText(["Alpha", "Beta", "Gamma"])
})

test("sessions with open changes show their conversations once they are side by side", async ({ shell, page }) => {
  await threeTabs(shell)
  const panelOf = (title) => page.frameLocator(`iframe[title="${title}"]`).locator("#changes")
  for (const title of ["Alpha", "Gamma"]) {
    await shell.tab(title).click()
    await shell.composer.press("Alt+c")
    await expect(panelOf(title)).toBeVisible()
  }
  await panelOf("Gamma").press("Alt+l")
  await sees(page, ["Gamma", "Alpha"])
  for (const title of ["Alpha", "Gamma"]) {
    await expect(panelOf(title)).toBeHidden()
    await expect(composerOf(page, title)).toBeInViewport()
  }
  // A page of its own stays open: the user chose it.
  await composerOf(page, "Gamma").press("Alt+c")
  await expect(panelOf("Gamma")).toBeVisible()
})
