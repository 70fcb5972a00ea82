/**
 * Logging in. The browser keeps a key, created at login, that no page can read (WebCrypto, IndexedDB). For every
 * connection the server proves that it is the one the browser logged in to, the browser signs the server's challenge
 * and gets a ticket, which stays in memory. The token is sent once, to log in, and never stored.
 *
 * Outside a secure context (plain http by a name the user allowed) browsers offer no keys. There a secret in the page's
 * memory is used instead, and the login ends with the page.
 */

import { hmacSha256 } from "./hmac.js"
import { randomHex } from "./ids.js"
import { keys, load } from "./storage.js"

/** @import { ErrorBody } from "../contract.js" */

/** The result of a request for a ticket. `stranger`: the server does not know this browser, or is not the one it logged
 * in to; `away`: no answer.
 * @typedef {Admission | "stranger" | "away"} Entry */
/** `storageKey` seals what the page stores; see `storage.js`.
 * @typedef {{ ticket: string, storageKey: string }} Admission */

/** A login with keys that can be used but not read.
 * @typedef {{ browser: string, key: CryptoKey, proofKey: CryptoKey }} KeyLogin */
/** A login without keys, for this page only.
 * @typedef {{ browser: string, secret: string, proofSecret: string }} PageLogin */

/** @typedef {object} LoggedInBrowser
 * @property {string} id
 * @property {string} name
 * @property {string} origin
 * @property {string} firstSeen
 * @property {string} lastSeen
 * @property {boolean} isCurrent
 * @property {boolean} isLasting  False: the login ends with its page. */

/** A `Blob` is sent as it is, anything else as JSON.
 * @typedef {{ method?: string, body?: unknown, signal?: AbortSignal, headers?: Record<string, string> }} ApiOptions */
/** @typedef {(path: string, options?: ApiOptions) => Promise<Response>} Api */
/** @typedef {ReturnType<typeof createDoor>} Door */

const signing = { name: "ECDSA", namedCurve: "P-256" }
const notResponding = "The server is not responding. Is liminal still running?"

/** Removes `#token=` or `#code=` from the page's address, to keep it out of history, bookmarks and screenshots.
 * @param {Location} location @param {History} history @returns {{ token: string } | { code: string } | null} */
export function takeFromAddress(location, history) {
  const given = new URLSearchParams(location.hash.slice(1))
  const token = given.get("token")
  const code = given.get("code")
  if (token === null && code === null) return null
  history.replaceState(history.state, "", location.pathname)
  return token !== null ? { token: token.trim() } : { code: (code ?? "").trim() }
}

/** Earlier versions stored the token here. It is used for one more login and removed.
 * @param {Storage} storage @returns {{ token: string } | null} */
export function takeStoredToken(storage) {
  const token = load(storage, keys.credential)
  storage.removeItem(keys.credential)
  return typeof token === "string" && token !== "" ? { token } : null
}

/** Unregisters the service workers of this address. We have none: they belong to a program that used it before us.
 * @returns {Promise<boolean>} whether this page came through one and must be reloaded */
export async function endWorkers() {
  const workers = navigator.serviceWorker
  if (!workers) return false
  const found = await workers.getRegistrations().catch(() => [])
  if (found.length === 0) return false
  await Promise.allSettled([
    ...found.map((registration) => registration.unregister()),
    ...(await caches.keys()).map((name) => caches.delete(name)),
  ])
  return workers.controller !== null
}

