import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { expect, on, script, test } from "../support/chat.js"

const hang = { on: { exact: "hang" }, steps: [{ say: "Hm." }, "wait_for_cancel"] }
test.use({ script: { ...script(), rules: [hang, { on: "any", steps: ["say_prompt"] }] } })

const chips = (chat) => chat.frame.locator(".attach .draft-chip")
const sent = (chat) => chat.own.last().locator(".chip")
const notice = (chat) => chat.frame.locator(".attach-notice")

/** A picture of this size, as a file in the page. */
const picture = (chat, name, type, width, height, how) =>
  chat.composer.evaluate(
    async (input, { name, type, width, height, how }) => {
      const canvas = document.createElement("canvas")
      Object.assign(canvas, { width, height })
      const context = canvas.getContext("2d")
      context.fillStyle = "teal"
      context.fillRect(0, 0, width, height / 2)
      const blob = await new Promise((resolve) => canvas.toBlob(resolve, type))
      const data = new DataTransfer()
      data.items.add(new File([blob], name, { type }))
      if (how === "paste") input.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }))
      else
        for (const kind of ["dragover", "drop"])
          input.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }))
    },
    { name, type, width, height, how },
  )

const file = (chat, name, type, text) =>
  chat.composer.evaluate(
    (input, { name, type, text }) => {
      const data = new DataTransfer()
      data.items.add(new File([text], name, { type }))
      input.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
    },
    { name, type, text },
  )

const paste = (chat, text) =>
  chat.composer.evaluate((input, text) => {
    const data = new DataTransfer()
    data.setData("text/plain", text)
    return input.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
  }, text)

test("a pasted picture survives a reload, reaches the agent, and stays in the message", async ({ chat, page }) => {
  await picture(chat, "shot.png", "image/png", 60, 40, "paste")
  await expect(chips(chat).getByRole("button", { name: "Picture shot.png" })).toBeVisible()
  await expect(chips(chat).locator("img")).toBeVisible()
  await chat.composer.fill("what is this")
  await page.reload()
  await expect(chips(chat).locator("img")).toBeVisible()
  await expect(chat.composer).toHaveValue("what is this")
  await chat.composer.press("Enter")
  await expect(chat.said).toContainText("[a picture, image/png,")
  await expect(chips(chat)).toHaveCount(0)
  await expect(sent(chat).locator("img")).toBeVisible()
  await page.reload()
  await expect(sent(chat).locator("img")).toBeVisible()
  await sent(chat).click()
  const shown = chat.frame.getByRole("dialog", { name: "shot.png" }).locator("img")
  await expect(shown).toHaveJSProperty("naturalWidth", 60)
})

test("a dropped photograph is made smaller, and may be all of a message", async ({ chat }) => {
  await picture(chat, "photo.jpg", "image/jpeg", 3000, 1500, "drop")
  await expect(chips(chat).locator("img")).toHaveJSProperty("naturalWidth", 2000)
  await chat.composer.press("Enter")
  await expect(chat.said).toContainText("[a picture, image/jpeg,")
  await expect(sent(chat)).toHaveCount(1)
})

