import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { test } from "node:test"
import { agentChoices, offeredFirst, withUsed } from "../../client/shell/agent-choice.js"
import { completion, onceEach, withTilde } from "../../client/shell/completion.js"
import { bestFits, fit } from "../../client/shell/matching.js"
import { isToPortlet, isToShell, portletAddress, sessionOfAddress } from "../../client/shared/bridge.js"
import { takeFromAddress } from "../../client/shared/door.js"
import { fitTo } from "../../client/shared/edge.js"
import { hmacSha256 } from "../../client/shared/hmac.js"
import { uuid } from "../../client/shared/ids.js"
import { keysOf, shortcutOf, shortcuts } from "../../client/shared/keys.js"
import { load, save, sealed } from "../../client/shared/storage.js"
import { age } from "../../client/shared/time.js"

test("the proof is the one everybody computes", () => {
  assert.equal(
    hmacSha256("0123456789abcdef".repeat(4), "nonce-of-a-page\nhttp://127.0.0.1:3000"),
    "ca51f1dc75ce70268c7ef6e2c205e05834b5a3d7b44de9a8ad2786c25af7d142",
  )
  for (let n = 0; n < 200; n += 7) {
    const [key, message] = ["k".repeat(n), "é".repeat(n % 91)]
    assert.equal(hmacSha256(key, message), createHmac("sha256", key).update(message).digest("hex"))
  }
})
test("a stored value counts only under its own key and the same secret", () => {
  const values = new Map()
  const plain = { getItem: (key) => values.get(key) ?? null, setItem: (key, text) => void values.set(key, text) }
  const ours = sealed(plain, "secret")
  assert.equal(load(ours, "a"), null)
  assert.ok(save(ours, "a", { text: "é" }))
  assert.deepEqual(load(ours, "a"), { text: "é" })
  assert.equal(load(sealed(plain, "another"), "a"), null)
  values.set("b", values.get("a"))
  assert.equal(load(ours, "b"), null)
  for (const planted of ['{"text":"é"}', "", values.get("a").replace("é", "e"), `${"0".repeat(64)}{"text":"é"}`]) {
    values.set("a", planted)
    assert.equal(load(ours, "a"), null, planted)
  }
})
test("ids are UUIDs", () =>
  assert.match(uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))
