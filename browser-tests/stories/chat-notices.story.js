import { expect, on, script, test } from "../support/chat.js"

test.describe("an agent that says nothing for long", () => {
  test.use({ env: { ACP_PROMPT_TIMEOUT_MS: "300" }, script: script(on("quiet", { say: "Let me think. " }, { wait_for_file: "go" }, { say: "There." })) })

  test("is named, with what can be done, until it speaks again", async ({ chat, liminal }) => {
    await chat.say("quiet")
    await expect(chat.notices).toContainText("No word from the agent")
    await expect(chat.notices.getByRole("button")).toHaveText(["Stop the turn", "Restart the agent"])
    await liminal.touch("go")
    await expect(chat.ends).toHaveCount(1)
    await expect(chat.notices).toContainText("was quiet for a while")
    await expect(chat.notices.getByRole("button")).toHaveCount(0)
  })

  test("can be stopped from there", async ({ chat }) => {
    await chat.say("quiet")
    await chat.notices.getByRole("button", { name: "Stop the turn" }).click()
    await expect(chat.ends).toContainText("Stopped")
    await expect(chat.sendButton).toBeVisible()
  })
})

test.describe("a model that is out of reach", () => {
  test.use({ player: "Claude Code", script: script(on("retry", { api_retry: [2, 10] }, { wait_for_file: "go" }, { say: "Here I am." })) })

  test("is named while it lasts", async ({ chat, liminal }) => {
    await chat.say("retry")
    await expect(chat.notices).toHaveAttribute("data-severity", "warning")
    await expect(chat.notices).toContainText("attempt 2 of 10")
    await liminal.touch("go")
    await expect(chat.said).toHaveText(/Here I am\./)
    await expect(chat.notices).not.toContainText("attempt 2 of 10")
  })
})
