// The names of variables when the network is so far away that boxes show nothing else.
import { Panel, ViewportPortal, useStore } from "@xyflow/react";
import { useMemo } from "react";
import { chancesOf, knownOf, labelOf } from "./names.js";
import { percent, wrapped } from "./share/words.js";
import { useStudio } from "./store.js";

// Between two zooms at which it is decided anew where names are, for the smaller one, so that no letters are too small: of few and of many variables.
const [FINE, COARSE, MANY] = [1.01, 1.05, 150];
const NAME = 12; // pixels on the screen, of the letters of a name that keeps its size
const [SMALL, LEAST] = [8, 6.5]; // pixels, of letters that one reads at once, and of the smallest that can be read
const KEY_NUMBER = 22; // pixels of a box beside its name, where its key number is seen as well
const LONG = 26; // letters of a name that are shown across arrows
const SIDES = 0.4; // letters beside a name in its room
const NARROW = 2.8; // letters in a line, below which a name in several lines is no name any more
const LINE = 1.2; // the height of a line, in letters
const [BESIDE, BELOW] = [40, 60]; // pixels beyond a box, into which its name may reach where nothing else is
const NEAR = 4; // pixels between boxes that share what is between them
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

const TOUCHING = 0.01; // pixels
const covers = (one, other) =>
  Math.abs(one.x - other.x) < (one.width + other.width) / 2 - TOUCHING && Math.abs(one.y - other.y) < (one.height + other.height) / 2 - TOUCHING;

// A name in as large letters as there is room for, in several lines if need be; in small ones broken anywhere, or null.
function fitted(name, width, height) {
  const area = widthOf(name) / NAME;
  for (const [largest, mayBreak] of [[NAME, false], [SMALL, true]])
    for (let size = largest; size >= LEAST; size -= 0.5) {
      if (area * size * size * LINE > width * height || (width < NARROW * size && width < (area + SIDES) * size)) continue;
      const lines = wrapped(name, (line) => (widthOf(line) / NAME + SIDES) * size <= width, mayBreak);
      if (lines && lines.length * size * LINE <= height) return { lines, size };
    }
  return null;
}

const half = (one, other, size) => (one[size] + other[size]) / 2;
const spanOf = ({ x, width }) => [x - width / 2, x + width / 2];

// From where to where a name may reach beside its box: over a share of what is free there.
function across(own, others, page, share) {
  let [west, east] = [Math.min(BESIDE, own.x - own.width / 2 - page.left), Math.min(BESIDE, page.right - own.x - own.width / 2)];
  for (const other of others) {
    if (other.name === own.name || Math.abs(own.y - other.y) >= half(own, other, "height") + NEAR) continue;
    const gap = share * Math.max(0, Math.abs(own.x - other.x) - half(own, other, "width"));
    if (other.x < own.x) west = Math.min(west, gap);
    else east = Math.min(east, gap);
  }
  return [own.x - own.width / 2 - Math.max(0, west), own.x + own.width / 2 + Math.max(0, east)];
}

// The same up and down, where others need not be minded that are beside it.
function roomWithin(own, [left, right], others, spans, page, share) {
  let [up, down] = [Math.min(BELOW, own.y - own.height / 2 - page.top), Math.min(BELOW, page.bottom - own.y - own.height / 2)];
  for (const [place, other] of others.entries()) {
    const apart = Math.abs(own.y - other.y) - half(own, other, "height");
    if (other.name === own.name || apart < NEAR * share || spans[place][0] >= right || spans[place][1] <= left) continue;
    if (other.y < own.y) up = Math.min(up, share * apart);
    else down = Math.min(down, share * apart);
  }
  return { left, right, top: own.y - own.height / 2 - Math.max(0, up), bottom: own.y + own.height / 2 + Math.max(0, down) };
}

// The variable at the pointer, whole, with its key number, and above everything.
function pointedAt(variable, boxOf, zoom, [left, right]) {
  const box = variable && boxOf(variable.name);
  if (!box) return null;
  const half = (widthOf(variable.label) + 12) / zoom / 2;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return { name: variable.name, variable, isPointed: true, lines: [variable.label], size: NAME, hasRoom: true, x: 2 * half < right - left ? Math.max(left + half, Math.min(x, right - half)) : x, y };
}

// The key number of a variable: what was observed, or how probable its key state is.
function KeyNumber({ variable, numbers, given, keyOf }) {
  const [kind, value] = knownOf(given, variable.name);
  const key = keyOf(variable, numbers);
  const text = kind && kind !== "soft" ? labelOf(variable, value) : key ? `${key.label} ${percent(key.value)}` : "";
  return text.length <= 22 && <small>{text}</small>;
}

