import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { Chat } from "../support/chat.js"
import { agents, expect, running, test } from "../support/real.js"
import { makeRepository } from "../support/repository.js"

// Wide enough for the conversation and the changes beside it.
test.use({ viewport: { width: 1600, height: 900 } })

/** A turn that makes a file by a command, which is allowed once the state before the turn is recorded.
 * @param {Chat} chat @param {keyof typeof running} agent @param {string} name */
async function makes(chat, agent, name) {
  const panel = chat.frame.getByRole("complementary", { name: "Changes" })
  const ends = await chat.ends.count()
  await chat.say(`Make ${name}. ${running[agent](`echo ${name} > ${name}.txt`)}`)
  await expect(chat.ask.locator("pre")).toHaveText(`echo ${name} > ${name}.txt`)
  await chat.isRecorded(panel)
  await chat.ask.locator("[data-answer=allow_once]").click()
  await expect(chat.ends).toHaveCount(ends + 1)
  // The panel no longer says what it said before the command ran, so the next turn can wait for that again.
  await expect(panel.getByRole("option")).toHaveText([new RegExp(`${name}.txt`)])
}

for (const agent of agents)
  test(`an edited message of ${agent} puts its files back, goes on from there, and one click undoes that`, async ({
    liminal,
    shell,
  }) => {
    await shell.hasProject("work")
    const directory = makeRepository(join(liminal.home, "work"))
    const file = (/** @type {string} */ name) => join(directory, `${name}.txt`)
    await shell.newSession("work", agent)
    const chat = new Chat(shell)
    const bar = chat.frame.locator(".going-back")
    const notice = chat.frame.getByRole("region", { name: "Notice" })
    await expect(chat.composer).toBeEditable()
    await chat.frame.getByRole("button", { name: "Changes" }).click()
    const panel = chat.frame.getByRole("complementary", { name: "Changes" })
    await panel.getByRole("radio", { name: "This turn" }).click()
    await makes(chat, agent, "one")
    await makes(chat, agent, "two")
    await panel.getByRole("button", { name: "Close changes" }).click()
    await expect(panel).toBeHidden()

    await chat.own.nth(1).hover()
    await chat.own.nth(1).getByRole("button", { name: "Edit and continue from here" }).click()
    await bar.getByRole("button", { name: "Put files back…" }).click()
    const dialog = chat.frame.getByRole("dialog", { name: "Put files back too?" })
    await expect(dialog.getByRole("checkbox", { name: /two.txt/ })).toBeChecked()
    await expect(dialog.getByRole("checkbox")).toHaveCount(1)
    await dialog.getByRole("button", { name: "Put back when sent" }).click()
    await expect(bar).toContainText("1 file goes back to before it.")
    expect(existsSync(file("two"))).toBe(true)
    await chat.composer.fill("Make three. FAKE:TEXT Not yet.")
    await chat.composer.press("Enter")
    await expect(bar).toContainText("Edited version of")
    await expect(chat.own.locator(".rendered")).toHaveText([/^Make one/, /^Make three/])
    expect(existsSync(file("two"))).toBe(false)
    expect(readFileSync(file("one"), "utf8")).toBe("one\n")
    await expect(chat.ends).toHaveCount(2)
    await expect(chat.words.last()).toHaveText("Not yet.")
    await chat.askAndWait("FAKE:HEARD")
    await expect(chat.words.last()).toContainText("Make one")
    await expect(chat.words.last()).toContainText("Make three")
    await expect(chat.words.last()).not.toContainText("Make two")

    await notice.filter({ hasText: "back to an earlier point" }).getByRole("button", { name: "Undo" }).click()
    await expect(notice.filter({ hasText: "Undid it" })).toBeVisible()
    expect(readFileSync(file("two"), "utf8")).toBe("two\n")
    expect(readFileSync(file("one"), "utf8")).toBe("one\n")
  })
