import { done, expect, on, script, test, tool } from "../support/chat.js"

const COUNT = 450
const counted = Array.from({ length: COUNT }, (_, n) => ["new_message", { say: `Number ${n + 1} of them.` }]).flat()

test.use({
  script: script(
    on("count", ...counted),
    on("bold", { say: "A **walrus** and a `walrus`, but no <b>sea</b> lion." }),
    on("run", tool("c", "Run seals", "execute"), done("c", "one walrus in the output"), { say: "Ran it." }),
  ),
})

const field = (chat) => chat.frame.getByRole("textbox", { name: "Find in this conversation" })
const count = (chat) => chat.frame.locator(".find-count")
const numbered = (chat, n) => chat.words.getByText(`Number ${n} of them.`, { exact: true })
/** The marked text, current or not. */
const marked = (chat, name) =>
  chat.frame
    .locator("body")
    .evaluate((_, each) => [...(CSS.highlights.get(each) ?? [])].map((range) => range.toString()), name)

async function countsToMany(chat) {
  await chat.say("count")
  await expect(numbered(chat, COUNT)).toBeInViewport({ timeout: 60_000 })
  await expect(chat.working).toBeHidden()
  // After a reload only the end is loaded.
  await chat.page.reload()
  await expect(numbered(chat, COUNT)).toBeInViewport()
  await expect(chat.composer).toBeVisible()
}

test("text is found in the whole history, also in what was never loaded, and from one hit to the next", async ({
  chat,
}) => {
  test.slow()
  await countsToMany(chat)
  await chat.composer.press("Control+f")
  await expect(field(chat)).toBeFocused()
  await field(chat).fill("number 4")
  // 4, 40 to 49, 400 to 450.
  await expect(count(chat)).toHaveText("62 of 62")
  await expect(numbered(chat, 450)).toBeInViewport()
  await field(chat).press("Enter")
  await expect(count(chat)).toHaveText("1 of 62")
  await expect(numbered(chat, 4)).toBeInViewport()
  await expect.poll(() => marked(chat, "found-current")).toEqual(["Number 4"])
  await field(chat).press("Shift+Enter")
  await expect(count(chat)).toHaveText("62 of 62")
  await expect(numbered(chat, 450)).toBeInViewport()
  await field(chat).fill("number 4 of")
  await expect(count(chat)).toHaveText("1 of 1")
  await expect(numbered(chat, 4)).toBeInViewport()
  await field(chat).fill("number 451")
  await expect(count(chat)).toHaveText("No matches")
  await field(chat).press("Escape")
  await expect(field(chat)).toBeHidden()
  await expect(chat.composer).toBeFocused()
  await expect.poll(() => marked(chat, "found")).toEqual([])
})

test("hits are in the text as it is shown, also in folded output, which opens", async ({ chat }) => {
  await chat.askAndWait("bold")
  await chat.askAndWait("run")
  await expect(chat.frame.getByText("one walrus in the output")).toBeHidden()
  await chat.composer.press("Control+f")
  await field(chat).fill("walrus")
  await expect(count(chat)).toHaveText("3 of 3")
  await expect(chat.frame.getByText("one walrus in the output")).toBeVisible()
  await field(chat).press("Shift+Enter")
  await expect(count(chat)).toHaveText("2 of 3")
  await expect.poll(() => marked(chat, "found-current")).toEqual(["walrus"])
  await expect.poll(() => marked(chat, "found")).toHaveLength(2)
  await field(chat).fill("walrus AND a walrus")
  await expect(count(chat)).toHaveText("1 of 1")
  await field(chat).fill("<b>sea")
  await expect(count(chat)).toHaveText("1 of 1")
  await chat.say("bold")
  await chat.frame.getByRole("button", { name: "Next", exact: true }).click()
  await expect(count(chat)).toHaveText(/of 2$/)
})

test("the first Ctrl F is ours, from the sidebar too, and the second one is the browser's", async ({ chat, page }) => {
  await chat.askAndWait("bold")
  /** Whether the page took a key press from the browser. */
  const isTaken = async (root, key) => {
    await root.evaluate((body) =>
      body.ownerDocument.defaultView.addEventListener("keydown", (event) => {
        body.dataset.taken = String(event.defaultPrevented)
      }),
    )
    await page.keyboard.press(key)
    return root.evaluate((body) => body.dataset.taken)
  }
  const portlet = chat.frame.locator("body")
  expect(await isTaken(portlet, "Control+f")).toBe("true")
  await expect(field(chat)).toBeFocused()
  expect(await isTaken(portlet, "Control+f")).toBe("false")
  await field(chat).press("Escape")
  await page.getByRole("button", { name: "Add project" }).focus()
  expect(await isTaken(page.locator("body"), "Control+f")).toBe("true")
  await expect(field(chat)).toBeFocused()
})

test("Alt with the arrows goes from one's own message to the next, and past the last one to the end", async ({
  chat,
}) => {
  test.slow()
  for (const text of ["first of mine", "second of mine"]) await chat.askAndWait(text)
  await chat.say("count")
  await expect(numbered(chat, COUNT)).toBeInViewport({ timeout: 60_000 })
  await expect(chat.working).toBeHidden()
  await chat.page.reload()
  await expect(numbered(chat, COUNT)).toBeInViewport()
  const own = (text) => chat.own.filter({ hasText: text })
  for (const text of ["count", "second of mine", "first of mine"]) {
    await chat.composer.press("Alt+ArrowUp")
    await expect(own(text)).toHaveClass(/revealed/)
    await expect(own(text)).toBeInViewport()
  }
  await chat.composer.press("Alt+ArrowDown")
  await chat.composer.press("Alt+ArrowDown")
  await expect(own("count")).toBeInViewport()
  await chat.composer.press("Alt+ArrowDown")
  await expect(numbered(chat, COUNT)).toBeInViewport()
})
