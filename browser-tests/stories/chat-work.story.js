import { done, expect, on, script, test, tool } from "../support/chat.js"

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

test.use({
  script: script(
    on(
      "run",
      tool("a", "cargo test", "execute"),
      { tool_output: { id: "a", text: "running 3 tests\n" } },
      { wait_for_file: "go" },
      done("a", "running 3 tests\n\u001b[32mok\u001b[0m\n"),
    ),
    on(
      "both",
      tool("a", "make one", "execute"),
      tool("b", "make two", "execute"),
      { tool_output: { id: "a", text: "a1\n" } },
      { tool_output: { id: "b", text: "b1\n" } },
      { wait_for_file: "more-a" },
      { tool_output: { id: "a", text: "a2\n" } },
      { wait_for_file: "more-b" },
      { tool_output: { id: "b", text: "b2\n" } },
      { wait_for_file: "go" },
      done("a", "a1\na2\n"),
      done("b", "b1\nb2\n"),
    ),
    on("fail", tool("a", "make", "execute"), done("a", "no rule to make target", { failed: true })),
    on(
      "edit",
      tool("a", "Edit main.rs", "edit", { locations: ["src/main.rs"] }),
      { diff: { id: "a", path: "src/main.rs", old: "a\nlet b\n", new: "a\nlet c\nd\n" } },
      done("a"),
    ),
    on(
      "rewrite",
      tool("a", "Rewrite main.rs", "edit"),
      { diff: { id: "a", path: "src/main.rs", old: "", new: "let x\n".repeat(60) } },
      done("a"),
    ),
    on(
      "picture",
      tool("a", "Screenshot", "other"),
      { image: { mime: "image/png", data: pixel, call: "a" } },
      done("a"),
    ),
    on(
      "many",
      tool("a", "Read a.rs", "read"),
      done("a", "1"),
      tool("b", "Read b.rs", "read"),
      done("b", "2"),
      tool("c", "ls", "execute"),
      done("c", "three walruses"),
      { say: "Read them." },
    ),
    on(
      "long",
      tool("a", "cat log", "execute"),
      done("a", `first line\n${"0123456789 the log goes on\n".repeat(6000)}last line\n`),
    ),
    on(
      "think",
      { think: "First thought. " },
      { wait_for_file: "more" },
      { think: "And a second one." },
      { wait_for_file: "go" },
      { say: "So." },
    ),
    on(
      "follow",
      tool("a", "make all", "execute"),
      ...Array.from({ length: 6 }, (_, n) => [
        { tool_output: { id: "a", text: `round ${n}\n${"compiling\n".repeat(40)}` } },
        { wait_for_file: `go${n}` },
      ]).flat(),
      done("a"),
    ),
    on(
      "plan",
      {
        plan: [
          { text: "look", status: "in_progress" },
          { text: "leap", status: "pending" },
        ],
      },
      { wait_for_file: "go" },
      {
        plan: [
          { text: "look", status: "completed" },
          { text: "leap", status: "in_progress" },
        ],
      },
      { wait_for_file: "go on" },
    ),
    on("give up", { fail: { code: -32603, message: "The model is out of order." } }),
    on("crash", { say: "Half a " }, { crash: { code: 3, stderr: "segfault in the mind" } }),
  ),
})

test("a call shows that it runs, then that it is done, and its output on demand, with colours", async ({
  chat,
  liminal,
}) => {
  await chat.say("run")
  const call = chat.tool("cargo test")
  await expect(call).toHaveAttribute("data-state", "running")
  await expect(call.locator(".parts .term")).toContainText("running 3 tests")
  await liminal.touch("go")
  await expect(call).toHaveAttribute("data-state", "done")
  await expect(call.locator(".tool-word")).toHaveText(/\d m?s/)
  await expect(call.locator(".parts .term")).toBeHidden()
  await call.locator(".line").click()
  await expect(call.locator(".parts .term span", { hasText: "ok" })).toHaveClass(/f2/)
  await call.locator(".line").click()
  await expect(call.locator(".parts .term")).toBeHidden()
})

test("a search hit in the output of a folded call opens the fold and the call", async ({ chat, shell }) => {
  await chat.askAndWait("many")
  await expect(chat.frame.locator(".fold")).toHaveCount(1)
  await shell.page.getByRole("button", { name: "Search everything" }).click()
  await shell.page.keyboard.type("walruses")
  await shell.page.locator(".palette-hit").click()
  const found = chat.frame.locator(".revealed")
  await expect(found.locator(".parts")).toContainText("three walruses")
  await expect(found).toBeInViewport()
})

test("a call that failed says why without being opened", async ({ chat }) => {
  await chat.askAndWait("fail")
  await expect(chat.tool("make")).toHaveAttribute("data-state", "failed")
  await expect(chat.tool("make")).toContainText("no rule to make target")
})

