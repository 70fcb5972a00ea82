/** Compares what browsers show with the journal. */

/** The whole transcript of a session, as the server reads it from the journal. */
export async function journalOf(socket, sessionId) {
  const { entries, turns, older } = await socket.ask({ type: "session:open", sessionId })
  const all = { entries, turns }
  for (let more = older; more;) {
    const page = await socket.ask({ type: "session:older", sessionId, before: all.entries[0].index })
    all.entries = [...page.entries, ...all.entries]
    all.turns = [...page.turns, ...all.turns]
    more = page.older
  }
  socket.send({ type: "session:close", sessionId })
  return all
}

const named = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " " }
/** @param {string} html */
const textOf = (html) =>
  html.replace(/<[^>]*>/g, "").replace(/&(#x?[0-9a-f]+|\w+);/gi, (whole, name) => {
    if (!name.startsWith("#")) return named[name] ?? whole
    return String.fromCodePoint(/^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)))
  })
const bare = (text) => text.replace(/\s+/g, "")

const kindOf = {
  message: "message",
  thinking: "thinking",
  tool_call: "tool",
  plan: "plan",
  permission: "answered",
  notice: "notice",
}

/** The text a page must show for an entry: exactly (`whole`), or at least (`part`). */
function wanted(entry) {
  switch (entry.type) {
    case "message":
      return { whole: entry.blocks.map(textOf).join("") + (entry.errorMessage ?? "") }
    case "thinking":
      return { part: entry.blocks.map(textOf).join("") }
    case "tool_call":
      return { part: entry.title }
    case "plan":
      return { part: entry.entries.map(({ text }) => text)[0] ?? "" }
    case "permission":
      return { part: "" }
    case "notice":
      return { part: entry.text }
  }
}

/** The order on the page: a permission follows its tool call. @param {any[]} entries */
function asShown(entries) {
  const calls = new Set(entries.flatMap(({ type, callId }) => (type === "tool_call" ? callId : [])))
  const lastAsks = new Map(
    entries.flatMap((entry) => (entry.type === "permission" && calls.has(entry.callId) ? [[entry.callId, entry]] : [])),
  )
  return entries
    .filter((entry) => entry.type !== "permission" || lastAsks.get(entry.callId) !== entry)
    .flatMap((entry) =>
      entry.type === "tool_call" && lastAsks.has(entry.callId) ? [entry, lastAsks.get(entry.callId)] : [entry],
    )
}

/** The differences between the rows of a page and the journal.
 * @param {any[]} rows @param {{ entries: any[], turns: any[] }} journal */
export function compare(rows, { entries, turns }) {
  const wrong = []
  const items = rows.filter(({ id }) => id !== null)
  const outer = asShown(entries.filter(({ parentCallId }) => parentCallId === undefined))
  const [shownIds, keptIds] = [items.map(({ id }) => id), outer.map(({ itemId }) => itemId)]
  if (shownIds.join() !== keptIds.join()) {
    const at = keptIds.findIndex((id, index) => id !== shownIds[index])
    wrong.push(
      `shows ${shownIds.length} items, the journal has ${keptIds.length}; ` +
        `they differ from item ${at < 0 ? keptIds.length : at}: ${shownIds[at]} instead of ${keptIds[at]}`,
    )
  }
  const byId = new Map(outer.map((entry) => [entry.itemId, entry]))
  const outcomes = new Map(turns.map(({ turnId, outcome }) => [turnId, outcome]))
  for (const row of items) {
    const entry = byId.get(row.id)
    if (!entry) continue
    if (row.kind !== kindOf[entry.type]) wrong.push(`${row.id} is shown as ${row.kind}, but it is a ${entry.type}`)
    const { whole, part } = wanted(entry)
    // The reason why a turn failed is shown only at its end.
    const text = bare(row.text)
    if (whole !== undefined && text !== bare(whole) && text !== bare(entry.blocks.map(textOf).join("")))
      wrong.push(
        `${row.id} shows ${JSON.stringify(row.text.slice(0, 200))}, ` +
          `the journal has ${JSON.stringify(whole.slice(0, 200))}`,
      )
    if (part !== undefined && !text.includes(bare(part)))
      wrong.push(
        `${row.id} does not show ${JSON.stringify(part.slice(0, 200))} but ${JSON.stringify(row.text.slice(0, 200))}`,
      )
    if (row.state === "running") wrong.push(`${row.id} is shown as running, but nothing is running`)
  }
  const ends = rows.filter(({ kind }) => kind === "turn-end").map(({ state }) => state)
  const kept = [...new Set(entries.map(({ turnId }) => turnId))].map((turnId) => outcomes.get(turnId))
  if (ends.join() !== kept.join()) wrong.push(`shows turns that ended ${ends.join()}, the journal has ${kept.join()}`)
  for (const row of rows) if (row.kind === "sending") wrong.push(`still shown as being sent: ${row.text}`)
  return wrong
}

/** The first difference between what two browsers show. */
export function differences(one, other) {
  const [left, right] = [one, other].map((rows) => rows.map((row) => JSON.stringify(row)))
  const at = left.findIndex((row, index) => row !== right[index])
  return at < 0 && left.length === right.length
    ? []
    : [`row ${at}: ${left[at]?.slice(0, 300)} here, ${right[at]?.slice(0, 300)} in a fresh page`]
}

/** Messages of the user that stand more than once. No two that were written are the same.
 * @param {{ entries: any[] }} journal */
export function repeated({ entries }) {
  const own = entries
    .filter(({ type, origin }) => type === "message" && origin === "user")
    .map(({ content }) => content)
  return [...new Set(own)]
    .filter((prompt) => own.filter((each) => each === prompt).length > 1)
    .map((prompt) => `${JSON.stringify(prompt)} was sent more than once`)
}

/** The commands that began a turn which completed, by whether the agent answered them as such.
 * @param {{ entries: any[], turns: any[] }} journal @param {{ name: string, answer: string }} command */
export function commandsOf({ entries, turns }, { name, answer }) {
  const done = turns.filter(({ outcome }) => outcome === "completed").map(({ turnId }) => turnId)
  const begun = done
    .map((turnId) => entries.filter((entry) => entry.turnId === turnId && entry.type === "message"))
    .filter(([first]) => first?.origin === "user" && first.content.startsWith(`/${name} `))
  const isAnswered = (messages) =>
    messages.some(({ origin, content }) => origin === "agent" && content.startsWith(answer))
  const words = ([first]) => first.content
  return {
    answered: begun.filter(isAnswered).map(words),
    unanswered: begun.filter((messages) => !isAnswered(messages)).map(words),
  }
}

/** Texts that a browser received and the journal does not have. */
export function losses(received, journals) {
  const kept = new Map(
    [...journals.values()].flatMap(({ entries }) => entries.map((entry) => [entry.itemId, entry.content])),
  )
  return [...received]
    .filter(([itemId, { content }]) => !kept.get(itemId)?.startsWith(content))
    .map(
      ([itemId, { content }]) =>
        `${itemId} was received as ${JSON.stringify(content.slice(-200))}, ` +
        `the journal has ${JSON.stringify(kept.get(itemId)?.slice(-200) ?? null)}`,
    )
}
