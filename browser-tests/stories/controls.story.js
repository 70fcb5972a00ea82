import { expect, on, script, test } from "../support/chat.js"

const choice = (id, name, description) => ({ id, name, ...(description ? { description } : {}) })
const models = Array.from({ length: 20 }, (_, n) => choice(`m${n}`, `Model ${n}`, `Number ${n} of many`))
const options = [
  {
    id: "mode",
    name: "Mode",
    category: "mode",
    value: "ask",
    choices: [choice("ask", "Careful", "Asks first."), choice("yolo", "Bold", "Never asks.")],
  },
  { id: "model", name: "Model", category: "model", value: "m0", choices: models },
  {
    id: "effort",
    name: "Effort",
    category: "thought_level",
    value: "low",
    choices: [choice("low", "Low"), { ...choice("high", "High"), kind: "refused" }],
  },
  { id: "fast", name: "Fast", category: "other", value: false },
  {
    id: "style",
    name: "Style",
    category: "other",
    value: "talk",
    choices: [choice("talk", "Explains every single step")],
  },
]

const two = [
  { value: "a", name: "A" },
  { value: "b", name: "B" },
]
const listed = (configOptions) => ({ raw_update: { sessionUpdate: "config_option_update", configOptions } })
const select = (id, name, currentValue = "a") => ({ id, name, type: "select", currentValue, options: two })
const name = "x".repeat(10_000)
const endless = { ...select("long", name), options: [{ value: "a", name }] }
const offering = script(
  on("hold", { say: "Working." }, "wait_for_cancel"),
  on("flood", listed(Array.from({ length: 1000 }, (_, n) => select(`o${n}`, `Option ${n}`)))),
  on("odd", listed([select("e", "Elsewhere", "nowhere"), endless, { id: "s", type: "dial" }])),
  on("none", listed([])),
)
test.use({ script: { ...offering, about: { ...offering.about, options } } })

const control = (chat, name) => chat.frame.getByRole("button", { name, exact: true })

test("a model is found among many and chosen while the agent works; a second browser and a reload show it", async ({
  chat,
  elsewhere,
}) => {
  await chat.say("hold")
  await expect(chat.said).toHaveText(/Working/)
  await control(chat, "Model: Model 0").click()
  await chat.frame.getByRole("textbox", { name: "Search Model" }).fill("17")
  await expect(chat.frame.getByRole("menuitemradio")).toHaveCount(1)
  await chat.page.keyboard.press("Enter")
  await expect(control(chat, "Model: Model 17")).toBeVisible()
  await expect(control(await elsewhere(), "Model: Model 17")).toBeVisible()
  await chat.page.reload()
  await expect(control(chat, "Model: Model 17")).toBeVisible()
})

test("a flag is switched with one click, by mouse and by key", async ({ chat }) => {
  const fast = chat.frame.getByRole("button", { name: /^Fast/ })
  await fast.click()
  await expect(fast).toHaveAttribute("aria-pressed", "true")
  await fast.press("Enter")
  await expect(fast).toHaveAttribute("aria-pressed", "false")
})

test("what the agent refuses stays as it was, and the reason is shown", async ({ chat }) => {
  await chat.chooses("Effort", "High")
  await expect(chat.frame.getByText("High is not for you.")).toBeVisible()
  await expect(control(chat, "Effort: Low")).toBeVisible()
})

test("permissions are one menu; a choice that skips questions is marked, and confirmed once per project", async ({
  chat,
}) => {
  const permission = chat.frame.locator(".permission")
  await expect(permission).toHaveText("Careful")
  await expect(permission).not.toHaveAttribute("data-skips")
  await permission.click()
  await expect(chat.frame.getByRole("menuitemradio")).toHaveText([/Careful/, /Bold/, /Approve everything/])
  await chat.page.keyboard.press("ArrowDown")
  await chat.page.keyboard.press("Enter")
  const dialog = chat.frame.getByRole("alertdialog")
  await dialog.getByRole("button", { name: "Cancel" }).click()
  await expect(permission).toHaveText("Careful")
  await chat.permits("Bold")
  await dialog.getByRole("button", { name: "Bold" }).click()
  await expect(permission).toHaveText("Bold")
  await expect(permission).toHaveAttribute("data-skips")
  await chat.permits("Careful")
  await expect(permission).toHaveText("Careful")
  await chat.permits("Bold")
  await expect(permission).toHaveText("Bold")
  await expect(dialog).toHaveCount(0)
})

test("leaving Approve everything for a mode asks again", async ({ chat }) => {
  const permission = chat.frame.locator(".permission")
  await chat.permits("Approve everything")
  await chat.frame.getByRole("alertdialog").getByRole("button", { name: "Approve everything" }).click()
  await expect(permission).toHaveText("Approve everything")
  await chat.permits("Careful")
  await expect(permission).toHaveText("Careful")
})

