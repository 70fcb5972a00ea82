import { expect, on, script, test } from "../support/chat.js"

test.use({
  script: script(
    on("hang", { say: "Working on it." }, "wait_for_cancel"),
    on("slow", { say: "Working on it." }, { wait_for_file: "go" }),
  ),
})

const rows = (chat) => chat.frame.locator(".queued")
const texts = (chat) => chat.frame.locator(".queued-text")

const why = (chat) => chat.frame.locator(".queue-why")
const editor = (chat) => chat.frame.getByRole("textbox", { name: "Edit the message" })
const button = (chat, name) => chat.frame.getByRole("button", { name, exact: true })

const atWork = (chat, ...messages) => workingOn(chat, "hang", messages)

async function workingOn(chat, task, messages) {
  await chat.say(task)
  await expect(chat.said).toContainText("Working on it.")
  for (const message of messages) await chat.say(message)
  await expect(texts(chat)).toHaveText(messages)
  // A row can be changed once the server has queued its message.
  await expect(chat.frame.locator(".queued[aria-busy]")).toHaveCount(0)
}

test("what is sent while a turn runs waits, is held by a stop, and goes on with one click", async ({ chat }) => {
  await atWork(chat, "first", "second")
  await expect(chat.composer).toHaveValue("")
  await expect(rows(chat)).toHaveText([/^Next/, /^Then/])
  await expect(chat.stopButton).toBeVisible()
  await chat.page.reload()
  await expect(texts(chat)).toHaveText(["first", "second"])
  await chat.stopButton.click()
  await expect(chat.frame.getByText("Queue paused. The turn was stopped.")).toBeVisible()
  await expect(chat.own).toHaveCount(1)
  await chat.frame.getByRole("button", { name: "Continue", exact: true }).click()
  await expect(chat.ends).toHaveCount(3)
  await expect(chat.own).toHaveText([/hang/, /first/, /second/])
  await expect(rows(chat)).toHaveCount(0)
})

test("a waiting message can be edited, removed and reordered, by keys and by dragging", async ({ chat }) => {
  await atWork(chat, "one", "two", "three")
  await rows(chat).nth(2).focus()
  await chat.page.keyboard.press("Alt+ArrowUp")
  await expect(texts(chat)).toHaveText(["one", "three", "two"])
  await texts(chat).nth(2).dragTo(texts(chat).nth(0))
  await expect(texts(chat)).toHaveText(["two", "one", "three"])
  await rows(chat).nth(0).getByRole("button", { name: "Edit" }).click()
  await editor(chat).fill("two and a half")
  await editor(chat).press("Enter")
  await expect(texts(chat)).toHaveText(["two and a half", "one", "three"])
  await rows(chat).nth(1).getByRole("button", { name: "Remove" }).click()
  await expect(texts(chat)).toHaveText(["two and a half", "three"])
})

test("a row keeps the focus while its message is on its way, and the composer gets it when the row is gone", async ({
  line,
  chat,
}) => {
  await atWork(chat, "first")
  const passOn = line.holdAt("session:send")
  await chat.say("second")
  const sending = chat.frame.locator(".queued[aria-busy]")
  await expect(sending).toHaveText(/second/)
  await sending.focus()
  await expect(sending).toBeFocused()
  passOn()
  await expect(sending).toHaveCount(0)
  await expect(rows(chat).nth(1)).toBeFocused()
  await chat.page.keyboard.press("Alt+ArrowUp")
  await expect(texts(chat)).toHaveText(["second", "first"])
  await expect(rows(chat).nth(0)).toBeFocused()
  await chat.page.keyboard.press("Delete")
  await expect(texts(chat)).toHaveText(["first"])
  await expect(chat.composer).toBeFocused()
})

test("of two edits in two browsers the second is told, and keeps its words", async ({ chat, elsewhere }) => {
  await atWork(chat, "draft")
  const other = await elsewhere()
  await expect(texts(other)).toHaveText(["draft"])
  const edit = async (where) => {
    await rows(where).getByRole("button", { name: "Edit" }).click()
    return where.frame.getByRole("textbox", { name: "Edit the message" })
  }
  const [mine, yours] = [await edit(chat), await edit(other)]
  await mine.fill("my words")
  await mine.press("Enter")
  await expect(texts(chat)).toHaveText(["my words"])
  await yours.fill("your words")
  await yours.press("Enter")
  await expect(other.trouble).toContainText("sent, removed or changed in the meantime")
  await expect(other.composer).toHaveValue("your words")
  await expect(texts(other)).toHaveText(["my words"])
})

