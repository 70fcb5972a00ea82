import { expect, on, script, test } from "../support/chat.js"

const markdown =
  "# Findings\n\nSee `client.rs` and [the book](https://example.com/book).\n\n" +
  "```rust\nfn main() { let a = 1; }\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
const wideCode = `\`\`\`text\n${"wide ".repeat(400)}\n\`\`\`\n\n`
const wideTable = `| ${"column | ".repeat(60)}\n|${" - |".repeat(60)}\n| ${"a long cell | ".repeat(60)}\n`

test.use({
  script: script(
    on("markdown", { say_chopped: { text: markdown, size: 7, every_ms: 5 } }),
    on(
      "slowly",
      { say: "First *part*.\n\n" },
      { wait_for_file: "go" },
      { say: "Second **part**." },
      { wait_for_file: "end" },
    ),
    on("wide", { say: wideCode + wideTable }),
    on("written", { say: "First line\nsecond line" }),
    on("two", { say: "One." }, "new_message", { say: "Two." }),
    on("hang", { say: "Partly" }, "wait_for_cancel"),
  ),
})

test("a sent message appears at once, and its answer below it", async ({ chat }) => {
  await chat.say("hello there")
  await expect(chat.own).toHaveText(/hello there/)
  await expect(chat.said).toHaveText(/All right\./)
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.own.locator(".send-state")).toHaveCount(0)
})

test("a message stays as it was written, with its fences as code; an agent's line breaks stay too", async ({
  chat,
}) => {
  const lines = "as written:\n    indented\n- *first*\n\n\n<b>last</b> 👩‍👩‍👧"
  await chat.askAndWait(`${lines}\n\`\`\`rust\nlet a = 1;\n\`\`\`\nafter`)
  const own = chat.own.locator(".rendered")
  for (const again of [false, true]) {
    if (again) await chat.page.reload()
    await expect(own.locator("p").first()).toBeVisible()
    expect(
      await own
        .locator("p")
        .first()
        .evaluate((words) => words.innerText),
    ).toBe(lines)
    await expect(own.locator(".code i.k")).toHaveText("let")
    await expect(own.locator("p").last()).toHaveText("after")
    expect(await chat.words.evaluate((words) => words.innerText)).toBe("First line\nsecond line")
  }
})

test("a message is marked as sending until the server has it", async ({ chat, liminal, complaints }) => {
  complaints.expectLostServer()
  await chat.askAndWait("hello")
  await liminal.kill()
  await expect(chat.status).toHaveText("offline")
  await chat.say("into the void")
  await expect(chat.own.last().getByText("Sending")).toBeVisible()
  await liminal.up()
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.said).toHaveText([/All right\./, /All right\./])
  await expect(chat.own).toHaveCount(2)
  await expect(chat.own.getByText("Sending")).toHaveCount(0)
})

test("an answer grows as formatted text, and only what changed is replaced", async ({ chat, liminal }) => {
  await chat.say("slowly")
  await expect(chat.said.locator("em")).toHaveText("part")
  await expect(chat.said).toHaveAttribute("aria-busy", "true")
  await chat.said
    .locator(".block")
    .first()
    .evaluate((block) => {
      block.dataset.mine = "kept"
    })
  await liminal.touch("go")
  await expect(chat.said.locator("strong")).toHaveText("part")
  await expect(chat.said).toHaveAttribute("aria-busy", "true")
  await liminal.touch("end")
  await expect(chat.ends).toHaveCount(1)
  await expect(chat.said).not.toHaveAttribute("aria-busy")
  await expect(chat.words).toHaveText(/^First part\.\s*Second part\.$/)
  await expect(chat.said.locator(".block").first()).toHaveAttribute("data-mine", "kept")
})

