/** Pictures as agents take them: not larger than they look at, and without what a camera adds, such as the place. */

/** Pixels on the longer side. More are scaled down by the agents anyway. */
const LONGEST_SIDE = 2000

/** In bytes. Agents refuse a picture of 5 MB, and base64 adds a third. */
const LARGEST = 3.5 * 1024 * 1024

/** Draws the picture again. Rejects if the browser can't read it. @param {Blob} file @returns {Promise<Blob>} */
export async function shrunk(file) {
  const picture = await createImageBitmap(file)
  const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height))
  const canvas = document.createElement("canvas")
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  const context = canvas.getContext("2d")
  if (!context) throw new Error("no canvas")
  context.imageSmoothingQuality = "high"
  context.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  if (file.type !== "image/jpeg") {
    const drawn = await blobOf(canvas, "image/png", 1)
    if (drawn.size <= LARGEST) return drawn
  }
  // A photograph. What was transparent is white, as on paper.
  context.globalCompositeOperation = "destination-over"
  context.fillStyle = "white"
  context.fillRect(0, 0, canvas.width, canvas.height)
  const drawn = await blobOf(canvas, "image/jpeg", 0.9)
  return drawn.size <= LARGEST ? drawn : blobOf(canvas, "image/jpeg", 0.6)
}

/** @param {HTMLCanvasElement} canvas @param {string} type @param {number} quality @returns {Promise<Blob>} */
const blobOf = (canvas, type, quality) =>
  new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), type, quality),
  )
