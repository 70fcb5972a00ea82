// How quickly the page is served, and the size of the program and its memory when idle.
import { statSync } from "node:fs"

import { ended, median, megabytes, resident, started, withLiminal } from "../liminal.mjs"

const RUNS = 15
const BARE = `require("http").createServer((_, answer) => answer.end("<p>")).listen(0, "127.0.0.1",
  function () { console.log("http://127.0.0.1:" + this.address().port) })`

async function page(address) {
  const answer = await fetch(`${address}/`)
  if (!answer.ok) throw new Error(`no page: ${answer.status}`)
  await answer.arrayBuffer()
}

async function liminal(binary) {
  const began = performance.now()
  return withLiminal(binary, async ({ address }) => {
    await page(address)
    return performance.now() - began
  })
}

async function bareNode() {
  const began = performance.now()
  const { child, line } = await started(process.execPath, ["-e", BARE])
  await page(line)
  const took = performance.now() - began
  await ended(child)
  return took
}

async function coldStart({ binary }) {
  const [ours, nodes] = [[], []]
  for (let run = 0; run < RUNS; run++) {
    ours.push(await liminal(binary))
    nodes.push(await bareNode())
  }
  const [us, node] = [median(ours), median(nodes)]
  const figure = `${(us / node).toFixed(2)}x (${us.toFixed(0)} ms against ${node.toFixed(0)} ms)`
  return { figure, pass: us / node <= 0.5, values: { ratio: us / node, oursMs: us, nodeMs: node } }
}

function idle({ binary }) {
  return withLiminal(binary, async ({ address, pid }) => {
    await page(address)
    return megabytes(resident(pid), 15)
  })
}

export default [
  { name: "start: spawn to first page, against a bare node http server", wanted: "at most 0.5x", measure: coldStart },
  { name: "start: resident memory, idle", wanted: "at most 15 MB", measure: idle },
  {
    name: "start: binary, stripped",
    wanted: "under 20 MB",
    measure: async ({ binary }) => megabytes(statSync(binary).size / 1e6, 20),
  },
]
