/** Small typed functions that build and change elements. Strings become text, never HTML; for that see `html.js`. */

/** @typedef {Node | string | null | undefined | false} Child */

/** Makes an element. `class`, `text`, `data-*`, `aria-*` and plain attributes go in `attributes`; `true` sets an empty
 * attribute, `false`, `null` and `undefined` set none.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]} */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = String(value ?? "")
    else setAttribute(element, name, value)
  }
  for (const child of children) if (child) element.append(child)
  return element
}

/** A path that is cut at its start if there is no room. @param {string} path @param {string} [className] */
export const pathText = (path, className = "") =>
  el("span", { class: `path ${className}`.trim() }, el("bdi", { dir: "ltr", text: path }))

/** Sets, or with `false`, `null` and `undefined` removes, an attribute; leaves the DOM alone if nothing changes.
 * @param {Element} element @param {string} name @param {string | number | boolean | null | undefined} value */
export function setAttribute(element, name, value) {
  if (value === false || value === null || value === undefined) {
    if (element.hasAttribute(name)) element.removeAttribute(name)
    return
  }
  const text = value === true ? "" : String(value)
  if (element.getAttribute(name) !== text) element.setAttribute(name, text)
}

/** @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

/** A part of a list that comes and goes by its key.
 * @template Item
 * @typedef {{ element: Element, update(item: Item): void, destroy?(): void }} KeyedView */

/** Makes the children of `parent` match `items`, in order: reuses by key, updates, adds, removes, and moves only what
 * must move (so that focus, scroll and loaded iframes stay).
 * @template Item
 * @template {KeyedView<Item>} View
 * @param {Element} parent
 * @param {Map<string, View>} views of the last call; changed in place
 * @param {Iterable<Item>} items
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => View} mount */
export function keyed(parent, views, items, keyOf, mount) {
  keepingFocus(parent, () => arrange(parent, elementsOf(views, items, keyOf, mount)))
}

/** The elements of `items`, in order, those that are no longer wanted removed; the arguments are those of `keyed`.
 * @template Item
 * @template {KeyedView<Item>} View
 * @param {Map<string, View>} views @param {Iterable<Item>} items @param {(item: Item) => string} keyOf
 * @param {(item: Item) => View} mount */
export function elementsOf(views, items, keyOf, mount) {
  const wanted = new Map()
  for (const item of items) wanted.set(keyOf(item), item)
  for (const [key, view] of views) {
    if (wanted.has(key)) continue
    view.destroy?.()
    view.element.remove()
    views.delete(key)
  }
  const elements = []
  for (const [key, item] of wanted) {
    let view = views.get(key)
    if (view) view.update(item)
    else views.set(key, (view = mount(item)))
    elements.push(view.element)
  }
  return elements
}

/** Puts elements at the beginning of `parent`, in order, and moves only what must move.
 * @param {Element} parent @param {Element[]} elements */
export function arrange(parent, elements) {
  /** @type {Element | null} */
  let next = parent.firstElementChild
  for (const element of elements) {
    if (element === next) next = next.nextElementSibling
    else parent.insertBefore(element, next)
  }
}

/** Moving an element takes the focus away from its content; this brings it back.
 * @param {Element} parent @param {() => void} move */
export function keepingFocus(parent, move) {
  const focused = document.activeElement
  move()
  if (focused instanceof HTMLElement && focused !== document.activeElement && parent.contains(focused))
    focused.focus({ preventScroll: true })
}

/** Finds an element, or throws if it is missing.
 * @template {Element} T @param {ParentNode} root @param {string} selector @param {new () => T} type @returns {T} */
export function need(root, selector, type) {
  const found = root.querySelector(selector)
  if (!(found instanceof type)) throw new Error(`the page has no ${selector}`)
  return found
}
