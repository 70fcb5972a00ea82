/**
 * Getting in: the credential of this browser, the proof that the server is the one that gave it, and requests that
 * carry it. The credential is never sent to a server that did not prove just before that it knows it.
 */

import { hmacSha256 } from "./hmac.js"
import { randomHex } from "./ids.js"
import { keys, load, save } from "./storage.js"

/** @import { ErrorBody } from "../contract.js" */

/** What the server turned out to be: `ours`, a `stranger` that does not know the credential, or `away` (nobody answers).
 * @typedef {"ours" | "stranger" | "away"} Proof */

/** @param {Storage} storage @returns {string | null} */
export function credential(storage) {
  const token = load(storage, keys.credential)
  return typeof token === "string" && token !== "" ? token : null
}

/** @param {Storage} storage @param {string | null} token */
export function keepCredential(storage, token) {
  if (token === null) storage.removeItem(keys.credential)
  else save(storage, keys.credential, token)
}

/** Takes `#token=` or `#code=` out of the page's address, so that it is in no history, bookmark or screenshot.
 * @param {Location} location @param {History} history @returns {{ token: string } | { code: string } | null} */
export function takeFromAddress(location, history) {
  const given = new URLSearchParams(location.hash.slice(1))
  const token = given.get("token")
  const code = given.get("code")
  if (token === null && code === null) return null
  history.replaceState(history.state, "", location.pathname + location.search)
  return token !== null ? { token: token.trim() } : { code: (code ?? "").trim() }
}

/** Asks the server to prove that it knows `token`, without telling it.
 * @param {string} token @param {AbortSignal} [signal] @returns {Promise<Proof>} */
export async function prove(token, signal) {
  const nonce = randomHex(32)
  try {
    const answer = await fetch(`/api/prove?nonce=${nonce}`, { cache: "no-store", signal: signal ?? null })
    if (answer.status >= 500) return "away"
    const body = answer.ok ? await answer.json() : null
    return body?.proof === hmacSha256(token, `${nonce}\n${location.origin}`) ? "ours" : "stranger"
  } catch (reason) {
    return reason instanceof SyntaxError ? "stranger" : "away"
  }
}

/** Trades a code, or a token the user pasted, for the credential; says why not in words for the user.
 * @param {{ token: string } | { code: string }} given @returns {Promise<{ token: string } | { problem: string }>} */
export async function logIn(given) {
  if ("token" in given) {
    if (given.token === "") return { problem: "Paste the token first." }
    const proof = await prove(given.token)
    if (proof === "stranger") return { problem: "That is not the token of this server. Print it with “liminal token” and paste all of it." }
    if (proof === "away") return { problem: "The server does not answer. Is liminal still running?" }
  }
  try {
    const answer = await fetch("/api/login", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(given), cache: "no-store",
    })
    const body = await answer.json()
    if (answer.ok && typeof body?.token === "string") return { token: body.token }
    return { problem: "code" in given ? "This link was used already or is too old." : String(body?.message ?? "The server refused the token.") }
  } catch {
    return { problem: "The server does not answer. Is liminal still running?" }
  }
}

/** A request of `/api/*` with the credential. Throws an `ErrorBody` when it fails.
 * @param {string} path @param {{ method?: string, body?: unknown, signal?: AbortSignal, headers?: Record<string, string> }} [options] @returns {Promise<Response>} */
export async function api(path, { method = "GET", body, signal, headers = {} } = {}) {
  const token = credential(localStorage)
  const proof = token === null ? "stranger" : await prove(token, signal)
  if (proof === "away") throw failure("INTERNAL_ERROR", "The server does not answer. Try again when it is back.", true)
  if (proof === "stranger") throw failure("UNAUTHORIZED", "This page is not logged in to this server. Open the link from the terminal.", false)
  /** @type {Response} */
  let answer
  try {
    answer = await fetch(path, {
      method, cache: "no-store", signal: signal ?? null,
      headers: { ...headers, authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body),
    })
  } catch {
    throw failure("INTERNAL_ERROR", "The server does not answer. Try again when it is back.", true)
  }
  if (answer.ok) return answer
  const said = await answer.json().catch(() => null)
  throw said?.code ? said : failure("INTERNAL_ERROR", `The server answered ${answer.status}.`, true)
}

/** @param {ErrorBody["code"]} code @param {string} message @param {boolean} retryable @returns {ErrorBody} */
const failure = (code, message, retryable) => ({ code, message, retryable })
