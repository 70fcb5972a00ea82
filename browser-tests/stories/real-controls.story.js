import { expect, test } from "../support/real.js"

const control = (chat, name) => chat.frame.getByRole("button", { name })
const info = (chat) => chat.frame.getByRole("button", { name: /^Session info/ })
const panel = (chat) => chat.frame.getByRole("group", { name: "Session info" })

for (const { agent, model, effort } of [
  { agent: "Claude Code", model: /^Opus/, effort: "Effort" },
  { agent: "Codex", model: /./, effort: "Reasoning effort" },
]) {
  test(`the options of ${agent} are its own; one that is chosen stays after a turn and a reload`, async ({
    begin,
    page,
  }) => {
    const chat = await begin(agent)
    await expect(control(chat, /^Model: /)).toBeVisible()
    await control(chat, /^Model: /).click()
    await chat.frame.getByRole("menuitemradio", { name: model, checked: false }).first().click()
    await expect(chat.frame.getByRole("menu")).toHaveCount(0)
    const chosen = await control(chat, /^Model: /).getAttribute("aria-label")
    await chat.askAndWait("FAKE:TEXT Good morning.")
    await control(chat, new RegExp(`^${effort}: `, "i")).click()
    await chat.frame.getByRole("menuitemradio", { name: "Low" }).click()
    await expect(control(chat, new RegExp(`^${effort}: Low`, "i"))).toBeVisible()
    await page.reload()
    await expect(control(chat, new RegExp(`^${effort}: Low`, "i"))).toBeVisible()
    expect(chosen).not.toBe(null)
    await info(chat).click()
    await expect(panel(chat)).toContainText("Version")
    await expect(panel(chat)).toContainText("Account")
  })
}

test("a command that Claude Code runs in the background is listed, read, and starts a turn that says so", async ({
  begin,
  liminal,
}) => {
  const chat = await begin("Claude Code")
  const command = "echo in-the-background; until test -e go; do sleep 0.1; done"
  const input = { command, description: "Wait a little", run_in_background: true }
  await chat.say(`FAKE:TOOL Bash ${JSON.stringify(input)}`)
  await expect(info(chat)).toHaveAccessibleName(/1 task running$/)
  await info(chat).click()
  await expect(panel(chat)).toContainText("Wait a little")
  await panel(chat).getByRole("button", { name: "Output: Wait a little" }).click()
  await expect(panel(chat).locator("pre:not([hidden])")).toContainText("in-the-background")
  await liminal.touch("go")
  await expect(chat.notices).toContainText([/Wait a little.*completed/])
  await expect(panel(chat)).toContainText("Done · ")
})

test("a plan of Codex is a document to approve or to refuse, in no policy's hands", async ({ begin }) => {
  const chat = await begin("Codex")
  await chat.permits("Approve everything")
  await chat.frame.getByRole("alertdialog").getByRole("button", { name: "Approve everything" }).click()
  await expect(chat.frame.locator(".permission")).toHaveText("Approve everything")
  await chat.chooses("Collaboration mode", /Plan/)
  await expect(chat.frame.getByRole("button", { name: /^Collaboration mode: Plan/ })).toBeVisible()
  await chat.say("FAKE:PLAN Build the first version")
  await expect(chat.ask.locator("h1")).toHaveText("Plan")
  await expect(chat.ask).toContainText("Build the first version")
  await expect(chat.words).toHaveCount(0)
  await chat.ask.getByRole("button", { name: /^No, and tell Codex/ }).click()
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.frame.getByRole("button", { name: /^Collaboration mode: Plan/ })).toBeVisible()
  await chat.say("FAKE:PLAN Build the second version")
  await chat.ask.getByRole("button", { name: /^Yes, implement this plan/ }).click()
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.words.last()).toContainText("Implement the approved plan")
  await expect(chat.frame.getByRole("button", { name: /^Collaboration mode: Default/ })).toBeVisible()
})
