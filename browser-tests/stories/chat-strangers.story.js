/** A page of another origin, a wrong window or a malformed message must not affect shell or portlet. */

import { once } from "node:events"
import { createServer } from "node:http"
import { expect, on, script, test as base } from "../support/chat.js"

/** Another origin on this machine, with one page that each story scripts. */
const test = base.extend({
  stranger: async ({ complaints }, use) => {
    const server = createServer((_request, answer) =>
      answer.setHeader("content-type", "text/html").end("<!doctype html><title>stranger</title><body>"),
    )
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

/** Messages that a portlet accepts from its shell, and the shell from a portlet. */
const toPortlet = (sessionId) => [
  {
    type: "session:history",
    sessionId,
    entries: [],
    stream: "other",
    seq: 9e9,
    turns: [],
    mode: "snapshot",
    older: false,
    policy: "auto",
  },
  { type: "shell:pending", sends: [{ requestId: "r", content: "forged" }] },
  { type: "session:policy", sessionId, policy: "auto" },
  { type: "agent:status", cliType: "scripted", status: "disconnected" },
  { type: "error", code: "INTERNAL_ERROR", message: "forged", retryable: false },
]
const toShell = (sessionId) => [
  { type: "session:send", sessionId, content: "forged", requestId: "5a0c5a52-5a5e-4f0a-8d1e-6f8a2f5f0b11" },
  { type: "session:cancel", sessionId, requestId: "1" },
  { type: "session:policy", sessionId, policy: "auto", requestId: "2" },
  { type: "portlet:shortcut", name: "close-tab" },
  { type: "session:reconnect", sessionId, cliType: "scripted", requestId: "3" },
]

/** Messages that neither end knows, of any shape and size. */
const odd = () => {
  const nested = {}
  for (let level = 0, at = nested; level < 500; level += 1) at = at.type = {}
  return [
    null,
    7,
    "session:cancel",
    [],
    {},
    { type: 5 },
    { type: ["session:cancel"] },
    { type: { toString: "session:cancel" } },
    { type: "toString" },
    { type: "__proto__" },
    nested,
    { type: "eval", code: "1" },
    { type: "x".repeat(1e6) },
    Array.from({ length: 1e4 }, () => ({ type: "session:cancel" })),
  ]
}

/** Everything that could have changed: on the page, in its storage, on the server. */
async function state(chat, liminal) {
  const project = await chat.page.evaluate(() => document.querySelector("[data-project]")?.dataset.project)
  const { sessions } = await liminal
    .api(`/api/session/list?projectId=${project ?? "none"}`)
    .catch(() => ({ sessions: [] }))
  return {
    shown: await chat.scroller.innerText(),
    policy: await chat.frame.locator(".permission").innerText(),
    status: await chat.status.innerText(),
    work: await chat.frame.locator(".composer").getAttribute("data-work"),
    tabs: await chat.shell.tabs.allInnerTexts(),
    titles: await chat.page.locator(".session-title").allInnerTexts(),
    stored: await chat.page.evaluate(() => ({
      tabs: localStorage["liminal:tabs"],
      sends: sessionStorage["liminal:sends"] ?? null,
    })),
    sessions,
  }
}

/** Starts a turn that runs until it is stopped, and returns the state meanwhile. */
async function settled(chat, liminal) {
  await chat.askAndWait("hello")
  await chat.say("hang")
  await expect(chat.said).toHaveCount(2)
  await expect(chat.working).toContainText("Working")
  return state(chat, liminal)
}

/** After a full round trip the state is unchanged and everything still works. */
async function isAsBefore(chat, liminal, before) {
  await chat.page.evaluate(
    () =>
      new Promise((passed) => {
        setTimeout(passed)
      }),
  )
  expect(await state(chat, liminal)).toEqual(before)
  await chat.stopButton.click()
  await expect(chat.ends).toHaveCount(2)
  await chat.askAndWait("still here")
  await expect(chat.own).toHaveText([/hello/, /hang/, /still here/])
}

const portletOf = (page) => page.frames().find((frame) => frame.url().includes("/portlet/"))

test("messages from a wrong window of our own origin change nothing", async ({ chat, liminal }) => {
  const before = await settled(chat, liminal)
  const id = await chat.id()
  // From itself, and from a frame that is neither shell nor portlet.
  await portletOf(chat.page).evaluate(
    (forged) => forged.forEach((message) => window.postMessage(message, location.origin)),
    toPortlet(id),
  )
  await chat.page.evaluate(
    (forged) => forged.forEach((message) => window.postMessage(message, location.origin)),
    toShell(id),
  )
  await chat.page.evaluate(() =>
    document.body.append(Object.assign(document.createElement("iframe"), { name: "beside", hidden: true })),
  )
  await chat.page.frame("beside").evaluate(
    ([forPortlet, forShell]) => {
      forPortlet.forEach((message) =>
        window.parent.document.querySelector(".pane[data-active] iframe").contentWindow.postMessage(message, "*"),
      )
      forShell.forEach((message) => window.parent.postMessage(message, "*"))
    },
    [toPortlet(id), toShell(id)],
  )
  await isAsBefore(chat, liminal, before)
})

test("what shell and portlet may not say to each other changes nothing: wrong kinds, sessions or shapes", async ({
  chat,
  liminal,
}) => {
  const before = await settled(chat, liminal)
  const id = await chat.id()
  const isAboutSession = ({ type }) => type.startsWith("session:")
  const elsewhere = (messages) =>
    messages
      .filter(isAboutSession)
      .flatMap(({ sessionId: _own, ...message }) => [
        message,
        ...["scripted:other", [id], { id }, null].map((sessionId) => ({ ...message, sessionId })),
      ])
  const forbidden = [
    { type: "session:delete", sessionId: id, requestId: "4" },
    { type: "session:archive", sessionId: id, requestId: "5" },
    { type: "session:rename", sessionId: id, title: "forged", requestId: "6" },
    { type: "session:close", sessionId: id },
    { type: "project:remove", projectId: "p" },
    { type: "error", code: "INTERNAL_ERROR", message: "forged" },
  ]
  await chat.page.evaluate(
    (said) => {
      const target = document.querySelector(".pane[data-active] iframe").contentWindow
      for (const message of JSON.parse(said)) target.postMessage(message, location.origin)
    },
    JSON.stringify([
      ...odd(),
      ...elsewhere(toPortlet(id)),
      ...toShell(id).filter(({ type }) => type !== "session:policy"),
    ]),
  )
  await portletOf(chat.page).evaluate(
    (said) => {
      for (const message of JSON.parse(said)) window.parent.postMessage(message, location.origin)
    },
    JSON.stringify([
      ...odd(),
      ...elsewhere(toShell(id)),
      ...forbidden,
      ...toPortlet(id).filter(({ type }) => type !== "session:policy"),
    ]),
  )
  await isAsBefore(chat, liminal, before)
})

test("a page of another origin can neither frame us nor keep a hold on a window of ours", async ({
  chat,
  liminal,
  stranger,
  context,
  complaints,
}) => {
  complaints.expect(/frame-ancestors|X-Frame-Options|refused to connect|Framing/i)
  const before = await settled(chat, liminal)
  const outside = await context.newPage()
  await outside.goto(stranger)
  const held = await outside.evaluate(
    async ([address, forged]) => {
      const frame = document.body.appendChild(
        Object.assign(document.createElement("iframe"), { src: `${address}/portlet/index.html#scripted%3A1` }),
      )
      await new Promise((loaded) => {
        frame.onload = loaded
      })
      const heard = []
      window.addEventListener("message", ({ data }) => heard.push(data))
      const opened = window.open(address)
      while (!opened.closed)
        await new Promise((again) => {
          setTimeout(again, 20)
        })
      for (const message of forged)
        for (const target of [frame.contentWindow, opened]) target?.postMessage(message, "*")
      let inside = "nothing"
      try {
        inside = frame.contentDocument?.body ? "its document" : "nothing"
      } catch {
        inside = "nothing"
      }
      return { closed: opened.closed, inside, heard }
    },
    [liminal.origin, toPortlet("scripted:1")],
  )
  expect(held).toEqual({ closed: true, inside: "nothing", heard: [] })
  await isAsBefore(chat, liminal, before)
})

test.describe("where nothing else would keep a stranger out", () => {
  test.use({ bypassCSP: true })

  test("what it says to shell and portlet is not listened to, and nothing is said to it", async ({
    chat,
    liminal,
    stranger,
    complaints,
  }) => {
    complaints.expect(/target origin provided/)
    const before = await settled(chat, liminal)
    const id = await chat.id()
    // A frame of another origin within the shell: the wrong window and the wrong origin.
    await chat.page.evaluate(
      (address) =>
        new Promise((loaded) => {
          document.body.append(
            Object.assign(document.createElement("iframe"), {
              name: "stranger",
              src: address,
              hidden: true,
              onload: loaded,
            }),
          )
        }),
      stranger,
    )
    const inside = chat.page.frames().find((frame) => frame.url().startsWith(stranger))
    await inside.evaluate(
      ([forPortlet, forShell]) => {
        window.heard = []
        window.addEventListener("message", ({ data }) => window.heard.push(data))
        forShell.forEach((message) => window.parent.postMessage(message, "*"))
        for (let n = 0; n < window.parent.length; n += 1)
          if (window.parent[n] !== window) forPortlet.forEach((message) => window.parent[n].postMessage(message, "*"))
      },
      [toPortlet(id), toShell(id)],
    )
    expect(await inside.evaluate(() => window.heard)).toEqual([])
    await isAsBefore(chat, liminal, before)

    // The portlet's own window, taken to another origin: the right window and the wrong origin.
    const titles = await chat.page.locator(".session-title").allInnerTexts()
    const portlet = portletOf(chat.page)
    await portlet.goto(stranger)
    await portlet.evaluate(
      (forged) => {
        window.heard = []
        window.addEventListener("message", ({ data }) => window.heard.push(data))
        forged.forEach((message) => window.parent.postMessage(message, "*"))
      },
      [{ type: "portlet:ready" }, ...toShell(id)],
    )
    await chat.page.emulateMedia({ colorScheme: "light" }) // which the shell tells its portlets
    await expect(chat.page.locator("html")).toHaveAttribute("data-theme", "light")
    expect(await portlet.evaluate(() => window.heard)).toEqual([])
    await chat.page.reload()
    await expect(chat.own).toHaveText([/hello/, /hang/, /still here/])
    await expect(chat.frame.getByRole("button", { name: "Ask before acting" })).toBeVisible()
    await expect(chat.page.locator(".session-title")).toHaveText(titles)
  })

  test("a portlet that it frames obeys it in nothing", async ({ chat, liminal, stranger, context, complaints }) => {
    complaints.expect(/target origin provided/)
    await chat.askAndWait("hello")
    const outside = await context.newPage()
    // Without the headers that refuse to be framed.
    await outside.route(`${liminal.origin}/portlet/index.html`, async (route) => {
      const answer = await route.fetch()
      await route.fulfill({
        response: answer,
        headers: { "content-type": "text/html", "cross-origin-resource-policy": "cross-origin" },
      })
    })
    await outside.goto(stranger)
    await outside.evaluate(
      (address) =>
        new Promise((loaded) => {
          window.heard = []
          window.addEventListener("message", ({ data }) => window.heard.push(data))
          document.body.append(Object.assign(document.createElement("iframe"), { src: address, onload: loaded }))
        }),
      `${liminal.origin}/portlet/index.html#scripted%3A1`,
    )
    const framed = outside.frames().find((frame) => frame.url().includes("/portlet/"))
    await expect(framed.locator("textarea")).toBeVisible()
    const before = await framed.locator("body").innerText()
    await outside.evaluate(
      (forged) => forged.forEach((message) => document.querySelector("iframe").contentWindow.postMessage(message, "*")),
      toPortlet("scripted:1"),
    )
    await framed.evaluate(
      () =>
        new Promise((passed) => {
          requestAnimationFrame(() => requestAnimationFrame(passed))
        }),
    )
    expect(await framed.locator("body").innerText()).toBe(before)
    expect(await outside.evaluate(() => window.heard)).toEqual([])
  })
})