test("a thousand options, odd ones and none at all leave a bar that works", async ({ chat }) => {
  await chat.askAndWait("flood")
  await control(chat, "Options").click()
  await expect(chat.frame.getByRole("menuitem").first()).toBeVisible()
  await chat.frame.getByRole("textbox", { name: "Search Options" }).fill("option 17")
  await chat.frame.getByRole("menuitem", { name: /^Option 17 / }).click()
  await expect(chat.frame.getByRole("menuitemradio")).toHaveText([/A/, /B/])
  await chat.page.keyboard.press("Escape")
  await expect(chat.frame.getByRole("menu")).toHaveCount(0)
  await chat.askAndWait("odd")
  await expect(control(chat, "Elsewhere: nowhere")).toBeVisible()
  const bar = chat.frame.locator(".composer-bar")
  await expect.poll(() => bar.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true)
  await chat.askAndWait("none")
  await expect(control(chat, "Elsewhere: nowhere")).toHaveCount(0)
  await chat.askAndWait("hello")
})

test("in a narrow bar the options are behind one control", async ({ chat, page }) => {
  await page.setViewportSize({ width: 390, height: 800 })
  await expect(chat.frame.getByRole("button", { name: /^Model: / })).toBeHidden()
  await control(chat, "Options").click()
  await chat.frame.getByRole("menuitem", { name: /Effort/ }).click()
  await expect(chat.frame.getByRole("menuitemradio", { name: "Low" })).toBeVisible()
})

test("the controls are whole words in one line for as long as there is room", async ({ chat, page }) => {
  await expect(control(chat, "Model: Model 0")).toBeVisible()
  const words = chat.frame.locator(".composer-controls .control:visible .control-word")
  for (const width of [1600, 1024, 880]) {
    await page.setViewportSize({ width, height: 800 })
    const shown = await words.evaluateAll((all) =>
      all.map((word) => [word.scrollWidth <= word.clientWidth, word.getBoundingClientRect().top]),
    )
    expect(shown.length).toBeGreaterThan(3)
    expect(shown.every(([isWhole]) => isWhole)).toBe(true)
    expect(new Set(shown.map(([, top]) => top)).size).toBe(1)
  }
})

test("in a full bar options move behind one control before a word or an arrow is cut", async ({ chat, page }) => {
  await chat.say("hold")
  await expect(chat.stopButton).toBeVisible()
  const bar = chat.frame.locator(".composer-bar")
  const seen = new Set()
  for (const width of [1024, 880, 820, 780, 740, 701, 600, 560, 520, 490, 460, 390, 360]) {
    await page.setViewportSize({ width, height: 800 })
    const cut = await bar.evaluate(async (box) => {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
      const visible = (what) => [...box.querySelectorAll(what)].filter((each) => each.checkVisibility())
      return [
        ...visible(".control-word").filter((word) => word.scrollWidth > word.clientWidth),
        ...visible("svg").filter((sign) => sign.getBoundingClientRect().width < 9.9),
        ...(box.scrollWidth > box.clientWidth ? [box] : []),
      ].map((each) => each.textContent || each.outerHTML)
    })
    expect(cut, `at ${width} px`).toEqual([])
    seen.add(await chat.frame.locator(".controls-inline > .control:visible").count())
    await expect(control(chat, "Careful")).toBeVisible()
  }
  expect(seen.size, "one after the other").toBeGreaterThan(2)
  await control(chat, "Options").click()
  await expect(chat.frame.getByRole("menuitem")).toHaveCount(4)
  await page.keyboard.press("Escape")
  await page.setViewportSize({ width: 1024, height: 800 })
  await expect(control(chat, "Style: Explains every single step")).toBeVisible()
  await expect(control(chat, "Options")).toBeHidden()
})

test("the palette lists the session's controls, its permissions and what can be done now", async ({ chat, page }) => {
  /** Types into the palette and takes the first row with this name. */
  const choose = async (text, name) => {
    await page.keyboard.press("Control+k")
    const palette = page.getByRole("dialog", { name: "Search everything" })
    await palette.getByRole("combobox").fill(text)
    await palette.getByRole("option", { name }).first().click()
    await expect(palette).toBeHidden()
  }
  await choose("model 17", "Model: Model 17")
  await expect(control(chat, "Model: Model 17")).toBeVisible()
  await choose("fast", "Fast: on")
  await expect(chat.frame.getByRole("button", { name: /^Fast/ })).toHaveAttribute("aria-pressed", "true")
  await choose("permissions", "Permissions: Bold")
  await chat.frame.getByRole("alertdialog").getByRole("button", { name: "Bold" }).click()
  await expect(chat.frame.locator(".permission")).toHaveText(/Bold/)
  await chat.say("hold")
  await expect(chat.said).toHaveText(/Working/)
  await choose("stop", "Stop")
  await expect(chat.ends).toHaveCount(1)
  await page.keyboard.press("Control+k")
  await page.getByRole("combobox", { name: "Search everything" }).fill("stop")
  await expect(page.getByRole("option", { name: "Stop", exact: true })).toHaveCount(0)
})
