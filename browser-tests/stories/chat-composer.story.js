import { expect, on, script, test } from "../support/chat.js"

test.use({ script: script(on("hang", { say: "Working on it." }, "wait_for_cancel")) })

test("nothing or blanks can't be sent", async ({ chat }) => {
  await expect(chat.sendButton).toBeDisabled()
  await chat.composer.fill("  \n ")
  await expect(chat.sendButton).toBeDisabled()
  await chat.composer.press("Enter")
  await expect(chat.own).toHaveCount(0)
})

test("Shift+Enter breaks the line, Enter sends all of it, and the box grows up to a limit", async ({ chat }) => {
  const height = () => chat.composer.evaluate((box) => box.getBoundingClientRect().height)
  const one = await height()
  await chat.composer.pressSequentially("a")
  for (let n = 0; n < 4; n += 1) await chat.composer.press("Shift+Enter")
  const five = await height()
  expect(five).toBeGreaterThan(one * 3)
  await chat.composer.fill("line\n".repeat(200))
  expect(await height()).toBeLessThan(400)
  await chat.composer.fill("first\nsecond")
  await chat.composer.press("Enter")
  await expect(chat.own).toHaveText(/first\s*second/)
  expect(await height()).toBe(one)
})

test("Enter that ends a composition sends nothing", async ({ chat }) => {
  await chat.composer.fill("にほん")
  await chat.composer.evaluate((box) =>
    box.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }),
    ),
  )
  await chat.composer.evaluate((box) =>
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true })),
  )
  await expect(chat.composer).toHaveValue("にほん")
  await expect(chat.own).toHaveCount(0)
})

test("a draft is there after a reload, each session its own", async ({ chat, shell }) => {
  await chat.askAndWait("the first session")
  await chat.composer.fill("not yet sent")
  await chat.page.reload()
  await expect(chat.composer).toHaveValue("not yet sent")
  await shell.page.getByRole("button", { name: "New session in work" }).click()
  await shell.start("Scripted")
  await expect(shell.tabs).toHaveCount(2)
  await expect(chat.composer).toHaveValue("")
})

test("arrow-up in an empty box brings back what was written before", async ({ chat }) => {
  await chat.askAndWait("older words")
  await chat.askAndWait("newer words")
  await chat.composer.press("ArrowUp")
  await expect(chat.composer).toHaveValue("newer words")
  await chat.composer.press("ArrowUp")
  await expect(chat.composer).toHaveValue("older words")
  await chat.composer.press("ArrowDown")
  await chat.composer.press("ArrowDown")
  await expect(chat.composer).toHaveValue("")
  await chat.composer.fill("mine")
  await chat.composer.press("ArrowUp")
  await expect(chat.composer).toHaveValue("mine")
})

test("while a turn runs one can write; Escape twice stops it", async ({ chat }) => {
  await chat.say("hang")
  await expect(chat.said).toContainText("Working on it.")
  await chat.composer.fill("the next thing")
  // Both in the page: they count only if they follow each other as fast as a finger's presses.
  await chat.composer.evaluate((input) => {
    for (let n = 0; n < 2; n += 1) input.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }))
  })
  await expect(chat.ends).toContainText("Stopped")
  await expect(chat.composer).toHaveValue("the next thing")
  await chat.composer.press("Enter")
  await expect(chat.ends).toHaveCount(2)
})

test("after the server was killed in the middle of a turn, the composer is right again by itself", async ({
  chat,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  await chat.say("hang")
  await expect(chat.said).toContainText("Working on it.")
  await liminal.kill()
  await expect(chat.status).toHaveText("offline")
  await liminal.up()
  await expect(chat.ends).toContainText("interrupted")
  await expect(chat.stopButton).toBeHidden()
  await expect(chat.said).toContainText("Working on it.")
  await chat.say("go on")
  await expect(chat.ends).toHaveCount(2)
})

test("a stop that the connection broke under can be asked for again", async ({ line, chat, complaints }) => {
  complaints.expectLostServer()
  await chat.say("hang")
  await expect(chat.said).toContainText("Working on it.")
  line.cutAt("session:cancel")
  await chat.stopButton.click()
  await expect(chat.trouble).toContainText("Not connected")
  await expect(chat.working).toContainText("Working")
  await expect(chat.status).toHaveText("connected")
  await chat.stopButton.click()
  await expect(chat.ends).toContainText("Stopped")
  await expect(chat.sendButton).toBeVisible()
})

test("a message that the connection broke under is sent once, by itself", async ({ line, chat, complaints }) => {
  complaints.expectLostServer()
  line.cutAt("session:send")
  await chat.say("hello")
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.own).toHaveCount(1)
  await expect(chat.own.getByText("Sending")).toHaveCount(0)
  await chat.askAndWait("and again")
})
