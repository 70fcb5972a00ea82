import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, on, script, test } from "../support/chat.js"

const secret = "hunter2-in-a-header"
const playing = script(
  on(
    "build",
    { task: { id: "t1", name: "Build it", output: "one\ntwo\n" } },
    { say: "Building." },
    { after_turn: [{ wait_for_file: "done" }, { task_end: "t1" }, { say: "It is built." }] },
  ),
)
const mcp = [
  { name: "almanac", tools: 2 },
  { name: "oracle", config: { headers: { Authorization: secret } }, error: `401 with ${secret}` },
]

test.use({ player: "Claude Code", script: { ...playing, about: { ...playing.about, mcp } } })

const info = (chat) => chat.frame.getByRole("button", { name: /^Session info/ })
const panel = (chat) => chat.frame.getByRole("group", { name: "Session info" })

test("version, account and MCP servers are behind the agent's name, without secrets", async ({ chat }) => {
  await info(chat).click()
  await expect(panel(chat)).toContainText("Version")
  await expect(panel(chat)).toContainText("API key (ANTHROPIC_API_KEY)")
  await expect(panel(chat)).toContainText("Connected · 2 tools")
  await panel(chat).getByRole("button", { name: "Reconnect: oracle" }).click()
  await expect(panel(chat).getByRole("alert")).toContainText("401 with …")
  await expect(panel(chat)).not.toContainText(secret)
  await panel(chat).getByRole("button", { name: "Turn off: almanac" }).click()
  await panel(chat).getByRole("button", { name: "Turn on: almanac" }).click()
  await expect(panel(chat)).toContainText("Connected · 2 tools")
  await chat.page.keyboard.press("Escape")
  await expect(panel(chat)).toBeHidden()
  await expect(info(chat)).toBeFocused()
})

test("a background task is listed with its time, its output is read, and the turn it causes says so", async ({
  chat,
  liminal,
  elsewhere,
}) => {
  await chat.say("build")
  await expect(chat.words).toHaveText("Building.")
  await expect(info(chat)).toHaveAccessibleName(/1 task running$/)
  await info(chat).click()
  await expect(panel(chat)).toContainText(/Running · \d+:\d\d/)
  await panel(chat).getByRole("button", { name: "Output: Build it" }).click()
  await expect(panel(chat).locator("pre:not([hidden])")).toHaveText("one two")
  const second = await elsewhere()
  await expect(info(second)).toHaveAccessibleName(/1 task running$/)
  await writeFile(join(liminal.home, "work", "done"), "")
  await expect(chat.words).toHaveText(["Building.", "It is built."])
  await expect(chat.notices).toContainText(['Background command "Build it" completed'])
  await expect(panel(chat)).toContainText("Done · ")
})

test("a background task is stopped", async ({ chat }) => {
  await chat.say("build")
  await info(chat).click()
  await panel(chat).getByRole("button", { name: "Stop: Build it" }).click()
  await expect(panel(chat)).toContainText("Stopped · ")
  await expect(panel(chat).getByRole("button", { name: "Stop: Build it" })).toHaveCount(0)
})
