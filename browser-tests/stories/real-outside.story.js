import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Chat } from "../support/chat.js"
import { expect, test } from "../support/real.js"

/** The real Claude Code in somebody else's hands: started beside the server, in the project `work`. */
function terminal(liminal, session) {
  const { agents } = JSON.parse(readFileSync(join(liminal.dataDir, "agents.json"), "utf8"))
  const { command, env } = agents.find(({ id }) => id === "claude-code")
  const child = spawn(
    command,
    ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", session],
    {
      cwd: join(liminal.home, "work"),
      env: { PATH: process.env.PATH, HOME: liminal.home, ...env },
      stdio: ["pipe", "pipe", "ignore"],
    },
  )
  const lines = createInterface({ input: child.stdout })
  return {
    /** Until the end of the turn. @param {string} text */
    async says(text) {
      const ended = new Promise((resolve) =>
        lines.on("line", (line) => line.includes('"type":"result"') && resolve(undefined)),
      )
      const content = [{ type: "text", text }]
      child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`)
      await ended
    },
    async ends() {
      const gone = once(child, "exit")
      child.stdin.end()
      await gone
    },
  }
}

test("a session of Claude Code is followed in a terminal, continued here, and there again", async ({
  shell,
  page,
  liminal,
}) => {
  await shell.hasProject("work")
  const chat = new Chat(shell)
  const id = randomUUID()
  const there = terminal(liminal, `--session-id=${id}`)
  await there.says("FAKE:TEXT First.")
  // The page looks for it only once, and Claude Code may write it a little later.
  const cwd = join(liminal.home, "work").replace(/[^a-zA-Z0-9]/g, "-")
  const transcript = join(liminal.home, ".claude", "projects", cwd, `${id}.jsonl`)
  await expect.poll(() => (existsSync(transcript) ? readFileSync(transcript, "utf8") : "")).toContain("First.")
  await page.reload()
  await page.getByRole("button", { name: "1 from the terminal" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "FAKE:TEXT First." }).click()
  await expect(chat.words).toHaveText(["First."])
  await expect(chat.frame.getByText("In use in a terminal.")).toBeVisible()
  await there.says("FAKE:TEXT Second.")
  await expect(chat.words).toHaveText(["First.", "Second."])

  await there.ends()
  await expect(chat.composer).toBeEditable()
  await chat.askAndWait("FAKE:HEARD")
  await expect(chat.words.last()).toContainText("Second.")

  const again = terminal(liminal, `--resume=${id}`)
  await again.says("FAKE:TEXT Third.")
  await again.ends()
  await chat.askAndWait("FAKE:HEARD")
  await expect(chat.words.nth(3)).toHaveText("Third.")
  await expect(chat.words.last()).toContainText("Third.")
})