export function createDoor() {
  /** A login that could not be stored. @type {KeyLogin | PageLogin | null} */
  let unstored = null

  const login = async () => unstored ?? (await storedLogin())

  /** A ticket for a fresh challenge. @returns {Promise<Entry>} */
  async function askIn() {
    const me = await login()
    if (!me) return "stranger"
    const nonce = randomHex(32)
    const asked = await post("/api/challenge", { browser: me.browser, nonce })
    if (asked === null) return "away"
    const { challenge, proof } = asked
    if (!(await isProof(me, `server\n${nonce}\n${location.origin}\n${challenge}`, String(proof)))) return "stranger"
    const answer = await answerOf(me, `browser\n${location.origin}\n${challenge}`)
    const got = await post("/api/ticket", { browser: me.browser, challenge, answer })
    if (got === null) return "away"
    const { ticket, storageKey } = got
    return typeof ticket === "string" && typeof storageKey === "string" ? { ticket, storageKey } : "stranger"
  }

  /** Never rejects: nobody would ask again. What throws is a stored key that can't be used, which only a new login
   * replaces; that is what a stranger is told to do. */
  const enter = () => askIn().catch(() => /** @type {const} */ ("stranger"))

  return {
    enter,
    api: createApi(enter),

    isLoggedIn: async () => (await login()) !== null,

    /** Exchanges a code or a token for a login; returns the problem as a text for the user. The key is always new: an
     * existing one may have been put there by another program's page.
     * @param {{ token: string } | { code: string }} given @returns {Promise<string | null>} */
    async logIn(given) {
      if ("token" in given) {
        if (given.token === "") return "Paste the token first."
        const proof = await proveToken(given.token)
        if (proof === "stranger")
          return "That is not this server's token. Print it with “liminal token” and paste all of it."
        if (proof === "away") return notResponding
      }
      const before = await login()
      const replaces = before ? { replaces: before.browser } : {}
      const pair = crypto.subtle ? await crypto.subtle.generateKey(signing, false, ["sign", "verify"]) : null
      const secret = randomHex(32)
      const own = pair
        ? { key: base64url(await crypto.subtle.exportKey("raw", pair.publicKey)) }
        : { pageSecret: secret }
      const answer = await post("/api/login", { ...given, ...own, ...replaces })
      if (answer === null) return notResponding
      const { browser, proofKey: proofSecret } = answer
      if (typeof browser !== "string" || typeof proofSecret !== "string") {
        return "code" in given
          ? "This link has already been used or has expired."
          : String(answer.message ?? "The server refused the token.")
      }
      if (!pair) unstored = { browser, secret, proofSecret }
      else {
        const algorithm = { name: "HMAC", hash: "SHA-256" }
        const proofKey = await crypto.subtle.importKey("raw", bytes(proofSecret), algorithm, false, ["verify"])
        const fresh = { browser, key: pair.privateKey, proofKey }
        unstored = (await storeLogin(fresh)) ? null : fresh
      }
      return null
    },

    async forget() {
      unstored = null
      await storeLogin(null)
    },
  }
}

/** A ticket is renewed after this time, before the server's two minutes are over (milliseconds). */
const FRESH = 100_000

/** Tickets for a page in a frame, which gets them from the shell. @param {() => void} ask */
export function createEntering(ask) {
  /** @type {((entry: Entry) => void)[]} */
  let waiting = []
  return {
    /** @returns {Promise<Entry>} */
    enter: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        ask()
      }),
    /** The shell's answer. @param {Entry} entry */
    entered(entry) {
      for (const resolve of waiting) resolve(entry)
      waiting = []
    },
  }
}

/** Requests to `/api/*` with a ticket. They throw an `ErrorBody` when they fail.
 * @param {() => Promise<Entry>} enter @returns {Api} */
