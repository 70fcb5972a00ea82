/** One row of the conversation, by its kind. Also what all rows may ask of their surroundings. */

import { mountDay } from "./day.js"
import { mountMessage } from "./message.js"
import { mountNotice } from "./notice.js"
import { mountPermission } from "./permission.js"
import { mountPlan } from "./plan.js"
import { mountSend } from "./send.js"
import { mountTurnEnd } from "./turn-end.js"
import { mountWork } from "./work.js"

/** @import { Details, NoticeAction } from "../contract.js" */
/** @import { Row } from "./rows.js" */

/** @typedef {object} RowDeps
 * @property {(element: Element, mutate: () => void) => void} change  A change the user asked for at an element.
 * @property {(row: Row) => RowView} mountRow  For rows within rows.
 * @property {Map<string, boolean>} open  What the user opened and closed, by key; outlives the rows.
 * @property {() => string} agentName
 * @property {(errorCode: string | undefined) => Details | null} remedy  What there is to do about such a failure.
 * @property {(itemId: string, optionId: string | undefined, answers: Record<string, string> | undefined, onFailure: () => void) => void} answer
 * @property {(action: NoticeAction) => void} act
 * @property {(content: string) => void} resend  Sends a message again, as a new one.
 * @property {(requestId: string) => void} takeBack  Puts a message that was refused back into the composer.
 * @property {(requestId: string) => void} forget  Drops a message that was refused.
 * @property {() => boolean} canSend
 * @property {() => boolean} isVisible  Whether the user can be looking at this portlet.
 * @property {(itemId: string, bytes: number) => Promise<string>} wholeOutput
 * @property {(url: string) => Promise<string>} picture  A `blob:` address for a picture of ours.
 * @property {() => void} focusComposer
 * @property {() => boolean} composerIsIdle  Nothing is being typed there. */

/** @typedef {{ element: HTMLElement, update(row: Row): void, destroy?(): void }} RowView */

/** @param {Row} row @param {RowDeps} deps @returns {RowView} */
export function mountRow(row, deps) {
  const view = /** @type {RowView} */ (mountKind(row, deps))
  view.element.classList.add("row")
  return view
}

/** A row never changes its kind: the key of each says it. @param {Row} row @param {RowDeps} deps */
function mountKind(row, deps) {
  switch (row.kind) {
    case "day": return mountDay(row)
    case "message": return mountMessage(row, deps)
    case "work": return mountWork(row, deps)
    case "plan": return mountPlan(row)
    case "ask": return mountPermission(row, deps)
    case "notice": return mountNotice(row, deps)
    case "end": return mountTurnEnd(row, deps)
    case "send": return mountSend(row, deps)
  }
}