// Where names are, in pixels on the screen. Each has its box and half of what is free around it, and takes as many lines as it needs
// there. Then those that were chosen or observed, or have the most arrows, come first: they get larger letters, or a place across
// boxes where their own is too small, if no other name is in their way. Letters too small to be read are left out.
function placed(boxes, rank, selected, page) {
  const within = (value, least, most) => (least < most ? Math.max(least, Math.min(value, most)) : (least + most) / 2);
  const lettered = (own, { lines, size }, room, x = own.x) => {
    const [width, height] = [(Math.max(...lines.map(widthOf)) / NAME + (room === page ? 0.5 : SIDES)) * size, lines.length * size * LINE];
    const at = { x: within(x, room.left + width / 2, room.right - width / 2), y: room === page ? own.y : within(own.y, room.top + height / 2, room.bottom - height / 2) };
    return { ...own, lines, size, ...at, width, height, hasRoom: own.height - height >= KEY_NUMBER };
  };
  const found = new Map();
  const isFree = (name, mindsBoxes) => {
    for (const other of found.values()) if (other.name !== name.name && covers(name, other)) return false;
    return !mindsBoxes || !boxes.some((other) => other.name !== name.name && covers(name, other));
  };
  const [others, sides] = [[...boxes], boxes.map(spanOf)]; // what is in the way, and from where to where
  const placeIn = (own, room) => {
    const inside = fitted(own.label, room.right - room.left, room.bottom - room.top);
    const name = inside && { ...lettered(own, inside, room), isInside: true };
    if (!name || !isFree(name)) return;
    found.set(own.name, name);
    others.push(name);
    sides.push(spanOf(name));
  };
  const spans = boxes.map((own) => across(own, boxes, page, 0.5));
  for (const [place, own] of boxes.entries()) placeIn(own, roomWithin(own, spans[place], boxes, spans, page, 0.5));
  // What others leave of their half is for those that need more.
  for (const own of boxes) if (!found.has(own.name)) placeIn(own, roomWithin(own, across(own, others, page, 1), others, sides, page, 1));
  const above = [];
  for (const own of [...boxes].sort((a, b) => rank(b.name) - rank(a.name))) {
    const now = found.get(own.name);
    const whole = lettered(own, { lines: [own.label], size: NAME }, page);
    if (!now || (own.label.length <= LONG && (now.lines.length > 1 || now.size < NAME))) {
      const sizes = now ? [NAME] : [NAME, SMALL, LEAST];
      const shifts = now ? [0] : [0, -1, 1];
      const places = sizes.flatMap((size) => shifts.map((side) => {
        const name = lettered(own, { lines: [own.label], size }, page);
        return side ? lettered(own, name, page, own.x + (side * (name.width - own.width)) / 2) : name;
      }));
      const larger = places.find((name) => isFree(name, now));
      if (larger) found.set(own.name, larger);
    }
    if (own.name === selected && !found.has(own.name)) above.push(whole); // over the names of others
  }
  return [...found.values(), ...above];
}

export function FarNames({ variables, boxOf, keyOf }) {
  const ratio = variables.length < MANY ? FINE : COARSE;
  const step = useStore((s) => Math.floor(Math.log(s.transform[2]) / Math.log(ratio)));
  const selected = useStudio((s) => s.selected);
  const given = useStudio((s) => s.given);
  const bars = useStudio((s) => s.bars?.bars);
  const zoom = ratio ** step;
  const hovered = useStudio((s) => s.hovered);
  const { names, sides } = useMemo(() => {
    const arrows = new Map(variables.map((each) => [each.name, each.parents.length]));
    for (const each of variables) for (const parent of each.parents) arrows.set(parent, (arrows.get(parent) ?? 0) + 1);
    const rank = (name) => (name === selected ? 2000 : 0) + (knownOf(given, name).length ? 1000 : 0) + arrows.get(name);
    const boxes = variables
      .map((each) => ({ name: each.name, label: each.group ? `+ ${each.group.name}` : each.label, variable: each, ...boxOf(each.name) }))
      .filter((each) => each.width)
      .map((each) => ({ ...each, x: zoom * (each.x + each.width / 2), y: zoom * (each.y + each.height / 2), width: zoom * each.width, height: zoom * each.height }));
    const end = (axis, size, side, most) => most(...boxes.map((each) => each[axis] + (side * each[size]) / 2)) + side * OUTSIDE;
    const page = { left: end("x", "width", -1, Math.min), right: end("x", "width", 1, Math.max), top: end("y", "height", -1, Math.min), bottom: end("y", "height", 1, Math.max) };
    const names = placed(boxes, rank, selected, page);
    return { names: names.map((each) => ({ ...each, x: each.x / zoom, y: each.y / zoom })), sides: [page.left / zoom, page.right / zoom] };
  }, [variables, boxOf, step, selected, given]);
  const unnamed = variables.length - names.length;
  const pointed = pointedAt(variables.find((each) => each.name === hovered && !each.group), boxOf, zoom, sides);
  return (
    <>
    {unnamed > 0 && (
      <Panel position="bottom-left" className="unnamed">
        {unnamed} of {variables.length} names are hidden: zoom in, point at a box or search.
      </Panel>
    )}
    <ViewportPortal>
      <div className="far-names" aria-hidden="true">
        {(pointed ? [...names, pointed] : names).map((each) => (
          <span key={each.isPointed ? "" : each.name} className={each.isPointed ? "pointed" : `${each.isInside ? "inside" : ""} ${each.name === selected ? "selected" : ""}`} style={{ fontSize: `${each.size / zoom}px`, transform: `translate(${each.x}px, ${each.y}px) translate(-50%, -50%)` }}>
            {each.lines.map((line, place) => (
              <b key={place}>{line}</b>
            ))}
            {each.hasRoom && !each.variable.group && <KeyNumber variable={each.variable} numbers={chancesOf({ given, bars: { bars } }, each.variable)} given={given} keyOf={keyOf} />}
          </span>
        ))}
      </div>
    </ViewportPortal>
    </>
  );
}