test("a picture is picked from a file, and taken away and back", async ({ chat, page }) => {
  await chat.frame.getByRole("button", { name: "Attach" }).click()
  const choosing = page.waitForEvent("filechooser")
  await chat.frame.getByRole("menuitem", { name: "Picture" }).click()
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  const chooser = await choosing
  expect(await chooser.element().getAttribute("accept")).toBe("image/*")
  await chooser.setFiles({ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") })
  await expect(chips(chat)).toHaveCount(1)
  await chips(chat).getByRole("button", { name: "Remove dot.png" }).click()
  await expect(chips(chat)).toHaveCount(0)
  await notice(chat).getByRole("button", { name: "Undo" }).click()
  await expect(chips(chat)).toHaveCount(1)
})

test("what is taken away while it is uploaded comes back whole", async ({ chat, page }) => {
  let release = () => {}
  const held = new Promise((resolve) => (release = () => resolve(undefined)))
  await page.route("**/api/attachment?*", async (route) => {
    await held
    await route.continue()
  })
  await picture(chat, "shot.png", "image/png", 60, 40, "paste")
  await chips(chat).getByRole("button", { name: "Remove shot.png" }).click()
  await expect(chips(chat)).toHaveCount(0)
  const uploaded = page.waitForResponse("**/api/attachment?*")
  release()
  await uploaded
  await notice(chat).getByRole("button", { name: "Undo" }).click()
  await expect(chips(chat).locator("img")).toBeVisible()
})

test("a long paste folds into a chip that opens and can be put back", async ({ chat }) => {
  const log = Array.from({ length: 214 }, (_, n) => `ERROR gateway line ${n}`).join("\n")
  expect(await paste(chat, "a short one")).toBe(true)
  expect(await paste(chat, log)).toBe(false)
  await expect(chips(chat)).toContainText(["ERROR gateway line 0"])
  await expect(chips(chat)).toContainText(["214 lines"])
  await chips(chat).locator(".chip").click()
  const dialog = chat.frame.getByRole("dialog")
  await expect(dialog).toContainText("ERROR gateway line 213")
  await dialog.getByRole("button", { name: "Put into the message" }).click()
  await expect(chat.composer).toHaveValue(log)
  await expect(chips(chat)).toHaveCount(0)
  await chat.composer.fill("")
  await paste(chat, log)
  await expect(chips(chat).locator("button.chip")).toBeVisible()
  await chat.say("why")
  await expect(chat.said).toContainText("[a text,")
  await expect(sent(chat)).toContainText("214 lines")
})

test("what can't be attached is refused in words, and the message stays", async ({ chat }) => {
  await chat.composer.fill("my words")
  await file(chat, "drawing.svg", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>")
  await expect(notice(chat)).toContainText("SVG can't be attached as a picture.")
  await file(chat, "broken.png", "image/png", "not a picture")
  await expect(notice(chat)).toContainText("broken.png can't be read as a picture.")
  await file(chat, "a.pdf", "application/pdf", "%PDF\0")
  await expect(notice(chat)).toContainText("a.pdf is neither a picture nor text.")
  await file(chat, "huge.bin", "", "x".repeat(20 * 1024 * 1024 + 1))
  await expect(notice(chat)).toContainText("huge.bin is larger than 20 MiB.")
  await expect(chips(chat)).toHaveCount(0)
  await expect(chat.composer).toHaveValue("my words")
})

test.describe("an agent that takes no pictures", () => {
  test.use({ script: { ...script(), about: { no_pictures: true }, rules: [{ on: "any", steps: ["say_prompt"] }] } })

  test("gets none; the page says so, and the message stays", async ({ chat }) => {
    await chat.composer.fill("my words")
    await picture(chat, "shot.png", "image/png", 60, 40, "paste")
    await expect(notice(chat)).toContainText("Scripted doesn't take pictures.")
    await expect(chips(chat)).toHaveCount(0)
    await file(chat, "log.txt", "text/plain", "a line\n")
    await expect(chips(chat)).toHaveCount(1)
    await expect(chat.composer).toHaveValue("my words")
  })
})

test("a picture that is large, or not what its name says, is attached; hundreds of files are not", async ({ chat }) => {
  await chat.composer.fill("my words")
  // A JPEG by another name, a picture of 19 MB, and one whose header claims 100,000 by 100,000.
  await chat.composer.evaluate(async (input) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 6, height: 4 })
    canvas.getContext("2d").fillRect(0, 0, 3, 4)
    const drawn = (type) => new Promise((resolve) => canvas.toBlob(resolve, type))
    const claim = new Uint8Array(await (await drawn("image/png")).arrayBuffer())
    new DataView(claim.buffer).setUint32(16, 100_000)
    new DataView(claim.buffer).setUint32(20, 100_000)
    const data = new DataTransfer()
    const add = (name, ...parts) => data.items.add(new File(parts, name, { type: "image/png" }))
    add("photo.png", await drawn("image/jpeg"))
    add("large.png", await drawn("image/png"), new Uint8Array(19_000_000))
    add("endless.png", claim)
    input.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
  })
  await expect(notice(chat)).toContainText("endless.png can't be read as a picture.")
  await expect(chips(chat).locator("img")).toHaveCount(2)
  await chat.composer.evaluate((input) => {
    const data = new DataTransfer()
    for (let n = 0; n < 500; n += 1) data.items.add(new File(["some text"], `${n}.txt`, { type: "text/plain" }))
    input.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
  })
  await expect(notice(chat)).toContainText("A message can have at most 50 attachments.")
  await expect(chips(chat)).toHaveCount(50)
  await expect(chips(chat).locator(".spinner")).toHaveCount(0)
  await expect(notice(chat)).toContainText("A message can have at most 50 attachments.")
  await expect(chat.composer).toHaveValue("my words")
  await chat.composer.press("Enter")
  await expect(sent(chat)).toHaveCount(50)
  await expect(chat.ends).toHaveCount(1)
})

