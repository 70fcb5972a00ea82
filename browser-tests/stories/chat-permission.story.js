import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { done, expect, on, script, test, tool, newChat } from "../support/chat.js"
import { makeRepository } from "../support/repository.js"

const options = [
  { id: "yes", name: "Allow once", kind: "allow_once" },
  { id: "always", name: "Allow always", kind: "allow_always" },
  { id: "no", name: "Deny", kind: "reject_once" },
]
const command = {
  ask: {
    tool: "c",
    title: "make clean",
    options,
    then: { yes: [done("c", "cleaned"), { say: "Clean." }], always: [done("c", "cleaned"), { say: "Always clean." }] },
    otherwise: [{ tool_end: { id: "c", failed: true } }, { say: "Then not." }],
  },
}
const asks = [tool("c", "make clean", "execute", { input: { command: "make clean && rm -rf build" } }), command]

const slowly = {
  ask: {
    ...command.ask,
    otherwise: [{ wait_for_file: "go" }, { tool_end: { id: "c", failed: true } }, { say: "Then not." }],
  },
}

/** A file whose middle is about this. */
const twenty = (middle) => [...Array(10).fill("same"), middle, ...Array(9).fill("same"), ""].join("\n")

const edit = { ask: { tool: "e", title: "Edit main.rs", options, then: { yes: [done("e")] }, otherwise: [] } }

/** Presses a key until the card accepts it and loses the focus: just after it appears, it ignores keys. */
async function answer(chat, key) {
  while ((await chat.frame.locator(".ask:focus").count()) > 0) await chat.page.keyboard.press(key)
}

/** A call with this input, and a permission for it. */
const askAbout = (input, more = options) => [
  tool("c", "Work", "execute", { input }),
  { ask: { ...command.ask, title: "Work", options: more } },
]
const manyCommands = Array.from({ length: 300 }, (_, n) => `echo ${String(n).repeat(90)}`)
const longCommand = ["first-word", ...manyCommands, "last-word"].join("\n")
const manyLines = Array.from({ length: 4_100 }, (_, n) => `line ${n}`).join("\n") + ` ${"x".repeat(400)}`
const outOfOrder = [options[2], options[1], options[0]]

test.use({
  script: script(
    on("long", ...askAbout({ command: longCommand })),
    on(
      "program",
      ...askAbout(
        {
          command: "git",
          args: ["push", "--force"],
          cwd: "/srv/elsewhere",
          env: { GIT_DIR: "/tmp/x" },
          note: { deep: "inside" },
        },
        outOfOrder,
      ),
    ),
    on(
      "both",
      tool("c", "Work", "edit", { input: { command: "rm -rf hidden" } }),
      { diff: { id: "c", path: "a.txt", new: `${manyLines}\n` } },
      { ask: { ...command.ask, title: "Work" } },
    ),
    on("described", ...askAbout({ command: "make", description: "Builds it", run_in_background: true, odd_one: 1 })),
    on("clean", ...asks),
    on(
      "edit",
      tool("e", "Edit main.rs", "edit"),
      { diff: { id: "e", path: "src/main.rs", old: twenty("b"), new: twenty("c") } },
      edit,
    ),
    on("number", tool("n", "Say its number", "execute"), { run: { id: "n", command: "echo $PPID > pid" } }, ...asks),
    on("later", { wait_for_file: "ask" }, ...asks),
    on("careful", asks[0], slowly),
    on("never mind", asks[0], { ask: { ...command.ask, withdraw_on_file: "enough" } }),
  ),
})

test("a permission shows what is asked, and the agent's own options", async ({ chat }) => {
  await chat.say("clean")
  await expect(chat.ask.getByRole("button")).toHaveText([/Allow once/, /Allow always/, /Deny/])
  await expect(chat.ask).toContainText("make clean")
  await expect(chat.working).toContainText("Waiting for you")
  await chat.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.said).toHaveText(/Clean\./)
  await expect(chat.ask).toHaveCount(0)
  await expect(chat.answered).toHaveText(/^Allowed by you, \d/)
  await expect(chat.composer).toBeFocused()
})

test("while a permission waits, its card stands for its call; then the call says how it was answered", async ({
  chat,
}) => {
  await chat.say("clean")
  await expect(chat.ask).toBeVisible()
  await expect(chat.tools).toHaveCount(0)
  await chat.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.tool("make clean").locator(".answered")).toHaveText(/^Allowed by you/)
})

