// Finding files to mention in a large workspace, through the real socket.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { median, quantile, resident, withLiminal } from "../liminal.mjs"
import { connected } from "../socket.mjs"

const DIRECTORIES = 1000
const FILES = 100
const QUERIES = ["m", "mod", "modj", "d42f7", "src/d9", "zzzz", "f99.rs"]

/** 100,000 empty files in directories of a hundred. */
function workspace(root) {
  for (let d = 0; d < DIRECTORIES; d += 1) {
    const directory = join(root, `src/d${d % 30}/module_${d}`)
    mkdirSync(directory, { recursive: true })
    for (let f = 0; f < FILES; f += 1) writeFileSync(join(directory, `journal_f${f}.rs`), "")
  }
}

async function timed(ask) {
  const began = performance.now()
  const answer = await ask()
  return { answer, took: performance.now() - began }
}

export default [
  {
    slow: true,
    name: "files: @ in a workspace of 100,000, first key / p50 / p99",
    wanted: "first key and p50 under 20 ms, under 30 MB",
    measure: ({ binary }) => {
      let root
      return withLiminal(
        binary,
        async (server) => {
          const socket = await connected(server)
          const { project } = await socket.ask({ type: "project:add", path: root })
          const find = (query) => () => socket.ask({ type: "files:find", projectId: project.id, query, limit: 50 })
          const before = resident(server.pid)
          const first = await timed(find(""))
          if (first.answer.entries.length === 0) throw new Error("the first key found nothing")
          const walk = await timed(find("m"))
          const took = []
          for (let n = 0; n < 20; n += 1) for (const query of QUERIES) took.push((await timed(find(query))).took)
          const grown = resident(server.pid) - before
          socket.close()
          const [p50, p99] = [median(took), quantile(took, 0.99)]
          return {
            figure:
              `${first.took.toFixed(1)} / ${p50.toFixed(1)} / ${p99.toFixed(1)} ms, ` +
              `walk ${walk.took.toFixed(0)} ms, ${grown.toFixed(0)} MB`,
            pass: first.took < 20 && p50 < 20 && grown < 30,
            values: { firstMs: first.took, p50, p99, walkMs: walk.took, grownMb: grown },
          }
        },
        (data) => {
          root = join(data, "../workspace")
          workspace(root)
        },
      )
    },
  },
]
