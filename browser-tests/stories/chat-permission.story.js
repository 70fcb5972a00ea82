import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { done, expect, on, script, test, tool } from "../support/chat.js"

const options = [{ id: "yes", name: "Allow once", kind: "allow_once" }, { id: "always", name: "Allow always", kind: "allow_always" }, { id: "no", name: "Deny", kind: "reject_once" }]
const command = { ask: { tool: "c", title: "make clean", options, then: { yes: [done("c", "cleaned"), { say: "Clean." }], always: [done("c", "cleaned"), { say: "Always clean." }] }, otherwise: [{ tool_end: { id: "c", failed: true } }, { say: "Then not." }] } }
const asks = [tool("c", "make clean", "execute", { input: { command: "make clean && rm -rf build" } }), command]

const slowly = { ask: { ...command.ask, otherwise: [{ wait_for_file: "go" }, { tool_end: { id: "c", failed: true } }, { say: "Then not." }] } }

const edit = { ask: { tool: "e", title: "Edit main.rs", options, then: { yes: [done("e")] }, otherwise: [] } }

/** Presses a key until the card takes it: it takes none in the instant it appears. Then the focus is elsewhere. */
async function answer(chat, key) {
  while (await chat.frame.locator(".ask:focus").count() > 0) await chat.page.keyboard.press(key)
}

test.use({ script: script(on("clean", ...asks), on("edit", tool("e", "Edit main.rs", "edit"), { diff: { id: "e", path: "src/main.rs", old: "a\nb\n", new: "a\nc\n" } }, edit), on("number", tool("n", "Say its number", "execute"), { run: { id: "n", command: "echo $PPID > pid" } }, ...asks), on("later", { wait_for_file: "ask" }, ...asks), on("careful", asks[0], slowly), on("never mind", asks[0], { ask: { ...command.ask, withdraw_on_file: "enough" } })) })

test("a permission shows what is asked, and the agent's own options", async ({ chat }) => {
  await chat.say("clean")
  await expect(chat.ask.getByRole("button")).toHaveText([/Allow once/, /Allow always/, /Deny/])
  await expect(chat.ask).toContainText("make clean")
  await expect(chat.working).toContainText("Waiting for you")
  await chat.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.said).toHaveText(/Clean\./)
  await expect(chat.ask).toHaveCount(0)
  await expect(chat.answered).toContainText("Allow once")
  await expect(chat.composer).toBeFocused()
})

test("the card takes the focus from an empty composer, and digits answer it", async ({ chat }) => {
  await chat.say("clean")
  await expect(chat.ask).toBeFocused()
  await answer(chat, "2")
  await expect(chat.said).toHaveText(/Always clean\./)
  await expect(chat.composer).toHaveValue("")
})

test("Escape says no, and never stops the turn, however often it is pressed", async ({ chat, liminal }) => {
  await chat.say("careful")
  await expect(chat.ask).toBeFocused()
  // The first few fall into the instant in which the card takes no keys; the last ones come after the answer.
  while (await chat.ask.count() > 0) await chat.page.keyboard.press("Escape")
  for (let n = 0; n < 3; n += 1) await chat.page.keyboard.press("Escape")
  await expect(chat.answered).toContainText("Deny")
  await liminal.touch("go")
  await expect(chat.said).toHaveText(/Then not\./)
  await expect(chat.ends).not.toContainText("Stopped")
})

test("from a composer with a draft, Escape goes to the question", async ({ chat, liminal }) => {
  await chat.say("later")
  await chat.composer.pressSequentially("afterwards")
  await liminal.touch("ask")
  await expect(chat.ask).toBeVisible()
  await expect(chat.composer).toBeFocused()
  await chat.composer.press("Escape")
  await expect(chat.ask).toBeFocused()
  await expect(chat.composer).toHaveValue("afterwards")
  await answer(chat, "3")
  await expect(chat.said).toHaveText(/Then not\./)
  await expect(chat.composer).toHaveValue("afterwards")
})

test("who is typing keeps the focus, and digits are text", async ({ chat, liminal }) => {
  await chat.say("later")
  await chat.composer.pressSequentially("12")
  await liminal.touch("ask")
  await expect(chat.ask).toBeVisible()
  await chat.composer.pressSequentially("3")
  await expect(chat.composer).toHaveValue("123")
  await expect(chat.ask).toBeVisible()
})

test("it is asked again after a reload", async ({ chat }) => {
  await chat.say("clean")
  await expect(chat.ask).toBeVisible()
  await chat.page.reload()
  await expect(chat.ask.getByRole("button", { name: "Deny" })).toBeVisible()
  await chat.ask.getByRole("button", { name: "Deny" }).click()
  await expect(chat.said).toHaveText(/Then not\./)
})

test("an answer in another browser settles it here too", async ({ chat, elsewhere }) => {
  await chat.say("clean")
  await expect(chat.ask).toBeVisible()
  const other = await elsewhere()
  await other.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.ask).toHaveCount(0)
  await expect(chat.answered).toContainText("Allow once")
  await expect(chat.said).toHaveText(/Clean\./)
})

test("a permission that the agent took back says so and can't be answered", async ({ chat, liminal }) => {
  await chat.say("never mind")
  await expect(chat.ask).toBeVisible()
  await liminal.touch("enough")
  await expect(chat.ask).toHaveCount(0)
  await expect(chat.answered).toContainText("cancelled")
  await expect(chat.said).toHaveText(/Then not\./)
})

test("a session that acts without asking does, and says so", async ({ chat }) => {
  await chat.frame.getByRole("button", { name: "Ask before acting" }).click()
  await expect(chat.frame.getByRole("button", { name: "Acts without asking" })).toBeVisible()
  await chat.say("clean")
  await expect(chat.said).toHaveText(/Clean\./)
  await expect(chat.answered).toContainText("by your setting")
})

test("an answer that the connection broke under can be given again", async ({ line, chat, complaints }) => {
  complaints.expectLostServer()
  await chat.say("clean")
  await expect(chat.ask).toBeVisible()
  line.cutAt("session:permission")
  await chat.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.trouble).toContainText("Not connected")
  await expect(chat.status).toHaveText("connected")
  await chat.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.said).toHaveText(/Clean\./)
})

test("a permission whose agent died is void, says so, and nothing waits any more", async ({ chat, liminal }) => {
  await chat.say("number")
  await expect(chat.ask).toBeVisible()
  const pid = Number(await readFile(join(liminal.home, "work", "pid"), "utf8"))
  expect(pid).toBeGreaterThan(1)
  process.kill(pid, "SIGKILL")
  await expect(chat.ask).toHaveCount(0)
  await expect(chat.answered.last()).toContainText("the agent left before an answer")
  await expect(chat.working).toBeHidden()
})

test("what is asked about is shown once, whole: the diff in the card, then in the call", async ({ chat }) => {
  await chat.say("edit")
  await expect(chat.ask.locator(".diff")).toBeVisible()
  await expect(chat.frame.locator(".diff:visible")).toHaveCount(1)
  await chat.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.tool("Edit main.rs").locator(".diff")).toBeVisible()
})
