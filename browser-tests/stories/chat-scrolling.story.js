import { expect, newChat, on, script, test } from "../support/chat.js"

const paragraphs = Array.from(
  { length: 60 },
  (_, n) => `Paragraph ${n}: ${"some words of a long answer ".repeat(6)}`,
).join("\n\n")

test.use({
  script: script(
    on("long", { say: paragraphs }),
    on(
      "stream",
      { wait_for_file: "go" },
      {
        say_words: {
          text: Array.from({ length: 500 }, (_, n) => `word${n}${n % 20 === 19 ? "\n\n" : " "}`).join(""),
          every_ms: 4,
        },
      },
    ),
    on("several", { wait_for_file: "go" }, ...[1, 2, 3].flatMap((n) => ["new_message", { say: `New message ${n}.` }])),
    on("many", { repeat: [300, ["new_message", { say: "One of very many messages, each a line or so of text." }]] }),
  ),
})

/** Records the position of the marked line on the screen in every frame from now on. */
async function watch(line) {
  await line.evaluate((element) => {
    const seen = (window.seenTops = [])
    const look = () => {
      seen.push(element.isConnected ? element.getBoundingClientRect().top : NaN)
      requestAnimationFrame(look)
    }
    look()
  })
  return () =>
    line.evaluate(() => ({
      frames: window.seenTops.length,
      spread: Math.max(...window.seenTops) - Math.min(...window.seenTops),
    }))
}

test("at the end the view follows the answer", async ({ chat, liminal }) => {
  await chat.askAndWait("long")
  await expect.poll(() => chat.isAtEnd()).toBe(true)
  await liminal.touch("go")
  await chat.askAndWait("stream")
  await expect.poll(() => chat.isAtEnd()).toBe(true)
  await expect(chat.toEnd).toBeHidden()
})

test("a line that is read stays on its pixel while five hundred pieces arrive below", async ({ chat, liminal }) => {
  await chat.askAndWait("long")
  await chat.say("stream")
  await expect(chat.working).toBeVisible()
  await chat.measure((box) => {
    box.scrollTop = 700
  })
  await expect(chat.toEnd).toBeVisible()
  const line = chat.said.first().locator(".block").nth(20)
  const spread = await watch(line)
  await liminal.touch("go")
  await expect(chat.ends).toHaveCount(2)
  await expect(chat.said.last()).toContainText("word499")
  await expect.poll(async () => (await spread()).frames).toBeGreaterThan(10)
  expect((await spread()).spread).toBeLessThan(1)
})

test("the button counts what is new and goes back to the end", async ({ chat, liminal }) => {
  await chat.askAndWait("long")
  await chat.say("several")
  await chat.measure((box) => {
    box.scrollTop = 300
  })
  await expect(chat.toEnd).toHaveText("To the end")
  await liminal.touch("go")
  await expect(chat.toEnd).toHaveText("3 new")
  await chat.toEnd.click()
  await expect(chat.toEnd).toBeHidden()
  await expect.poll(() => chat.isAtEnd()).toBe(true)
})

test("earlier messages load as one goes up, and nothing that is read moves", async ({ chat }) => {
  await chat.askAndWait("many")
  await chat.page.reload()
  await expect(chat.said.last()).toBeVisible()
  const load = chat.frame.locator(".above")
  await expect(load).toBeAttached()
  await chat.measure((box) => {
    box.scrollTop = 3000
  })
  await expect
    .poll(() =>
      chat.measure((box) => {
        const line = [...box.querySelectorAll(".message")].find(
          (each) => Math.abs(each.getBoundingClientRect().top - 300) < 60,
        )
        line?.classList.add("watched")
        return line !== undefined
      }),
    )
    .toBe(true)
  const spread = await watch(chat.frame.locator(".watched").first())
  // Up to where earlier messages are loaded; from then on nothing in the view may move.
  await chat.measure((box) => {
    box.scrollTop = 2300
    window.seenTops.length = 0
  })
  await expect(load).toBeHidden()
  expect((await spread()).spread).toBeLessThan(1)
  await chat.measure((box) => {
    box.scrollTop = 0
  })
  await expect(chat.own.first()).toBeVisible()
})

test("the place is kept when the window changes and when tabs do", async ({ chat, shell }) => {
  await chat.askAndWait("long")
  await chat.measure((box) => {
    box.scrollTop = 900
  })
  await expect(chat.toEnd).toBeVisible()
  const read = () =>
    chat.measure((box) => {
      const edge = box.getBoundingClientRect().top
      const block = [...box.querySelectorAll(".block")].find((each) => each.getBoundingClientRect().bottom > edge)
      return { text: block.textContent.slice(0, 13), top: block.getBoundingClientRect().top - edge }
    })
  const before = await read()
  await chat.page.setViewportSize({ width: 700, height: 600 })
  await expect.poll(async () => (await read()).text).toBe(before.text)
  await chat.page.setViewportSize({ width: 1024, height: 768 })
  await expect.poll(async () => Math.abs((await read()).top - before.top)).toBeLessThan(1.5)
  await newChat(shell)
  await shell.tab("long").click()
  await expect(chat.own).toHaveText(/long/)
  await expect.poll(async () => Math.abs((await read()).top - before.top)).toBeLessThan(1.5)
})