test("opening a session focuses the card that waits, and its keys work at once", async ({ chat, shell }) => {
  test.slow()
  await chat.say("clean")
  await expect(chat.ask).toBeVisible()
  await newChat(shell)
  await expect(chat.composer).toBeFocused()
  for (const open of [shell.session("clean").locator(".session-open"), shell.tab("clean").getByRole("tab")]) {
    await shell.tab("New Session").getByRole("tab").click()
    await expect(chat.composer).toBeFocused()
    await open.click()
    await expect(chat.ask).toBeFocused()
  }
  await shell.page.reload()
  await shell.tab("New Session").getByRole("tab").click()
  await shell.tab("clean").getByRole("tab").click()
  await expect(chat.ask).toBeFocused()
  await shell.page.keyboard.press("2")
  await expect(chat.said).toHaveText(/Always clean\./)
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
  // Two more come right after the answer. In the page, so that they follow it at once, however slow the machine is.
  await chat.ask.evaluate((card) => {
    const pressTwice = (_, observer) => {
      if (card.isConnected) return
      observer.disconnect()
      for (let n = 0; n < 2; n += 1)
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }))
    }
    new MutationObserver(pressTwice).observe(document.body, { childList: true, subtree: true })
  })
  // The card ignores the first few, just after it appeared.
  while ((await chat.ask.count()) > 0) await chat.page.keyboard.press("Escape")
  await expect(chat.answered).toHaveText(/^Denied by you, \d/)
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
  await expect(chat.answered).toHaveText(/^Allowed by you, \d/)
  await expect(chat.said).toHaveText(/Clean\./)
})

test("a permission that the agent took back says so and can't be answered", async ({ chat, liminal }) => {
  await chat.say("never mind")
  await expect(chat.ask).toBeVisible()
  await liminal.touch("enough")
  await expect(chat.ask).toHaveCount(0)
  await expect(chat.answered).toHaveText(/^Cancelled, \d/)
  await expect(chat.said).toHaveText(/Then not\./)
})

test("a session that acts without asking does, and says so", async ({ chat }) => {
  await chat.permits("Approve everything")
  await chat.frame.getByRole("alertdialog").getByRole("button", { name: "Approve everything" }).click()
  await expect(chat.frame.getByRole("button", { name: "Approve everything" })).toBeVisible()
  await chat.say("clean")
  await expect(chat.said).toHaveText(/Clean\./)
  await expect(chat.answered).toHaveText(/^Allowed automatically, \d/)
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
  await expect(chat.answered.last()).toContainText("The agent stopped before you answered")
  await expect(chat.working).toBeHidden()
})

test("what is asked about is shown once, whole: the diff in the card, then in the call", async ({ chat }) => {
  await chat.say("edit")
  await expect(chat.ask.locator(".diff")).toBeVisible()
  await expect(chat.ask.locator(".add")).toBeVisible()
  await expect(chat.ask.getByText("@@")).toBeHidden()
  await expect(chat.frame.locator(".diff:visible")).toHaveCount(1)
  await chat.ask.getByRole("button", { name: "Allow once" }).click()
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.tool("Edit main.rs").locator(".diff")).toBeVisible()
})

test("a long command is whole in its card, and can be allowed once it was read to its end", async ({ chat }) => {
  await chat.say("long")
  const allow = chat.ask.getByRole("button", { name: "Allow once" })
  await expect(allow).toBeDisabled()
  await expect(chat.ask.getByRole("button", { name: "Deny" })).toBeEnabled()
  await expect(chat.ask.locator(".code pre")).toContainText("first-word")
  await expect(chat.ask.locator(".code pre")).toContainText("last-word")
  // A key can do no more than the disabled button: it moves the focus to "Show all of it".
  await expect(chat.ask).toBeFocused()
  while (
    !(await chat.frame
      .getByRole("button", { name: "Show all of it" })
      .evaluate((button) => button === document.activeElement))
  )
    await chat.page.keyboard.press("1")
  await expect(chat.ask).toBeVisible()
  await chat.ask.locator(".code pre").evaluate((box) => box.scrollTo(0, box.scrollHeight))
  await expect(allow).toBeEnabled()
  await allow.click()
  await expect(chat.said).toHaveText(/Clean\./)
})

test("everything a command is given is shown, and the options stand in the order of what they mean", async ({
  chat,
}) => {
  await chat.say("program")
  await expect(chat.ask.locator(".code pre")).toHaveText("git push --force")
  await expect(chat.ask.locator(".fields tr")).toHaveText([
    /Directory\/srv\/elsewhere/,
    /GIT_DIR\/tmp\/x/,
    /note.*inside/s,
  ])
  await expect(chat.ask.getByRole("button")).toHaveText([/Allow once.*1/, /Allow always.*2/, /Deny.*3/])
  await expect(chat.ask.locator('[data-kind="main"]')).toHaveText(/Allow once/)
})

