/**
 * The one place where HTML enters the DOM. Only what the server rendered (and so made safe) may come
 * here; everything else is built with `textContent` and elements. The Trusted Types policy makes the
 * browser hold us to that: no other module can create one.
 */

/** @typedef {{ createHTML(html: string): string }} HtmlPolicy */

/** @type {HtmlPolicy} */
const policy = /** @type {{ trustedTypes?: { createPolicy(name: string, rules: HtmlPolicy): HtmlPolicy } }} */ (
  /** @type {unknown} */ (globalThis)
).trustedTypes?.createPolicy("liminal", { createHTML: (html) => html }) ?? { createHTML: (html) => html }

/** Replaces what is in `element` by HTML that the server rendered.
 * @param {Element} element @param {string} html */
export function setRenderedHtml(element, html) {
  element.innerHTML = policy.createHTML(html)
}
