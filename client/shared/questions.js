/** Whether an agent asks a question or for permission. Pure. */

/** @import { AskOption, Question } from "../contract.js" */

/** A question without a form comes as a permission whose options are the answers: none of them is a no.
 * @param {{ questions?: Question[], options: AskOption[] }} asked */
export const isQuestion = ({ questions, options }) =>
  questions ? questions.length > 0 : options.length > 1 && options.every(({ kind }) => !kind.startsWith("reject"))
