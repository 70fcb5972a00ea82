import { expect, on, script, test } from "../support/chat.js"

const properties = {
  name: { type: "string", title: "Name", minLength: 2, pattern: "^[a-z]+$", description: "In lower case." },
  mail: { type: "string", title: "Mail", format: "email" },
  size: { type: "string", title: "Size", enum: ["small", "large"] },
  lines: { type: "integer", title: "Lines", minimum: 1, maximum: 9, default: 5 },
  share: { type: "number", title: "Share" },
  extras: { type: "array", title: "Extras", items: { type: "string", enum: ["tests", "docs"] } },
  open: { type: "boolean", title: "Public" },
}
const form = (requestedSchema) => ({ elicit: { mode: "form", message: "Tell me more", requestedSchema } })
const many = Object.fromEntries(
  Array.from({ length: 500 }, (_, n) => [`f${n}`, { type: "string", title: `Field ${n}` }]),
)
const url = "http://127.0.0.1:1/login?state=a%20b"

test.use({
  script: script(
    on("form", form({ type: "object", properties, required: ["name"] })),
    on("many", form({ type: "object", properties: many, required: ["f499"] })),
    on("page", { elicit: { mode: "url", message: "Please log in", url, elicitationId: "1" } }),
  ),
})

test("a form with every kind of field says what is wrong at the field, and is sent", async ({ chat, elsewhere }) => {
  await chat.say("form")
  await expect(chat.ask).toContainText("Tell me more")
  await expect((await elsewhere()).ask).toContainText("In lower case.")
  const send = chat.ask.getByRole("button", { name: "Send", exact: true })
  const name = chat.ask.getByRole("textbox", { name: "Name" })
  await send.click()
  await expect(name).toBeFocused()
  await expect(chat.ask.locator('[data-field="name"]')).toContainText("Needs an answer.")
  await name.fill("A")
  await expect(chat.ask.locator('[data-field="name"]')).toContainText("Must be at least 2 characters.")
  await name.fill("Ada")
  await expect(chat.ask.locator('[data-field="name"]')).toContainText("Must match the pattern")
  await name.fill("ada")
  await chat.ask.getByRole("textbox", { name: "Mail" }).fill("nobody")
  await chat.ask.getByRole("spinbutton", { name: "Lines" }).fill("12")
  await send.click()
  await expect(chat.ask.locator('[data-field="mail"]')).toContainText("Must be an email address.")
  await chat.ask.getByRole("textbox", { name: "Mail" }).fill("ada@example.com")
  await send.click()
  await expect(chat.ask.locator('[data-field="lines"]')).toContainText("Must be at most 9.")
  await chat.ask.getByRole("spinbutton", { name: "Lines" }).fill("7")
  await chat.ask.getByRole("radio", { name: "large" }).check()
  await chat.ask.getByRole("checkbox", { name: "docs" }).check()
  await chat.ask.getByRole("checkbox", { name: "Public" }).check()
  await send.click()
  await expect(chat.said).toContainText("Action: accept.")
  for (const part of ['"name": "ada"', '"lines": 7', '"size": "large"', '"docs"', '"open": true'])
    await expect(chat.said).toContainText(part)
  await expect(chat.said).not.toContainText("share")
  await expect(chat.answered).toHaveText(/^Answered by you, \d/)
  const kept = chat.frame.locator(".asked-answers")
  await expect(kept.locator("dt")).toHaveText(["Name", "Mail", "Size", "Lines", "Extras", "Public"])
  await expect(kept.locator("dd")).toHaveText(["ada", "ada@example.com", "large", "7", "docs", "Yes"])
})

test("a form can be declined or cancelled, and the agent is told which", async ({ chat }) => {
  await chat.say("form")
  await chat.ask.getByRole("button", { name: "Decline" }).click()
  await expect(chat.said).toHaveText(/Action: decline/)
  await expect(chat.answered).toHaveText(/^Declined by you/)
  await chat.say("form")
  await expect(chat.ask).toBeFocused()
  while ((await chat.ask.count()) > 0) await chat.page.keyboard.press("Escape")
  await expect(chat.said.last()).toHaveText(/Action: cancel/)
})

test("a form of 500 fields keeps its buttons in view", async ({ chat }) => {
  await chat.say("many")
  const send = chat.ask.getByRole("button", { name: "Send", exact: true })
  await expect(send).toBeInViewport()
  await send.click()
  const last = chat.ask.getByRole("textbox", { name: "Field 499", exact: true })
  await expect(last).toBeFocused()
  await last.fill("done")
  await last.press("Enter")
  await expect(chat.said).toContainText('"f499": "done"')
})

test("a page is shown in full and opens in a new tab, only on a click", async ({ chat, context, complaints }) => {
  // The tab that the user opens asks for the page; nothing is there.
  complaints.expect(/^http:\/\/127\.0\.0\.1:1$/)
  complaints.expectLostServer()
  await chat.say("page")
  await expect(chat.ask).toContainText(url)
  expect(context.pages()).toHaveLength(1)
  const opened = context.waitForEvent("page")
  await chat.ask.getByRole("button", { name: "Open the page" }).click()
  const tab = await opened
  expect(await tab.evaluate(() => window.opener)).toBeNull()
  await expect(chat.said).toHaveText(/Action: accept/)
  await expect(chat.answered).toHaveText(/^Page opened by you/)
})
