/** The sidebar's edge; the width is remembered. */

import { mountEdge } from "../shared/edge.js"
import { keys, loadRecord, save } from "../shared/storage.js"

/** @param {HTMLElement} edge @param {HTMLElement} root @param {Storage} storage */
export function mountSidebarWidth(edge, root, storage) {
  const { set } = mountEdge(edge, loadRecord(storage, keys.sidebar).width, {
    narrowest: 200,
    widest: 480,
    usual: 272,
    side: "before",
    show: (width) => root.style.setProperty("--sidebar", `${width}px`),
    keep: (width) => save(storage, keys.sidebar, { ...loadRecord(storage, keys.sidebar), width }),
  })
  return { follow: () => set(loadRecord(storage, keys.sidebar).width) }
}
