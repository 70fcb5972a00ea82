import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { promisify } from "node:util"
import { expect, test } from "../support/story.js"
import { Shell } from "../support/shell.js"
import { Stranger, harvest } from "../support/stranger.js"

test("the link from the terminal opens the page and leaves no token in the address", async ({
  shell,
  page,
  liminal,
}) => {
  expect(page.url()).toBe(`${liminal.origin}/`)
  expect(await shell.stored("liminal:credential")).toBe(null)
  expect(await page.evaluate(() => document.cookie)).toBe("")
})

test("a page without credential says how to get in, and the pasted token opens it", async ({
  page,
  liminal,
  complaints,
}) => {
  void complaints
  await page.goto(liminal.origin)
  await expect(page.getByText("liminal token")).toBeVisible()
  await expect(page.getByText("Open the link that")).toBeVisible()
  await page.getByLabel("Token").fill("not it")
  await page.getByRole("button", { name: "Open" }).click()
  await expect(page.getByRole("alert")).toContainText("not this server's token")
  await page.getByLabel("Token").fill(liminal.token)
  await page.getByRole("button", { name: "Open" }).click()
  await new Shell(page, liminal).isConnected()
})

test("the whole link can be pasted in place of the token", async ({ page, liminal, complaints }) => {
  void complaints
  await page.goto(liminal.origin)
  await page.getByLabel("Token").fill(liminal.link)
  await page.keyboard.press("Enter")
  await new Shell(page, liminal).isConnected()
})

test("a one-time code opens the page once", async ({ page, context, browser, liminal, complaints }) => {
  complaints.expectLostServer() // the browser logs the refused login as a failed resource
  const code = await (
    await fetch(`${liminal.origin}/api/code`, { method: "POST", headers: { authorization: `Bearer ${liminal.token}` } })
  ).text()
  await page.goto(`${liminal.origin}/#code=${code}`)
  await new Shell(page, liminal).isConnected()
  expect(page.url()).toBe(`${liminal.origin}/`)
  void context
  const other = await browser.newContext()
  const again = await other.newPage()
  await again.goto(`${liminal.origin}/#code=${code}`)
  await expect(again.getByRole("alert")).toContainText("already been used")
  await other.close()
})

test("a stranger on our port is told nothing by an open page", async ({ shell, page, liminal, complaints }) => {
  complaints.expectLostServer()
  await liminal.kill()
  const lie = { challenge: "1.2.3", proof: "0".repeat(64), ticket: "x", token: "x" }
  const stranger = await Stranger.at(liminal.origin, { "/": { type: "application/json", body: JSON.stringify(lie) } })
  await expect(page.locator(".connection-bar")).toContainText("another program is running at this address")
  expect(stranger.got.length).toBeGreaterThan(0)
  expect(JSON.stringify(stranger.got)).not.toContain(liminal.token)
  // It can't prove that it is our server, so the page signs nothing for it and opens no socket.
  expect([...new Set(stranger.got.map(({ url }) => url))]).toEqual(["/api/challenge"])
  await stranger.leaves()
  await liminal.up()
  await shell.isConnected()
  await expect(page.locator(".connection-bar")).toBeHidden()
})

test("nothing that a stranger's page finds on our address opens the door later", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  await liminal.stop()
  const stranger = await Stranger.at(liminal.origin, { "/": { body: "<!doctype html><title>Stranger</title>" } })
  const tab = await page.context().newPage()
  await tab.goto(liminal.origin)
  const { texts, keys, exported } = await tab.evaluate(harvest)
  await tab.close()
  await stranger.leaves()
  expect(keys).toBe(2)
  expect(exported).toEqual(exported.map(() => "refused"))
  expect(texts).not.toContain(liminal.token)
  await liminal.up()
  expect(texts.length).toBeGreaterThan(0)
  const secret = "0".repeat(64)
  for (const text of [...new Set(texts)].filter((each) => each !== "" && /^[\x20-\x7e]+$/.test(each))) {
    const refused = async (path, body, headers = {}) => {
      const answer = await fetch(liminal.origin + path, {
        method: "POST",
        headers: { origin: liminal.origin, ...headers },
        body: body && JSON.stringify(body),
      })
      expect(`${path} ${answer.status}`).toBe(`${path} 401`)
    }
    await refused("/api/code", null, { authorization: `Bearer ${text}` })
    await refused("/api/login", { token: text, pageSecret: secret })
    await refused("/api/login", { code: text, pageSecret: secret })
    await refused("/api/ticket", { browser: text, challenge: text, answer: text })
  }
  await shell.isConnected()
})

