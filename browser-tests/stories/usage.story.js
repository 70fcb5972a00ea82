import { expect, on, script, test } from "../support/chat.js"

const resetsAt = Math.floor(Date.now() / 1000) + 2 * 3600
const limits = (status, utilization) => ({
  raw_update: {
    type: "rate_limit_event",
    rate_limit_info: {
      status,
      resetsAt,
      rateLimitType: "five_hour",
      unifiedWindows: { five_hour: { utilization, resetsAt } },
    },
  },
})

test.use({
  player: "Claude Code",
  script: {
    ...script(
      on("half", { usage: { used: 124000, size: 200000 } }, limits("allowed", 0.42), { say: "Half." }),
      on("hang", { usage: { used: 124000, size: 200000 } }, { say: "Half." }, "wait_for_cancel"),
      on("more", { usage: { used: 170000, size: 200000 } }, { say: "More." }),
      on(
        "/compact",
        { raw_update: { type: "system", subtype: "status", status: "compacting" } },
        {
          raw_update: {
            type: "system",
            subtype: "compact_boundary",
            compact_metadata: { pre_tokens: 170000, post_tokens: 3000 },
          },
        },
        { raw_update: { type: "user", isSynthetic: true, message: { content: "We were **busy**." } } },
        { usage: { used: 3000, size: 200000 } },
      ),
      on("/clear", { raw_update: { type: "conversation_reset", trigger: "clear" } }),
      on("limit", limits("rejected", 1), { fail: { code: -32603, message: "You've hit your 5-hour limit" } }),
    ),
    about: { commands: [{ name: "compact", description: "Summarise" }] },
  },
})

test("a ring shows how full the context is, with the details behind it", async ({ chat }) => {
  await chat.say("half")
  const meter = chat.frame.getByRole("button", { name: "Usage: context 62% full" })
  await expect(meter).toHaveText("62%")
  await meter.click()
  const panel = chat.frame.getByRole("group", { name: "Usage" })
  await expect(panel).toContainText("124k of 200k tokens (62%)")
  await expect(panel).toContainText("5-hour limit")
  await expect(panel).toContainText("42% used, resets")
  await chat.page.keyboard.press("Escape")
  await expect(meter).toHaveAttribute("aria-expanded", "false")
})

test("a click on Stop opens nothing under the pointer", async ({ chat }) => {
  await chat.say("half")
  await expect(chat.ends).toHaveCount(1)
  await chat.say("hang")
  await expect(chat.said).toHaveCount(2)
  const meter = chat.frame.getByRole("button", { name: "Usage: context 62% full" })
  const before = await meter.boundingBox()
  await chat.stopButton.click()
  await expect(chat.stopButton).toBeHidden()
  expect(await meter.boundingBox()).toEqual(before)
  await expect(chat.frame.getByRole("group", { name: "Usage" })).toBeHidden()
})

test("nearly full it offers to compact, and the summary is a line across the conversation", async ({ chat }) => {
  await chat.say("more")
  await chat.frame.getByRole("button", { name: "Compact", exact: true }).click()
  const boundary = chat.frame.locator(".boundary")
  await expect(boundary).toContainText("Conversation summarised (170k → 3k tokens)")
  await boundary.getByRole("button", { name: "Show summary" }).click()
  await expect(boundary.locator("strong")).toHaveText("busy")
  await expect(chat.frame.getByRole("button", { name: "Usage: context 2% full" })).toBeVisible()
  await expect(chat.frame.getByRole("button", { name: "Compact", exact: true })).toBeHidden()
})

test("a cleared conversation says so and keeps what was above", async ({ chat }) => {
  await chat.say("half")
  await expect(chat.said).toHaveText(/Half\./)
  await chat.say("/clear")
  await expect(chat.frame.locator(".boundary")).toContainText("Conversation cleared.")
  await expect(chat.said).toHaveText(/Half\./)
})

test("a used-up limit offers to continue when it is lifted, which can be cancelled", async ({ chat }) => {
  await chat.say("limit")
  await expect(chat.ends).toContainText("The limit resets at")
  await chat.ends.getByRole("button", { name: /^Continue at/ }).click()
  const planned = chat.frame.locator(".planned")
  await expect(planned).toContainText("“Continue.” will be sent at")
  await planned.getByRole("button", { name: "Cancel" }).click()
  await expect(planned).toHaveCount(0)
})
