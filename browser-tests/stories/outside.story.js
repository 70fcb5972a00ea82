import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { appendFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, on, script, test } from "../support/chat.js"

test.use({ script: script(on("*", { say: "Hello." })) })

/** A transcript as Claude Code writes it in a terminal. */
function madeInTerminal(liminal, id, words, more = []) {
  const cwd = join(liminal.home, "work")
  const folder = join(liminal.home, ".claude", "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"))
  mkdirSync(folder, { recursive: true })
  const line = { cwd, timestamp: "2026-01-02T03:04:05.000Z", isSidechain: false }
  const answer = { id: "m", model: "m", stop_reason: "end_turn", content: [{ type: "text", text: "Mended." }] }
  const [said, answered] = [randomUUID(), randomUUID()]
  const lines = [
    { ...line, type: "user", uuid: said, parentUuid: null, message: { role: "user", content: words } },
    { ...line, type: "assistant", uuid: answered, parentUuid: said, message: answer },
    ...more,
  ]
  const path = join(folder, `${id}.jsonl`)
  writeFileSync(path, lines.map((each) => `${JSON.stringify(each)}\n`).join(""))
  return path
}

/** The id of a file's last record. */
const lastOf = (path) => JSON.parse(readFileSync(path, "utf8").trim().split("\n").at(-1)).uuid

const [one, two] = ["1b671a64-40d5-491e-99b0-da01ff1f3341", "1b671a64-40d5-491e-99b0-da01ff1f3342"]

test("sessions made in a terminal are found, opened and kept", async ({ chat, liminal }) => {
  const { page } = chat
  const path = madeInTerminal(liminal, one, "Mend the cart")
  madeInTerminal(liminal, two, "Paint the shed", [{ type: "custom-title", customTitle: "Shed" }])
  await page.reload()
  await page.getByRole("button", { name: "2 more from the terminal" }).click()
  const dialog = page.getByRole("dialog", { name: "From the terminal in work" })
  await expect(dialog.getByRole("listitem")).toHaveCount(2)
  await dialog.getByRole("searchbox").fill("cart")
  await expect(dialog.getByRole("listitem")).toHaveCount(1)
  await dialog.getByRole("button", { name: "Mend the cart" }).click()
  await expect(dialog).toBeHidden()
  await expect(chat.own).toHaveText(/Mend the cart/)
  await expect(chat.words).toHaveText("Mended.")
  await expect(chat.composer).toBeFocused()

  rmSync(path)
  await page.getByRole("button", { name: "1 more from the terminal" }).click()
  await dialog.getByRole("button", { name: "Keep all" }).click()
  await expect(page.getByRole("status").filter({ hasText: "Kept 1 session." })).toBeVisible()
  await expect(page.getByRole("button", { name: "more from the terminal" })).toBeHidden()
  await expect(page.locator(".session", { hasText: "Shed" })).toBeVisible()
  await page.reload()
  await expect(chat.words).toHaveText("Mended.")
})

test("the list is narrowed by agent and branch, and says what is due for deletion", async ({ chat, liminal }) => {
  const { page } = chat
  const path = madeInTerminal(liminal, one, "Mend the cart")
  madeInTerminal(liminal, two, "Paint the shed")
  const old = new Date(Date.now() - 28 * 24 * 60 * 60 * 1000)
  utimesSync(path, old, old)
  await page.reload()
  await page.getByRole("button", { name: "2 more from the terminal, 1 due for deletion" }).click()
  const dialog = page.getByRole("dialog", { name: "From the terminal in work" })
  await expect(dialog.getByRole("listitem")).toHaveCount(2)
  await dialog.getByLabel("Date").selectOption({ label: "Last week" })
  await expect(dialog.getByRole("listitem")).toHaveText(/Paint the shed/)
  await expect(dialog.getByText("One transcript is due for deletion soon.")).toBeVisible()
  await dialog.getByRole("button", { name: "Keep it" }).click()
  await expect(page.locator(".session", { hasText: "Mend the cart" })).toBeVisible()
  await expect(page.getByRole("button", { name: "1 more from the terminal" })).toBeVisible()
})

test("the palette finds and opens a session that is not here yet", async ({ chat, liminal }) => {
  const { page } = chat
  madeInTerminal(liminal, one, "Mend the cart", [{ type: "custom-title", customTitle: "Till" }])
  await page.reload()
  await expect(page.getByRole("button", { name: "1 more from the terminal" })).toBeVisible()
  await page.keyboard.press("Control+k")
  const palette = page.getByRole("dialog", { name: "Search everything" })
  await palette.getByRole("combobox").fill("mend the cart")
  await palette.getByRole("group", { name: "From the terminal" }).getByRole("option", { name: "Till" }).click()
  await expect(chat.own).toHaveText(/Mend the cart/)
})

test.describe(() => {
  test.use({ player: "Claude Code", script: script(on("any", { say: "Hello." })) })

  test("a session in use in a terminal is followed, takes no message, and continues in a copy", async ({
    chat,
    liminal,
  }) => {
    const { page } = chat
    const path = madeInTerminal(liminal, one, "Mend the cart")
    const claude = spawn("sleep", ["600"], { argv0: "claude", cwd: join(liminal.home, "work") })
    await page.reload()
    await page.getByRole("button", { name: "1 more from the terminal" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Mend the cart" }).click()
    await expect(chat.words).toHaveText("Mended.")
    const line = { cwd: join(liminal.home, "work"), timestamp: "2026-01-02T03:05:05.000Z", isSidechain: false }
    const typed = { role: "user", content: "And the till" }
    const last = lastOf(path)
    appendFileSync(
      path,
      `${JSON.stringify({ ...line, type: "user", uuid: randomUUID(), parentUuid: last, message: typed })}\n`,
    )
    await expect(chat.own.last()).toHaveText(/And the till/)
    await expect(chat.frame.getByText("In use in a terminal.")).toBeVisible()
    await expect(chat.frame.getByRole("textbox", { name: "Message" })).toHaveJSProperty("readOnly", true)
    await chat.frame.getByRole("button", { name: "Continue in a copy" }).click()
    await expect(page.getByRole("tab", { name: /\(branch\)/ })).toHaveAttribute("aria-selected", "true")
    await expect(chat.own.last()).toHaveText(/And the till/)
    await chat.askAndWait("In the copy")
    await expect(chat.words.last()).toHaveText("Hello.")
    claude.kill()
  })
})