export function createApi(enter) {
  /** The ticket of the last request, and since when. @type {Promise<Entry> | null} */
  let entry = null
  let since = 0

  /** @type {Api} */
  return async function api(path, { method = "GET", body, signal, headers = {} } = {}) {
    const ask = async () => {
      if (performance.now() - since > FRESH) entry = null
      if (entry === null) since = performance.now()
      entry ??= enter()
      const now = await entry
      if (typeof now === "string") {
        entry = null
        throw now === "away" ? unreachable : loggedOut
      }
      return fetch(path, {
        method,
        cache: "no-store",
        signal: signal ?? null,
        headers: {
          ...headers,
          authorization: `Bearer ${now.ticket}`,
          ...(body === undefined || body instanceof Blob ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? null : body instanceof Blob ? body : JSON.stringify(body),
      }).catch(() => {
        throw unreachable
      })
    }
    let answer = await ask()
    if (answer.status === 401) {
      // The server was started again, or this computer slept.
      entry = null
      answer = await ask()
    }
    if (answer.ok) return answer
    const error = await answer.json().catch(() => null)
    throw error?.code ? error : failure("INTERNAL_ERROR", `The server returned status ${answer.status}.`, true)
  }
}

/** Asks the server to prove that it knows `token`, without sending it.
 * @param {string} token @returns {Promise<"ours" | "stranger" | "away">} */
async function proveToken(token) {
  const nonce = randomHex(32)
  const answer = await post(`/api/prove?nonce=${nonce}`)
  if (answer === null) return "away"
  return answer.proof === hmacSha256(token, `${nonce}\n${location.origin}`) ? "ours" : "stranger"
}

/** The JSON the server returns, even with an error; null if there is no answer. Without a body it is a GET.
 * @param {string} path @param {unknown} [body] @returns {Promise<Record<string, unknown> | null>} */
async function post(path, body) {
  const init =
    body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  try {
    const answer = await fetch(path, { ...init, cache: "no-store" })
    if (answer.status >= 500) return null
    const json = await answer.json().catch(() => null)
    return typeof json === "object" && json !== null ? json : {}
  } catch {
    return null
  }
}

/** @param {KeyLogin | PageLogin} me @param {string} message @returns {Promise<string>} */
async function answerOf(me, message) {
  if ("secret" in me) return hmacSha256(me.secret, message)
  return base64url(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, me.key, bytes(message)))
}

/** @param {KeyLogin | PageLogin} me @param {string} message @param {string} proof */
async function isProof(me, message, proof) {
  if ("secret" in me) return hmacSha256(me.proofSecret, message) === proof
  const mac = Uint8Array.from(proof.match(/../g) ?? [], (digits) => parseInt(digits, 16))
  return crypto.subtle.verify("HMAC", me.proofKey, mac, bytes(message))
}

/** @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<any>} act @returns {Promise<any>} */
function inStore(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("liminal", 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore("door")
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const database = opening.result
      const transaction = database.transaction("door", mode)
      const asked = act(transaction.objectStore("door"))
      transaction.oncomplete = () => {
        database.close()
        resolve(asked.result)
      }
      transaction.onabort = () => {
        database.close()
        reject(transaction.error)
      }
    }
  })
}

/** @returns {Promise<KeyLogin | null>} */
async function storedLogin() {
  if (!crypto.subtle) return null
  const found = await inStore("readonly", (store) => store.get("login")).catch(() => null)
  const isWhole =
    typeof found?.browser === "string" && found.key instanceof CryptoKey && found.proofKey instanceof CryptoKey
  return isWhole ? found : null
}

/** False if the browser stores nothing, as in some private windows. @param {KeyLogin | null} login */
const storeLogin = (login) =>
  inStore("readwrite", (store) => (login ? store.put(login, "login") : store.delete("login"))).then(
    () => true,
    () => false,
  )

/** @param {string} text */
const bytes = (text) => new TextEncoder().encode(text)
/** @param {ArrayBuffer} buffer */
const base64url = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
/** @param {ErrorBody["code"]} code @param {string} message @param {boolean} retryable @returns {ErrorBody} */
const failure = (code, message, retryable) => ({ code, message, retryable })
const unreachable = failure("INTERNAL_ERROR", "The server is not responding. Try again when it is back.", true)
const loggedOut = failure(
  "UNAUTHORIZED",
  "This page is not logged in to this server. Open the link from the terminal.",
  false,
)
