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
    on("later", { wait_for_file: "go-later" }, { say: "Later." }),
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

test("the view follows the answer while several lines are written", async ({ chat, liminal }) => {
  await chat.askAndWait("long")
  await chat.say("stream")
  await expect(chat.working).toBeVisible()
  for (const words of ["one", "two", "three"]) {
    await chat.composer.pressSequentially(words)
    await chat.composer.press("Shift+Enter")
    await expect.poll(() => chat.isAtEnd()).toBe(true)
  }
  await liminal.touch("go")
  for (const words of ["four", "five"]) {
    await chat.composer.pressSequentially(words)
    await chat.composer.press("Shift+Enter")
  }
  await expect(chat.ends).toHaveCount(2)
  await expect.poll(() => chat.isAtEnd()).toBe(true)
  await expect(chat.toEnd).toBeHidden()
  await expect(chat.composer).toHaveValue("one\ntwo\nthree\nfour\nfive\n")
})

test("the view stays at the end when it gets higher and lower at once", async ({ chat }) => {
  await chat.askAndWait("long")
  await expect.poll(() => chat.isAtEnd()).toBe(true)
  for (const height of [160, 110, 190]) {
    // Without the composer the view is higher, which moves what is at the end; then it is lower than before.
    await chat.frame.locator(".session-footer").evaluate((footer, block) => {
      footer.style.display = "none"
      void footer.parentElement.querySelector(".scroller").scrollTop
      footer.style.display = ""
      footer.style.blockSize = `${block}px`
    }, height)
    // Two frames: the scroll event is one later at the latest.
    await chat.measure(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    expect(await chat.isAtEnd()).toBe(true)
    await expect(chat.toEnd).toBeHidden()
  }
})

test("the button is there only if the end is out of view", async ({ chat, liminal, shell, page }) => {
  // All there is, is in view: what grows is followed.
  await chat.say("stream")
  await expect(chat.working).toBeVisible()
  await chat.composer.press("Control+f")
  await page.keyboard.type("stream")
  await expect(chat.frame.locator(".find-count")).toHaveText("1 of 1")
  await page.keyboard.press("Escape")
  await expect(chat.toEnd).toBeHidden()
  await liminal.touch("go")
  await expect(chat.ends).toHaveCount(1)
  await expect.poll(() => chat.isAtEnd()).toBe(true)
  await expect(chat.toEnd).toBeHidden()

  // The last words are in view, though not the space below them.
  await chat.measure((box) => {
    box.scrollTop -= 30
  })
  await expect(chat.ends.last()).toBeInViewport({ ratio: 1 })
  await expect(chat.toEnd).toBeHidden()
  await chat.measure((box) => {
    box.scrollTop -= 200
  })
  await expect(chat.toEnd).toBeVisible()
  await chat.toEnd.click()

  await newChat(shell)
  await chat.say("later")
  await page.keyboard.press("Alt+0")
  await liminal.touch("go-later")
  const row = shell.now.locator(".now-row")
  await expect(row).toContainText("Later.")
  await expect(row).toHaveAttribute("data-mood", "unread")
  await row.focus()
  await page.keyboard.press("Enter")
  await expect(chat.words).toHaveText("Later.")
  await expect(chat.toEnd).toBeHidden()
  await chat.askAndWait("hello")
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