test("words in a row that is removed elsewhere land in the composer", async ({ chat, elsewhere }) => {
  await atWork(chat, "draft")
  const other = await elsewhere()
  await rows(other).getByRole("button", { name: "Edit" }).click()
  await other.frame.getByRole("textbox", { name: "Edit the message" }).fill("longer draft")
  await rows(chat).getByRole("button", { name: "Remove" }).click()
  await expect(rows(other)).toHaveCount(0)
  await expect(other.composer).toHaveValue("longer draft")
  await expect(other.trouble).toContainText("was sent or removed in the meantime")
})

test("an open editor holds the queue, and its message is sent as it was saved", async ({
  chat,
  liminal,
  elsewhere,
}) => {
  await workingOn(chat, "slow", ["draft", "second"])
  const other = await elsewhere()
  await rows(chat).nth(0).getByRole("button", { name: "Edit" }).click()
  await editor(chat).fill("final words")
  await rows(chat).nth(1).getByRole("button", { name: "Edit" }).click()
  await expect(why(other)).toHaveText("Queue paused. A message is being edited.")
  await liminal.touch("go")
  await expect(chat.ends).toHaveCount(1)
  await expect(why(chat)).toHaveText("Queue paused. A message is being edited.")
  await editor(chat).nth(1).press("Escape")
  await expect(editor(chat)).toHaveValue("final words")
  await expect(chat.own).toHaveText([/slow/])
  await button(chat, "Save").click()
  await expect(chat.ends).toHaveCount(3)
  await expect(chat.own).toHaveText([/slow/, /final words/, /second/])
  await expect(chat.composer).toHaveValue("")
})

test("to continue with an editor open sends its words; another browser's go to its composer, and it is told", async ({
  chat,
  elsewhere,
}) => {
  await atWork(chat, "mine", "yours")
  const other = await elsewhere()
  await rows(chat).nth(0).getByRole("button", { name: "Edit" }).click()
  await editor(chat).fill("my words")
  await rows(other).nth(1).getByRole("button", { name: "Edit" }).click()
  await editor(other).fill("your words")
  await chat.stopButton.click()
  await expect(why(chat)).toHaveText("Queue paused. The turn was stopped.")
  await button(chat, "Continue").click()
  await expect(why(chat)).toHaveText("Queue paused. A message is being edited.")
  await expect(chat.own).toHaveText([/hang/])
  await button(chat, "Continue").click()
  await expect(chat.ends).toHaveCount(3)
  await expect(chat.own).toHaveText([/hang/, /my words/, /yours/])
  await expect(other.composer).toHaveValue("your words")
  await expect(other.trouble).toContainText("was sent or removed in the meantime")
})

test("an editor that was opened offline holds the queue when the connection is back", async ({ line, chat }) => {
  await atWork(chat, "draft")
  line.cutAt("session:queue")
  await rows(chat).getByRole("button", { name: "Edit" }).click()
  await expect(why(chat)).toHaveText("Queue paused. A message is being edited.")
  await button(chat, "Cancel").click()
  await expect(why(chat)).toBeHidden()
  await expect(texts(chat)).toHaveText(["draft"])
})

test("a paused queue says why only until the next turn, and stays paused", async ({ chat, liminal }) => {
  await atWork(chat, "later")
  await chat.stopButton.click()
  await expect(why(chat)).toHaveText("Queue paused. The turn was stopped.")
  await chat.say("slow")
  await expect(chat.working).toBeVisible()
  await expect(why(chat)).toHaveText("Queue paused. Press Continue to resume it.")
  await liminal.touch("go")
  await expect(chat.ends).toHaveCount(2)
  await expect(why(chat)).toHaveText("Queue paused. Press Continue to resume it.")
  await expect(texts(chat)).toHaveText(["later"])
  await button(chat, "Continue").click()
  await expect(chat.own).toHaveText([/hang/, /slow/, /later/])
})

