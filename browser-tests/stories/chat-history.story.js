import { expect, on, script, test } from "../support/chat.js"

const COUNT = 450
const counted = Array.from({ length: COUNT }, (_, n) => ["new_message", { say: `Number ${n + 1} of them.` }]).flat()

test.use({ script: script(on("count", ...counted)) })

/** Opens a long session near its beginning, through a search. */
async function atTheBeginning(chat) {
  const { page } = chat
  await chat.say("count")
  await expect(numbered(chat, COUNT)).toBeInViewport({ timeout: 60_000 })
  await expect(chat.working).toBeHidden()
  // After a reload only the end is loaded.
  await page.reload()
  await expect(numbered(chat, COUNT)).toBeInViewport()
  await page.getByRole("button", { name: "Search everything" }).click()
  await page.keyboard.type('"number 40 of them" ')
  // Until the answer to all of it is there, the hits are those of what was typed before.
  await page.locator(".palette-hit").filter({ hasText: "Number 40 of them." }).first().click()
  await expect(numbered(chat, 40)).toBeInViewport()
}

const numbered = (chat, n) => chat.words.getByText(`Number ${n} of them.`, { exact: true })

test.slow()

test("what was said long ago is read with what stands around it, and on from there without a hole", async ({
  chat,
}) => {
  await atTheBeginning(chat)
  await expect(numbered(chat, 36)).toBeVisible()
  await expect(chat.toEnd).toBeVisible()
  const seen = new Set()
  // Rows exist well beyond the view, so steps of half a view skip none.
  await expect
    .poll(
      async () => {
        for (const text of await chat.words.allTextContents()) seen.add(Number(text.match(/\d+/)?.[0]))
        await chat.measure(async (box) => {
          box.scrollTop += box.clientHeight / 2
          // The page makes rows in frames, of which a busy machine draws few.
          for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame)
        })
        return seen.has(COUNT)
      },
      { intervals: [20], timeout: 60_000 },
    )
    .toBe(true)
  for (let n = 40; n <= COUNT; n += 1) expect(seen.has(n), `number ${n} was seen`).toBe(true)
  await chat.measure((box) => {
    box.scrollTop = box.scrollHeight
  })
  await expect(chat.toEnd).toBeHidden()
})

test("from what was said long ago one button leads to the end, and what is said then is seen", async ({ chat }) => {
  await atTheBeginning(chat)
  await chat.toEnd.click()
  await expect(numbered(chat, COUNT)).toBeInViewport()
  await chat.say("something else")
  await expect(chat.words.getByText("All right.")).toBeInViewport()
})

test("who speaks while reading what was said long ago sees it said", async ({ chat }) => {
  await atTheBeginning(chat)
  await chat.say("something else")
  await expect(chat.words.getByText("All right.")).toBeInViewport()
  await expect(numbered(chat, COUNT)).toBeInViewport()
})

test("a history that comes late takes no focus from where the user went meanwhile", async ({
  chat,
  shell,
  line,
  page,
}) => {
  await chat.askAndWait("hello")
  await page.reload()
  await shell.isConnected()
  await shell.tab("hello").locator(".tab-close").click()
  const passOn = line.holdAt("session:open")
  await shell.session("hello").locator(".session-open").click()
  await expect(chat.composer).toBeFocused()
  await shell.tab("hello").click({ button: "right" })
  const menu = page.getByRole("menu")
  await expect(menu).toBeVisible()
  passOn()
  await expect(chat.own).toContainText("hello")
  await expect(menu).toBeVisible()
})
