import { expect, newChat, on, script, test } from "../support/chat.js"

test.describe("an agent that says nothing for long", () => {
  test.use({
    env: { ACP_PROMPT_TIMEOUT_MS: "300" },
    script: script(on("quiet", { say: "Let me think. " }, { wait_for_file: "go" }, { say: "There." })),
  })

  test("is named, with what can be done, until it speaks again", async ({ chat, liminal }) => {
    await chat.say("quiet")
    await expect(chat.said).toContainText("Let me think.")
    // On a busy machine it is also quiet for that long before its first words: each silence has its notice.
    await expect(chat.notices.last()).toContainText("No output from the agent")
    await expect(chat.notices.getByRole("button")).toHaveText(["Stop the turn", "Restart the agent"])
    await liminal.touch("go")
    await expect(chat.ends).toHaveCount(1)
    await expect(chat.notices.last()).toContainText("was quiet for a while")
    await expect(chat.notices.filter({ hasText: "No output" })).toHaveCount(0)
    await expect(chat.notices.getByRole("button")).toHaveCount(0)
  })

  test("can be stopped from there", async ({ chat }) => {
    await chat.say("quiet")
    await chat.notices.getByRole("button", { name: "Stop the turn" }).click()
    await expect(chat.ends).toContainText("Stopped")
    await expect(chat.sendButton).toBeVisible()
  })
})

for (const player of ["Scripted", "Claude Code"])
  test.describe(`a hung agent, ${player}`, () => {
    test.use({
      player,
      env: { ACP_PROMPT_TIMEOUT_MS: "300" },
      script: script(on("quiet", { wait_for_file: "never" }), on("again", { say: "Here I am." })),
    })

    test("is restarted from there, and the session goes on", async ({ chat }) => {
      await chat.say("quiet")
      await chat.notices.getByRole("button", { name: "Restart the agent" }).click()
      await expect(chat.ends).toHaveCount(1)
      await chat.askAndWait("again")
      await expect(chat.words).toHaveText("Here I am.")
    })
  })

test.describe("an agent that works for several sessions", () => {
  test.use({
    env: { ACP_PROMPT_TIMEOUT_MS: "300" },
    script: script(on("quiet", { wait_for_file: "never" }), on("other work", { wait_for_file: "never" })),
  })

  test("is restarted only after the user knows what else that interrupts", async ({ chat, shell, page }) => {
    await chat.say("other work")
    await expect(shell.session("other work")).toHaveAttribute("data-mood", "running")
    await newChat(shell, "work", "Scripted")
    await chat.say("quiet")
    const restart = chat.notices.getByRole("button", { name: "Restart the agent" })
    await restart.click()
    const dialog = page.getByRole("alertdialog")
    await expect(dialog).toContainText("This also interrupts “other work”.")
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await expect(shell.session("other work")).toHaveAttribute("data-mood", "running")
    await restart.click()
    await dialog.getByRole("button", { name: "Restart" }).click()
    await expect(chat.ends).toHaveCount(1)
    await expect(shell.session("other work")).toHaveAttribute("data-mood", "failed")
  })
})

test.describe("a model that is out of reach", () => {
  test.use({
    player: "Claude Code",
    script: script(on("retry", { api_retry: [2, 10] }, { wait_for_file: "go" }, { say: "Here I am." })),
  })

  test("is named while it lasts", async ({ chat, liminal }) => {
    await chat.say("retry")
    await expect(chat.notices).toHaveAttribute("data-severity", "warning")
    await expect(chat.notices).toContainText("attempt 2 of 10")
    await liminal.touch("go")
    await expect(chat.said).toHaveText(/Here I am\./)
    await expect(chat.notices).not.toContainText("attempt 2 of 10")
  })
})
