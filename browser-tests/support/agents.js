/**
 * The agents of the stories: the built-in scripted agent under several names, each with its own script. The prompt
 * “hold <name>” pauses an answer until `gate.open(name)`; no clock is involved.
 */

import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"

const allow = [
  { id: "yes", name: "Allow once", kind: "allow_once" },
  { id: "no", name: "Deny", kind: "reject_once" },
]

/** @param {string} home */
const scripts = (home) => ({
  helper: {
    name: "Helper",
    script: {
      rules: [
        ...["one", "two", "three"].map((name) => ({
          on: { contains: `hold ${name}` },
          steps: [
            { say: `Holding ${name}. ` },
            { wait_for_file: join(home, `gate-${name}`) },
            { say: "Let go." },
            { stop: "end_turn" },
          ],
        })),
        {
          on: { contains: "ask me" },
          steps: [
            {
              ask: {
                title: "Run the tests?",
                options: allow,
                then: { yes: [{ say: "Thank you." }] },
                otherwise: [{ say: "Then not." }],
              },
            },
            { stop: "end_turn" },
          ],
        },
        { on: { contains: "fail now" }, steps: [{ fail: { code: -32603, message: "The model is out of order." } }] },
        {
          on: { contains: "stream slowly" },
          steps: [
            { say_chopped: { text: "word ".repeat(400), size: 5, every_ms: 15 } },
            { wait_for_file: join(home, "gate-one") },
            { say: "The end." },
            { stop: "end_turn" },
          ],
        },
        {
          on: { contains: "think first" },
          steps: [
            { think: "Let me see.\n\nThe hidden depth of it." },
            { say: "Some words to select." },
            { stop: "end_turn" },
          ],
        },
        {
          on: { contains: "be long" },
          steps: [
            { say: Array.from({ length: 120 }, (_, n) => `Paragraph ${n} of a long answer.`).join("\n\n") },
            { stop: "end_turn" },
          ],
        },
        { on: "any", steps: [{ say: "You said: " }, "say_prompt", { stop: "end_turn" }] },
      ],
    },
  },
  other: { name: "Other", script: { rules: [{ on: "any", steps: [{ say: "Other here." }, { stop: "end_turn" }] }] } },
  "slow-start": {
    name: "Slow Start",
    script: {
      on_launch: [{ wait_for_file: join(home, "gate-launch") }],
      rules: [{ on: "any", steps: [{ say: "At last." }, { stop: "end_turn" }] }],
    },
  },
  "locked-out": {
    name: "Locked Out",
    script: {
      about: {
        auth_methods: [{ id: "key", name: "Log in with a key" }],
        refuse_new: { code: -32000, message: "Authentication required" },
      },
      rules: [],
    },
  },
  refusing: {
    name: "Refusing",
    script: { about: { refuse_new: { code: -32603, message: "Not on a Monday." } }, rules: [] },
  },
})

/** Writes `agents.json` and its scripts. @param {string} home @param {string} dataDir @param {string} binary */
export async function writeAgents(home, dataDir, binary) {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const agents = []
  for (const [id, { name, script }] of Object.entries(scripts(home))) {
    const file = join(home, `${id}.script.json`)
    await writeFile(file, JSON.stringify({ ...script, about: { name: id, title: name, ...script.about } }))
    agents.push({
      id,
      name,
      command: binary,
      args: ["demo-agent", "--script", file, "--history", join(home, `${id}-history`)],
    })
  }
  agents.push({ id: "absent", name: "Absent", command: "no-such-agent-program" })
  await writeFile(join(dataDir, "agents.json"), JSON.stringify({ agents }), { mode: 0o600 })
}

/** Lets a held answer continue. @param {string} home */
export const gate = (home) => ({ open: (/** @type {string} */ name) => writeFile(join(home, `gate-${name}`), "") })