test("mentioned files and lines are chips of the sent message", async ({ chat, liminal }) => {
  const work = join(liminal.home, "work")
  await mkdir(join(work, "src"), { recursive: true })
  await writeFile(join(work, "src/main.rs"), "one\ntwo\nthree\nfour\n")
  await chat.askAndWait("see @src/main.rs and @src/main.rs:2-3")
  await expect(sent(chat)).toHaveText([/src\/main\.rs$/, /src\/main\.rs:2-3.*2 lines/])
  await writeFile(join(work, "src/main.rs"), "changed\n")
  await sent(chat).last().click()
  await expect(chat.frame.getByRole("dialog")).toContainText("two\nthree")
})

test("a message with attachments waits in the queue with them", async ({ chat }) => {
  await chat.say("hang")
  await expect(chat.said).toContainText("Hm.")
  await picture(chat, "shot.png", "image/png", 6, 4, "paste")
  await expect(chips(chat).locator("img")).toBeVisible()
  await chat.composer.press("ControlOrMeta+Enter")
  const queued = chat.frame.locator(".queued")
  await expect(queued.locator("img")).toBeVisible()
  await expect(chips(chat)).toHaveCount(0)
  await chat.page.reload()
  await expect(queued.locator("img")).toBeVisible()
  await queued.getByRole("button", { name: "Stop and send" }).click()
  await expect(sent(chat).locator("img")).toBeVisible()
  await expect(chat.said.last()).toContainText("[a picture, image/png,")
  await expect(queued).toHaveCount(0)
})

test("a session with attachments is exported as a zip", async ({ chat, page }) => {
  await picture(chat, "shot.png", "image/png", 6, 4, "paste")
  await expect(chips(chat).locator("img")).toBeVisible()
  await chat.askAndWait("what is this")
  for (const item of ["Export as Markdown", "Export as JSON"]) {
    const downloading = page.waitForEvent("download")
    await chat.shell.sessionMenu("what is this", item)
    const download = await downloading
    expect(download.suggestedFilename()).toBe("what is this.zip")
    expect((await readFile(await download.path())).subarray(0, 2).toString()).toBe("PK")
  }
})

test.describe("an agent that takes messages while it works", () => {
  test.use({
    script: {
      ...script(on("hang", { say: "Half a sentence" }, "wait_for_message", { say: "Now the rest." })),
      about: { steering: true },
    },
  })

  test("gets a message with a picture in the middle of its turn, and the button says so", async ({ chat }) => {
    await chat.say("hang")
    await expect(chat.said).toContainText("Half a sentence")
    await picture(chat, "shot.png", "image/png", 6, 4, "paste")
    await expect(chips(chat).locator("img")).toBeVisible()
    await chat.say("look at this")
    await chat.frame.locator(".queued").getByRole("button", { name: "Interrupt and send" }).click()
    await expect(sent(chat).locator("img")).toBeVisible()
    await expect(chat.said.last()).toContainText("Now the rest.")
    await expect(chat.ends).toHaveCount(1)
  })
})

test("the composer stays above a phone's keyboard", async ({ page, liminal, shell }) => {
  void liminal
  await page.evaluate(() => {
    Object.defineProperty(window.visualViewport, "height", { get: () => 300 })
    window.visualViewport.dispatchEvent(new Event("resize"))
  })
  await expect(page.locator(".app")).toHaveCSS("height", "300px")
  void shell
})
