import { expect, on, script, test } from "../support/chat.js"

const layouts = [
  { id: "a", name: "Grid", kind: "allow_once", description: "Rows and columns" },
  { id: "b", name: "List", kind: "allow_once", description: "One below the other" },
]
const question = (more) => ({
  question: {
    id: "q",
    question: "Which layout?",
    header: "Layout",
    options: layouts,
    then: {
      Grid: [{ say: "A grid it is." }],
      "Grid, List": [{ say: "Both." }],
      "Grid, a map": [{ say: "A grid and a map." }],
      "a map": [{ say: "A map, then." }],
    },
    otherwise: [{ say: "I will choose myself." }],
    ...more,
  },
})

/** Presses a digit until the card takes it: just after it appears, it ignores keys. */
async function choose(chat, card, digit, option) {
  await expect(card).toBeFocused()
  await expect(async () => {
    await chat.page.keyboard.press(digit)
    await expect(option).toBeFocused({ timeout: 200 })
  }).toPass()
}

test.use({
  player: "Claude Code",
  script: script(on("one", question({})), on("several", question({ multiple: true }))),
})

test("a question of the agent is a form, and can be answered only when something is chosen", async ({ chat }) => {
  await chat.say("one")
  await expect(chat.ask).toContainText("Which layout?")
  await expect(chat.ask.getByRole("radio")).toHaveCount(2)
  await expect(chat.ask).toContainText("One below the other")
  const answer = chat.ask.getByRole("button", { name: "Answer", exact: true })
  await expect(answer).toBeDisabled()
  await chat.ask.getByRole("radio", { name: /Grid/ }).check()
  await answer.click()
  await expect(chat.said).toHaveText(/A grid it is\./)
  await expect(chat.answered).toHaveText(/^Answered by you, \d.*: Grid$/)
  await expect(chat.composer).toBeFocused()
})

test("it can be answered by keyboard alone, in one's own words", async ({ chat }) => {
  await chat.say("one")
  await expect(chat.ask).toBeFocused()
  await chat.page.keyboard.press("Tab")
  await expect(chat.ask.getByRole("radio", { name: /Grid/ })).toBeFocused()
  await chat.page.keyboard.press("Space")
  await chat.page.keyboard.press("Tab")
  await chat.page.keyboard.type("a map")
  await expect(chat.ask.getByRole("radio", { checked: true })).toHaveCount(0)
  await chat.page.keyboard.press("Enter")
  await expect(chat.said).toHaveText(/A map, then\./)
})

test("where several may be chosen they are, with words of one's own", async ({ chat }) => {
  await chat.say("several")
  await chat.ask.getByRole("checkbox", { name: /Grid/ }).check()
  await chat.ask.getByRole("textbox").fill("a map")
  await chat.ask.getByRole("button", { name: "Answer", exact: true }).click()
  await expect(chat.said).toHaveText(/A grid and a map\./)
  await chat.page.reload()
  await expect(chat.answered).toHaveText(/: Grid, a map$/)
})

test("Escape leaves it unanswered, also from its text", async ({ chat }) => {
  await chat.say("one")
  await chat.ask.getByRole("textbox").fill("a m")
  while ((await chat.ask.count()) > 0) await chat.page.keyboard.press("Escape")
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.said).toHaveText(/I will choose myself\./)
  await expect(chat.answered).toHaveText(/^Not answered, \d/)
  expect(await chat.frame.locator(".tool-title").evaluate((title) => getComputedStyle(title).textDecorationLine)).toBe(
    "none",
  )
})

test("its choices show their digits, which choose, and Enter answers", async ({ chat }) => {
  await chat.say("one")
  await expect(chat.ask.locator(".choice kbd")).toHaveText(["1", "2"])
  const [grid, list] = [/Grid/, /List/].map((name) => chat.ask.getByRole("radio", { name }))
  await choose(chat, chat.ask, "2", list)
  await expect(list).toBeChecked()
  await chat.page.keyboard.press("1")
  await expect(grid).toBeChecked()
  await expect(grid).toBeFocused()
  await chat.page.keyboard.press("Enter")
  await expect(chat.said).toHaveText(/A grid it is\./)
  await expect(chat.composer).toHaveValue("")
})

test("digits choose several and take them back, and are text in a text", async ({ chat }) => {
  await chat.say("several")
  const [grid, list] = [/Grid/, /List/].map((name) => chat.ask.getByRole("checkbox", { name }))
  await choose(chat, chat.ask, "1", grid)
  await chat.page.keyboard.press("2")
  await expect(list).toBeChecked()
  await chat.ask.getByRole("textbox").pressSequentially("2")
  await expect(list).toBeChecked()
  await chat.ask.getByRole("textbox").fill("")
  await list.focus()
  const was = await grid.isChecked()
  await chat.page.keyboard.press("1")
  await expect(grid).toBeChecked({ checked: !was })
})

test("Now answers it with the same keys, and opens its session at the card", async ({ chat }) => {
  await chat.say("one")
  await expect(chat.ask).toBeVisible()
  await chat.page.keyboard.press("Alt+0")
  const card = chat.shell.now.locator(".now-card .ask")
  await expect(card).toBeFocused()
  await chat.page.keyboard.press("Enter")
  await expect(chat.ask).toBeFocused()
  await chat.page.keyboard.press("2")
  await expect(chat.ask.getByRole("radio", { name: /List/ })).toBeFocused()

  await chat.page.keyboard.press("Alt+0")
  await choose(chat, card, "1", card.getByRole("radio", { name: /Grid/ }))
  await chat.page.keyboard.press("k")
  await expect(card).toBeFocused()
  await chat.page.keyboard.press("1")
  await chat.page.keyboard.press("Enter")
  await expect(card).toHaveCount(0)
  await chat.shell.tab("one").click()
  await expect(chat.answered).toHaveText(/^Answered by you, \d.*: Grid$/)
})

test("what is typed into it is there after a reload and in Now, until it is sent", async ({ chat }) => {
  await chat.say("one")
  await chat.ask.getByRole("textbox").fill("a m")
  await chat.page.reload()
  await expect(chat.ask.getByRole("textbox")).toHaveValue("a m")
  await expect(chat.ask.getByRole("button", { name: "Answer", exact: true })).toBeEnabled()
  await chat.page.keyboard.press("Alt+0")
  const card = chat.shell.now.locator(".now-card .ask")
  await expect(card.getByRole("textbox")).toHaveValue("a m")
  await card.getByRole("textbox").fill("a map")
  await chat.shell.tab("one").click()
  await expect(chat.ask.getByRole("textbox")).toHaveValue("a map")
  await chat.ask.getByRole("button", { name: "Answer", exact: true }).click()
  await expect(chat.said).toHaveText(/A map, then\./)
  await chat.say("one")
  await expect(chat.ask.getByRole("textbox")).toHaveValue("")
})
