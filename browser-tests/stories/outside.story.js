import { randomUUID } from "node:crypto"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { expect, on, script, test } from "../support/chat.js"

test.use({ script: script(on("*", { say: "Hello." })) })

/** A transcript as Claude Code writes it in a terminal. */
function madeInTerminal(liminal, id, words, more = []) {
  const folder = join(liminal.home, ".claude", "projects", "work")
  mkdirSync(folder, { recursive: true })
  const line = { cwd: join(liminal.home, "work"), timestamp: "2026-01-02T03:04:05.000Z", isSidechain: false }
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

  rmSync(path)
  await page.getByRole("button", { name: "1 more from the terminal" }).click()
  await dialog.getByRole("button", { name: "Keep all" }).click()
  await expect(page.getByRole("button", { name: "more from the terminal" })).toBeHidden()
  await expect(page.locator(".session", { hasText: "Shed" })).toBeVisible()
  await page.reload()
  await expect(chat.words).toHaveText("Mended.")
})
