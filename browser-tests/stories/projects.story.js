import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "../support/story.js"
import { Shell } from "../support/shell.js"

test("without projects the page invites to add one", async ({ shell, page }) => {
  await expect(shell.sidebar.getByText("No projects yet")).toBeVisible()
  await page.getByRole("button", { name: "Add a project" }).click()
  await expect(shell.pathField).toBeFocused()
})

test("projects stand in the order they were added, and are there after a reload", async ({ shell, page }) => {
  for (const name of ["zebra", "apple", "mango"]) await shell.hasProject(name)
  await expect(shell.projects).toHaveText(["zebra", "apple", "mango"])
  await page.reload()
  await expect(shell.projects).toHaveText(["zebra", "apple", "mango"])
})

test("directories are suggested as one types; Tab and the arrows complete", async ({ shell, page, liminal }) => {
  await mkdir(join(liminal.home, "code/alpha/inner"), { recursive: true })
  await mkdir(join(liminal.home, "code/alpine"), { recursive: true })
  await mkdir(join(liminal.home, "code/beta"), { recursive: true })
  await page.getByRole("button", { name: "Add project" }).click()
  await shell.pathField.pressSequentially(`${liminal.home}/code/a`)
  const options = page.getByRole("option")
  await expect(options).toHaveCount(2)
  await page.keyboard.press("Tab")
  await expect(shell.pathField).toHaveValue(`${liminal.home}/code/alp`)
  // Two can follow: Tab stays and chooses between them.
  await page.keyboard.press("Tab")
  await expect(shell.pathField).toBeFocused()
  await expect(options.first()).toHaveAttribute("aria-selected", "true")
  await expect(options.first().locator(".path-name")).toHaveText("alpha")
  await shell.pathField.press("End")
  await shell.pathField.press("Backspace")
  await shell.pathField.pressSequentially("p")
  await page.keyboard.press("ArrowDown")
  await expect(options.first()).toHaveAttribute("aria-selected", "true")
  await page.keyboard.press("Enter")
  await expect(shell.pathField).toHaveValue(`${liminal.home}/code/alpha/`)
  await expect(options).toHaveCount(1)
  await page.keyboard.press("Tab")
  await expect(shell.pathField).toHaveValue(`${liminal.home}/code/alpha/inner/`)
  await expect(options).toHaveCount(0)
  await page.keyboard.press("Enter")
  await expect(shell.projects).toHaveText(["inner"])
})

test("a suggestion that is too long is cut at its beginning", async ({ shell, page, liminal }) => {
  const parent = join(liminal.home, "a-directory-with-a-long-name/and-another-one-below-it")
  await mkdir(join(parent, "the-project"), { recursive: true })
  await page.getByRole("button", { name: "Add project" }).click()
  await shell.pathField.fill(`${parent}/`)
  const path = page.getByRole("option").locator("bdi")
  await expect(path).toHaveText([`${parent}/`])
  const [inner, outer] = await path.evaluate((text) =>
    [text, text.parentElement].map((each) => each.getBoundingClientRect()).map(({ left, right }) => ({ left, right })),
  )
  expect(inner.left).toBeLessThan(outer.left)
  expect(inner.right).toBeLessThanOrEqual(outer.right + 0.5)
})

test("where projects are already, another may be: those directories are suggested first", async ({
  shell,
  page,
  liminal,
}) => {
  await mkdir(join(liminal.home, "code/alpha"), { recursive: true })
  await shell.addProject(join(liminal.home, "code/alpha"))
  await page.getByRole("button", { name: "Add project" }).click()
  await expect(page.getByRole("option").first()).toHaveAttribute("title", "~/code/")
  await expect(page.getByRole("option").filter({ hasText: "code" }), "it is at home too").toHaveCount(1)
})

test("a name alone is found beside other projects, and a removed project is suggested first", async ({
  shell,
  page,
  liminal,
}) => {
  for (const name of ["code/alpha", "code/beta"]) await mkdir(join(liminal.home, name), { recursive: true })
  await shell.addProject(join(liminal.home, "code/alpha"))
  await page.getByRole("button", { name: "Add project" }).click()
  await shell.pathField.fill("bet")
  await expect(page.getByRole("option")).toHaveCount(1)
  await page.keyboard.press("Tab")
  await expect(shell.pathField).toHaveValue("~/code/beta/")
  await page.keyboard.press("Enter")
  await expect(shell.projects).toHaveText(["alpha", "beta"])
  await shell.projectMenu("alpha", "Remove from list")
  await page.getByRole("button", { name: "Remove", exact: true }).click()
  await expect(shell.projects).toHaveText(["beta"])
  await page.getByRole("button", { name: "Add project" }).click()
  await expect(page.getByRole("option").first()).toHaveAttribute("title", "~/code/alpha")
})

test("a path may begin with the home directory's tilde", async ({ shell, liminal }) => {
  await liminal.directory("work")
  await shell.addProject("~/work")
  await expect(shell.projects).toHaveText(["work"])
})

