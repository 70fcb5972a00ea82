import { expect, test } from "../support/chat.js"

const bar = (chat) => chat.frame.locator(".going-back")

/** A button of a message, which shows while the message is hovered or has the focus. */
const act = async (message, name) => {
  await message.hover()
  await message.getByRole("button", { name }).click()
}

async function twoTurns(chat) {
  for (const [at, words] of ["first", "second"].entries()) {
    await chat.say(words)
    await expect(chat.ends).toHaveCount(at + 1)
  }
}

test("an edited message continues in a new version, and the earlier one stays readable", async ({ chat }) => {
  await twoTurns(chat)
  await chat.composer.fill("my draft")
  await act(chat.own.nth(1), "Edit and continue from here")
  await expect(chat.composer).toHaveValue("second")
  await expect(bar(chat)).toContainText("Files stay as they are now.")
  await chat.composer.press("Escape")
  await expect(chat.composer).toHaveValue("my draft")
  await act(chat.own.nth(1), "Edit and continue from here")
  await chat.composer.fill("second, better")
  await chat.composer.press("Enter")
  await expect(bar(chat)).toContainText("Edited version of")
  await expect(chat.own.locator(".rendered")).toHaveText(["first", "second, better"])
  await expect(chat.ends).toHaveCount(2)

  await bar(chat).getByRole("button", { name: "Open the earlier version" }).click()
  await expect(bar(chat)).toContainText("It can only be read.")
  await expect(chat.own.locator(".rendered")).toHaveText(["first", "second"])
  await expect(chat.composer).toBeHidden()
  await bar(chat).getByRole("button", { name: "Open the newer version" }).click()
  await expect(chat.own.locator(".rendered")).toHaveText(["first", "second, better"])
  await chat.page.reload()
  await expect(bar(chat)).toContainText("Edited version of")
})

test("an edit under way outlives a reload, and the draft from before it goes on in the new version", async ({
  chat,
}) => {
  await twoTurns(chat)
  await chat.composer.fill("my draft")
  await act(chat.own.nth(1), "Edit and continue from here")
  await chat.composer.fill("second, half done")
  await chat.page.reload()
  await expect(chat.composer).toHaveValue("second, half done")
  await expect(bar(chat)).toContainText("Editing an earlier message.")
  await expect(chat.own).toHaveCount(2)
  await chat.composer.press("Enter")
  await expect(bar(chat)).toContainText("Edited version of")
  await expect(chat.own.locator(".rendered")).toHaveText(["first", "second, half done"])
  await expect(chat.composer).toHaveValue("my draft")
})

test("a branch from a message is a session of its own", async ({ chat, shell }) => {
  await twoTurns(chat)
  await act(chat.said.nth(0), "Branch from here")
  const dialog = chat.frame.getByRole("alertdialog")
  await expect(dialog).toContainText("with the files as they are now.")
  await dialog.getByRole("button", { name: "Branch" }).click()
  await expect(bar(chat)).toContainText("Branched from")
  // Before the title: in a narrow sidebar the end of the title, which says so too, is cut off.
  await expect(chat.page.locator(".session-open > .icon")).toHaveCount(1)
  const row = shell.session("first (branch)")
  const [sign, title] = [row.locator(".session-open > .icon"), row.locator(".session-title")]
  const xs = await Promise.all([row.locator(".dot"), sign, title].map(async (each) => (await each.boundingBox()).x))
  expect(xs).toEqual(xs.toSorted((a, b) => a - b))
  await expect.poll(() => title.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
  await expect(chat.own.locator(".rendered")).toHaveText(["first"])
  await chat.say("other second")
  await expect(chat.ends).toHaveCount(2)
  await bar(chat).getByRole("button", { name: "Open it" }).click()
  await expect(chat.own.locator(".rendered")).toHaveText(["first", "second"])
  await expect(bar(chat)).toBeHidden()
})