test("a message that was sent offline makes no claim on a place in the queue", async ({
  chat,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  await atWork(chat, "queued")
  await liminal.kill()
  await chat.say("typed offline")
  await expect(rows(chat)).toHaveText([/^Next.*queued/, /^On reconnect.*typed offline/])
  await rows(chat).nth(0).getByRole("button", { name: "Edit" }).click()
  await expect(button(chat, "Save")).toBeDisabled()
  await button(chat, "Cancel").click()
  await liminal.up()
  await expect(chat.own).toHaveText([/hang/, /typed offline/])
  await expect(rows(chat)).toHaveText([/^Next.*queued/])
  await expect(why(chat)).toContainText("Queue paused.")
})

test("a message can be sent at once, which stops the turn", async ({ chat }) => {
  await atWork(chat, "later", "now")
  await rows(chat).nth(1).getByRole("button", { name: "Stop and send" }).click()
  await expect(chat.ends).toHaveCount(3)
  await expect(chat.own).toHaveText([/hang/, /now/, /later/])
})

test("what no longer fits into the queue stays with its words", async ({ chat }) => {
  await atWork(chat)
  await chat.composer.evaluate((input) => {
    for (let n = 0; n < 200; n += 1) {
      input.value = `message ${n}`
      input.dispatchEvent(new InputEvent("input", { bubbles: true }))
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }))
    }
  })
  const refused = chat.frame.locator(".message[data-refused]")
  await expect(refused).toHaveCount(100)
  await expect(chat.frame.locator(".queued:not([aria-busy])")).toHaveCount(100)
  await expect(refused.last()).toContainText("message 199")
  await expect(refused.last()).toContainText("Not sent")
  await refused.last().getByRole("button", { name: "Edit" }).click()
  await expect(chat.composer).toHaveValue("message 199")
  await expect(refused).toHaveCount(99)
})

test.describe("an agent that takes messages while it works", () => {
  test.use({
    script: {
      ...script(on("hang", { say: "Half a sentence" }, "wait_for_message", { say: "Now the rest." })),
      about: { steering: true },
    },
  })

  test("gets the message in the middle of its turn, and the button says how", async ({ chat }) => {
    await chat.say("hang")
    await expect(chat.said).toContainText("Half a sentence")
    await chat.say("/command")
    await chat.say("also this")
    await expect(rows(chat).nth(0).getByRole("button", { name: "Stop and send" })).toBeVisible()
    await rows(chat).nth(1).getByRole("button", { name: "Interrupt and send" }).click()
    await expect(chat.own).toHaveText([/hang/, /also this/, /command/])
    await expect(chat.said.nth(1)).toContainText("Now the rest.")
    await expect(rows(chat)).toHaveCount(0)
  })
})

test.describe("on a touch screen", () => {
  test.use({ hasTouch: true, isMobile: true })

  test("Enter starts a new line, buttons send and save, and a menu moves and removes", async ({ chat }) => {
    await chat.composer.fill("hang")
    await chat.composer.press("Enter")
    await chat.page.keyboard.type("on")
    await expect(chat.composer).toHaveValue("hang\non")
    await chat.sendButton.tap()
    await expect(chat.said).toContainText("Working on it.")
    for (const message of ["first", "second"]) {
      await chat.composer.fill(message)
      await button(chat, "Queue").tap()
    }
    await expect(texts(chat)).toHaveText(["first", "second"])
    await rows(chat).nth(1).getByRole("button", { name: "More" }).tap()
    await chat.frame.getByRole("menuitem", { name: "Move up" }).tap()
    await expect(texts(chat)).toHaveText(["second", "first"])
    await rows(chat).nth(0).getByRole("button", { name: "Edit" }).tap()
    await editor(chat).press("End")
    await editor(chat).press("Enter")
    await chat.page.keyboard.type("line")
    await chat.said.tap()
    await expect(editor(chat)).toHaveValue("second\nline")
    await button(chat, "Save").tap()
    await expect(texts(chat)).toHaveText(["second\nline", "first"])
    await rows(chat).nth(1).getByRole("button", { name: "More" }).tap()
    await chat.frame.getByRole("menuitem", { name: "Remove" }).tap()
    await expect(texts(chat)).toHaveText(["second\nline"])
  })
})
