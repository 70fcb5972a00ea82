/** Text boxes that are as high as their text. */

/** Gives the box the height of its text. While it is measured the space it takes never gets smaller: otherwise a view
 * beside it would be higher for a moment, and the browser would move what is scrolled to its end.
 * @param {HTMLTextAreaElement} box */
export function growToText(box) {
  const { style } = box
  const borders = box.offsetHeight - box.clientHeight
  style.setProperty("margin-block-end", `${box.offsetHeight}px`)
  style.setProperty("min-block-size", "0")
  style.setProperty("block-size", "0")
  const height = box.scrollHeight + borders
  style.setProperty("block-size", `${height}px`)
  style.removeProperty("min-block-size")
  style.removeProperty("margin-block-end")
}
