/** Running processes, from `/proc`. The bench uses this too. */

import { readdirSync, readFileSync } from "node:fs"

/** @returns {Map<number, number>} the parent of each process */
function parents() {
  const found = new Map()
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8")
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      if (state !== "Z") found.set(Number(name), Number(parent))
    } catch {
      /* It has ended. */
    }
  }
  return found
}

/** All descendants of a process. @param {number} pid */
export function descendants(pid) {
  const all = parents()
  const found = new Set([pid])
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const [child, parent] of all) if (found.has(parent)) found.add(child)
  }
  found.delete(pid)
  return [...found]
}

/** The direct children of a process. @param {number} pid */
export const children = (pid) => [...parents()].filter(([, parent]) => parent === pid).map(([child]) => child)

/** The agents: children of the guards of a server. @param {number} server */
export function agentsOf(server) {
  const all = parents()
  return [...all].filter(([, parent]) => all.get(parent) === server).map(([pid]) => pid)
}

/** Those that are still running. @param {number[]} pids */
export function living(pids) {
  const all = parents()
  return pids.filter((pid) => all.has(pid))
}

/** Processes with this HOME. @param {string} home */
export function atHome(home) {
  return [...parents().keys()].filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${home}`)
    } catch {
      return false
    }
  })
}

/** Private memory in MB, without the pages of the program's file, which come and go. @param {number} pid */
export function memoryOf(pid) {
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return Number(kilobytes) / 1024
}