for (const kind of ["without a seal", "under the seal of something else"]) {
  test(`what a stranger's page writes into our storage ${kind} neither speaks nor decides for the user`, async ({
    shell,
    page,
    liminal,
    complaints,
  }) => {
    complaints.expectLostServer()
    const path = await shell.hasProject("web")
    const id = await shell.hasSession(path, "Mine")
    await shell.open("Mine")
    await shell.composer.fill("half a thought")
    await liminal.stop()
    const stranger = await Stranger.at(liminal.origin, { "/": { body: "<!doctype html><title>Stranger</title>" } })
    await page.goto(liminal.origin)
    await page.evaluate(
      ([sessionId, kind]) => {
        const seal = kind === "without a seal" ? "" : localStorage["liminal:drafts"].slice(0, 64)
        const requestId = crypto.randomUUID()
        const sends = [{ sessionId, requestId, content: "planted message" }]
        sessionStorage["liminal:sends"] = seal + JSON.stringify(sends)
        localStorage["liminal:drafts"] = seal + JSON.stringify({ [sessionId]: "planted draft" })
        localStorage["liminal:defaults"] = seal + JSON.stringify({ policy: "auto" })
      },
      [id, kind],
    )
    await stranger.leaves()
    await liminal.up()
    await page.goto(liminal.origin)
    await shell.isConnected()
    await expect(shell.activeTab).toHaveText("Mine")
    await expect(shell.composer).toHaveValue("")
    await shell.say("my own message")
    await expect(shell.portlet.getByText("You said: my own message")).toBeVisible()
    expect(await liminal.said(id)).toEqual(["Mine", "my own message"])
    await shell.newSession("web")
    await expect(shell.portlet.getByRole("button", { name: "Ask before acting" })).toBeVisible()
  })
}

for (const [kind, script] of [
  [
    "answers in our place",
    "const page = () => new Response('<title>Stranger</title>', { headers: { 'content-type': 'text/html' } });" +
      "addEventListener('fetch', (event) => event.respondWith(page()))",
  ],
  ["only watches", "addEventListener('fetch', () => {})"],
]) {
  test(`a service worker of a stranger's that ${kind} is ended`, async ({ shell, page, liminal, complaints }) => {
    complaints.expectLostServer()
    complaints.expect(/no-op/)
    void shell
    await liminal.stop()
    const stranger = await Stranger.at(liminal.origin, {
      "/": { body: "<!doctype html><title>Stranger</title>" },
      "/deep/worker.js": {
        type: "text/javascript",
        body: `addEventListener('activate', (event) => event.waitUntil(clients.claim())); ${script}`,
        headers: { "service-worker-allowed": "/" },
      },
    })
    await page.goto(`${liminal.origin}/`)
    await page.evaluate(async () => {
      await navigator.serviceWorker.register("/deep/worker.js", { scope: "/" })
      if (!navigator.serviceWorker.controller)
        await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve))
    })
    await stranger.leaves()
    await liminal.up()
    await page.goto(`${liminal.origin}/`)
    await new Shell(page, liminal).isConnected()
    await expect
      .poll(() => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length))
      .toBe(0)
    expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBe(null)
  })
}

