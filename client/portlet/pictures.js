/** Pictures of the session. They need the credential, so each is fetched once and shown from memory. */

/** @param {(url: string) => Promise<Response>} fetchOurs @param {AbortSignal} signal */
export function createPictures(fetchOurs, signal) {
  /** @type {Map<string, Promise<string>>} */
  const addresses = new Map()
  signal.addEventListener("abort", () => addresses.forEach((address) => address.then(URL.revokeObjectURL, () => {})))

  return {
    /** A `blob:` address. @param {string} url @returns {Promise<string>} */
    address(url) {
      const known = addresses.get(url)
      if (known) return known
      if (!url.startsWith("/api/session/")) return Promise.reject({ message: "It is not one of ours." })
      const address = fetchOurs(url).then((answer) => answer.blob()).then((blob) => URL.createObjectURL(blob))
      address.catch(() => addresses.delete(url))
      addresses.set(url, address)
      return address
    },
  }
}
