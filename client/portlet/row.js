/** One row of the conversation, by its kind, and the functions that rows may call. */

import { mountDay } from "./day.js"
import { mountInterlude } from "./interlude.js"
import { mountMessage } from "./message.js"
import { mountNotice } from "./notice.js"
import { mountPermission } from "./permission.js"
import { mountPlan } from "./plan.js"
import { mountSend } from "./send.js"
import { mountTurnEnd } from "./turn-end.js"
import { mountWork } from "./work.js"

/** @import { AnswerValue, AttachmentRef, Details, NoticeAction, UpsertObject } from "../contract.js" */
/** @import { Row } from "./rows.js" */
/** @import { Typed } from "./typed.js" */

/** @typedef {{ optionId?: string, answers?: Record<string, AnswerValue>, message?: string }} PermissionAnswer */

/** @typedef {(itemId: string, answer: PermissionAnswer, onFailure: () => void) => void} AnswerPermission */

/** @typedef {object} RowDeps
 * @property {(element: Element, mutate: () => void) => void} change  A change the user asked for at an element.
 * @property {(mutate: () => void) => void} keepPlace  Any other change: the reader stays where they are.
 * @property {(row: Row) => RowView} mountRow  For rows within rows.
 * @property {Map<string, boolean>} open  What the user opened (true) or closed, by key; outlives the rows.
 * @property {() => string} agentName
 * @property {(errorCode: string | undefined) => Details | null} remedy  What the user can do about such a failure.
 * @property {AnswerPermission} answer
 * @property {(action: NoticeAction) => void} act
 * @property {(content: string, attachments: AttachmentRef[]) => void} resend  Sends a message again, as a new one.
 * @property {(requestId: string) => void} takeBack  Puts a message that was refused back into the composer.
 * @property {(requestId: string) => void} forget  Drops a message that was refused.
 * @property {() => boolean} canSend
 * @property {(at: string) => void} continueAt  Sends "Continue." then.
 * @property {(id: string) => void} undo  Undoes an act on changes.
 * @property {() => boolean} isVisible  Whether the user can be looking at this portlet.
 * @property {(itemId: string, bytes: number) => Promise<string>} wholeOutput
 * @property {(url: string) => Promise<string>} picture  A `blob:` address for a picture of the session.
 * @property {(url: string) => Promise<string>} text  Of an attachment.
 * @property {(itemId: string) => Promise<boolean>} copyLink  False if the browser refuses.
 * @property {(item: Extract<UpsertObject, { type: "message" }>) => void} edit  An own message, to continue from there.
 * @property {(itemId: string) => void} branch  Another session with everything up to this item.
 * @property {() => void} focusComposer
 * @property {() => boolean} composerIsIdle  The user is not typing.
 * @property {Typed} typed  What is typed on cards and not sent.
 * @property {(words: string) => void} leave  Words that no answer sends go into the composer.
 * @property {() => void} [write]  The user begins to write a message. */

/** What a permission's card may call; Now has no more than this.
 * @typedef {Pick<RowDeps, "change" | "open" | "answer" | "isVisible" | "picture" | "focusComposer" | "composerIsIdle"
 *   | "typed" | "leave" | "write">} PermissionDeps */

/** @typedef {{ element: HTMLElement, update(row: Row): void, destroy?(): void }} RowView */

/** @param {Row} row @param {RowDeps} deps @returns {RowView} */
export function mountRow(row, deps) {
  const view = /** @type {RowView} */ (mountKind(row, deps))
  view.element.classList.add("row")
  return view
}

/** A row never changes its kind, because the key implies the kind. @param {Row} row @param {RowDeps} deps */
function mountKind(row, deps) {
  switch (row.kind) {
    case "day":
      return mountDay(row)
    case "message":
      return mountMessage(row, deps)
    case "work":
      return mountWork(row, deps)
    case "plan":
      return mountPlan(row)
    case "ask":
      return mountPermission(row, deps)
    case "notice":
      return mountNotice(row, deps)
    case "interlude":
      return mountInterlude(row, deps)
    case "end":
      return mountTurnEnd(row, deps)
    case "send":
      return mountSend(row, deps)
  }
}
