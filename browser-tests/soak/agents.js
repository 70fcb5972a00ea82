/** Three agents with the same script: over ACP, over Claude Code's own protocol, and over ACP with other options. */

import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { scriptedAgent } from "../support/liminal.js"

const options = [
  { id: "yes", name: "Allow once", kind: "allow_once" },
  { id: "always", name: "Always", kind: "allow_always" },
  { id: "no", name: "Deny", kind: "reject_once" },
]
const tool = (id, title, kind, more = {}) => ({
  tool: { id, name: "Bash", title, kind, input: { command: title }, locations: [], ...more },
})
const done = (id, output, more = {}) => ({ tool_end: { id, output, ...more } })
const fence = (language, code) => `\`\`\`${language}\n${code}\n\`\`\``
const code = [
  fence("rust", 'fn main() {\n    println!("{}", 1 + 1);\n}'),
  fence("js", "export const sum = (a, b) => a + b"),
  fence("python", "def sum(a, b):\n    return a + b"),
  fence("sh", 'for f in *; do echo "$f"; done'),
  fence("json", '{"a": [1, 2, 3]}'),
].join("\n\n")
const prose =
  "# A heading\n\nSome *words* with `code` and a [link](https://example.org), then a list:\n\n" +
  "- one\n- two **bold**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n"
const ask = (id, then) => ({
  ask: {
    tool: id,
    title: "make clean",
    options,
    then: { yes: then, always: then },
    otherwise: [{ tool_end: { id, failed: true } }, { say: "Then not." }],
  },
})

/** The command that every agent offers, and its answer. */
export const COMMAND = { name: "tidy", answer: "Tidied up." }

/** The agents' steps by the first word of the prompt; a number follows it. */
const rules = {
  everything: [
    { think: "Let me see. " },
    { say: `${prose}${code}\n` },
    tool("e", "cargo test", "execute"),
    done("e", "\u001b[32mok\u001b[0m 12 passed\n"),
    tool("d", "Edit main.rs", "edit", { locations: ["main.rs"] }),
    { diff: { id: "d", path: "main.rs", old: "a\nb\n", new: "a\nc\n" } },
    done("d"),
    { say: "Done." },
  ],
  talk: [{ say_words: { text: `${prose}${"Many words follow one another here. ".repeat(12)}`, every_ms: 12 } }],
  write: [{ say_chopped: { text: code, size: 9, every_ms: 10 } }],
  ponder: [
    { think_words: { text: "First one thing, and then another thing. ".repeat(4), every_ms: 15 } },
    { say: "So be it." },
  ],
  work: [
    tool("a", "Read a.rs", "read"),
    done("a", "1"),
    tool("b", "Read b.rs", "read"),
    done("b", "2"),
    tool("c", "ls", "execute"),
    { tool_output: { id: "c", text: "one\n" } },
    { pause: 150 },
    done("c", "one\ntwo\n"),
    { say: "Read them." },
  ],
  flood: [
    tool("l", "cat log", "execute"),
    done("l", "0123456789 the log goes on\n".repeat(3000)),
    { say: "A long log." },
  ],
  change: [
    tool("d", "Edit main.rs", "edit", { locations: ["main.rs"] }),
    { diff: { id: "d", path: "main.rs", old: "a\nb\nc\n", new: "a\nB\nc\nd\n" } },
    { pause: 80 },
    done("d"),
    { say: "Changed." },
  ],
  touch: [
    tool("t", "Edit log.txt", "edit", { locations: ["log.txt"] }),
    { run: { id: "t", command: "date +%s.%N >> log.txt", by: "agent" } },
    { say: "Written." },
  ],
  plan: [
    {
      plan: [
        { text: "look", status: "in_progress" },
        { text: "leap", status: "pending" },
      ],
    },
    { pause: 120 },
    {
      plan: [
        { text: "look", status: "completed" },
        { text: "leap", status: "in_progress" },
      ],
    },
    { say: "Half of it." },
  ],
  permit: [tool("p", "make clean", "execute"), ask("p", [done("p", "cleaned\n"), { say: "Clean." }])],
  wait: [{ say: "I wait. " }, "wait_for_cancel"],
  break: [{ say: "Half a " }, { fail: { code: -32603, message: "The model is out of order." } }],
  crash: [{ say: "Half a " }, { crash: { code: 3, stderr: "segfault in the mind" } }],
  [`/${COMMAND.name}`]: [{ say: COMMAND.answer }],
  late: [{ say: "Now. " }, { after_turn: [{ pause: 300 }, { say: "And later." }] }],
}

/** How often a prompt begins with each word, relative to the others. */
export const habits = {
  talk: 8,
  write: 6,
  ponder: 4,
  work: 6,
  flood: 1,
  change: 4,
  touch: 5,
  plan: 3,
  permit: 7,
  wait: 4,
  break: 2,
  crash: 1,
  late: 2,
  [`/${COMMAND.name}`]: 3,
  everything: 2,
  repeat: 4,
}

export const kinds = ["scripted", "claude-code", "other"]

const choice = (id, name, more = {}) => ({ id, name, ...more })
/** Of the agents over ACP; Claude has its own. */
const settings = [
  {
    id: "model",
    name: "Model",
    category: "model",
    value: "m0",
    choices: [choice("m0", "Small"), choice("m1", "Large")],
  },
  {
    id: "effort",
    name: "Effort",
    category: "thought_level",
    value: "low",
    choices: [choice("low", "Low"), choice("high", "High", { kind: "refused" })],
  },
]

/** @param {string} home @param {string} dataDir @param {string} binary */
export async function writeAgents(home, dataDir, binary) {
  const script = (about) => ({
    about: { commands: [{ name: COMMAND.name, description: "Tidies up" }], ...about },
    rules: [
      ...Object.entries(rules).map(([word, steps]) => ({ on: { contains: `${word} ` }, steps })),
      { on: "any", steps: [{ say: "You said: " }, "say_prompt"] },
    ],
  })
  const file = async (name, about) => {
    const path = join(home, `${name}.script.json`)
    await writeFile(path, JSON.stringify(script(about)))
    return path
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(
    join(dataDir, "agents.json"),
    JSON.stringify({
      agents: [
        {
          id: "scripted",
          name: "Scripted",
          command: binary,
          args: [
            "demo-agent",
            "--script",
            await file("scripted", { options: settings }),
            "--history",
            join(home, "scripted-history"),
          ],
        },
        {
          id: "claude-code",
          command: await scriptedAgent(),
          args: ["--face", "claude", "--script", await file("claude", {})],
        },
        {
          id: "other",
          name: "Other",
          command: binary,
          args: [
            "demo-agent",
            "--script",
            await file("other", { resume: false, load: "after_answer", terminal_meta: true, no_message_ids: true }),
            "--history",
            join(home, "other-history"),
          ],
        },
      ],
    }),
    { mode: 0o600 },
  )
}
