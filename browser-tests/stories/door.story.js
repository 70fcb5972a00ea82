import { createServer } from "node:http"
import { once } from "node:events"
import { expect, test } from "../support/story.js"
import { Shell } from "../support/shell.js"

test("the link from the terminal opens the page and leaves no token in the address", async ({ shell, page, liminal }) => {
  expect(page.url()).toBe(`${liminal.origin}/`)
  expect(await shell.stored("liminal:credential")).toBe(liminal.token)
  expect(await page.evaluate(() => document.cookie)).toBe("")
})

test("a page without credential says how to get in, and the pasted token opens it", async ({ page, liminal, complaints }) => {
  void complaints
  await page.goto(liminal.origin)
  await expect(page.getByText("liminal token")).toBeVisible()
  await expect(page.getByText("Open the link that")).toBeVisible()
  await page.getByLabel("Token").fill("not it")
  await page.getByRole("button", { name: "Open" }).click()
  await expect(page.getByRole("alert")).toContainText("not the token of this server")
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
  complaints.expectLostServer() // the refused login shows as a failed resource
  const code = await (await fetch(`${liminal.origin}/api/code`, { method: "POST", headers: { authorization: `Bearer ${liminal.token}` } })).text()
  await page.goto(`${liminal.origin}/#code=${code}`)
  await new Shell(page, liminal).isConnected()
  expect(page.url()).toBe(`${liminal.origin}/`)
  void context
  const other = await browser.newContext()
  const again = await other.newPage()
  await again.goto(`${liminal.origin}/#code=${code}`)
  await expect(again.getByRole("alert")).toContainText("used already")
  await other.close()
})

test("a stranger on our port gets no credential from an open page", async ({ shell, page, liminal, complaints }) => {
  complaints.expectLostServer()
  const port = Number(new URL(liminal.origin).port)
  await liminal.kill()
  const got = []
  const stranger = createServer((request, response) => {
    got.push({ url: request.url, ...request.headers })
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ proof: "0".repeat(64), token: "x" }))
  })
  stranger.on("upgrade", (request, socket) => { got.push({ url: request.url, ...request.headers }); socket.destroy() })
  stranger.listen(port, "127.0.0.1")
  await once(stranger, "listening")
  await expect(page.locator(".connection-bar")).toContainText("not the server this page knows")
  expect(got.length).toBeGreaterThan(0)
  expect(JSON.stringify(got)).not.toContain(liminal.token)
  expect(got.every(({ url }) => url.startsWith("/api/prove?nonce="))).toBe(true)
  stranger.closeAllConnections()
  await new Promise((resolve) => stranger.close(resolve))
  await liminal.up()
  await shell.isConnected()
  await expect(page.locator(".connection-bar")).toBeHidden()
})

test("another server on this machine is sent nothing of ours", async ({ shell, page, liminal }) => {
  void shell
  const got = []
  const other = createServer((request, response) => { got.push(request.headers); response.end("hello") })
  other.listen(0, "127.0.0.1")
  await once(other, "listening")
  const elsewhere = await page.context().browser().newContext({ storageState: await page.context().storageState() })
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
  const attempts = await page.evaluate(() => [
    () => { document.createElement("p").innerHTML = "<b>x</b>" },
    () => globalThis.trustedTypes.createPolicy("another", { createHTML: (html) => html }),
  ].map((attempt) => {
    try { attempt(); return "taken" } catch (error) { return error.name }
  }))
  expect(attempts).toEqual(["TypeError", "TypeError"])
})
