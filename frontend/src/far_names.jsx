// The names of variables when the network is so far away that boxes show nothing else.
import { ViewportPortal, useStore } from "@xyflow/react";
import { useMemo } from "react";
import { NAME, placesAt, widthOf, zoomBelow } from "./name_places.js";
import { chancesOf, knownOf, labelOf } from "./names.js";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

const KEY_LETTERS = [0.86, 0.74]; // of the letters of a name: usual, and where there is less room

// The variable at the pointer, whole, with its key number, and above everything.
function pointedAt(box, boxes, zoom) {
  if (!box) return null;
  const [left, right] = [Math.min(...boxes.map((each) => each.x)), Math.max(...boxes.map((each) => each.x + each.width))];
  const half = (widthOf(box.label) + 12) / zoom / 2;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const isWide = 2 * half >= right - left;
  return { ...box, isPointed: true, lines: [box.label], size: NAME / zoom, keyWidth: Infinity, x: isWide ? x : Math.max(left + half, Math.min(x, right - half)), y };
}

// The key number of a variable: what was observed, or how probable its key state is.
function KeyNumber({ variable, numbers, given, keyOf, width }) {
  const [kind, value] = knownOf(given, variable.name);
  const key = keyOf(variable, numbers);
  const text = kind && kind !== "soft" ? labelOf(variable, value) : key ? `${key.label} ${percent(key.value)}` : "";
  const size = KEY_LETTERS.find((each) => each * widthOf(text) <= width);
  return text && size && <small style={{ fontSize: `${size}em` }}>{text}</small>;
}

export function FarNames({ boxes, keyOf }) {
  const zoom = useStore((s) => zoomBelow(boxes, s.transform[2]));
  const selected = useStudio((s) => s.selected);
  const given = useStudio((s) => s.given);
  const bars = useStudio((s) => s.bars?.bars);
  const hovered = useStudio((s) => s.hovered);
  const names = useMemo(() => placesAt(boxes, zoom), [boxes, zoom]);
  const pointed = pointedAt(boxes.find((each) => each.name === hovered && !each.variable.group), boxes, zoom);
  const kindOf = (each) => (each.isPointed ? "pointed" : `${each.isOver ? "" : "inside"} ${each.name === selected ? "selected" : ""}`);
  return (
    <ViewportPortal>
      <div className="far-names" aria-hidden="true">
        {(pointed ? [...names, pointed] : names).map((each) => (
          <span key={each.isPointed ? "" : each.name} className={kindOf(each)} style={{ fontSize: `${each.size}px`, transform: `translate(${each.x}px, ${each.y}px) translate(-50%, -50%)` }}>
            {each.lines.map((line, place) => (
              <b key={place}>{line}</b>
            ))}
            {each.keyWidth > 0 && !each.variable.group && <KeyNumber variable={each.variable} numbers={chancesOf({ given, bars: { bars } }, each.variable)} given={given} keyOf={keyOf} width={each.keyWidth} />}
          </span>
        ))}
      </div>
    </ViewportPortal>
  );
}
