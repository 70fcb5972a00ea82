/** What a page of another origin, a wrong window or a malformed message can do to shell and portlet: nothing. */

import { once } from "node:events"
import { createServer } from "node:http"
import { expect, on, script, test as base } from "../support/chat.js"

/** Another origin on this machine, whose one page does what its story says. */
const test = base.extend({
  stranger: async ({ complaints }, use) => {
    const server = createServer((_request, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html><title>stranger</title><body>"))
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const origin = `http://127.0.0.1:${server.address().port}`
    complaints.expect(new RegExp(origin))
    await use(origin)
    server.closeAllConnections()
    server.close()
  },
})

test.use({ script: script(on("hang", { say: "Working on it." }, "wait_for_cancel")) })

const history = { type: "session:history", sessionId: "x", entries: [], stream: "other", seq: 9e9, turns: [], mode: "snapshot", older: false, policy: "auto" }
/** What a portlet obeys when its shell says it, and what the shell obeys when a portlet says it. */
const toPortlet = [history, { type: "shell:pending", sends: [{ requestId: "r", content: "forged" }] }, { type: "session:policy", sessionId: "x", policy: "auto" }, { type: "agent:status", cliType: "scripted", status: "disconnected" }, { type: "error", code: "INTERNAL_ERROR", message: "forged", retryable: false }]
const toShell = [{ type: "session:send", content: "forged", requestId: "5a0c5a52-5a5e-4f0a-8d1e-6f8a2f5f0b11" }, { type: "session:cancel" }, { type: "session:policy", policy: "auto" }, { type: "portlet:shortcut", name: "close-tab" }, { type: "session:reconnect" }]

/** All that could have changed: what is shown, what is remembered, what the server has. */
async function state(chat, liminal) {
  const { sessions } = await liminal.api(`/api/session/list?projectId=${(await chat.page.evaluate(() => document.querySelector("[data-project]")?.dataset.project)) ?? "none"}`).catch(() => ({ sessions: [] }))
  return {
    shown: await chat.scroller.innerText(), policy: await chat.frame.locator(".policy").innerText(), status: await chat.status.innerText(), work: await chat.frame.locator(".composer").getAttribute("data-work"),
    tabs: await chat.shell.tabs.allInnerTexts(), titles: await chat.page.locator(".session-title").allInnerTexts(), stored: await chat.page.evaluate(() => ({ tabs: localStorage["liminal:tabs"], sends: sessionStorage["liminal:sends"] ?? null })), sessions,
  }
}

/** A turn that stays as it is until it is stopped, and how everything is meanwhile. */
async function settled(chat, liminal) {
  await chat.askAndWait("hello")
  await chat.say("hang")
  await expect(chat.said).toHaveCount(2)
  await expect(chat.working).toContainText("Working")
  return state(chat, liminal)
}

/** After a round trip through everything, all is as it was, and still works. */
async function isAsBefore(chat, liminal, before) {
  await chat.page.evaluate(() => new Promise((passed) => { setTimeout(passed) }))
  expect(await state(chat, liminal)).toEqual(before)
  await chat.stopButton.click()
  await expect(chat.ends).toHaveCount(2)
  await chat.askAndWait("still here")
  await expect(chat.own).toHaveText([/hello/, /hang/, /still here/])
}

const portletOf = (page) => page.frames().find((frame) => frame.url().includes("/portlet/"))

test("messages from a wrong window of our own origin, or of a wrong shape, change nothing", async ({ chat, liminal }) => {
  const before = await settled(chat, liminal)
  const portlet = portletOf(chat.page)
  // From itself, and from a frame that is neither shell nor portlet.
  await portlet.evaluate((forged) => forged.forEach((message) => window.postMessage(message, location.origin)), toPortlet)
  await chat.page.evaluate((forged) => forged.forEach((message) => window.postMessage(message, location.origin)), toShell)
  await chat.page.evaluate(() => document.body.append(Object.assign(document.createElement("iframe"), { name: "beside", hidden: true })))
  await chat.page.frame("beside").evaluate(([forPortlet, forShell]) => {
    forPortlet.forEach((message) => window.parent.document.querySelector(".pane[data-active] iframe").contentWindow.postMessage(message, "*"))
    forShell.forEach((message) => window.parent.postMessage(message, "*"))
  }, [toPortlet, toShell])
  // From the right window, with nothing the protocol knows.
  await chat.page.evaluate((forged) => {
    const target = document.querySelector(".pane[data-active] iframe").contentWindow
    const sessionId = decodeURIComponent(document.querySelector(".pane[data-active] iframe").src.split("#")[1])
    const misshapen = [
      { type: "session:history", sessionId }, { type: "session:history", sessionId, entries: "none", stream: "s", seq: 9e9, turns: [], mode: "snapshot", older: false, policy: "auto" },
      { type: "session:upsert", sessionId, seq: 9e9, payload: null }, { type: "session:upsert", sessionId, seq: 9e9, payload: { itemId: "i", turnId: "t", type: "message" } }, { type: "session:turn", sessionId, seq: "9", payload: { turnId: "t", type: "turn_started" } },
      { type: "session:policy", sessionId, policy: "always" }, { type: "session:policy", sessionId: "other:1", policy: "auto" }, { type: "shell:state", connection: "lost" }, { type: "shell:pending", sends: [null] }, { type: "error" }, { type: "toString" },
    ]
    for (const odd of [null, 7, "x", [], {}, { type: "eval", code: "1" }, { type: 5 }, ...misshapen, ...forged]) target.postMessage(odd, location.origin)
  }, toShell)
  await portlet.evaluate((forged) => {
    const odd = [null, "session:cancel", { type: "project:remove", projectId: "p" }, { type: "session:send", content: 5, requestId: "r" }, { type: "session:send", content: "forged", requestId: "r", sessionId: "x" }, { type: "session:policy", policy: "always" }, { type: "__proto__" }, ...forged]
    for (const message of odd) window.parent.postMessage(message, location.origin)
  }, toPortlet)
  await isAsBefore(chat, liminal, before)
})

test("a page of another origin can neither frame us nor keep a hold on a window of ours", async ({ chat, liminal, stranger, context, complaints }) => {
  complaints.expect(/frame-ancestors|X-Frame-Options|refused to connect|Framing/i)
  const before = await settled(chat, liminal)
  const outside = await context.newPage()
  await outside.goto(stranger)
  const held = await outside.evaluate(async ([address, forged]) => {
    const frame = document.body.appendChild(Object.assign(document.createElement("iframe"), { src: `${address}/portlet/index.html#scripted%3A1` }))
    await new Promise((loaded) => { frame.onload = loaded })
    const heard = []
    window.addEventListener("message", ({ data }) => heard.push(data))
    const opened = window.open(address)
    while (!opened.closed) await new Promise((again) => { setTimeout(again, 20) })
    for (const message of forged) for (const target of [frame.contentWindow, opened]) target?.postMessage(message, "*")
    let inside = "nothing"
    try { inside = frame.contentDocument?.body ? "its document" : "nothing" } catch { inside = "nothing" }
    return { closed: opened.closed, inside, heard }
  }, [liminal.origin, toPortlet])
  expect(held).toEqual({ closed: true, inside: "nothing", heard: [] })
  await isAsBefore(chat, liminal, before)
})

test.describe("where nothing else would keep a stranger out", () => {
  test.use({ bypassCSP: true })

  test("what it says to shell and portlet is not listened to, and nothing is said to it", async ({ chat, liminal, stranger, complaints }) => {
    complaints.expect(/target origin provided/)
    const before = await settled(chat, liminal)
    // A frame of another origin within the shell: the wrong window and the wrong origin.
    await chat.page.evaluate((address) => new Promise((loaded) => {
      document.body.append(Object.assign(document.createElement("iframe"), { name: "stranger", src: address, hidden: true, onload: loaded }))
    }), stranger)
    const inside = chat.page.frames().find((frame) => frame.url().startsWith(stranger))
    await inside.evaluate(([forPortlet, forShell]) => {
      window.heard = []
      window.addEventListener("message", ({ data }) => window.heard.push(data))
      forShell.forEach((message) => window.parent.postMessage(message, "*"))
      for (let n = 0; n < window.parent.length; n += 1) if (window.parent[n] !== window) forPortlet.forEach((message) => window.parent[n].postMessage(message, "*"))
    }, [toPortlet, toShell])
    expect(await inside.evaluate(() => window.heard)).toEqual([])
    await isAsBefore(chat, liminal, before)

    // The portlet's own window, taken to another origin: the right window and the wrong origin.
    const titles = await chat.page.locator(".session-title").allInnerTexts()
    const portlet = portletOf(chat.page)
    await portlet.goto(stranger)
    await portlet.evaluate((forged) => {
      window.heard = []
      window.addEventListener("message", ({ data }) => window.heard.push(data))
      forged.forEach((message) => window.parent.postMessage(message, "*"))
    }, [{ type: "portlet:ready" }, ...toShell])
    await chat.page.emulateMedia({ colorScheme: "light" }) // which the shell tells its portlets
    await expect(chat.page.locator("html")).toHaveAttribute("data-theme", "light")
    expect(await portlet.evaluate(() => window.heard)).toEqual([])
    await chat.page.reload()
    await expect(chat.own).toHaveText([/hello/, /hang/, /still here/])
    await expect(chat.frame.getByRole("button", { name: "Ask before acting" })).toBeVisible()
    expect(await chat.page.locator(".session-title").allInnerTexts()).toEqual(titles)
  })

  test("a portlet that it frames obeys it in nothing", async ({ chat, liminal, stranger, context, complaints }) => {
    complaints.expect(/target origin provided/)
    await chat.askAndWait("hello")
    const outside = await context.newPage()
    // Without the headers that refuse to be framed.
    await outside.route(`${liminal.origin}/portlet/index.html`, async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, headers: { "content-type": "text/html", "cross-origin-resource-policy": "cross-origin" } })
    })
    await outside.goto(stranger)
    await outside.evaluate((address) => new Promise((loaded) => {
      window.heard = []
      window.addEventListener("message", ({ data }) => window.heard.push(data))
      document.body.append(Object.assign(document.createElement("iframe"), { src: address, onload: loaded }))
    }), `${liminal.origin}/portlet/index.html#scripted%3A1`)
    const framed = outside.frames().find((frame) => frame.url().includes("/portlet/"))
    await expect(framed.locator("textarea")).toBeVisible()
    const before = await framed.locator("body").innerText()
    await outside.evaluate((forged) => forged.forEach((message) => document.querySelector("iframe").contentWindow.postMessage(message, "*")), toPortlet)
    await framed.evaluate(() => new Promise((passed) => { requestAnimationFrame(() => requestAnimationFrame(passed)) }))
    expect(await framed.locator("body").innerText()).toBe(before)
    expect(await outside.evaluate(() => window.heard)).toEqual([])
  })
})
