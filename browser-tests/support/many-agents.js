/** Stories with eight agents at once, each with options, and a project that is a git repository. */

import { join } from "node:path"
import { Liminal } from "./liminal.js"
import { makeRepository } from "./repository.js"
import { expect, test as base } from "./story.js"

export const names = ["Ada", "Bob", "Cleo", "Dora", "Emil", "Finn", "Gita", "Hugo"]

const choice = (id, name) => ({ id, name })
const options = [
  {
    id: "mode",
    name: "Mode",
    category: "mode",
    value: "ask",
    choices: [choice("ask", "Careful"), choice("bypass", "Bypass")],
  },
  {
    id: "model",
    name: "Model",
    category: "model",
    value: "m0",
    choices: [choice("m0", "Small"), choice("m1", "Large")],
  },
]
const allow = [
  { id: "yes", name: "Allow once", kind: "allow_once" },
  { id: "no", name: "Deny", kind: "reject_once" },
]

/** “ask me” asks; “hold” waits for a file; anything else writes `made.txt` and says so. @param {string} name */
const scriptOf = (name, home) => ({
  about: { name: name.toLowerCase(), title: name, options },
  rules: [
    {
      on: { contains: "ask me" },
      steps: [
        {
          ask: {
            title: `May ${name}?`,
            options: allow,
            then: { yes: [{ say: "Thanks." }] },
            otherwise: [{ say: "No." }],
          },
        },
        { stop: "end_turn" },
      ],
    },
    {
      on: { contains: "hold" },
      steps: [{ say: "Holding." }, { wait_for_file: join(home, "gate-one") }, { stop: "end_turn" }],
    },
    {
      on: "any",
      steps: [
        { write_file: { path: "made.txt", content: `${name}\n` } },
        { say: `${name} has done: ` },
        "say_prompt",
        { stop: "end_turn" },
      ],
    },
  ],
})

export const test = base.extend({
  liminal: async ({ env }, use) => {
    const app = await Liminal.start(env, async (made) => {
      for (const name of names) await made.hasAgent(name, scriptOf(name, made.home))
    })
    await use(app)
    await app.remove()
  },

  /** A project with one commit. */
  repository: async ({ shell, liminal }, use) => {
    const directory = makeRepository(await liminal.directory("web"), { "notes.txt": "one\n" })
    await shell.addProject(directory)
    await expect(shell.project("web")).toHaveCount(1)
    await use(directory)
  },
})

/** Opens the dialog and chooses these agents to compare. `file` is attached. */
export async function compares(shell, chosen, prompt, file = null) {
  await shell.page.getByRole("button", { name: "New session in web", exact: true }).click()
  const dialog = shell.starting
  await dialog.getByLabel("What should be done?").fill(prompt)
  if (file) {
    await dialog.getByLabel("Files to attach").setInputFiles(file)
    await expect(dialog.locator(".draft-chip button.chip"), "it is uploaded").toContainText(file.name)
  }
  await shell.agentChoice(chosen[0]).click()
  await dialog.getByRole("button", { name: "Compare", exact: true }).click()
  for (const name of chosen.slice(1)) await shell.agentChoice(name).click()
  await dialog.getByRole("button", { name: `Compare ${chosen.length}` }).click()
  await expect(dialog).toHaveCount(0)
}

export { expect }
