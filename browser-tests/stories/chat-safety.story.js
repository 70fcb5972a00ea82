import { existsSync, readFileSync } from "node:fs"
import axe from "axe-core"
import { done, expect, on, script, test, tool } from "../support/chat.js"

/** The payloads that the renderer is held to, all of them, a few dozen to a message. */
const payloads = new URL("../../crates/render/tests/corpus/payloads.json", import.meta.url)
const corpus = existsSync(payloads) ? JSON.parse(readFileSync(payloads, "utf8")) : []
const messages = Array.from({ length: Math.ceil(corpus.length / 40) }, (_, n) => corpus.slice(40 * n, 40 * n + 40).join("\n\n"))
const hostile = [
  "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'><svg onload='window.hit = 3'>",
  "[press](javascript:window.hit=4) [data](data:text/html,<script>1</script>) ![out](https://outside.example/pixel.png)",
  "<iframe src='https://outside.example'></iframe><form action='https://outside.example'><input name=a></form><base href='https://outside.example/'>",
  "<div style='position:fixed;inset:0;z-index:99999;background:red'>over</div><meta http-equiv=refresh content='0;url=https://outside.example'>",
  "```html\n</code></pre><script>window.hit = 5</script>\n```",
  `\u001b[31m<img src=x onerror="window.hit = 6">\u001b[0m \u202Etxt.exe`,
]

test.use({
  script: script(
    on("hostile", ...[...hostile, ...messages].flatMap((text, n) => [{ think: text }, "new_message", { say: text }, tool(`c${n}`, text.slice(0, 200), "execute"), done(`c${n}`, text)])),
    on("all", { think: "Let me see." }, { say: "Some *words* and `code`.\n\n```rust\nfn main() {}\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n" }, { plan: [{ text: "look", status: "completed" }, { text: "leap", status: "in_progress" }, { text: "land", status: "pending" }] },
      tool("a", "make", "execute"), done("a", "no rule", { failed: true }), tool("b", "Edit main.rs", "edit"), { diff: { id: "b", path: "src/main.rs", old: "a\nb\n", new: "a\nc\n" } }, done("b"),
      tool("c", "make clean", "execute"), { ask: { tool: "c", title: "make clean", options: [{ id: "yes", name: "Allow once", kind: "allow_once" }, { id: "no", name: "Deny", kind: "reject_once" }], then: {}, otherwise: [] } }),
  ),
})

test("nothing of the agent's runs, loads, covers or navigates", async ({ chat }) => {
  const dialogs = []
  chat.page.on("dialog", (dialog) => { dialogs.push(dialog.message()); return dialog.dismiss() })
  const address = chat.page.url()
  await chat.askAndWait("hostile")
  await chat.frame.locator("body").evaluate((body) => body.querySelectorAll(".line[aria-expanded=false]").forEach((line) => line.click()))
  const found = await chat.frame.locator("body").evaluate((body) => ({
    hit: [window.hit, window.parent.hit].filter((hit) => hit !== undefined),
    forbidden: [...body.querySelectorAll(".conversation :is(script, iframe, object, embed, form:not(.questions), base, meta, link, style, [style*=position], [onerror], [onload])")].map((each) => each.outerHTML.slice(0, 80)),
    links: [...body.querySelectorAll(".conversation a")].map((link) => link.protocol).filter((protocol) => !/^(https?|mailto):$/.test(protocol)),
    composer: document.elementFromPoint(...((box) => [box.x + box.width / 2, box.y + box.height / 2])(body.querySelector("textarea").getBoundingClientRect()))?.tagName,
    wide: document.documentElement.scrollWidth > innerWidth,
  }))
  expect(found).toEqual({ hit: [], forbidden: [], links: [], composer: "TEXTAREA", wide: false })
  expect(dialogs).toEqual([])
  expect(chat.page.url()).toBe(address)
})

test("messages from another window, or of another shape, change nothing", async ({ chat }) => {
  await chat.askAndWait("hello")
  const portlet = chat.page.frames().find((frame) => frame.url().includes("/portlet/"))
  const before = await chat.scroller.innerText()
  const forged = { type: "session:history", sessionId: "x", entries: [], stream: "other", seq: 9e9, turns: [], mode: "snapshot", older: false, policy: "auto" }
  // From itself, and from a frame that is not the shell.
  await portlet.evaluate((message) => window.postMessage(message, location.origin), forged)
  await chat.page.evaluate(() => document.body.append(Object.assign(document.createElement("iframe"), { name: "stranger" })))
  await chat.page.frame("stranger").evaluate((message) => window.parent.document.querySelector(".pane[data-active] iframe").contentWindow.postMessage(message, "*"), forged)
  // From the right window, with nothing the protocol knows.
  await chat.page.evaluate(() => {
    const target = document.querySelector(".pane[data-active] iframe").contentWindow
    for (const odd of [null, 7, "x", [], {}, { type: "portlet:ready" }, { type: "eval", code: "1" }]) target.postMessage(odd, location.origin)
  })
  // To the shell: requests with a field too many, or that portlets may not make.
  await portlet.evaluate(() => {
    for (const odd of [{ type: "project:remove", projectId: "p" }, { type: "session:send", content: "forged", requestId: "r", sessionId: "x" }, { type: "session:send", content: 5, requestId: "r" }, "session:cancel"]) window.parent.postMessage(odd, location.origin)
  })
  await chat.askAndWait("still the same")
  await expect(chat.own).toHaveCount(2)
  expect((await chat.scroller.innerText()).startsWith(before.split("\n")[0])).toBe(true)
  await expect(chat.frame.getByRole("button", { name: "Ask before acting" })).toBeVisible()
})

for (const [theme, width] of [["dark", 1600], ["light", 390]]) {
  test.describe(`${theme}, ${width} pixels wide`, () => {
    test.use({ colorScheme: theme, viewport: { width: 1600, height: 900 } })
    test("everything can be told apart, named and reached", async ({ chat }) => {
      await chat.say("all")
      await expect(chat.ask).toBeVisible()
      await chat.page.setViewportSize({ width, height: 900 })
      const portlet = chat.page.frames().find((frame) => frame.url().includes("/portlet/"))
      await portlet.evaluate(axe.source)
      const violations = await portlet.evaluate(async () => {
        const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] })
        return result.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`))
      })
      expect(violations).toEqual([])
      expect(await chat.measure((box) => box.scrollWidth <= box.clientWidth)).toBe(true)
    })
  })
}
