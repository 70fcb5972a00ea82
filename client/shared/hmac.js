/**
 * HMAC-SHA-256 for the proof that the server is ours, and for the seals in storage. Browsers offer `crypto.subtle` only
 * on secure origins, but the server may be reached over plain http by a name the user allowed, so we have our own small
 * implementation.
 */

/** @param {string} key @param {string} message @returns {string} lower-case hexadecimal */
export function hmacSha256(key, message) {
  const encoder = new TextEncoder()
  let secret = encoder.encode(key)
  if (secret.length > 64) secret = sha256(secret)
  const inner = new Uint8Array(64).fill(0x36)
  const outer = new Uint8Array(64).fill(0x5c)
  secret.forEach((byte, at) => {
    inner[at] = 0x36 ^ byte
    outer[at] = 0x5c ^ byte
  })
  const mac = sha256(joined(outer, sha256(joined(inner, encoder.encode(message)))))
  return Array.from(mac, (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/** @param {Uint8Array} first @param {Uint8Array} second */
function joined(first, second) {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** The first 32 bits of the fractional parts of the roots of the first primes, as FIPS 180-4 has them.
 * @param {number} count @param {number} power */
function rootsOfPrimes(count, power) {
  const roots = []
  for (let n = 2; roots.length < count; n += 1) {
    let prime = true
    for (let divisor = 2; divisor * divisor <= n; divisor += 1) if (n % divisor === 0) prime = false
    if (prime) roots.push(((n ** power % 1) * 2 ** 32) | 0)
  }
  return roots
}

const constants = Int32Array.from(rootsOfPrimes(64, 1 / 3))
const start = Int32Array.from(rootsOfPrimes(8, 1 / 2))

/** Called for every stored draft, so while the user types: plain numbers in the loop keep it fast.
 * @param {Uint8Array} bytes @returns {Uint8Array<ArrayBuffer>} */
function sha256(bytes) {
  const hash = start.slice()
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(padded.length - 4, bytes.length * 8)
  const words = new Int32Array(64)
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 16; t += 1) words[t] = view.getInt32(block + t * 4)
    for (let t = 16; t < 64; t += 1)
      words[t] =
        small(at(words, t - 2), 17, 19, 10) + at(words, t - 7) + small(at(words, t - 15), 7, 18, 3) + at(words, t - 16)
    let [a, b, c, d, e, f, g, h] = /** @type {[number, number, number, number, number, number, number, number]} */ (
      /** @type {unknown} */ (hash)
    )
    for (let t = 0; t < 64; t += 1) {
      const first = (h + big(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + at(constants, t) + at(words, t)) | 0
      const second = (big(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + second) | 0
    }
    ;[a, b, c, d, e, f, g, h].forEach((word, n) => {
      hash[n] = at(hash, n) + word
    })
  }
  const digest = new Uint8Array(32)
  const out = new DataView(digest.buffer)
  hash.forEach((word, n) => out.setInt32(n * 4, word))
  return digest
}

/** @param {Int32Array} list @param {number} index */
const at = (list, index) => list[index] ?? 0
/** @param {number} word @param {number} by */
const turned = (word, by) => (word >>> by) | (word << (32 - by))
/** @param {number} word @param {number} x @param {number} y @param {number} z */
const big = (word, x, y, z) => turned(word, x) ^ turned(word, y) ^ turned(word, z)
/** @param {number} word @param {number} x @param {number} y @param {number} z */
const small = (word, x, y, z) => turned(word, x) ^ turned(word, y) ^ (word >>> z)
