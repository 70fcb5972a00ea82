import { expect, test } from "../support/real.js"

const bar = (chat) => chat.frame.locator(".going-back")
const own = (chat) => chat.own.locator(".rendered")

const act = async (message, name) => {
  await message.hover()
  await message.getByRole("button", { name }).click()
}

const branchFrom = async (chat, message) => {
  await act(message, "Branch from here")
  await chat.frame.getByRole("alertdialog").getByRole("button", { name: "Branch" }).click()
  await expect(bar(chat)).toContainText("Branched from")
}

/** What the agents remember in a new session: Claude Code goes back by itself; codex-acp forks whole sessions only, so
 * from the middle it gets the transcript. */
for (const { agent, middle } of [
  { agent: "Claude Code", middle: "native" },
  { agent: "Codex", middle: "transcript" },
]) {
  test(`an edited message of ${agent} continues from there, and the earlier version stays`, async ({ begin }) => {
    const chat = await begin(agent)
    await chat.askAndWait("Remember the apple. FAKE:TEXT I will.")
    await chat.askAndWait("Remember the pear. FAKE:TEXT That too.")
    await act(chat.own.nth(1), "Edit and continue from here")
    await chat.composer.fill("Remember the plum. FAKE:TEXT The plum.")
    await chat.composer.press("Enter")
    await expect(bar(chat)).toContainText("Edited version of")
    await expect(own(chat)).toHaveText([/apple/, /plum/])
    await expect(chat.ends).toHaveCount(2)
    await expect(chat.words.last()).toHaveText("The plum.")
    await chat.askAndWait("FAKE:HEARD")
    await expect(chat.words.last()).toContainText("apple")
    await expect(chat.words.last()).toContainText("plum")
    await expect(chat.words.last()).not.toContainText("pear")
    const toldAgain = bar(chat).getByText("gets the transcript as text")
    await expect(toldAgain).toHaveCount(middle === "transcript" ? 1 : 0)

    await bar(chat).getByRole("button", { name: "Open the earlier version" }).click()
    await expect(bar(chat)).toContainText("It can only be read.")
    await expect(own(chat)).toHaveText([/apple/, /pear/])
  })

  test(`a branch of ${agent} from the end remembers everything, and the session it came from goes on`, async ({
    begin,
  }) => {
    const chat = await begin(agent)
    await chat.askAndWait("Remember the apple. FAKE:TEXT I will.")
    await branchFrom(chat, chat.said.last())
    await expect(bar(chat)).not.toContainText("transcript")
    await expect(chat.ends, "its history is here").toHaveCount(1)
    await chat.askAndWait("FAKE:HEARD")
    await expect(chat.words.last()).toContainText("Remember the apple.")
    await bar(chat).getByRole("button", { name: "Open it" }).click()
    await expect(bar(chat)).toBeHidden()
    await expect(own(chat)).toHaveText([/apple/])
    await chat.askAndWait("FAKE:TEXT Still here.")
    await expect(chat.words.last()).toHaveText("Still here.")
  })
}
