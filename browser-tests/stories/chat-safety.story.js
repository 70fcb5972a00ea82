import { readFileSync } from "node:fs"
import axe from "axe-core"
import { done, expect, on, script, test, tool } from "../support/chat.js"

/** All payloads of the renderer's tests. Each is its own paragraph, a few dozen per message. Each message is also sent
 * as a thought, as the output of a command and as a diff, and its first payloads as the titles of calls. */
const corpus = JSON.parse(
  readFileSync(new URL("../../crates/render/tests/corpus/payloads.json", import.meta.url), "utf8"),
)
const messages = Array.from({ length: Math.ceil(corpus.length / 24) }, (_, n) =>
  corpus
    .slice(24 * n, 24 * n + 24)
    .map((payload, at) => `Payload ${24 * n + at}:\n\n${payload}`)
    .join("\n\n---\n\n"),
)
const hostile = [
  "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'><svg onload='window.hit = 3'>",
  "[press](javascript:window.hit=4) [data](data:text/html,<script>1</script>) " +
    "![out](https://outside.example/pixel.png)",
  "<iframe src='https://outside.example'></iframe><form action='https://outside.example'><input name=a></form>" +
    "<base href='https://outside.example/'>",
  "<div style='position:fixed;inset:0;z-index:99999;background:red'>over</div>" +
    "<meta http-equiv=refresh content='0;url=https://outside.example'>",
  "```html\n</code></pre><script>window.hit = 5</script>\n```",
  `\u001b[31m<img src=x onerror="window.hit = 6">\u001b[0m \u202Etxt.exe`,
]

test.use({
  script: script(
    on(
      "hostile",
      ...[...hostile, ...messages].flatMap((text, n) => [
        { think: text },
        "new_message",
        { say: text },
        tool(`c${n}`, text.slice(0, 200), "execute", { input: { command: text } }),
        done(`c${n}`, text),
        tool(`d${n}`, `Edit ${n}`, "edit"),
        { diff: { id: `d${n}`, path: text.split("\n").at(-1).slice(0, 80), old: "a", new: text } },
        done(`d${n}`),
      ]),
    ),
    on(
      "one by one",
      ...corpus.flatMap((payload, n) => [
        "new_message",
        { say: payload },
        tool(`t${n}`, payload, "execute"),
        done(`t${n}`, ""),
      ]),
    ),
    on(
      "permit",
      ...corpus.slice(0, 1).map(() => ({
        ask: {
          title: corpus.join(" "),
          options: corpus.slice(0, 6).map((name, n) => ({ id: `o${n}`, name, kind: "allow_once" })),
          then: {},
          otherwise: [],
        },
      })),
    ),
    on(
      "all",
      { think: "Let me see." },
      { say: "Some *words* and `code`.\n\n```rust\nfn main() {}\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n" },
      {
        plan: [
          { text: "look", status: "completed" },
          { text: "leap", status: "in_progress" },
          { text: "land", status: "pending" },
        ],
      },
      tool("a", "make", "execute"),
      done("a", "no rule", { failed: true }),
      tool("b", "Edit main.rs", "edit"),
      { diff: { id: "b", path: "src/main.rs", old: "a\nb\n", new: "a\nc\n" } },
      done("b"),
      tool("c", "make clean", "execute"),
      {
        ask: {
          tool: "c",
          title: "make clean",
          options: [
            { id: "yes", name: "Allow once", kind: "allow_once" },
            { id: "no", name: "Deny", kind: "reject_once" },
          ],
          then: {},
          otherwise: [],
        },
      },
    ),
  ),
})

/** Content of the agent that got where it must not. */
function trespasses() {
  const room = document.querySelector(".conversation").getBoundingClientRect()
  const within = [...document.querySelectorAll(".column *")]
  return {
    ran: [window.hit, window.parent.hit].filter((hit) => hit !== undefined),
    forbidden: within
      .filter((each) =>
        each.matches(
          "script, iframe, frame, object, embed, form:not(.questions), base, meta, link, style, audio, video, " +
            "source, portal, img:not([src^='blob:'])",
        ),
      )
      .map((each) => each.outerHTML.slice(0, 80)),
    handlers: within
      .filter((each) =>
        [...each.attributes].some(
          ({ name }) =>
            name.startsWith("on") ||
            (name === "style" && !each.matches(".segment")) ||
            name === "srcdoc" ||
            name === "ping",
        ),
      )
      .map((each) => each.outerHTML.slice(0, 80)),
    links: within
      .filter((each) => each.matches("a"))
      .map((link) => link.protocol)
      .filter((protocol) => !/^(https?|mailto):$/.test(protocol)),
    // The agent's content stays within the conversation: nothing to its left or right. Above and below, content may
    // be scrolled out of view.
    beside: within
      .filter(
        (each) =>
          !each.closest("pre, .table, .rows, .term, .line-what") &&
          each.getClientRects().length > 0 &&
          (each.getBoundingClientRect().right > room.right + 1 || each.getBoundingClientRect().left < room.left - 1),
      )
      .map((each) => each.outerHTML.slice(0, 80)),
    lifted: within
      .filter((each) => ["fixed", "sticky"].includes(getComputedStyle(each).position))
      .map((each) => each.outerHTML.slice(0, 80)),
    composer: document.elementFromPoint(
      ...((box) => [box.x + box.width / 2, box.y + box.height / 2])(
        document.querySelector("textarea").getBoundingClientRect(),
      ),
    )?.tagName,
    header: document
      .elementFromPoint(
        ...((box) => [box.x + 4, box.y + box.height / 2])(
          document.querySelector(".header-agent").getBoundingClientRect(),
        ),
      )
      ?.closest("header")?.id,
    wide: document.documentElement.scrollWidth > innerWidth,
  }
}
const nothing = {
  ran: [],
  forbidden: [],
  handlers: [],
  links: [],
  beside: [],
  lifted: [],
  composer: "TEXTAREA",
  header: "header",
  wide: false,
}

