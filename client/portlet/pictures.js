/** The session's pictures, attachments and long outputs. They need the credential, so pictures are fetched once and
 * shown from memory. */

/** @import { Attachment } from "../contract.js" */
/** @import { Api } from "../shared/door.js" */

/** @param {Api} api @param {AbortSignal} signal */
export function createPictures(api, signal) {
  /** @type {Map<string, Promise<string>>} */
  const addresses = new Map()
  signal.addEventListener("abort", () => addresses.forEach((address) => address.then(URL.revokeObjectURL, () => {})))

  return {
    /** A `blob:` address. @param {string} url @returns {Promise<string>} */
    picture(url) {
      const known = addresses.get(url)
      if (known) return known
      if (!/^\/api\/(session|attachment)\//.test(url))
        return Promise.reject({ message: "It isn't stored on this server." })
      const address = api(url)
        .then((answer) => answer.blob())
        .then((blob) => URL.createObjectURL(blob))
      address.catch(() => addresses.delete(url))
      addresses.set(url, address)
      return address
    },
    /** @param {string} url of an attached text */
    text: async (url) => (await api(url)).text(),
    /** Only the bytes that belong to one card: a long output may continue in the next one.
     * @param {string} sessionId @param {string} itemId @param {number} bytes */
    async output(sessionId, itemId, bytes) {
      const url = `/api/session/${encodeURIComponent(sessionId)}/item/${encodeURIComponent(itemId)}/output`
      return (await api(url, { headers: { range: `bytes=0-${bytes - 1}` } })).text()
    },
    /** @param {Blob} body @param {string} name @returns {Promise<Attachment>} */
    upload: async (body, name) =>
      (await api(`/api/attachment?name=${encodeURIComponent(name)}`, { method: "POST", body })).json(),
  }
}
