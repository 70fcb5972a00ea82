import { expect, on, script, test } from "../support/chat.js"

const steps = Array.from({ length: 200 }, (_, n) => `${n + 1}. Step **${n + 1}**`).join("\n")
const plan = (text) => [
  { tool: { id: "p", name: "ExitPlanMode", title: "Plan", kind: "switch_mode", input: { plan: text } } },
  {
    ask: {
      tool: "p",
      options: [
        { id: "yes", name: "Yes", kind: "allow_always" },
        { id: "no", name: "No", kind: "reject_once" },
      ],
      then: { yes: [{ tool_end: { id: "p" } }, { say: "Building." }] },
      otherwise: [{ say: "Planning on." }],
    },
  },
]

test.use({
  player: "Claude Code",
  script: script(on("short", ...plan("# The plan\n\n1. Build it.")), on("long", ...plan(`# The plan\n\n${steps}`))),
})

test("a plan is a document with the agent's ways to go on, and can be approved", async ({ chat }) => {
  await chat.say("short")
  await expect(chat.ask).toContainText("Approve this plan?")
  await expect(chat.ask.locator("h1")).toHaveText("The plan")
  await expect(chat.ask.getByRole("button", { name: /Approve and allow edits/ })).toBeEnabled()
  await chat.ask.getByRole("button", { name: /Approve, ask for each edit/ }).click()
  await expect(chat.said).toHaveText(/Building\./)
})

test("a long plan is read before it is approved", async ({ chat }) => {
  await chat.say("long")
  const approve = chat.ask.getByRole("button", { name: /Approve, ask for each edit/ })
  await expect(approve).toBeDisabled()
  await chat.ask.getByRole("button", { name: "Show all of it" }).click()
  await expect(chat.ask.getByText("Step 200")).toBeVisible()
  await expect(approve).toBeEnabled()
})

test("a plan is refused in one's own words, which stay with it", async ({ chat }) => {
  await chat.say("short")
  const words = chat.ask.getByRole("textbox", { name: /Message sent with/ })
  await words.fill("Smaller steps, please.")
  await words.press("Enter")
  await expect(chat.said).toHaveText(/Planning on\./)
  await expect(chat.answered).toHaveText(/^Denied by you, .*: Smaller steps, please\.$/)
})

test("words for a refusal outlast a reload, and an approval puts them into the composer", async ({ chat }) => {
  await chat.say("short")
  const words = chat.ask.getByRole("textbox", { name: /Message sent with/ })
  await words.fill("Smaller steps, please.")
  await chat.page.reload()
  await expect(words).toHaveValue("Smaller steps, please.")
  await chat.ask.getByRole("button", { name: /Approve, ask for each edit/ }).click()
  await expect(chat.said).toHaveText(/Building\./)
  await expect(chat.composer).toHaveValue("Smaller steps, please.")
  await expect(chat.composer).toBeFocused()
})

test("words for a refusal are in Now too, and an approval there leaves them for the session", async ({ chat }) => {
  await chat.say("short")
  await chat.ask.getByRole("textbox").fill("Smaller steps")
  await chat.composer.fill("Then test it.")
  await chat.page.keyboard.press("Alt+0")
  const card = chat.shell.now.locator(".now-card .ask")
  await expect(card.getByRole("textbox")).toHaveValue("Smaller steps")
  await card.getByRole("button", { name: /Approve, ask for each edit/ }).click()
  await expect(card).toHaveCount(0)
  await chat.shell.tab("short").click()
  await expect(chat.composer).toHaveValue("Smaller steps\n\nThen test it.")
  await chat.page.reload()
  await expect(chat.composer).toHaveValue("Smaller steps\n\nThen test it.")
})