test("what agents call the input of well-known tools is said in words, and nothing is left out", async ({ chat }) => {
  await chat.say("described")
  await expect(chat.ask.locator(".fields tr")).toHaveText([
    /^Description\s*Builds it/,
    /^In the background\s*true/,
    /^odd_one\s*1/,
  ])
})

test("a command beside a change is shown, and all of a long change can be", async ({ chat }) => {
  await chat.say("both")
  await expect(chat.ask).toContainText("rm -rf hidden")
  const allow = chat.ask.getByRole("button", { name: "Allow once" })
  await expect(allow).toBeDisabled()
  await expect(chat.ask.getByText(/^line 4099 x+$/)).toBeHidden()
  await chat.ask.getByRole("button", { name: "Show all of it" }).click()
  await expect(chat.ask.getByText(/^line 4099 x+$/)).toBeVisible()
  await expect(allow).toBeEnabled()
  expect(await chat.ask.locator(".rows").evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
})

test("a sentence that is begun at a card is a message, and answers nothing", async ({ chat }) => {
  await chat.say("clean")
  await expect(chat.ask).toBeFocused()
  await chat.page.keyboard.type("make 2 copies instead, 1 is too few")
  await expect(chat.composer).toBeFocused()
  await expect(chat.composer).toHaveValue("make 2 copies instead, 1 is too few")
  await expect(chat.ask).toBeVisible()
})

test("a key in a dialog or in Changes answers no card", async ({ chat, liminal }) => {
  makeRepository(join(liminal.home, "work"), { "notes.txt": "one\n" })
  await chat.say("clean")
  await expect(chat.ask).toBeVisible()
  // Its keys work at once if it is opened.
  await chat.page.reload()
  await expect(chat.ask).toBeFocused()
  await chat.permits("Approve everything")
  const dialog = chat.frame.getByRole("alertdialog")
  await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused()
  await chat.page.keyboard.press("1")
  await dialog.getByRole("heading").click()
  await chat.page.keyboard.press("Escape")
  await expect(dialog).toBeHidden()
  await chat.frame.getByRole("button", { name: "Changes" }).click()
  await chat.frame.getByRole("complementary", { name: "Changes" }).focus()
  await chat.page.keyboard.press("1")
  // What is answered is busy at once.
  await expect(chat.ask).not.toHaveAttribute("aria-busy")
  await chat.ask.focus()
  await answer(chat, "1")
  await expect(chat.said).toHaveText(/Clean\./)
})

test("Escape in a dialog does not count towards stopping the turn, and shortcuts wait", async ({ chat, liminal }) => {
  await chat.say("later")
  await expect(chat.stopButton).toBeVisible()
  const dialog = chat.frame.getByRole("alertdialog")
  for (let times = 0; times < 2; times += 1) {
    await chat.permits("Approve everything")
    await expect(dialog).toBeVisible()
    await chat.page.keyboard.press("Alt+x")
    await chat.page.keyboard.press("Escape")
    await expect(dialog).toBeHidden()
  }
  await liminal.touch("ask")
  await expect(chat.ask).toBeVisible()
})

test("Enter that is held on Allow sends no draft", async ({ chat }) => {
  await chat.composer.fill("clean")
  await chat.composer.press("Enter")
  await expect(chat.ask).toBeVisible()
  await chat.composer.fill("half a thought")
  await chat.ask.getByRole("button", { name: "Allow once" }).focus()
  await chat.page.keyboard.down("Enter")
  await expect(chat.composer).toBeFocused()
  await chat.page.keyboard.down("Enter")
  await chat.page.keyboard.up("Enter")
  await expect(chat.composer).toHaveValue("half a thought")
  await expect(chat.said).toHaveText(/Clean\./)
  await expect(chat.own).toHaveCount(1)
})

test("turning questions off is confirmed, and answers nothing that is already asked", async ({ chat }) => {
  await chat.say("clean")
  await expect(chat.ask).toBeVisible()
  await chat.permits("Approve everything")
  await chat.frame.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click()
  await expect(chat.frame.getByRole("button", { name: "Ask before acting" })).toBeVisible()
  await chat.permits("Approve everything")
  await chat.frame.getByRole("alertdialog").getByRole("button", { name: "Approve everything" }).click()
  await expect(chat.frame.getByRole("button", { name: "Approve everything" })).toBeVisible()
  await expect(chat.ask).toBeVisible()
  await chat.ask.getByRole("button", { name: "Deny" }).click()
  await expect(chat.said).toHaveText(/Then not\./)
})