test("token and code leave the address", () => {
  const visit = (hash) => {
    const went = []
    const given = takeFromAddress(
      { hash, pathname: "/", search: "" },
      { state: null, replaceState: (_state, _title, address) => went.push(address) },
    )
    return [given, went]
  }
  assert.deepEqual(visit("#token=abc"), [{ token: "abc" }, ["/"]])
  assert.deepEqual(visit("#code=xyz"), [{ code: "xyz" }, ["/"]])
  assert.deepEqual(visit("#other"), [null, []])
})
test("ages are as short as a sidebar needs", () => {
  const now = Date.parse("2026-06-15T12:00:00Z")
  const ago = (minutes) => age(new Date(now - minutes * 60_000).toISOString(), now)
  assert.deepEqual(
    [0, 0.5, 1, 59, 60, 60 * 23, 60 * 24, 60 * 24 * 6, 60 * 24 * 8, 60 * 24 * 70, 60 * 24 * 800].map(ago),
    ["now", "now", "1m", "59m", "1h", "23h", "1d", "6d", "1w", "2mo", "2y"],
  )
  assert.equal(age("2027-01-01T00:00:00Z", now), "now", "a clock that runs ahead")
})
test("Tab completes to the one directory, or to what they have in common", () => {
  assert.equal(completion("/a/c", ["/a/code"]), "/a/code/")
  assert.equal(completion("/a/", ["/a/code", "/a/core"]), "/a/co")
  assert.equal(completion("/a/co", ["/a/code", "/a/core"]), null)
  assert.equal(completion("/a/x", []), null)
  assert.equal(completion("co", ["/a/code", "/a/b/code"]), null)
  assert.equal(completion("co", ["/a/code"]), "/a/code/")
  assert.equal(completion("~/c", ["/home/u/code"]), "/home/u/code/")
})
test("a directory at home is spelled in one way", () => {
  const all = ["/home/u/shop", "/home/user", "/home/u", "~/shop"]
  const spelled = all.map((path) => withTilde(path, "/home/u"))
  assert.deepEqual(spelled, ["~/shop", "/home/user", "/home/u", "~/shop"])
  assert.deepEqual(onceEach([...spelled, "~/shop/"]), ["~/shop", "/home/user", "/home/u"])
  for (const home of [undefined, "", "/"]) assert.equal(withTilde("/home/u/shop", home), "/home/u/shop")
})
test("names fit when every word typed is in them, beginnings first", () => {
  assert.equal(fit("xyz", "Retry payments"), 0)
  assert.deepEqual(
    bestFits("pay", ["repay", "Retry payments", "pay now"], (name) => name, 9),
    ["pay now", "Retry payments", "repay"],
  )
  assert.deepEqual(
    bestFits("pay ret", ["Retry payments", "pay now"], (name) => name, 9),
    ["Retry payments"],
  )
  assert.deepEqual(
    bestFits("", ["a", "b"], (name) => name, 1),
    ["a"],
  )
  assert.equal(fit("a.c", "abc"), 0)
})
test("agents: the preferred first, then the last used, those that are missing last", () => {
  const agent = (cliType, more = {}) => ({
    cliType,
    name: cliType,
    status: "idle",
    ready: "ready",
    builtin: true,
    offered: true,
    ...more,
  })
  const agents = [
    agent("a"),
    agent("b", { ready: "missing", install: "npm i b" }),
    agent("c"),
    agent("d", { login: "d login" }),
  ]
  const logins = new Map([["d", { code: "AUTH_REQUIRED", message: "", retryable: true }]])
  const order = (preferences) =>
    agentChoices(agents, logins, preferences).map(({ agent: each, state, todo }) => [each.cliType, state, todo])
  assert.deepEqual(order({ preferred: null, lastUsed: ["d", "b", "c"] }), [
    ["d", "login", "d login"],
    ["c", "ready", undefined],
    ["a", "ready", undefined],
    ["b", "missing", "npm i b"],
  ])
  assert.equal(order({ preferred: "a", lastUsed: ["c"] })[0][0], "a")
  assert.deepEqual(withUsed(["a", "b"], "b"), ["b", "a"])
})
test("agents: those that are not offered are behind the others, in the same order", () => {
  const choice = (cliType, offered) => ({ agent: { cliType, offered } })
  const { offered, more } = offeredFirst([choice("a", true), choice("b", false), choice("c", true), choice("d", false)])
  assert.deepEqual(
    [offered, more].map((choices) => choices.map(({ agent }) => agent.cliType)),
    [
      ["a", "c"],
      ["b", "d"],
    ],
  )
})
test("keys are found by their place, with exactly their modifiers", () => {
  const press = (code, held = "", key = "") => ({
    code,
    key,
    ctrlKey: held.includes("C"),
    altKey: held.includes("A"),
    shiftKey: held.includes("S"),
    metaKey: held.includes("M"),
    isComposing: false,
    target: null,
  })
  assert.equal(shortcutOf(press("KeyK", "C"), false), "search")
  assert.equal(shortcutOf(press("KeyK", "M"), true), "search")
  assert.equal(shortcutOf(press("KeyK", "CS"), false), null)
  assert.equal(shortcutOf(press("Digit3", "AS"), false), "tab-3")
  assert.equal(shortcutOf(press("KeyN", "A"), false), "new-session")
  assert.equal(shortcutOf(press("KeyN", "A"), true), null, "Option types letters on a Mac")
  assert.equal(shortcutOf(press("KeyN", "CS"), true), "new-session")
  assert.equal(shortcutOf(press("Slash", "S", "?"), false), "help")
  assert.equal(
    shortcutOf(
      { ...press("Slash", "S", "?"), target: { matches: (selector) => selector.includes("textarea") } },
      false,
    ),
    null,
  )
  assert.equal(shortcutOf({ ...press("KeyK", "C"), isComposing: true }, false), null)
})
test("no two shortcuts are the same keys", () => {
  for (const mac of [false, true])
    assert.equal(new Set(shortcuts.map((each) => keysOf(each, mac).join("+"))).size, shortcuts.length)
})
test("a width that an edge sets stays within bounds", () => {
  const limits = { narrowest: 200, widest: 480, usual: 272 }
  assert.deepEqual(
    [10, 300.4, 9999, "x", NaN].map((width) => fitTo(width, limits)),
    [200, 300, 480, 272, 272],
  )
})
test("shell and portlet take from each other what they may say about the session, and nothing else", () => {
  const mine = "demo:1"
  assert.ok(isToShell({ type: "session:send", sessionId: mine, content: "x", requestId: "r" }, mine))
  assert.ok(isToShell({ type: "portlet:lacks", itemId: "i" }, mine))
  const odd = [null, "session:cancel", [], {}, { type: "constructor" }, { type: ["session:cancel"], sessionId: mine }]
  const forbidden = ["session:delete", "session:open", "project:remove", "shell:focus"].map((type) => ({
    type,
    sessionId: mine,
  }))
  const elsewhere = [
    { type: "session:cancel" },
    { type: "session:cancel", sessionId: "demo:2" },
    { type: "session:cancel", sessionId: [mine] },
  ]
  for (const message of [...odd, ...forbidden, ...elsewhere])
    assert.equal(isToShell(message, mine), false, JSON.stringify(message))
  assert.ok(isToPortlet({ type: "shell:focus" }, mine))
  assert.ok(isToPortlet({ type: "agent:status", cliType: "demo", status: "connected" }, mine))
  for (const message of [{ type: "portlet:ready" }, { type: "session:upsert" }, { type: "error", sessionId: "demo:2" }])
    assert.equal(isToPortlet(message, mine), false)
})
test("a session's portlet finds its id in its address", () =>
  assert.equal(sessionOfAddress(new URL(portletAddress("x:a/b#c%"), "http://h").hash), "x:a/b#c%"))
