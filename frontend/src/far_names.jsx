// The names of variables when the network is so far away that boxes show nothing else.
import { ViewportPortal, useStore } from "@xyflow/react";
import { useMemo } from "react";
import { at, knownOf, labelOf } from "./names.js";
import { percent } from "./states.js";
import { useStudio } from "./store.js";

const STEP = 1.15; // between two zooms at which it is decided anew which names there is room for
const TWO_LINES = 34; // pixels on the screen, of a box that has room for a name and its key number
const NAME = 12; // pixels on the screen, of the letters of a name that keeps its size
const SMALLEST = 9; // the same where only smaller letters fit into a box
const ROOMY = 46; // pixels on the screen, of a box that has room for a name, shortened if need be

// How wide a name is on the screen, in pixels.
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

// A name in letters that are small enough for a width, which is for letters of the usual size; shortened if need be.
function squeezed(name, width) {
  const share = width / widthOf(name);
  if (share >= SMALLEST / NAME) return [name, NAME * Math.min(1, share)];
  return [`${name.slice(0, Math.max(1, Math.floor((name.length * share * NAME) / SMALLEST) - 1))}…`, SMALLEST];
}

// Names that keep their size when the network is far away. A box that has room for its name shows it, in smaller letters
// where it would cover another box. Where boxes are smaller than that, those names come first that were chosen, observed,
// or have the most arrows; a name is left out where it would cover another one.
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
  const names = useMemo(() => {
    const arrows = new Map(variables.map((each) => [each.name, each.parents.length]));
    for (const each of variables) for (const parent of each.parents) arrows.set(parent, (arrows.get(parent) ?? 0) + 1);
    const rank = (name) =>
      (name === selected ? 2000 : 0) + (knownOf(given, name).length ? 1000 : 0) + arrows.get(name);
    const taken = [];
    const boxes = variables.map((each) => ({ name: each.name, label: each.group ? `+ ${each.group.name}` : each.label, variable: each, ...boxOf(each.name) })).filter((each) => each.width);
    for (const each of boxes) [each.x, each.y] = [each.x + each.width / 2, each.y + each.height / 2];
    for (const own of boxes.sort((a, b) => rank(b.name) - rank(a.name))) {
      const shown = own.label.length > 26 ? `${own.label.slice(0, 25)}…` : own.label;
      own.hasRoom = own.height * zoom >= TWO_LINES;
      const label = { ...own, shown, size: NAME, width: (widthOf(shown) + 8) / zoom, height: 14.5 / zoom };
      const isRoomy = own.width * zoom >= ROOMY;
      const isFree = !taken.some((other) => covers(label, other)) && !(isRoomy && boxes.some((other) => other !== own && covers(label, other)));
      if (isFree) taken.push(label);
      else if (isRoomy) {
        const [short, size] = squeezed(own.label, own.width * zoom - 6);
        taken.push({ ...label, shown: short, size, width: own.width });
      }
    }
    return taken;
  }, [variables, boxOf, step, selected, given]);
  return (
    <ViewportPortal>
      <div className="far-names" aria-hidden="true">
        {names.map((each) => (
          <span key={each.name} className={each.name === selected ? "selected" : ""} style={{ fontSize: `${each.size / zoom}px`, transform: `translate(${each.x}px, ${each.y}px) translate(-50%, -50%)` }}>
            {each.shown}
            {each.hasRoom && !each.variable.group && <KeyNumber variable={each.variable} numbers={at(bars, each.name)} given={given} keyOf={keyOf} />}
          </span>
        ))}
      </div>
    </ViewportPortal>
  );
}
