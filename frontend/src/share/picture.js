// The network as a picture: boxes with bars, arrows between them; a click on a state says that it was observed.
import { curve } from "../arrow_paths.js";
import { percent, wrapped } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const [ROW, FOOT] = [24, 8]; // heights, as the layout has them: of a state, below the last one
const [LETTER, SMALL_LETTER, LINE] = [8, 7.5, 14]; // widths of letters of a name in one line, and in several; their height
const MOST = 12; // states that a box shows
const LEAST = 0.75; // of its size, to which a picture shrinks

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const short = (text, room) => (text.length * 8 <= room ? text : `${text.slice(0, Math.max(1, Math.floor(room / 8) - 1))}…`);

// A long name in the lines that there is room for: between its parts, or where these leave too much room, anywhere.
function linesOf(name, room, height) {
  const lines = wrapped(name, (line) => line.length * SMALL_LETTER <= room);
  return lines.length * LINE <= height ? lines : name.match(new RegExp(`.{1,${Math.floor(room / SMALL_LETTER)}}`, "gu"));
}

export function picture(content, choose) {
  const { boxes, routes } = content.picture;
  const places = new Map(Object.entries(boxes));
  const xs = [...places.values()].flatMap(([x, , width]) => [x, x + width]).concat(routes.flatMap(([, , points]) => points.map(([x]) => x)));
  const ys = [...places.values()].flatMap(([, y, , height]) => [y, y + height]);
  const [left, top] = [Math.min(...xs) - 8, Math.min(...ys) - 8];
  const [width, height] = [Math.max(...xs) - left + 8, Math.max(...ys) - top + 8];
  // A little wider than the page, it is made smaller; where that would be too small to read, it is scrolled.
  const root = svg("svg", { viewBox: `${left} ${top} ${width} ${height}`, width, height, class: "picture", role: "group", "aria-label": "The network" });
  root.style.minWidth = `${LEAST * width}px`;
  root.append(
    svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d: "M0 0L10 5L0 10z", class: "tip" }))),
  );
  for (const [, , points] of routes) root.append(svg("path", { d: curve(points), class: "arrow", "marker-end": "url(#tip)" }));
  const updates = [];
  content.variables.forEach((variable, number) => {
    const box = places.get(variable.name);
    if (variable.hidden || !box) return;
    const [x, y, boxWidth, boxHeight] = box;
    const head = boxHeight - FOOT - ROW * Math.min(variable.states.length, MOST + 1);
    const room = boxWidth - 20;
    const isLong = variable.label.length * LETTER > room;
    const lines = isLong ? linesOf(variable.label, room, head) : [variable.label];
    const title = svg("text", { class: isLong ? "name long" : "name" }, ...lines.map((line, place) => svg("tspan", { x: 10, y: lines.length > 1 ? LINE * (place + 1) : 22 }, line)));
    const frame = svg("rect", { width: boxWidth, height: boxHeight, rx: 8, class: "box" });
    const group = svg("g", { transform: `translate(${x} ${y})` }, frame, title);
    const longest = Math.max(...variable.labels.map((each) => each.length));
    const start = Math.min(10 + 8.2 * longest + 8, boxWidth * 0.55);
    const barRoom = boxWidth - start - 64;
    const rows = variable.order.slice(0, MOST).map((state, place) => {
      const middle = head + ROW * place + ROW / 2;
      const fill = svg("rect", { x: start, y: middle - 6, width: 0, height: 12, rx: 2, class: "fill" });
      const whisker = svg("path", { class: "whisker" });
      const number_ = svg("text", { x: boxWidth - 10, y: middle + 4, class: "number", "text-anchor": "end" });
      const row = svg(
        "g",
        { class: "state", role: "button", tabindex: 0 },
        svg("rect", { x: 2, y: head + ROW * place, width: boxWidth - 4, height: ROW, class: "touch" }),
        svg("text", { x: 10, y: middle + 4 }, short(variable.labels[state], start - 14)),
        svg("rect", { x: start, y: middle - 6, width: barRoom, height: 12, rx: 2, class: "track" }),
        fill,
        whisker,
        number_,
      );
      row.addEventListener("click", () => choose(number, state));
      row.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose(number, state);
      });
      group.append(row);
      return { state, row, fill, whisker, number: number_, middle };
    });
    if (variable.states.length > MOST) group.append(svg("text", { x: 10, y: head + ROW * MOST + 16, class: "more" }, `and ${variable.states.length - MOST} more`));
    root.append(group);
    updates.push((found, given) => {
      const known = given.get(number);
      frame.setAttribute("class", known ? "box known" : "box");
      for (const { state, row, fill, whisker, number: text, middle } of rows) {
        const [value, low, high] = found?.[number]?.[state] ?? [];
        const isChosen = known?.state === state || known?.set === state;
        fill.setAttribute("width", value === undefined ? 0 : barRoom * value);
        whisker.setAttribute(
          "d",
          low === null || low === undefined || high - low < 1e-9
            ? ""
            : `M${start + barRoom * low} ${middle - 4}v8m0 -4H${start + barRoom * high}m0 -4v8`,
        );
        text.textContent = value === undefined ? "" : percent(value);
        row.setAttribute("aria-pressed", isChosen);
        row.setAttribute("aria-label", `${variable.label}: ${variable.labels[state]}${value === undefined ? "" : ` ${percent(value)}`}`);
        row.classList.toggle("chosen", isChosen);
      }
    });
  });
  // What is no variable is a group that was folded.
  const known = new Set(content.variables.map((each) => each.name));
  for (const [name, [x, y, boxWidth, boxHeight]] of places)
    if (!known.has(name))
      root.append(svg("g", { transform: `translate(${x} ${y})` }, svg("rect", { width: boxWidth, height: boxHeight, rx: 8, class: "box" }), svg("text", { x: 10, y: 22, class: "name" }, `+ ${name.slice(1)}`)));
  return {
    element: root,
    update(found, given) {
      for (const each of updates) each(found, given);
    },
  };
}