test("an edit is a diff with counts, numbers, colours and signs that are spoken; a long one has a button", async ({
  chat,
}) => {
  await chat.askAndWait("edit")
  const call = chat.tool("Edit main.rs")
  await expect(call.locator(".tool-counts")).toHaveText("+2−1")
  await expect(call.locator(".diff .add")).toHaveCount(2)
  await expect(call.locator(".diff i.k").first()).toHaveText("let")
  const spoken = await call.locator(".diff .rows").ariaSnapshot()
  expect(spoken).toContain("removed: let")
  expect(spoken).toContain("added: let")
  await expect(call.getByRole("button", { name: /lines$/ })).toBeHidden()

  await chat.askAndWait("rewrite")
  const long = chat.tool("Rewrite main.rs")
  await long.getByRole("button", { name: "Show all lines" }).click()
  await expect(long.locator(".diff .add").last()).toBeInViewport({ ratio: 0 })
  expect(await long.locator(".rows").evaluate((rows) => rows.scrollHeight <= rows.clientHeight)).toBe(true)
  await long.getByRole("button", { name: "Show fewer lines" }).click()
  expect(await long.locator(".rows").evaluate((rows) => rows.scrollHeight > rows.clientHeight)).toBe(true)
})

test.describe("a command", () => {
  const twelve = Array.from({ length: 12 }, (_, n) => `line ${n}\n`).join("")
  test.use({
    script: {
      about: { terminal_meta: true },
      rules: [
        {
          on: "any",
          steps: [
            tool("a", "make all", "execute"),
            { tool_output: { id: "a", text: twelve } },
            { wait_for_file: "go" },
            done("a", "", { failed: true, exit_code: 2 }),
          ],
        },
      ],
    },
  })

  test("shows its last eight lines while it runs, all on demand, then its exit code", async ({ chat, liminal }) => {
    await chat.say("go")
    const call = chat.tool("make all")
    const output = call.locator(".parts .term")
    await expect(output).toContainText("line 11")
    const lines = () => output.evaluate((box) => box.clientHeight / Number.parseFloat(getComputedStyle(box).lineHeight))
    const isAtEnd = () => output.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop <= 4)
    expect(await isAtEnd()).toBe(true)
    expect(Math.floor(await lines())).toBe(8)
    await call.getByRole("button", { name: "Show all lines" }).click()
    expect(await lines()).toBeGreaterThan(12)
    await expect(call.locator(".tool-word")).toHaveText("")
    await liminal.touch("go")
    await expect(chat.ends).toHaveCount(1)
    await expect(call.locator(".tool-word")).toHaveText(/^exit 2 · /)
    await chat.page.reload()
    await expect(call.locator(".tool-word")).toHaveText(/^exit 2 · /)
  })
})

test("a picture is shown, from our own server", async ({ chat }) => {
  await chat.askAndWait("picture")
  const picture = chat.tool("Screenshot").getByRole("img", { name: "Picture from the agent" })
  await expect(picture).toBeVisible()
  await expect(picture).toHaveAttribute("src", /^blob:/)
  await expect(picture).toHaveJSProperty("naturalWidth", 1)
})

test("two calls grow side by side, and what one shows never touches the other", async ({ chat, liminal }) => {
  await chat.say("both")
  const calls = { a: chat.tool("make one"), b: chat.tool("make two") }
  const outputs = { a: calls.a.locator(".parts .term"), b: calls.b.locator(".parts .term") }
  await expect(outputs.a).toHaveText("a1")
  await expect(outputs.b).toHaveText("b1")
  for (const call of [calls.a, calls.b]) await call.evaluate((element) => (element.dataset.mine = "kept"))
  await liminal.touch("more-a")
  await expect(outputs.a).toHaveText(/^a1\s*a2$/)
  await expect(outputs.b).toHaveText("b1")
  await liminal.touch("more-b")
  await expect(outputs.b).toHaveText(/^b1\s*b2$/)
  await expect(outputs.a).toHaveText(/^a1\s*a2$/)
  for (const call of [calls.a, calls.b]) await expect(call).toHaveAttribute("data-mine", "kept")
  await liminal.touch("go")
  await expect(chat.ends).toHaveCount(1)
})

test("output that grows is shown at its end, but never taken from who reads further up", async ({ chat, liminal }) => {
  await chat.say("follow")
  const call = chat.tool("make all")
  const output = call.locator(".parts .term")
  const fromEnd = () => output.evaluate((box) => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop))
  await expect(call).toHaveAttribute("data-state", "running")
  await expect(output).toContainText("round 0")
  expect(await fromEnd()).toBe(0)
  await liminal.touch("go0")
  await expect(output).toContainText("round 1")
  expect(await fromEnd()).toBe(0)
  await output.evaluate((box) => {
    box.scrollTop = 100
  })
  await liminal.touch("go1")
  await expect(output).toContainText("round 2")
  expect(await output.evaluate((box) => box.scrollTop)).toBe(100)
  await output.evaluate((box) => {
    box.scrollTop = box.scrollHeight
  })
  for (const n of [2, 3, 4, 5]) await liminal.touch(`go${n}`)
  await expect(call).toHaveAttribute("data-state", "done")
  await call.locator(".line").click()
  await expect(output).toContainText("round 5")
  expect(await fromEnd()).toBe(0)
})