test("what a stranger left in the cache does not see the link from the terminal", async ({
  page,
  context,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  await liminal.stop()
  const forAYear = { "cache-control": "max-age=31536000" }
  const stranger = await Stranger.at(liminal.origin, {
    "/": {
      body: "<!doctype html><title>Stranger</title><script type=module src=/shell/main.js></script>",
      headers: forAYear,
    },
    "/shell/main.js": {
      type: "text/javascript",
      body: "localStorage.setItem('seen', location.hash)",
      headers: forAYear,
    },
  })
  await page.goto(`${liminal.origin}/`)
  expect(await page.evaluate(() => localStorage.getItem("seen"))).toBe("")
  await page.close()
  await stranger.leaves()
  await liminal.up()
  const tab = await context.newPage()
  await new Shell(tab, liminal).enter()
  expect(await tab.evaluate(() => localStorage.getItem("seen"))).toBe("")
  await tab.goto(`${liminal.origin}/`)
  await new Shell(tab, liminal).isConnected()
})

test("a token that an earlier version stored is used once and removed", async ({ page, liminal, complaints }) => {
  complaints.expect(/404/) // the icon that browsers request with a plain file
  await page.goto(`${liminal.origin}/shell/main.css`)
  await page.evaluate((token) => localStorage.setItem("liminal:credential", JSON.stringify(token)), liminal.token)
  await page.goto(`${liminal.origin}/`)
  const shell = new Shell(page, liminal)
  await shell.isConnected()
  expect(await page.evaluate(() => localStorage.getItem("liminal:credential"))).toBe(null)
  await page.reload()
  await shell.isConnected()
})

test("a new token logs the browser out at once, and the new link lets it in again", async ({
  shell,
  page,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  const rotated = await promisify(execFile)(liminal.binary, ["token", "--rotate", "--data-dir", liminal.dataDir])
  await expect(page.locator(".connection-bar")).toContainText("was logged out")
  await page.reload()
  await expect(page.getByRole("alert")).toContainText("no longer logged in")
  await page.getByLabel("Token").fill(rotated.stdout.trim())
  await page.keyboard.press("Enter")
  await shell.isConnected()
  liminal.token = rotated.stdout.trim()
})

test("Settings shows who is logged in, and logs out whom the user likes", async ({
  shell,
  page,
  browser,
  liminal,
  complaints,
}) => {
  complaints.expectLostServer()
  const elsewhere = await browser.newContext()
  const other = await elsewhere.newPage()
  await new Shell(other, liminal).enter()
  await page.getByRole("button", { name: "Settings" }).click()
  const rows = page.locator(".settings-row")
  await expect(rows).toHaveCount(2)
  await expect(rows.filter({ hasText: "(this browser)" })).toHaveCount(1)
  await expect(rows.first()).toContainText(/Chrom\w+ on Linux/)
  await rows.filter({ hasNotText: "(this browser)" }).getByRole("button").click()
  await expect(rows).toHaveCount(1)
  await expect(other.locator(".connection-bar")).toContainText("was logged out")
  await elsewhere.close()
  await shell.isConnected()
  await rows.getByRole("button").click()
  await expect(page.getByText("This browser is not logged in.")).toBeVisible()
})

test("at an address that is no secure context the login ends with the page", async ({
  playwright,
  launchOptions,
  liminal,
}) => {
  await liminal.stop()
  const origin = `http://box.test:${new URL(liminal.origin).port}`
  liminal.args = ["--allow-origin", origin]
  await liminal.up()
  const browser = await playwright.chromium.launch({
    ...launchOptions,
    args: [...launchOptions.args, "--host-resolver-rules=MAP box.test 127.0.0.1"],
  })
  const page = await browser.newPage()
  await page.goto(`${origin}/#token=${liminal.token}`)
  const shell = new Shell(page, liminal)
  await shell.isConnected()
  expect(await page.evaluate(() => isSecureContext)).toBe(false)
  await page.getByRole("button", { name: "Settings" }).click()
  await expect(page.locator(".settings-row")).toContainText("until the page is closed")
  await page.keyboard.press("Escape")
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(liminal.token)
  expect(await page.evaluate(async () => (await indexedDB.databases()).length)).toBe(0)
  await page.reload()
  await expect(page.getByText("This browser is not logged in.")).toBeVisible()
  await browser.close()
})

test("another server on this machine is sent nothing of ours", async ({ shell, page, liminal }) => {
  void shell
  const got = []
  const other = createServer((request, response) => {
    got.push(request.headers)
    response.end("hello")
  })
  other.listen(0, "127.0.0.1")
  await once(other, "listening")
  const elsewhere = await page
    .context()
    .browser()
    .newContext({ storageState: await page.context().storageState() })
  const tab = await elsewhere.newPage()
  await tab.goto(`http://127.0.0.1:${other.address().port}/`)
  expect(await tab.evaluate(() => localStorage.getItem("liminal:credential"))).toBe(null)
  expect(JSON.stringify(got)).not.toContain(liminal.token)
  expect(got.every((headers) => headers.cookie === undefined)).toBe(true)
  await elsewhere.close()
  other.closeAllConnections()
  other.close()
})

test("Trusted Types are enforced, and the page makes no other policy", async ({ shell, page, complaints }) => {
  void shell
  complaints.expect(/requires 'TrustedHTML' assignment|Creating a TrustedTypePolicy named/)
  const attempts = await page.evaluate(() =>
    [
      () => {
        document.createElement("p").innerHTML = "<b>x</b>"
      },
      () => globalThis.trustedTypes.createPolicy("another", { createHTML: (html) => html }),
    ].map((attempt) => {
      try {
        attempt()
        return "taken"
      } catch (error) {
        return error.name
      }
    }),
  )
  expect(attempts).toEqual(["TypeError", "TypeError"])
})
