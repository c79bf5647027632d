// The names of variables when the network is so far away that boxes show nothing else.
import { ViewportPortal, useStore } from "@xyflow/react";
import { useMemo } from "react";
import { chancesOf, knownOf, labelOf } from "./names.js";
import { wrapped } from "./share/words.js";
import { percent } from "./states.js";
import { useStudio } from "./store.js";

const STEP = 1.15; // between two zooms at which it is decided anew which names there is room for
const TWO_LINES = 34; // pixels on the screen, of a box that has room for a name and its key number
const NAME = 12; // pixels on the screen, of the letters of a name that keeps its size
const SMALL = [8, 6.5]; // the least where only smaller letters fit into a box; where even these do not
const ROOMY = 46; // pixels on the screen, of a box that has room for a name
const LONG = 26; // letters of a name that are shown across other boxes
const LINE = 1.15; // the height of a line, in letters
const [BESIDE, BELOW, DEEP] = [6, 10, 30]; // pixels beyond a box, into which its name may reach: gaps between boxes; more, where nothing is
const OUTSIDE = 6; // pixels beyond the whole picture: less than its margins

// How wide a name is in letters of the usual size, in pixels.
const brush = document.createElement("canvas").getContext("2d");
const widths = new Map();
function widthOf(name) {
  if (!widths.has(name)) {
    brush.font = `600 ${NAME}px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(name, brush.measureText(name).width);
  }
  return widths.get(name);
}

const covers = (one, other) =>
  Math.abs(one.x - other.x) < (one.width + other.width) / 2 && Math.abs(one.y - other.y) < (one.height + other.height) / 2;

// A name in the box that it belongs to: in one line, or else in as large letters as there is room for, or null.
function fitted(name, width, height, smallest, mayBreak) {
  const one = Math.min(NAME, (NAME * width) / widthOf(name));
  if (one >= smallest) return { lines: [name], size: one };
  for (const breaking of mayBreak ? [false, true] : [false])
    for (let size = NAME; size >= smallest; size -= 0.5) {
      const lines = wrapped(name, (line) => widthOf(line) <= (width * NAME) / size, breaking);
      if (lines && lines.length * size * LINE <= height) return { lines, size };
    }
  return null;
}

// Its beginning and its end: a pointer on the box shows all of it.
function shortened(name, width, height) {
  const size = SMALL.at(-1);
  const all = wrapped(name, (line) => widthOf(`${line}…`) <= (width * NAME) / size);
  const most = Math.floor(height / (size * LINE));
  return { lines: most < 2 ? [`${all[0]}…`] : [...all.slice(0, most - 1), `…${all.at(-1)}`], size };
}

// The variable at the pointer, whole, with its key number, and above everything.
function pointedAt(variable, boxOf, zoom, [left, right]) {
  const box = variable && boxOf(variable.name);
  if (!box) return null;
  const half = (widthOf(variable.label) + 12) / zoom / 2;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return { name: variable.name, variable, isPointed: true, lines: [variable.label], size: NAME, hasRoom: true, x: 2 * half < right - left ? Math.max(left + half, Math.min(x, right - half)) : x, y };
}

// Names that keep their size when the network is far away. A box that has room for its name shows it, in smaller letters
// or several lines where it would cover another box. Where boxes are smaller than that, those names come first that were
// chosen, observed, or have the most arrows; a name is left out where it would cover another one.
// The key number of a variable: what was observed, or how probable its key state is.
function KeyNumber({ variable, numbers, given, keyOf }) {
  const [kind, value] = knownOf(given, variable.name);
  const key = keyOf(variable, numbers);
  const text = kind && kind !== "soft" ? labelOf(variable, value) : key ? `${key.label} ${percent(key.value)}` : "";
  return text && <small>{text.length > 22 ? `${text.slice(0, 21)}…` : text}</small>;
}

export function FarNames({ variables, boxOf, keyOf }) {
  const step = useStore((s) => Math.round(Math.log(s.transform[2]) / Math.log(STEP)));
  const selected = useStudio((s) => s.selected);
  const given = useStudio((s) => s.given);
  const bars = useStudio((s) => s.bars?.bars);
  const zoom = STEP ** step;
  const hovered = useStudio((s) => s.hovered);
  const { names, across } = useMemo(() => {
    const arrows = new Map(variables.map((each) => [each.name, each.parents.length]));
    for (const each of variables) for (const parent of each.parents) arrows.set(parent, (arrows.get(parent) ?? 0) + 1);
    const rank = (name) =>
      (name === selected ? 2000 : 0) + (knownOf(given, name).length ? 1000 : 0) + arrows.get(name);
    const boxes = variables.map((each) => ({ name: each.name, label: each.group ? `+ ${each.group.name}` : each.label, variable: each, ...boxOf(each.name) })).filter((each) => each.width);
    const [left, right] = [Math.min(...boxes.map((each) => each.x)) - OUTSIDE / zoom, Math.max(...boxes.map((each) => each.x + each.width)) + OUTSIDE / zoom];
    for (const each of boxes) [each.x, each.y] = [each.x + each.width / 2, each.y + each.height / 2];
    const roomy = boxes.filter((each) => each.width * zoom >= ROOMY);
    const [taken, above] = [[], []];
    for (const own of boxes.sort((a, b) => rank(b.name) - rank(a.name))) {
      const [boxWidth, boxHeight] = [own.width * zoom, own.height * zoom];
      const width = (widthOf(own.label) + 8) / zoom;
      // Within the picture, so that no name is cut off at its border.
      const x = width < right - left ? Math.max(left + width / 2, Math.min(own.x, right - width / 2)) : own.x;
      const label = { ...own, x, lines: [own.label], size: NAME, width, height: 14.5 / zoom, hasRoom: boxHeight >= TWO_LINES };
      const isRoomy = roomy.includes(own);
      const isCovered = (others, name = label) => others.some((other) => other.name !== own.name && covers(name, other));
      const isFree = isRoomy ? own.label.length <= LONG && !isCovered(taken) && !isCovered(boxes) : own.name === selected || !(isCovered(taken) || isCovered(roomy));
      if (isFree) {
        taken.push(label);
        continue;
      }
      const squeezed = (inside) => {
        const widest = (Math.max(...inside.lines.map(widthOf)) * inside.size) / NAME + inside.size / 2;
        const height = inside.lines.length * inside.size * LINE;
        return { ...own, ...inside, isInside: true, width: widest / zoom, height: height / zoom, hasRoom: boxHeight - height >= TWO_LINES - NAME };
      };
      // Otherwise in its box: a little beyond it, or further where nothing is, and not at all where another name reaches into it.
      const rooms = [[boxWidth + BESIDE, boxHeight + BELOW], [boxWidth - BESIDE, boxHeight], [boxWidth + BESIDE, boxHeight + DEEP]];
      const place = (smallest, mayBreak = false) => {
        for (const [most, high] of rooms) {
          const inside = fitted(own.label, most, high, smallest, mayBreak);
          const found = inside && squeezed(inside);
          if (found && !isCovered(taken, found) && !(high === boxHeight + DEEP && isCovered(boxes, found))) return found;
        }
        return null;
      };
      const cut = () => squeezed(shortened(own.label, boxWidth - BESIDE, boxHeight));
      if (own.name === selected && !place(SMALL[0])) {
        above.push(label); // whole, over the names of others
        continue;
      }
      const found = place(SMALL[0]) ?? place(SMALL[1]) ?? (isRoomy ? (place(SMALL[0], true) ?? place(SMALL[1], true)) : null) ?? (isRoomy && !isCovered(taken, cut()) ? cut() : null);
      if (found) taken.push(found);
    }
    return { names: [...taken, ...above], across: [left, right] };
  }, [variables, boxOf, step, selected, given]);
  const pointed = pointedAt(variables.find((each) => each.name === hovered && !each.group), boxOf, zoom, across);
  return (
    <ViewportPortal>
      <div className="far-names" aria-hidden="true">
        {(pointed ? [...names, pointed] : names).map((each) => (
          <span key={each.isPointed ? "" : each.name} className={each.isPointed ? "pointed" : each.name === selected ? "selected" : each.isInside ? "inside" : ""} style={{ fontSize: `${each.size / zoom}px`, transform: `translate(${each.x}px, ${each.y}px) translate(-50%, -50%)` }}>
            {each.lines.map((line, place) => (
              <b key={place}>{line}</b>
            ))}
            {each.hasRoom && !each.variable.group && <KeyNumber variable={each.variable} numbers={chancesOf({ given, bars: { bars } }, each.variable)} given={given} keyOf={keyOf} />}
          </span>
        ))}
      </div>
    </ViewportPortal>
  );
}
