/** Random ids. `crypto.randomUUID` exists only on secure origins; random values exist everywhere. */

/** @param {number} bytes @returns {string} lower-case hexadecimal */
export function randomHex(bytes) {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  )
}

/** Version 4. */
export function uuid() {
  const hex = randomHex(16)
  const variant = ((parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
