/** The icons: strokes on a grid of 16 by 16, in the colour of the surrounding text. */

const strokes = {
  add: "M8 3v10M3 8h10",
  alert: "M8 2.5l6 11H2zM8 6.5v3.2M8 11.8v.1",
  branch:
    "M4.5 2.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3M4.5 10.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3" +
    "M11.5 2.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3M4.5 5.5v5M11.5 5.5c0 3-4 2.5-6.5 4.5",
  archive: "M2.5 3.5h11v3h-11zM3.5 6.5v6.5h9V6.5M6.5 9h3",
  check: "M3.5 8.5l3 3 6-7",
  close: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  collapse: "M4 6l4 4 4-4",
  column: "M2.5 3h11v10h-11z",
  columns: "M2.5 3h11v10h-11zM8 3v10",
  command: "M3 4l3.5 4L3 12M8 12.5h5",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  edit: "M3 13l1-3 7-7 2 2-7 7z",
  expand: "M6 4l4 4-4 4",
  export: "M8 2.5v7M5 5.5l3-3 3 3M3 10.5v3h10v-3",
  filter: "M2.5 4.5h11M4.5 8h7M6.5 11.5h3",
  folder: "M2 4h4l1.5 2H14v7H2z",
  help: "M6 6a2 2 0 113 1.7c-.8.5-1 .9-1 1.8M8 12v.1",
  link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 014 4L11 9M9 11l-1.5 1.5a2.5 2.5 0 01-4-4L5 7",
  lock: "M4 7h8v6H4zM6 7V5a2 2 0 014 0v2",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  message: "M2.5 3.5h11v7.5H8l-3 2.5V11H2.5z",
  more: "M3.5 8v.1M8 8v.1M12.5 8v.1",
  now: "M2.5 3h4.5v10H2.5zM9 3h4.5v4H9zM9 9h4.5v4H9z",
  pin: "M6 2.5h4l-.5 4 2.5 2.5H4l2.5-2.5zM8 9v4.5",
  read: "M4 2h5l3 3v9H4zM6 8h4M6 11h4",
  reload: "M12.5 5.5A5 5 0 103 9M13 2.5v3.5H9.5",
  search: "M7 3a4 4 0 100 8 4 4 0 000-8M10 10l3 3",
  settings:
    "M8 6a2 2 0 100 4 2 2 0 000-4M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2" +
    "M3.6 3.6l1.4 1.4M11 11l1.4 1.4M3.6 12.4L5 11M11 5l1.4-1.4",
  sidebar: "M2.5 3h11v10h-11zM6.5 3v10",
  stop: "M4.5 4.5h7v7h-7z",
  terminal: "M3 4l3 3-3 3M8 11h5",
  think: "M5 9a4 4 0 116 0c-1 1-1 2-1 2H6s0-1-1-2zM6 13h4",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9",
  up: "M8 13V3M4 7l4-4 4 4",
  diff: "M8 2.5v7M4.5 6h7M4.5 13h7",
  down: "M8 3v10M4 9l4 4 4-4",
  circle: "M8 3.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9",
  globe: "M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11M2.5 8h11M8 2.5c-4 3.5-4 7.5 0 11M8 2.5c4 3.5 4 7.5 0 11",
}

/** @typedef {keyof typeof strokes} IconName */

/** An icon, hidden from screen readers because a label always says the same.
 * @param {IconName} name @returns {SVGSVGElement} */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  svg.setAttribute("class", "icon")
  svg.setAttribute("viewBox", "0 0 16 16")
  svg.setAttribute("aria-hidden", "true")
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  path.setAttribute("d", strokes[name])
  svg.append(path)
  return svg
}
