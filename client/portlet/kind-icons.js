/** The icon of each kind of tool. */

/** @import { ToolKind } from "../contract.js" */
/** @import { IconName } from "../shared/icons.js" */

/** @type {Record<ToolKind, IconName>} */
export const kindIcons = {
  read: "read",
  edit: "edit",
  delete: "trash",
  move: "export",
  search: "search",
  execute: "terminal",
  think: "think",
  fetch: "globe",
  switch_mode: "settings",
  other: "command",
}
