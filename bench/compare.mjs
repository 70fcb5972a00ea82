// Which figures of a row got worse than the committed ones.

/** More than this is not chance. */
const WORSE = 1.2

/** Below this no ratio means anything: the clocks and counters are not that exact. */
const LEAST = 0.5

/** The names of the values that got worse by more than a fifth. Larger is worse, but for those that `row.more` names.
 * @param {{values: object, more?: string[]}} row
 * @param {{values: object} | undefined} before */
export function worse(row, before) {
  const [now, then] = [numbers(row.values), numbers(before?.values ?? {})]
  return [...now].flatMap(([name, value]) => {
    const old = then.get(name)
    if (old === undefined || Math.max(value, old) < LEAST) return []
    const isMore = row.more?.includes(name) ?? false
    return (isMore ? value * WORSE < old : value > old * WORSE) ? [name] : []
  })
}

/** Every number in an object, however deep, by its path. */
function numbers(value, path = "") {
  if (typeof value === "number") return new Map([[path, value]])
  if (value === null || typeof value !== "object") return new Map()
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [...numbers(inner, path === "" ? name : `${path}.${name}`)]),
  )
}