test("Escape cancels adding and sends nothing", async ({ shell, page, liminal }) => {
  const sent = []
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))))
  await page.reload()
  await shell.isConnected()
  await page.getByRole("button", { name: "Add project" }).click()
  await shell.pathField.fill(await liminal.directory("never"))
  await page.keyboard.press("Escape")
  await expect(shell.pathField).toHaveCount(0)
  await expect(page.getByRole("button", { name: "Add project" })).toBeFocused()
  expect(sent.filter((frame) => frame.includes("project:add"))).toEqual([])
})

test("why a directory can't be added is said at the field", async ({ shell, page, liminal }) => {
  await writeFile(join(liminal.home, "file.txt"), "no directory")
  await page.getByRole("button", { name: "Add project" }).click()
  for (const [path, reason] of [
    [join(liminal.home, "missing"), "There is no such directory."],
    [join(liminal.home, "file.txt"), "It is a file"],
    ["/", "The root directory"],
  ]) {
    await shell.pathField.fill(path)
    await page.getByRole("button", { name: "Add", exact: true }).click()
    await expect(page.locator("#add-project-problem")).toContainText(reason)
    await expect(shell.pathField).toHaveAttribute("aria-invalid", "true")
  }
  const path = await liminal.directory("twice")
  await shell.pathField.fill(path)
  await page.getByRole("button", { name: "Add", exact: true }).click()
  await expect(shell.projects).toHaveText(["twice"])
  await page.getByRole("button", { name: "Add project" }).click()
  await shell.pathField.fill(`${path}/../twice`)
  await page.getByRole("button", { name: "Add", exact: true }).click()
  await expect(page.locator("#add-project-problem")).toContainText("already")
})

test("removing asks in a dialog of ours that holds the focus; Escape keeps the project", async ({ shell, page }) => {
  await shell.hasProject("keep")
  await shell.projectMenu("keep", "Remove from list…")
  const dialog = page.getByRole("alertdialog")
  await expect(dialog).toContainText("Remove keep?")
  for (let n = 0; n < 4; n += 1) {
    await page.keyboard.press("Tab")
    expect(
      await page.evaluate(
        () =>
          document.activeElement === document.body || document.querySelector("dialog").contains(document.activeElement),
      ),
    ).toBe(true)
  }
  await page.keyboard.press("Escape")
  await expect(dialog).toHaveCount(0)
  await expect(shell.projects).toHaveText(["keep"])
  await shell.projectMenu("keep", "Remove from list…")
  await dialog.getByRole("button", { name: "Remove" }).click()
  await expect(shell.projects).toHaveCount(0)
  await expect(shell.sidebar.getByText("No projects yet")).toBeVisible()
})

test("a folded project counts its sessions by state", async ({ shell, liminal }) => {
  const path = await shell.hasProject("web")
  for (const title of ["Asks", "Asks too"]) await liminal.say(await shell.hasSession(path, title), "ask me")
  await shell.hasSession(path, "Rests")
  await expect(shell.session("Asks too").locator(".dot")).toHaveAttribute("title", "Waiting for your permission")
  const project = shell.project("web")
  await expect(project.locator(".project-state")).toHaveCount(0)
  await project.locator(".project-fold").click()
  await expect(project.locator(".project-count")).toHaveText("3")
  await expect(project.locator('.project-state[data-mood="waiting"]')).toHaveText("2 waiting for your permission")
})

test("folding a project hides its sessions, and unfolding shows them", async ({ shell }) => {
  const path = await shell.hasProject("web")
  await shell.hasSession(path, "Inside")
  await expect(shell.session("Inside")).toBeVisible()
  const fold = shell.project("web").locator(".project-fold")
  await fold.click()
  await expect(shell.session("Inside")).toBeHidden()
  await fold.click()
  await expect(shell.session("Inside")).toBeVisible()
})

test("a folded project stays folded after a reload, and folds in other windows too", async ({
  shell,
  page,
  context,
  liminal,
}) => {
  await shell.hasProject("one")
  await shell.hasProject("two")
  const other = new Shell(await context.newPage(), liminal)
  await other.page.goto(liminal.origin)
  await expect(other.projects).toHaveText(["one", "two"])
  await shell.project("one").locator(".project-fold").click()
  await expect(shell.project("one").locator(".project-fold")).toHaveAttribute("aria-expanded", "false")
  await expect(other.project("one").locator(".project-fold")).toHaveAttribute("aria-expanded", "false")
  const collapsed = await shell.stored("liminal:collapsed")
  expect(Object.values(collapsed)).toEqual([true])
  await page.reload()
  await expect(shell.project("one").locator(".project-fold")).toHaveAttribute("aria-expanded", "false")
  await expect(shell.project("two").locator(".project-fold")).toHaveAttribute("aria-expanded", "true")
})

test("what one browser adds and removes appears in another", async ({ shell, browser, liminal }) => {
  const context = await browser.newContext()
  const other = new Shell(await context.newPage(), liminal)
  await other.enter()
  await shell.hasProject("shared")
  await expect(other.projects).toHaveText(["shared"])
  await other.projectMenu("shared", "Remove from list…")
  await other.page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click()
  await expect(shell.projects).toHaveCount(0)
  await context.close()
})
