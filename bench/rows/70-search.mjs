// Searching very many items through the real socket. The program's own journal and indexer wrote the data directory.
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { median, quantile, resident, withLiminal } from "../liminal.mjs"
import { connected } from "../socket.mjs"

const root = join(import.meta.dirname, "../..")
const ITEMS = Number(process.env.LIMINAL_BENCH_ITEMS ?? 1_000_000)
/** A word in twenty items, one in nearly every item, one in a third; unfinished words; several words. */
const QUERIES = {
  rare: "quokka ",
  common: "the ",
  frequent: "error ",
  prefix: "pare",
  "short prefix": "th",
  phrase: '"of the" ',
  several: "error function the ",
}

function generated(data) {
  const generate = (...args) =>
    execFileSync("cargo", ["run", "--release", "--quiet", "-p", "liminal", "--example", "generate", "--", ...args], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    })
  return JSON.parse(generate(data, String(ITEMS)))
}

export default [
  {
    slow: true,
    name: `search: in ${ITEMS.toLocaleString("en")} items, p50 / p99`,
    wanted: "p50 under 50 ms each",
    measure: ({ binary }) => {
      let made
      return withLiminal(
        binary,
        async (server) => {
          const socket = await connected(server)
          const figures = {}
          for (const [kind, query] of Object.entries(QUERIES)) {
            const took = []
            for (let n = 0; n < 100; n += 1) {
              const began = performance.now()
              const { hits } = await socket.ask({ type: "search", query })
              took.push(performance.now() - began)
              if (hits.length === 0) throw new Error(`${query} was not found`)
            }
            figures[kind] = { p50: median(took), p99: quantile(took, 0.99) }
          }
          socket.close()
          const sizes =
            `journal ${(made.journalBytes / 1e6).toFixed(0)} MB, ` +
            `index ${(made.searchBytes / 1e6).toFixed(0)} MB made in ${made.indexSeconds} s`
          return {
            figure: `${Object.entries(figures)
              .map(([kind, { p50, p99 }]) => `${kind} ${p50.toFixed(1)} / ${p99.toFixed(1)} ms`)
              .join(", ")}; ${sizes}; server ${resident(server.pid).toFixed(0)} MB`,
            pass: Object.values(figures).every(({ p50 }) => p50 < 50),
            values: { ...figures, ...made },
          }
        },
        (data) => {
          made = generated(data)
        },
      )
    },
  },
]
