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
