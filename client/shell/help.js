/** The list of keyboard shortcuts. */

import { el } from "../shared/dom.js"
import { keysOf, onMac, shortcuts } from "../shared/keys.js"
import { openDialog } from "../shared/dialog.js"

const [command, alt] = onMac ? ["⌘", "⌥"] : ["Ctrl", "Alt"]

/** @param {string[]} keys @param {string} label */
const line = (keys, label) =>
  el(
    "div",
    { class: "help-line" },
    el("dt", {}, ...keys.map((key) => el("kbd", { text: key }))),
    el("dd", { text: label }),
  )

export function openHelp() {
  const [firstTab] = shortcuts.filter(({ name }) => name === "tab-1")
  const rows = shortcuts
    .filter(({ name }) => !/^tab-[2-9]$/.test(name))
    .map((shortcut) =>
      shortcut === firstTab
        ? line([...keysOf(shortcut).slice(0, -1), "1–9"], "Tab 1 to 9")
        : line(keysOf(shortcut), shortcut.label),
    )
  return openDialog(
    "Keyboard shortcuts",
    [
      el(
        "div",
        { class: "help" },
        el(
          "section",
          {},
          el("h3", { text: "Anywhere" }),
          el("dl", {}, ...rows, line(["?"], "Show this help (outside text fields)")),
          el("h3", { text: "In Now" }),
          el(
            "dl",
            {},
            line(["J", "K"], "Next, previous"),
            line(["Enter"], "Open"),
            line(["E"], "Mark as looked at"),
            line(["R"], "Retry"),
          ),
          el("h3", { text: "When you are asked" }),
          el("dl", {}, line(["1–9"], "Answer, or choose in a question"), line(["Esc"], "Say no")),
        ),
        el(
          "section",
          {},
          el("h3", { text: "In the sidebar" }),
          el(
            "dl",
            {},
            line(["↑", "↓"], "Move"),
            line(["←", "→"], "Collapse, expand, reach a row's buttons"),
            line(["Enter"], "Open"),
            line(["F2"], "Rename"),
            line(["Delete"], "Archive"),
            line(["Shift", "↑", "↓"], "Move a project or a pinned session"),
          ),
          el("h3", { text: "On a tab" }),
          el(
            "dl",
            {},
            line(["←", "→"], "Switch"),
            line(["Shift", "←"], "Move left"),
            line(["Shift", "→"], "Move right"),
            line(["Delete"], "Close"),
          ),
          el("h3", { text: "In a message" }),
          el(
            "dl",
            {},
            line(["Enter"], "Send"),
            line(["Shift", "Enter"], "New line"),
            line(["↑"], "In an empty message: your previous one"),
            line(["PgUp", "PgDn"], "Scroll the conversation"),
            line(["Esc", "Esc"], "Stop the answer"),
          ),
          el("h3", { text: "On a queued message" }),
          el("dl", {}, line(["Enter"], "Edit"), line([alt, "↑", "↓"], "Move"), line(["Delete"], "Remove")),
          el("h3", { text: "In the changes" }),
          el(
            "dl",
            {},
            line(["N"], "Next file"),
            line(["P"], "Previous file"),
            line(["V"], "Mark as viewed, next file that isn't"),
            line(["C"], "Comment on the selected lines"),
            line([command, "Enter"], "Add the comment"),
            line([command, "Shift", "Enter"], "Send the comments"),
            line(["Esc"], "Close"),
          ),
        ),
      ),
    ],
    { className: "help-dialog" },
  )
}
