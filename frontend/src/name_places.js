// Where the names of variables are when the network is so far away that boxes show nothing else: each whole, and in a place of its own.
import { wrapped } from "./share/words.js";

export const NAME = 12; // pixels on the screen, of the letters of a name that keeps its size
export const [SMALL, LEAST] = [8, 6.5]; // pixels, of letters that one reads at once, and of the smallest that can be read
const KEY_NUMBER = 14; // pixels of a box below its name, where its key number is seen as well
const SIDES = 0.4; // letters beside a name in its room
const NARROW = 2.8; // letters in a line, below which a name in several lines is no name any more
const LINE = 1.2; // the height of a line, in letters
const [BESIDE, BELOW] = [40, 60]; // pixels beyond a box, into which its name may reach where nothing else is
const NEAR = 4; // pixels between boxes that share what is between them
const OUTSIDE = 6; // pixels beyond the whole picture: less than its margins
const FURTHEST = 0.01; // zoom

// Between two zooms at which it is decided anew where names are, for the smaller one, so that no letters are too small: of few and of many variables.
const [FINE, COARSE, MANY] = [1.01, 1.05, 150];
const ratioOf = (boxes) => (boxes.length < MANY ? FINE : COARSE);
const stepAt = (boxes, zoom) => Math.floor(Math.log(zoom) / Math.log(ratioOf(boxes)) + 1e-6);
export const zoomBelow = (boxes, zoom) => ratioOf(boxes) ** stepAt(boxes, zoom);

// How wide a name is in letters of the usual size, in pixels.
const brush = document.createElement("canvas").getContext("2d");
const widths = new Map();
export function widthOf(name) {
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

const within = (value, least, most) => (least < most ? Math.max(least, Math.min(value, most)) : (least + most) / 2);
function lettered(own, { lines, size }, room) {
  const [width, height] = [(Math.max(...lines.map(widthOf)) / NAME + SIDES) * size, lines.length * size * LINE];
  const at = { x: within(own.x, room.left + width / 2, room.right - width / 2), y: within(own.y, room.top + height / 2, room.bottom - height / 2) };
  const keyWidth = own.height - height >= KEY_NUMBER ? (Math.max(width, own.width) * NAME) / size : 0; // of what is below the name, as `widthOf` measures
  return { ...own, lines, size, ...at, width, height, keyWidth };
}

// Boxes as they are on the screen at a zoom, and the page around them.
function onScreen(boxes, zoom) {
  const shown = boxes.map((each) => ({ ...each, x: zoom * (each.x + each.width / 2), y: zoom * (each.y + each.height / 2), width: zoom * each.width, height: zoom * each.height }));
  const end = (axis, size, side, most) => shown.reduce((found, each) => most(found, each[axis] + (side * each[size]) / 2), -side * Infinity) + side * OUTSIDE;
  return [shown, { left: end("x", "width", -1, Math.min), right: end("x", "width", 1, Math.max), top: end("y", "height", -1, Math.min), bottom: end("y", "height", 1, Math.max) }];
}

// A place for each name, in pixels on the screen: its box and half of what is free around it, in as many lines as it needs there. What
// others leave of their half is for those that need more. The second list has the boxes whose names have no place.
function placed(shown, page) {
  const found = [];
  const [others, sides] = [[...shown], shown.map(spanOf)]; // what is in the way, and from where to where
  const placeIn = (own, room) => {
    const inside = fitted(own.label, room.right - room.left, room.bottom - room.top);
    const name = inside && lettered(own, inside, room);
    if (!name || found.some((other) => covers(name, other))) return false;
    found.push(name);
    others.push(name);
    sides.push(spanOf(name));
    return true;
  };
  const spans = shown.map((own) => across(own, shown, page, 0.5));
  const left = shown.filter((own, place) => !placeIn(own, roomWithin(own, spans[place], shown, spans, page, 0.5)));
  return [found, left.filter((own) => !placeIn(own, roomWithin(own, across(own, others, page, 1), others, sides, page, 1)))];
}

// Boxes that somebody moved over one another, whose names can be over one another as well.
const overlapping = (boxes) => {
  const [shown] = onScreen(boxes, 1);
  return new Set(shown.filter((own) => shown.some((other) => other.name !== own.name && covers(own, other))).map((own) => own.name));
};

// Whether each name has a place at a zoom.
export function haveAllPlaces(boxes, zoom, excepted = overlapping(boxes)) {
  const [, left] = placed(...onScreen(boxes, zoomBelow(boxes, zoom)));
  return left.every((own) => excepted.has(own.name));
}

// The smallest zoom at which each name has a place, at most the one from which on boxes have their names themselves.
export function leastZoom(boxes, near) {
  const [ratio, excepted] = [ratioOf(boxes), overlapping(boxes)];
  let [low, high] = [stepAt(boxes, FURTHEST), stepAt(boxes, near)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (haveAllPlaces(boxes, ratio ** middle, excepted)) high = middle;
    else low = middle;
  }
  return Math.min(near, ratio ** high);
}

// The names at a zoom, in what the boxes are measured in.
export function placesAt(boxes, zoom) {
  const [shown, page] = onScreen(boxes, zoom);
  const [found, left] = placed(shown, page);
  const names = [...found, ...left.map((own) => ({ ...lettered(own, { lines: [own.label], size: LEAST }, page), isOver: true }))];
  return names.map((each) => ({ ...each, x: each.x / zoom, y: each.y / zoom, size: each.size / zoom }));
}