for (const prompt of ["hostile", "one by one"]) {
  test.describe(prompt, () => {
    test("nothing of the agent's runs, loads, covers or navigates", async ({ chat, context, liminal }) => {
      test.slow()
      expect(corpus.length).toBeGreaterThan(250)
      // The frame of Now, which is behind the session, has loaded: what is requested later is the payloads' doing.
      await expect(chat.shell.now.locator("#keys kbd").first()).toBeAttached()
      const [dialogs, asked, moved] = [[], [], []]
      chat.page.on("dialog", (dialog) => {
        dialogs.push(dialog.message())
        return dialog.dismiss()
      })
      // Only our own scripts, styles and data may be requested, nothing that a payload names.
      context.on("request", (request) => {
        if (
          !/^\/(api|shell|portlet|shared|icons)\//.test(new URL(request.url()).pathname) ||
          !request.url().startsWith(liminal.origin)
        )
          asked.push(request.url())
      })
      context.on("page", (page) => moved.push(page.url()))
      chat.page.on("framenavigated", (frame) => moved.push(frame.url()))
      await chat.say(prompt)
      await expect(chat.ends).toHaveCount(1, { timeout: 60_000 })
      const portlet = chat.page.frames().find((frame) => frame.url().includes("/portlet/"))
      // Shows and checks every row and opens everything that opens, screen by screen.
      const seen = new Set()
      await chat.measure((box) => {
        box.scrollTop = 0
      })
      for (let isEnd = false; !isEnd;) {
        await portlet.evaluate(() =>
          document.querySelectorAll(".line[aria-expanded=false]").forEach((line) => line.click()),
        )
        expect(await portlet.evaluate(trespasses)).toEqual(nothing)
        for (const id of await portlet.evaluate(() =>
          [...document.querySelectorAll("[data-item]")].map((row) => row.dataset.item),
        ))
          seen.add(id)
        isEnd = await portlet.evaluate(async () => {
          const box = document.querySelector(".scroller")
          const before = box.scrollTop
          // Rows exist well beyond the view on both sides.
          box.scrollTop += box.clientHeight + 1000
          for (let n = 0; n < 6; n += 1) await new Promise(requestAnimationFrame)
          return box.scrollTop === before && document.querySelector(".above").hidden
        })
      }
      expect(seen.size).toBeGreaterThanOrEqual(prompt === "hostile" ? 4 * messages.length : 2 * corpus.length)
      expect({ dialogs, asked, moved }).toEqual({ dialogs: [], asked: [], moved: [] })
    })
  })
}

test("a permission made of payloads is text, and its options are buttons of ours", async ({ chat }) => {
  await chat.say("permit")
  await expect(chat.ask.getByRole("button").first()).toContainText(corpus[0])
  const portlet = chat.page.frames().find((frame) => frame.url().includes("/portlet/"))
  expect(await portlet.evaluate(trespasses)).toEqual(nothing)
})

for (const [theme, width] of [
  ["dark", 1600],
  ["light", 390],
]) {
  test.describe(`${theme}, ${width} pixels wide`, () => {
    test.use({ colorScheme: theme, viewport: { width: 1600, height: 900 } })
    test("everything can be told apart, named and reached", async ({ chat }) => {
      await chat.say("all")
      await expect(chat.ask).toBeVisible()
      await chat.page.setViewportSize({ width, height: 900 })
      await chat.composer.press("Control+f")
      await chat.page.keyboard.type("all")
      await expect(chat.frame.locator(".find-count")).toHaveText(/^\d+ of \d+$/)
      const portlet = chat.page.frames().find((frame) => frame.url().includes("/portlet/"))
      await portlet.evaluate(axe.source)
      const violations = await portlet.evaluate(async () => {
        const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] })
        return result.violations.flatMap(({ id, nodes }) =>
          nodes.map((node) => `${id}: ${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`),
        )
      })
      expect(violations).toEqual([])
      expect(await chat.measure((box) => box.scrollWidth <= box.clientWidth)).toBe(true)
    })
  })
}