test("markdown is shown as it is meant; code names its language and can be copied; links open apart", async ({
  chat,
  context,
  liminal,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: liminal.origin })
  await chat.askAndWait("markdown")
  await expect(chat.said.getByRole("heading", { name: "Findings" })).toBeVisible()
  const link = chat.said.getByRole("link", { name: "the book" })
  await expect(link).toHaveAttribute("target", "_blank")
  await expect(link).toHaveAttribute("rel", /noopener/)
  await expect(chat.said.locator(".code-bar")).toContainText("rust")
  await chat.said.getByRole("button", { name: "Copy", exact: true }).click()
  await expect(chat.said.getByRole("button", { name: "Copied" })).toBeVisible()
  await expect.poll(() => chat.page.evaluate(() => navigator.clipboard.readText())).toBe("fn main() { let a = 1; }")
  await expect(chat.said.getByRole("table")).toBeVisible()
})

test("long lines and wide tables scroll inside their own boxes", async ({ chat }) => {
  for (const width of [1600, 390]) {
    await chat.page.setViewportSize({ width, height: 900 })
    if (width === 1600) await chat.askAndWait("wide")
    for (const box of [".code pre", ".table"]) {
      expect(await chat.said.locator(box).evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(true)
    }
    expect(await chat.measure((box) => box.scrollWidth <= box.clientWidth)).toBe(true)
  }
})

test("several answers of a turn stand apart", async ({ chat }) => {
  await chat.askAndWait("two")
  await expect(chat.said).toHaveText([/One\./, /Two\./])
})

test("everything is there again after a reload, in order", async ({ chat }) => {
  await chat.askAndWait("markdown")
  await chat.askAndWait("two")
  await chat.page.reload()
  await expect(chat.own).toHaveText([/markdown/, /two/])
  await expect(chat.said).toHaveText([/Findings/, /One\./, /Two\./])
  await expect(chat.ends).toHaveCount(2)
})

test("stopping keeps the words already said and gives the composer back", async ({ chat }) => {
  await expect(chat.stopButton).toBeHidden()
  await chat.say("hang")
  await expect(chat.said).toContainText("Partly")
  await expect(chat.working).toContainText(/Working \d:\d\d/)
  await expect(chat.sendButton).toBeHidden()
  await chat.stopButton.click()
  await expect(chat.ends).toContainText("Stopped")
  await expect(chat.said).toContainText("Partly")
  await expect(chat.stopButton).toBeHidden()
  await chat.askAndWait("again")
})

test.describe("an answer without measure", () => {
  test.use({
    script: script(
      on("paragraphs", { say: Array.from({ length: 3000 }, (_, n) => `p${n}`).join("\n\n") }),
      on("list", { say: Array.from({ length: 9000 }, (_, n) => `${n + 7}. item`).join("\n") }),
      on("line", { say: `begin ${"word ".repeat(60_000)}end` }),
    ),
  })

  test("is whole and in order: thousands of paragraphs, a list that counts on, an endless line", async ({ chat }) => {
    await chat.askAndWait("paragraphs")
    await expect(chat.said.last().locator(".block")).toHaveCount(3000)
    await expect(chat.said.last().locator(".block").last()).toBeInViewport()
    expect(
      await chat.said
        .last()
        .locator(".block")
        .evaluateAll((blocks) => blocks.every((block, n) => block.textContent.trim() === `p${n}`)),
    ).toBe(true)
    await chat.askAndWait("list")
    const items = chat.said.last().locator("li")
    await expect(items).toHaveCount(9000)
    expect(await items.evaluateAll((all) => [all[100].value, all[5900].value, all[8999].textContent.trim()])).toEqual([
      107,
      5907,
      "item",
    ])
    await chat.askAndWait("line")
    await expect(chat.words.last()).toHaveText(/^begin (word ){60000}end\s*$/)
  })
})

test("a turn tells what it took, in full on demand", async ({ chat }) => {
  await chat.askAndWait("two")
  await expect(chat.ends.locator(".turn-figures")).toHaveText(/\d m?s/)
  await expect(chat.ends.locator("time")).toHaveAttribute("title", /\d{4}/)
})