test.describe("a sub-agent", () => {
  test.use({
    player: "Claude Code",
    script: script(
      on(
        "delegate",
        tool("t", "Look into it", "think", { name: "Task", input: { description: "Look into it", prompt: "look" } }),
        {
          sub_agent: {
            under: "t",
            steps: [
              tool("r", "Read", "read", { name: "Read", input: { file_path: "deep.rs" } }),
              done("r", "1"),
              { wait_for_file: "go" },
              { say: "Found it." },
            ],
          },
        },
        done("t", "It was there."),
        { say: "Done looking." },
      ),
    ),
  })

  test("works under its call, out of sight until one looks", async ({ chat, liminal }) => {
    await chat.say("delegate")
    const call = chat.tools.first()
    await expect(call).toHaveAttribute("data-state", "running")
    await expect(call.locator(".tool-word")).toContainText("1 step")
    await expect(chat.frame.getByText("deep.rs")).toBeHidden()
    await call.locator("> .line").click()
    await expect(call.locator(".tool-inner").first()).toContainText("deep.rs")
    await liminal.touch("go")
    await expect(chat.ends).toHaveCount(1)
    await expect(call.locator(".tool-inner").first()).toContainText("Found it.")
    await expect(chat.said.last()).toHaveText(/Done looking\./)
    await call.locator("> .line").click()
    await expect(call.locator(".tool-inner").first()).toBeHidden()
  })
})

test("finished calls in a row are one line that opens", async ({ chat }) => {
  await chat.askAndWait("many")
  const fold = chat.frame.locator(".fold")
  await expect(fold.locator(".line").first()).toContainText("Read 2 files, ran 1 command")
  await expect(chat.tools).toHaveCount(0)
  await fold.locator(".line").first().click()
  await expect(chat.tools).toHaveCount(3)
})

test("long output is cut, and whole on demand", async ({ chat }) => {
  await chat.askAndWait("long")
  const call = chat.tool("cat log")
  await call.locator(".line").click()
  await expect(call.locator(".parts .term")).toContainText("last line")
  await expect(call.locator(".parts .term")).not.toContainText("first line")
  await call.getByRole("button", { name: /Show all \(\d+ KB\)/ }).click()
  await expect(call.locator(".whole")).toContainText("first line")
  await call.getByRole("button", { name: "Show less" }).click()
  await expect(call.locator(".whole")).toBeHidden()
})

test("a thought is closed with its first line, and stays open while it goes on", async ({ chat, liminal }) => {
  await chat.say("think")
  const thought = chat.thoughts.first()
  await expect(thought.locator(".line-what")).toHaveText(/First thought\./)
  await expect(thought.locator(".thought")).toBeHidden()
  await thought.locator(".line").click()
  await liminal.touch("more")
  await expect(thought.locator(".thought")).toContainText("And a second one.")
  await liminal.touch("go")
  await expect(chat.ends).toHaveCount(1)
  await expect(thought.locator(".thought")).toBeVisible()
  await expect(thought.locator(".line-end")).toHaveText(/\d m?s/)
})

test("a plan changes in place", async ({ chat, liminal }) => {
  const tray = chat.frame.locator(".tray > .tray-row")
  await chat.say("plan")
  await expect(chat.plan.locator("li").first()).toHaveAttribute("data-status", "in_progress")
  await expect(tray).toHaveText(/^Working [\d:]+look0 of 2$/)
  await liminal.touch("go")
  await expect(chat.plan.locator("li").first()).toHaveAttribute("data-status", "completed")
  await expect(chat.plan).toHaveCount(1)
  await expect(chat.plan).toContainText("1 of 2")
  await expect(tray).toHaveText(/^Working [\d:]+leap1 of 2$/)
  await liminal.touch("go on")
  await expect(chat.ends).toHaveCount(1)
  await expect(tray).toBeHidden()
})

test("only the last turn offers Retry", async ({ chat }) => {
  await chat.askAndWait("give up")
  await expect(chat.ends.getByRole("button", { name: "Retry" })).toHaveCount(1)
  await chat.askAndWait("many")
  await expect(chat.ends.getByRole("button", { name: "Retry" })).toHaveCount(0)
})

test("a crash ends the turn with its reason, keeps the words, and Retry sends again", async ({ chat }) => {
  await chat.say("crash")
  await expect(chat.ends).toContainText("The turn failed")
  await expect(chat.said).toContainText("Half a")
  await chat.ends.getByText("Agent output").click()
  await expect(chat.ends).toContainText("segfault in the mind")
  await chat.ends.getByRole("button", { name: "Retry" }).click()
  await expect(chat.own).toHaveCount(2)
})
