import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test as base } from "../support/story.js"
import { Liminal } from "../support/liminal.js"

const uuid = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const sessionId = (p, n) => `helper:s${p}-${n}`

/** Twenty projects with fifty sessions each, as after long use. */
async function inhabit(app) {
  const at = (n) => new Date(Date.now() - n * 3600_000).toISOString()
  const projects = Array.from({ length: 20 }, (_, p) => ({
    id: uuid(p),
    path: join(app.home, `project-${p}`),
    name: `project-${p}`,
    addedAt: at(p),
  }))
  for (const { path } of projects) await mkdir(path)
  const sessions = projects.flatMap(({ id }, p) =>
    Array.from({ length: 50 }, (_, n) => ({
      id: sessionId(p, n),
      projectId: id,
      cliType: "helper",
      archived: false,
      title: `Session ${p}-${n}`,
      lastActiveAt: at(n),
      createdAt: at(n),
    })),
  )
  for (const [name, list] of Object.entries({ projects, sessions }))
    await writeFile(join(app.dataDir, `${name}.json`), JSON.stringify({ version: 1, [name]: list }), { mode: 0o600 })
}

const test = base.extend({
  liminal: async ({ env }, use) => {
    const app = await Liminal.start(env, inhabit)
    await use(app)
    await app.remove()
  },
})

test("of a thousand sessions only those near the view are drawn, and scrolling moves nothing", async ({
  shell,
  page,
}) => {
  await expect(page.locator(".session"), "the newest twelve of each project").toHaveCount(240)
  await expect(page.locator(".project-older").first()).toHaveText("Older (38)")
  for (const older of await page.locator(".project-older").all()) await older.click()
  await expect(page.locator(".session")).toHaveCount(1000)
  const drawn = () =>
    page.evaluate(
      () =>
        [...document.querySelectorAll(".session")].filter((row) => row.checkVisibility({ contentVisibilityAuto: true }))
          .length,
    )
  const height = () => page.locator(".sidebar-scroll").evaluate((box) => box.scrollHeight)
  await expect.poll(drawn).toBeLessThan(400)
  const before = await height()
  for (const share of [0.25, 0.5, 0.75, 1]) {
    await page.locator(".sidebar-scroll").evaluate((box, share) => {
      box.scrollTop = box.scrollHeight * share
    }, share)
    await expect.poll(drawn).toBeLessThan(400)
  }
  await expect(shell.session("Session 19-49")).toBeInViewport()
  // The reserved heights are right to within two pixels per project.
  expect(Math.abs((await height()) - before)).toBeLessThan(40)
  await page.locator(".project-fold").first().focus()
  await page.keyboard.press("End")
  await page.keyboard.press("ArrowUp")
  await expect(shell.session("Session 19-49").locator(".session-open")).toBeFocused()
  await page.keyboard.press("Home")
  await expect(page.locator(".project-fold").first()).toBeInViewport()
})

test("what happens in one of a thousand sessions touches its row and no other", async ({ shell, page, liminal }) => {
  await expect(page.locator(".session")).toHaveCount(240)
  await page.evaluate(() => {
    globalThis.touched = new Set()
    new MutationObserver((changes) => {
      for (const { target } of changes)
        globalThis.touched.add(
          (target instanceof Element ? target : target.parentElement)
            .closest(".session, .project")
            ?.querySelector(".session-title")?.textContent,
        )
    }).observe(document.querySelector(".project-list"), {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    })
  })
  // Its project's list changes too, because the session moves to the top; the first title there is its own.
  await liminal.api("/api/session/create", { method: "POST", body: { projectId: uuid(3), cliType: "helper" } })
  await expect(shell.session("New Session")).toHaveCount(1)
  expect(await page.evaluate(() => [...globalThis.touched])).toEqual(["New Session"])
})

test("thirty tabs come back at once, and only the one in front is loaded", async ({ shell, page }) => {
  test.slow()
  const opens = []
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      if (String(payload).includes("session:open")) opens.push(JSON.parse(String(payload)).sessionId)
    }),
  )
  const order = Array.from({ length: 30 }, (_, n) => sessionId(n % 20, n))
  await page.evaluate((order) => {
    for (const storage of [localStorage, sessionStorage])
      storage.setItem("liminal:tabs", JSON.stringify({ openTabs: order, activeTab: order[29], tabOrder: order }))
  }, order)
  await page.reload()
  await expect(shell.tabs).toHaveCount(30)
  await expect(page.locator(".tab").nth(29)).toBeInViewport()
  await expect(page.locator(".tab").nth(0)).not.toBeInViewport()
  await expect(shell.composer).toBeVisible()
  await expect(page.locator("iframe.portlet")).toHaveCount(1)
  await expect.poll(() => opens).toEqual([order[29]])
  await page.getByRole("button", { name: "All open sessions" }).click()
  await page.getByRole("menu", { name: "Open sessions" }).getByRole("menuitem").first().click()
  await expect(page.locator(".tab").nth(0)).toBeInViewport()
  await expect(page.locator(".tab").nth(0)).toHaveAttribute("data-active", "")
  await expect(page.locator("iframe.portlet")).toHaveCount(2)
  // The active tab stays in view when the window becomes narrower.
  await page.locator(".tab-open").nth(3).click()
  await page.setViewportSize({ width: 390, height: 800 })
  await expect(page.locator(".tab").nth(3)).toBeInViewport({ ratio: 0.9 })
})
