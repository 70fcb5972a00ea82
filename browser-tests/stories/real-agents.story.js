import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, running, test } from "../support/real.js"

const file = (liminal, name) => join(liminal.home, "work", name)
const read = (liminal, name) => readFile(file(liminal, name), "utf8").catch(() => null)

/** How the agents differ: the options they offer, how they report a command's output, and whether they must have read a
 * file before they edit it. */
const agents = [
  {
    agent: "Claude Code",
    options: [/^Allow once/, /^Allow for this session/, /^Deny/],
    reported: "The tool answered: from-the-command",
    // It only edits files it has read.
    readsFirst: true,
  },
  {
    agent: "Codex",
    options: [/^Yes, proceed/, /^Yes, and don't ask again/, /^No, and tell Codex/],
    reported: "from-the-command",
    readsFirst: false,
  },
]

for (const { agent, options, reported, readsFirst } of agents) {
  test(`${agent} answers word by word, then again, and both answers are there after a reload`, async ({
    begin,
    page,
  }) => {
    const chat = await begin(agent)
    await chat.askAndWait("FAKE:TEXT Good **morning**.")
    await expect(chat.words).toHaveText("Good morning.")
    await expect(chat.words.locator("strong")).toHaveText("morning")
    // The model never ends this answer, so the text arrived while the turn was running.
    await chat.say("FAKE:STALL one two three")
    await expect(chat.words.last()).toHaveText("one two three")
    await expect(chat.working).toBeVisible()
    await page.reload()
    await expect(chat.words).toHaveText(["Good morning.", "one two three"])
    await expect(chat.working).toBeVisible()
  })

  test(`a command of ${agent} runs when it is allowed, with its output, and does not when it is refused`, async ({
    begin,
    liminal,
  }) => {
    const chat = await begin(agent)
    await chat.say(running[agent]("echo from-the-command | tee allowed.txt"))
    await expect(chat.ask.getByRole("heading")).toHaveText("Run this command?")
    await expect(chat.ask.locator("pre")).toHaveText("echo from-the-command | tee allowed.txt")
    await expect(chat.ask.getByRole("button")).toHaveText(options)
    expect(await read(liminal, "allowed.txt")).toBe(null)
    await chat.ask.locator("[data-answer=allow_once]").click()
    await expect(chat.ends).toHaveCount(1)
    const allowed = chat.tool("tee allowed.txt")
    await expect(allowed).toHaveAttribute("data-state", "done")
    await allowed.locator(".line").click()
    await expect(allowed.locator(".parts")).toContainText("from-the-command")
    await expect(chat.words.last()).toContainText(reported)
    expect(await read(liminal, "allowed.txt")).toBe("from-the-command\n")

    // Codex ends the turn when refused.
    await chat.say(running[agent]("touch refused.txt"))
    await chat.ask.locator("[data-answer^=reject]").first().click()
    await expect(chat.ends).toHaveCount(2)
    await expect(chat.tool("touch refused.txt")).toHaveAttribute("data-state", "refused")
    await expect(chat.answered.last()).toHaveText(/^Denied by you/)
    expect(await read(liminal, "refused.txt")).toBe(null)
    await chat.askAndWait("FAKE:TEXT Still here.")
  })

  test(`an edit of ${agent} is shown as a diff, also in the question where it asks`, async ({ begin, liminal }) => {
    const chat = await begin(agent)
    await writeFile(file(liminal, "notes.txt"), "alpha\nomega\n")
    if (readsFirst) await chat.askAndWait(`FAKE:READ ${file(liminal, "notes.txt")}`)
    const ends = await chat.ends.count()
    await chat.say(`FAKE:EDIT ${file(liminal, "notes.txt")}`)
    await expect(chat.ask.locator(".diff .del")).toHaveText(/alpha/)
    await expect(chat.ask.locator(".diff .add")).toHaveText(/beta/)
    await chat.ask.locator("[data-answer=allow_once]").click()
    await expect(chat.ends).toHaveCount(ends + 1)
    const edit = chat.tools.last()
    await expect(edit).toContainText("notes.txt")
    await expect(edit.locator(".tool-counts")).toHaveText("+1−1")
    await expect(edit.locator(".diff .del")).toHaveText(/alpha/)
    await expect(edit.locator(".diff .add")).toHaveText(/beta/)
    expect(await read(liminal, "notes.txt")).toBe("beta\nomega\n")
  })

  test(`Stop ends a turn of ${agent}, keeps its words, and the next message is answered`, async ({ begin }) => {
    const chat = await begin(agent)
    await chat.say("FAKE:STALL half an answer")
    await expect(chat.words).toHaveText("half an answer")
    await chat.stopButton.click()
    await expect(chat.ends).toHaveCount(1)
    await expect(chat.words).toHaveText("half an answer")
    await chat.askAndWait("FAKE:TEXT Still here.")
    await expect(chat.words.last()).toHaveText("Still here.")
  })

  test(`messages that wait for ${agent} are answered in order, one of them with a file`, async ({ begin, liminal }) => {
    const chat = await begin(agent)
    await writeFile(file(liminal, "my notes.md"), "the secret word is quokka\n")
    await chat.say("FAKE:STALL half an answer")
    await expect(chat.words).toHaveText("half an answer")
    await chat.say('See @"my notes.md" FAKE:TEXT One.')
    await chat.say("FAKE:TEXT Two.")
    await expect(chat.frame.locator(".queued")).toHaveCount(2)
    await chat.stopButton.click()
    await chat.frame.getByRole("button", { name: "Continue", exact: true }).click()
    await expect(chat.ends).toHaveCount(3)
    await expect(chat.words).toHaveText(["half an answer", "One.", "Two."])
  })

  test(`a conversation with ${agent} goes on after the server was started again`, async ({
    begin,
    liminal,
    complaints,
    shell,
  }) => {
    const chat = await begin(agent)
    await chat.askAndWait("Remember the apple. FAKE:TEXT I will.")
    complaints.expectLostServer()
    await liminal.stop()
    await liminal.up()
    await shell.isConnected()
    await chat.askAndWait("FAKE:HEARD")
    await expect(chat.words).toHaveText(["I will.", "You said before: Remember the apple. FAKE:TEXT I will."])
  })

  test(`a turn of ${agent} cut off by a server crash keeps its words, once, and the conversation continues`, async ({
    begin,
    liminal,
    complaints,
    shell,
  }) => {
    const chat = await begin(agent)
    await chat.askAndWait("Remember the apple. FAKE:TEXT I will.")
    // The model never ends it, so the agent can't either in the moment it outlives the server.
    await chat.say("FAKE:STALL half an answer")
    await expect(chat.words.last()).toHaveText("half an answer")
    complaints.expectLostServer()
    await liminal.kill()
    await liminal.up()
    await shell.isConnected()
    await expect(chat.ends).toHaveCount(2)
    await expect(chat.ends.last()).toContainText("The turn was interrupted")
    await expect(chat.own.locator(".rendered")).toHaveText([
      "Remember the apple. FAKE:TEXT I will.",
      "FAKE:STALL half an answer",
    ])
    await expect(chat.words).toHaveText(["I will.", "half an answer"])
    await chat.askAndWait("FAKE:TEXT Here again.")
    await expect(chat.words.last()).toHaveText("Here again.")
    await expect(chat.own).toHaveCount(3)
    await expect(chat.notices).toHaveCount(0)
  })
}

test("Claude Code and Codex side by side: each tab keeps its conversation, even after closing and reopening", async ({
  begin,
  shell,
  page,
}) => {
  const claude = await begin("Claude Code")
  await claude.askAndWait("FAKE:TEXT Claude was here.")
  const codex = await begin("Codex")
  await codex.askAndWait("FAKE:TEXT Codex was here.")
  const tabs = shell.page.getByRole("tab")
  await expect(tabs).toHaveCount(2)
  // One continues while the other is in front.
  await codex.say("FAKE:LONG 60 30")
  await tabs.first().click()
  await expect(claude.words).toHaveText(["Claude was here."])
  await claude.askAndWait("FAKE:TEXT Claude again.")
  await tabs.last().click()
  await expect(codex.ends).toHaveCount(2)
  await expect(codex.words).toHaveText(["Codex was here.", /^word0 .*word59$/])
  await tabs.first().click()
  await expect(claude.words).toHaveText(["Claude was here.", "Claude again."])

  await page.locator(".tab-close").first().click()
  await page.locator(".tab-close").first().click()
  await expect(page.locator("iframe.portlet")).toHaveCount(0)
  await shell.session("FAKE:TEXT Claude was here.").locator(".session-open").click()
  await expect(claude.words).toHaveText(["Claude was here.", "Claude again."])
  await shell.session("FAKE:TEXT Codex was here.").locator(".session-open").click()
  await expect(codex.words).toHaveText(["Codex was here.", /^word0 .*word59$/])
})
