/** The head of the changes: which of them are shown, how many files were viewed, Refresh and Close. */

import { el, setAttribute, setText } from "../shared/dom.js"
import { icon } from "../shared/icons.js"
import { isUndone, isViewed, scopeFrom, scopes } from "./changes-state.js"

/** @import { Workspace } from "../contract.js" */
/** @import { ChangesState, ScopeKind } from "./changes-state.js" */

/** @param {HTMLElement} root
 * @param {{ choose(scope: ScopeKind): void, refresh(): void, close(): void }} deps */
export function mountHead(root, deps) {
  const tabs = el("div", { class: "panel-scopes", role: "radiogroup", "aria-label": "Which changes" })
  const branchBase = el("span", { class: "panel-scope-base" })
  for (const [kind, name] of scopes) {
    const number = el("span", { class: "panel-scope-count" })
    const words = el("span", {}, name, kind === "branch" && branchBase)
    tabs.append(
      el("button", { class: "panel-scope", type: "button", role: "radio", "data-scope": kind }, words, number),
    )
  }
  const seen = el("span", { class: "panel-seen" })
  const refresh = el("button", { class: "icon-button", type: "button", "aria-label": "Refresh" }, icon("reload"))
  const close = el("button", { class: "icon-button", type: "button", "aria-label": "Close changes" }, icon("close"))
  root.append(tabs, seen, refresh, close)
  /** @type {ScopeKind | null} */
  let chosen = null

  close.addEventListener("click", deps.close)
  refresh.addEventListener("click", deps.refresh)
  tabs.addEventListener("click", ({ target }) => {
    const scope = target instanceof Element && target.closest("[data-scope]")
    if (scope) deps.choose(scopeFrom(scope.getAttribute("data-scope")))
  })
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    const at = scopes.findIndex(([kind]) => kind === chosen) + step
    const [next] = scopes.at(at % scopes.length) ?? []
    if (next) deps.choose(next)
    const tab = tabs.querySelector('[aria-checked="true"]')
    if (tab instanceof HTMLElement) tab.focus()
    event.preventDefault()
  })

  return {
    /** @param {ChangesState} state @param {Workspace | null} workspace */
    update(state, workspace) {
      chosen = state.scope
      const all = state.list?.files ?? []
      for (const tab of tabs.children) {
        const isChosen = tab.getAttribute("data-scope") === chosen
        setAttribute(tab, "aria-checked", String(isChosen))
        setAttribute(tab, "tabindex", isChosen ? "0" : "-1")
        const number = tab.querySelector(".panel-scope-count")
        if (number) setText(number, isChosen && state.list !== null ? String(all.length) : "")
      }
      const base = state.list?.base ?? workspace?.base
      setText(branchBase, base === undefined ? "" : ` vs ${base}`)
      const viewed = all.filter((file) => isViewed(state, file)).length
      setText(seen, all.length === 0 || isUndone(state.list) ? "" : `${viewed} of ${all.length} viewed`)
    },
  }
}
