/**
 * The one place where HTML enters the DOM. Only HTML that the server rendered, and so made safe, may be
 * passed here; everything else is built with `textContent` and elements. The browser enforces this with the
 * Trusted Types policy: no other module can create one.
 */

/** @typedef {{ createHTML(html: string): string }} HtmlPolicy */

/** @type {HtmlPolicy} */
const policy = /** @type {{ trustedTypes?: { createPolicy(name: string, rules: HtmlPolicy): HtmlPolicy } }} */ (
  /** @type {unknown} */ (globalThis)
).trustedTypes?.createPolicy("liminal", { createHTML: (html) => html }) ?? { createHTML: (html) => html }

/** Replaces the content of `element` with HTML that the server rendered.
 * @param {Element} element @param {string} html */
export function setRenderedHtml(element, html) {
  element.innerHTML = policy.createHTML(html)
}
