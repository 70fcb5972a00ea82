/** Git repositories of stories. */

import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

/** What git says, trimmed. @param {string} directory @param {...string} words */
export const git = (directory, ...words) => execFileSync("git", words, { cwd: directory }).toString().trim()

/** Makes a directory a repository with an author, a branch `main` and these files in one commit.
 * @param {string} directory @param {Record<string, string>} [files] */
export function makeRepository(directory, files = {}) {
  git(directory, "init", "--quiet", "--initial-branch", "main")
  git(directory, "config", "user.name", "Ada")
  git(directory, "config", "user.email", "ada@example.org")
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  git(directory, "add", ".")
  git(directory, "commit", "--quiet", "--allow-empty", "--message", "first")
  return directory
}

/** The worktrees of a repository, without its own directory. @param {string} directory */
export const worktrees = (directory) =>
  [...git(directory, "worktree", "list", "--porcelain").matchAll(/^worktree (.*)$/gm)]
    .map(([, path = ""]) => path)
    .filter((path) => path !== directory)
