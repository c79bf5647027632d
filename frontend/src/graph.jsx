// The network: variables as boxes with their states as bars, laid out in layers; a click on a state is evidence.
import {
  Background,
  BaseEdge,
  ControlButton,
  Controls,
  Handle,
  MarkerType,
  MiniMap,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  ViewportPortal,
  useNodesState,
  useReactFlow,
  useStore,
  useStoreApi,
} from "@xyflow/react";
import { memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { curve, pointsBetween } from "./arrow_paths.js";
import { Computing } from "./asking.jsx";
import { exportPng, exportSvg } from "./export.js";
import { FarNames } from "./far_names.jsx";
import { Menu, itemsOfArrow, itemsOfPane, itemsOfVariable } from "./menu.jsx";
import { LEAST, SMALL, haveAllPlaces, leastZoom } from "./name_places.js";
import { at, chancesOf, countGiven, givenNow, knownOf, labelOf, wordsFor } from "./names.js";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";
import { stretched, unstretched } from "./stretch.js";

const MOST_STATES = 12; // that a box shows
const MOST_DRAWN = 400; // variables that are all drawn, so that moving the network draws nothing anew
const FAR = 0.55; // zoom below which a box shows its name alone, in letters that stay as large as they are
const LARGEST = 1.25; // zoom to begin with
const FROM_AFAR = { x: 0, y: 0, zoom: 0.1 }; // where a very large network begins, so that no states are drawn at first
const NEAR = 0.85; // zoom at which a variable that was looked for is shown
const LARGE = 40; // variables from which on boxes stand closer, and a map shows where one is
const MANY = 12; // variables from which on a field finds them
const MOVING = 200; // milliseconds that it takes to bring something into sight
const [LETTER, BESIDE_NAME] = [7.5, 78]; // pixels: of a name in one line; of what else is in that line
const [THINNEST, THICKEST] = [1, 4.5]; // pixels, of arrows
const PAN = 60; // pixels, of an arrow key
const MARGINS = { top: 52, bottom: 44, x: 0.05 }; // for the field, the buttons and the legend around the network
const [MAP, SMALL_MAP] = [{ width: 200, height: 150 }, { width: 150, height: 112 }]; // pixels, where the network is never seen as a whole, and where it can be
const BESIDE_MAP = 20; // pixels

const asBox = (box) => box && { x: box[0], y: box[1], width: box[2], height: box[3] };

// Everything that is drawn: arrows may go round the boxes.
function bounds({ boxes, routes }) {
  const xs = [...Object.values(boxes).flatMap(([x, , width]) => [x, x + width]), ...routes.flatMap(([, , points]) => points.map(([x]) => x))];
  const ys = Object.values(boxes).flatMap(([, y, , height]) => [y, y + height]);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

// The part of the page that the network fills.
const roomIn = ({ width, height }) => ({ left: MARGINS.x * width, top: MARGINS.top, width: (1 - 2 * MARGINS.x) * width, height: height - MARGINS.top - MARGINS.bottom });
const zoomToFit = (whole, room) => Math.min(room.width / whole.width, room.height / whole.height);

// All of the network, or as much as is seen at a zoom around a point, without what is beyond its ends.
function viewportFor(whole, room, least, [x, y], zoomOfPart) {
  const fit = zoomToFit(whole, room);
  const zoom = Math.min(LARGEST, fit >= least ? fit : Math.max(least, zoomOfPart));
  const high = fit >= least ? room.height : room.height - MAP.height - BESIDE_MAP + MARGINS.bottom; // the map covers nothing at the lower end
  const start = (wanted, from, size, at, seen) => (zoom * size <= seen ? at + (seen - zoom * size) / 2 - zoom * from : Math.max(at + seen - zoom * (from + size), Math.min(at - zoom * from, at + seen / 2 - zoom * wanted)));
  return { x: start(x, whole.x, whole.width, room.left, room.width), y: start(y, whole.y, whole.height, room.top, high), zoom };
}

// Whether a part of it is out of sight, so that a map helps.
const isBeyond = ({ x, y, width, height }, { transform: [left, top, zoom], width: wide, height: high }) =>
  zoom * x + left < 0 || zoom * y + top < 0 || zoom * (x + width) + left > wide || zoom * (y + height) + top > high;

// The box of a folded group, as the studio calls it.
const GROUP = "\u001f";

// What a variable shows when there is room for one number: what was observed, or the key state with its probability.
function keyOf(variable, numbers) {
  const order = variable.order ?? variable.states;
  const value = (state) => at(numbers, state)?.[0];
  const state = order.length === 2 ? order[1] : order.reduce((best, each) => ((value(each) ?? 0) > (value(best) ?? 0) ? each : best), order[0]);
  return numbers && value(state) !== undefined ? { state, label: labelOf(variable, state), value: value(state) } : null;
}

// What is drawn of a network: variables, and groups that are folded, each with its box and what is written on it.
function drawnIn(network, boxOf) {
  const folded = Object.entries(network.groups ?? {}).map(([name, members]) => ({ name: GROUP + name, label: `+ ${name}`, group: { name, members }, parents: [] }));
  return [...network.variables, ...folded].map((each) => ({ name: each.name, label: each.label, variable: each, ...boxOf(each.name) })).filter((each) => each.width);
}

export const arcId = (parent, child) => JSON.stringify([parent, child]);

// Between boxes that were moved, an arrow goes straight from where they are now.
function Arrow({ id, source, target, data, markerEnd, selected }) {
  const boxOf = (name) => (s) => s.nodeLookup.get(name)?.internals.positionAbsolute;
  const [from, to] = [useStore(boxOf(source)), useStore(boxOf(target))];
  const path = curve(data?.points ?? pointsBetween({ ...data.sizes[0], ...from }, { ...data.sizes[1], ...to }));
  return <BaseEdge id={id} path={path} markerEnd={markerEnd} className={data?.kind} interactionWidth={18} style={data?.width && !selected ? { strokeWidth: data.width } : undefined} />;
}

// All arrows of a very large network that is far away, as a few lines: nobody could hit one of them there.
const FarArrows = memo(({ edges, boxOf }) => {
  const paths = {};
  for (const { source, target, data } of edges) {
    paths[data.kind] = (paths[data.kind] ?? "") + curve(data.points ?? pointsBetween(boxOf(source), boxOf(target)));
  }
  return (
    <ViewportPortal>
      <svg className="far-arrows" aria-hidden="true">
        {Object.entries(paths).map(([kind, path]) => (
          <path key={kind} d={path} className={`react-flow__edge-path ${kind}`} />
        ))}
      </svg>
    </ViewportPortal>
  );
});
const NO_EDGES = [];

const TIPS = Object.fromEntries(
  ["raises", "lowers", "neutral"].map((kind) => [kind, { type: MarkerType.ArrowClosed, markerUnits: "userSpaceOnUse", width: 20, height: 20, color: `var(--${kind})` }]),
);
const MEANING = { raises: "raises", lowers: "lowers", neutral: "neither clearly raises nor clearly lowers" };

const focusVariable = (name) => document.querySelector(`.react-flow__node[data-id="${CSS.escape(name)}"] .name`)?.focus({ preventScroll: true });

// A field that goes to a variable; with the Enter key, the focus goes there as well.
function Find({ variables, goTo }) {
  const [text, setText] = useState("");
  const match = (wanted) => {
    const small = wanted.trim().toLowerCase();
    if (!small) return undefined;
    const found = (test) => variables.find((each) => test(each.name.toLowerCase())) ?? variables.find((each) => test(each.label.toLowerCase()));
    return found((name) => name === small) ?? found((name) => name.startsWith(small)) ?? found((name) => name.includes(small));
  };
  const go = (event) => {
    event.preventDefault();
    const found = match(text);
    if (!found) return;
    goTo(found.name);
    setTimeout(() => focusVariable(found.name), MOVING);
  };
  return (
    <form className="find" role="search" onSubmit={go}>
      <input
        type="search"
        list="variables"
        aria-label="Find a variable in the network"
        placeholder="Find a variable"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          const exact = variables.find((each) => each.name === event.target.value);
          if (exact) goTo(exact.name);
        }}
      />
      <datalist id="variables">
        {variables.map((each) => (
          <option key={each.name} value={each.name} label={each.label === each.name ? undefined : each.label} />
        ))}
      </datalist>
    </form>
  );
}

// Whether the previous fit gets a mark of its own.
export const hasMoved = (value, before) =>
  before !== null && before !== undefined && value !== null && value !== undefined && Math.abs(value - before) >= 0.005;

export function Bar({ numbers, before }) {
  const [value, low, high] = numbers ?? [null, null, null];
  return (
    <span className="bar" aria-hidden="true">
      {value !== null && <span className="fill" style={{ width: `${100 * value}%` }} />}
      {low !== null && low !== undefined && low < high && (
        <span className="whisker" style={{ left: `${100 * low}%`, width: `${Math.max(0.5, 100 * (high - low))}%` }} />
      )}
      {hasMoved(value, before) && <span className="before" style={{ left: `${100 * before}%` }} />}
    </span>
  );
}

export function describe(state, numbers, before) {
  if (!numbers) return state;
  const [value, low, high] = numbers;
  const interval = low === null || low >= high ? "" : `, 95% interval ${percent(low)} to ${percent(high)}`;
  return `${state} ${percent(value)}${interval}${before === undefined ? "" : `; ${percent(before)} in the previous fit`}`;
}

// Seen from afar, a box is a bar itself: of what was observed, or of the key state.
function KeyFill({ variable, numbers, known }) {
  const key = known === undefined ? keyOf(variable, numbers) : { value: 1 };
  return <i className="key-fill" aria-hidden="true" style={{ width: `${100 * (key?.value ?? 0)}%` }} />;
}

// A folded group: one box for all its variables.
const GroupNode = memo(({ data: { name, members } }) => (
  <div className="node group-node" role="group" aria-label={`Group ${name}, folded`}>
    <Handle type="target" position={Position.Top} isConnectable={false} />
    <button type="button" className="name" title={members.join(", ")} onClick={() => useStudio.getState().fold(name)}>
      <span>+ {name}</span>
      <em>
        {members.length} variable{members.length === 1 ? "" : "s"}
      </em>
    </button>
    <Handle type="source" position={Position.Bottom} isConnectable={false} />
  </div>
));

// In a very large network that is far away, boxes have no states, which nobody would see.
const isBare = (s) => s.transform[2] < FAR && s.nodeLookup.size > MOST_DRAWN;

const VariableNode = memo(({ data: variable, width }) => {
  const bare = useStore(isBare);
  const numbers = useStudio((s) => chancesOf(s, variable));
  const before = useStudio((s) => (variable.decision ? undefined : at(s.bars?.before, variable.name)));
  const observed = useStudio((s) => at(s.given.evidence, variable.name));
  const set = useStudio((s) => at(s.given.do, variable.name));
  const soft = useStudio((s) => at(s.given.soft, variable.name));
  const stale = useStudio((s) => s.changes.length > 0);
  const group = useStudio((s) => Object.entries(s.network?.groups ?? {}).find(([, members]) => members.includes(variable.name))?.[0]);
  const selected = useStudio((s) => s.selected === variable.name);
  const clickMeans = useStudio((s) => s.clickMeans ?? "evidence");
  const { observe, show } = useStudio.getState();
  const kind = observed !== undefined ? "observed" : set !== undefined ? "set" : soft ? "soft" : "";
  return (
    <div className={`node ${kind} ${variable.decision ? "decision" : ""} ${selected ? "selected" : ""} ${stale ? "stale" : ""}`} role="group" aria-label={`Variable ${variable.name}`}>
      <Handle type="target" position={Position.Top} isConnectable />
      <button
        type="button"
        className="name"
        aria-pressed={selected}
        title={[variable.label === variable.name ? variable.name : `${variable.label} (${variable.name})`, variable.about].filter(Boolean).join("\n")}
        onClick={() => show({ selected: variable.name, clickedInNetwork: variable.name })}
        onKeyDown={(event) => {
          if (event.key === "Delete" || event.key === "Backspace") removeVariables([variable.name]);
        }}
      >
        <KeyFill variable={variable} numbers={numbers} known={observed ?? set} />
        <span className={LETTER * variable.label.length > width - BESIDE_NAME ? "long" : ""}>{variable.label}</span>
        {(kind || variable.decision) && <em>{{ observed: "observed", set: variable.decision ? "decided" : "set by us", soft: "uncertain finding" }[kind] ?? "to decide"}</em>}
      </button>
      {group && (
        <button type="button" className="fold nodrag" title={`Fold the group ${group}`} aria-label={`Fold the group ${group}, with ${variable.name}`} onClick={() => useStudio.getState().fold(group)}>
          −
        </button>
      )}
      <div className="states">
        {!bare && variable.states.slice(0, MOST_STATES).map((state) => {
          const [own, was] = [at(numbers, state), at(before, state)];
          return (
          <button
            type="button"
            key={state}
            className="state nodrag"
            aria-pressed={observed === state || set === state}
            aria-label={`${describe(labelOf(variable, state), own, was)}; ${variable.name}`}
            title={describe(labelOf(variable, state), own, was)}
            onClick={(event) => observe(variable.name, state, event.altKey || variable.decision ? "do" : clickMeans)}
          >
            <span className="label">{labelOf(variable, state)}</span>{" "}
            <Bar numbers={own} before={was} />
            <span className="number">{own ? percent(own[0]) : ""}</span>
          </button>
          );
        })}
        {variable.states.length > MOST_STATES && (
          <p className="more">and {variable.states.length - MOST_STATES} more states</p>
        )}
      </div>
      <Handle type="source" position={Position.Bottom} isConnectable />
    </div>
  );
});

// An arrow that was chosen is what one can say something about, in the panel.
function chooseArc(edge) {
  const { view } = useStudio.getState();
  const oneAtATime = window.matchMedia("(max-width: 1000px) and (max-height: 899px)").matches;
  useStudio.setState({ selectedArc: edge.id, selected: edge.target, clickedInNetwork: edge.target, panel: "draw", view: oneAtATime ? "answers" : view });
}

// Variables that are drawn in the text are removed from it; Undo brings them back.
function removeVariables(names) {
  const { mayDraw, edit } = useStudio.getState();
  if (mayDraw()) edit({ op: "remove_variables", names });
}

// The network alone on the screen, and back.
const fillScreen = (canvas) => (document.fullscreenElement ? document.exitFullscreen() : canvas.requestFullscreen());

const nodeTypes = { variable: VariableNode, group: GroupNode };
const edgeTypes = { arrow: Arrow };

function Flow() {
  const { network, picture: drawn, part } = useStudio((s) => s.drawing);
  const isWhole = part === "[[],null]";
  const focus = useStudio((s) => s.focus);
  const computing = useStudio((s) => s.computing);
  const rough = useStudio((s) => s.bars?.rough);
  const given = useStudio((s) => s.given);
  const impossible = useStudio((s) => s.impossible);
  const hasBefore = useStudio((s) =>
    Object.entries(s.bars?.before ?? {}).some(([name, own]) =>
      Object.entries(own).some(([state, each]) => hasMoved(at(at(s.bars.bars, name), state)?.[0], each)),
    ),
  );
  const arrows = useStudio((s) => s.fit?.arrows ?? s.opened?.arrows);
  // The variables whose numbers still are those of the fit; all where a network brought its own.
  const supportedNames = useStudio((s) => (s.fit && s.bars?.source === "fit" && !s.impossible ? JSON.stringify(Object.keys(s.bars.bars)) : null));
  const supported = useMemo(() => (supportedNames === null ? null : new Set(JSON.parse(supportedNames))), [supportedNames]);
  const unused = useStudio((s) => s.bars?.unused);
  const { clear, show } = useStudio.getState();
  const selected = useStudio((s) => s.selectedArc);
  const far = useStore((s) => s.transform[2] < FAR);
  const bare = far && network.variables.length > MOST_DRAWN;
  const flow = useReactFlow();
  const page = useStoreApi();
  const hasRoom = useStore((s) => s.width > 0);
  const positions = useStudio((s) => s.arrangement.positions);
  // Where most boxes stand as somebody placed them, nothing is spread.
  const isArranged = isWhole && 2 * network.variables.filter((each) => at(positions, each.name)).length > network.variables.length;
  const { picture, there, back } = useMemo(() => {
    if (isArranged) return unstretched(drawn);
    const room = roomIn(page.getState());
    const wide = stretched(drawn, bounds, room, FAR);
    const boxes = drawnIn(network, (name) => asBox(at(wide.picture.boxes, name)));
    // What is not seen as a whole all the same stays as it is, so that more of it is seen.
    return room.width > 0 && haveAllPlaces(boxes, zoomToFit(bounds(wide.picture), room)) ? wide : unstretched(drawn);
  }, [drawn, hasRoom, isArranged]);
  // Boxes that somebody moved stay there, after a reload and after the next start too.
  const moved = useRef(new Map());
  useMemo(() => {
    const kept = isWhole ? (positions ?? {}) : {}; // a part has places of its own
    moved.current = new Map(Object.entries(kept).map(([name, point]) => [name, there(point)]).map(([name, [x, y]]) => [name, { x, y }]));
  }, [positions, part, there]);

  const [nodes, setNodes, onNodesChange] = useNodesState([]);
  const routes = useMemo(() => new Map(picture.routes.map(([parent, child, points]) => [arcId(parent, child), points])), [picture]);
  const [movedCount, setMovedCount] = useState(0);
  const boxOf = useCallback(
    (name) => {
      const box = asBox(at(picture.boxes, name));
      return box && { ...box, ...moved.current.get(name) };
    },
    [picture, movedCount, positions],
  );
  const isMoved = (...names) => names.some((name) => moved.current.has(name));
  // From top to bottom and left to right, as the Tab key goes through them.
  const inOrder = useMemo(() => {
    const drawn = drawnIn(network, (name) => asBox(at(picture.boxes, name)));
    return drawn.sort((a, b) => a.y - b.y || a.x - b.x).map((each) => each.variable);
  }, [network, picture]);
  useEffect(() => {
    setNodes((old) => {
      const chosen = new Set(old.filter((each) => each.selected).map((each) => each.id));
      return inOrder.map((each) => {
        const { x, y, width, height } = boxOf(each.name);
        const own = each.group ? { type: "group", data: each.group, ariaLabel: `Group ${each.group.name}` } : { type: "variable", data: each, ariaLabel: each.name };
        return { id: each.name, ...own, position: { x, y }, width, height, selected: chosen.has(each.name) };
      });
    });
  }, [inOrder, positions, setNodes]);
  const edges = useMemo(
    () => {
      const byName = new Map(inOrder.map((each) => [each.name, each]));
      const sizeOf = ({ width, height }) => ({ width, height });
      const linesOf = (parent, child) => ({ points: isMoved(parent, child) ? null : routes.get(arcId(parent, child)), sizes: [parent, child].map((name) => sizeOf(boxOf(name))) });
      return picture.routes
        .filter(([parent, child]) => byName.has(parent) && byName.has(child))
        .map(([parent, child]) => {
          const each = byName.get(child);
          const id = arcId(parent, child);
          if (each.group || byName.get(parent).group) {
            const names = [parent, child].map((name) => name.replace(GROUP, "group "));
            const data = { kind: "neutral", ...linesOf(parent, child) };
            return { id, type: "arrow", source: parent, target: child, data, selectable: false, focusable: false, ariaLabel: `Arrows between ${names.join(" and ")}` };
          }
          const [learned, strength] = (supported === null || supported.has(each.name) ? at(at(arrows, each.name), parent) : undefined) ?? [];
          const stated = at(each.stated, parent);
          const kind = learned ?? stated ?? "neutral";
          const says = learned ? `: ${MEANING[learned]}, by up to ${Math.round(100 * strength)} points on average` : stated ? `: ${MEANING[stated]}, as a statement says` : "";
          return {
            id,
            type: "arrow",
            source: parent,
            target: each.name,
            selected: selected === id,
            data: {
              kind,
              width: learned === undefined ? undefined : THINNEST + (THICKEST - THINNEST) * Math.min(1, strength),
              ...linesOf(parent, child),
            },
            ariaLabel: `Arrow from ${parent} to ${each.name}${says}`,
            markerEnd: TIPS[kind],
          };
        });
    },
    [inOrder, selected, routes, arrows, movedCount, positions, supported, picture],
  );
  const kinds = new Set(edges.map((each) => each.data.kind));
  const isLarge = network.variables.length > LARGE;
  const boxes = useMemo(() => drawnIn(network, boxOf), [network, boxOf]);
  const whole = useMemo(() => bounds({ routes: picture.routes.filter(([parent, child]) => !isMoved(parent, child)), boxes: Object.fromEntries(boxes.map((each) => [each.name, [each.x, each.y, each.width, each.height]])) }), [picture, boxes]);
  const least = useMemo(() => leastZoom(boxes, FAR), [boxes]);
  useEffect(() => {
    if (flow.getZoom() < least) flow.zoomTo(least); // a box was moved to where its name has less room
  }, [least, flow]);
  const beyond = useStore((s) => isBeyond(whole, s));
  const isPart = useStore((s) => zoomToFit(whole, roomIn(s)) < least);
  const chosen = useStudio((s) => s.selected);
  const centre = (name, zoom) => {
    const box = boxOf(name);
    if (box) flow.setCenter(box.x + box.width / 2, box.y + box.height / 2, { zoom, duration: MOVING });
  };
  const showMost = () => {
    const { width, height, transform: [left, top, zoom] } = page.getState();
    flow.setViewport(viewportFor(whole, roomIn({ width, height }), least, [(width / 2 - left) / zoom, (height / 2 - top) / zoom], least));
  };
  // The arrow keys pan, plus and minus zoom, and zero shows everything.
  const chosenNames = () => nodes.filter((each) => each.selected && each.type === "variable").map((each) => each.id);
  const onKeyDown = (event) => {
    if (event.altKey || event.target.closest("input")) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "a") return;
      setNodes((old) => old.map((each) => ({ ...each, selected: each.type === "variable" })));
      event.preventDefault();
      return;
    }
    const { x, y, zoom } = flow.getViewport();
    const [right, down] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    if (right || down) flow.setViewport({ x: x + PAN * right, y: y + PAN * down, zoom });
    else if (event.key === "+" || event.key === "=") flow.zoomIn();
    else if (event.key === "-") flow.zoomOut();
    else if (event.key === "0") showMost();
    else if (event.key === "Escape" && useStudio.getState().focus) useStudio.getState().focusOn(null);
    else if ((event.key === "Delete" || event.key === "Backspace") && !event.target.closest(".node")) {
      const chosenNodes = chosenNames();
      const arc = event.target.closest(".react-flow__edge") && selected ? JSON.parse(selected) : null;
      if (arc) useStudio.getState().edit({ op: "remove_arc", parent: arc[0], child: arc[1] });
      else if (chosenNodes.length) removeVariables(chosenNodes);
      else return;
    } else return;
    event.preventDefault();
  };
  const onCopy = (event) => {
    const own = event.target.closest(".react-flow__node")?.dataset.id;
    const names = chosenNames().length ? chosenNames() : network.variables.some((each) => each.name === own) ? [own] : [];
    if (!names.length || event.target.closest("input") || String(window.getSelection())) return;
    event.clipboardData.setData("text/plain", useStudio.getState().copied(names));
    event.preventDefault();
  };
  const onPaste = (event) => {
    if (event.target.closest("input")) return;
    useStudio.getState().paste(event.clipboardData.getData("text/plain"));
    event.preventDefault();
  };
  // What the Tab key comes to is brought into sight, once the browser's own scrolling was taken back.
  const onFocus = ({ target, currentTarget }) => {
    if (!target.matches(":focus-visible") || !target.closest(".react-flow__viewport")) return;
    requestAnimationFrame(() => {
      const [own, all] = [target.getBoundingClientRect(), currentTarget.getBoundingClientRect()];
      const isSeen = own.left >= all.left && own.right <= all.right && own.top >= all.top && own.bottom <= all.bottom;
      const { x, y } = flow.screenToFlowPosition({ x: own.left + own.width / 2, y: own.top + own.height / 2 });
      if (!isSeen && target.isConnected) flow.setCenter(x, y, { zoom: flow.getZoom() }); // at once: the next key may follow
    });
  };
  useEffect(() => {
    // Where not all of it is seen, it begins around the variable that is asked about, in letters that one reads at once.
    const timer = setTimeout(() => {
      const start = boxes.find((each) => each.name === chosen) ?? boxes[0];
      const at = [start.x + start.width / 2, start.y + start.height / 2];
      flow.setViewport(viewportFor(whole, roomIn(page.getState()), least, at, (least * SMALL) / LEAST));
    }, 30);
    return () => clearTimeout(timer);
  }, [picture, flow]);
  useEffect(() => {
    const { clickedInNetwork, wasChosen } = useStudio.getState();
    // The variable that is asked about at first moves nothing; one that was chosen later is brought into sight.
    if (isLarge && wasChosen && chosen && chosen !== clickedInNetwork) centre(chosen, Math.max(flow.getZoom(), NEAR));
    show({ wasChosen: true });
  }, [chosen]);

  const [menu, setMenu] = useState(null);
  const closeMenu = useCallback(() => setMenu(null), []);
  // Beside the pointer, or beside the box where a key asked for it; inside of the network.
  const openMenu = (event, title, items) => {
    event.preventDefault();
    const all = event.currentTarget.closest(".canvas").getBoundingClientRect();
    const own = event.currentTarget.getBoundingClientRect();
    const [x, y] = event.clientX || event.clientY ? [event.clientX, event.clientY] : [own.left, own.bottom];
    setMenu({ title, items, x: Math.max(4, Math.min(x - all.left, all.width - 250)), y: Math.max(4, Math.min(y - all.top, all.height - 40 * items.length - 30)) });
  };
  const count = countGiven(givenNow(given, network));
  const words = wordsFor(network);
  const short = (name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name);
  return (
    // First what leads around the network, then the network: the Tab key goes that way.
    <div
      className="canvas"
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onCopy={onCopy}
      onPaste={onPaste}
      onFocus={onFocus}
      onDoubleClick={(event) => event.target.classList.contains("react-flow__pane") && useStudio.getState().drawFirst()}
    >
      <Panel position="top-left" className="given">
        {network.variables.length > MANY && (
          <Find
            variables={network.variables}
            goTo={(name) => {
              show({ selected: name, clickedInNetwork: name });
              if (focus) useStudio.getState().focusOn({ ...focus, name });
              else centre(name, Math.max(flow.getZoom(), NEAR));
            }}
          />
        )}
        {network.variables.length > MANY && chosen && (
          <span className="focus-choice">
            <button type="button" aria-pressed={Boolean(focus)} onClick={() => useStudio.getState().focusOn(focus ? null : { name: chosen, depth: 1 })}>
              {focus ? "Show all" : `Only around ${short(words.name(chosen))}`}
            </button>
            {focus && (
              <label>
                <span className="hidden">Steps around {focus.name}</span>
                <select value={focus.depth} onChange={(event) => useStudio.getState().focusOn({ ...focus, depth: Number(event.target.value) })}>
                  {[1, 2, 3].map((depth) => (
                    <option key={depth} value={depth}>
                      {depth} step{depth > 1 ? "s" : ""}
                    </option>
                  ))}
                </select>
              </label>
            )}
          </span>
        )}
        {count > 0 && (
          <button type="button" onClick={clear}>
            Clear evidence ({count})
          </button>
        )}
        {computing && (
          <Computing what={rough ? "the intervals " : ""} stop={() => useStudio.getState().stopAsking()} />
        )}
        {impossible && <span className="problem" role="alert">{impossible}</span>}
        {!impossible && unused?.length > 0 && <span className="note" role="status">Not used, because it was learned otherwise: {unused.map(words.name).join(", ")}</span>}
      </Panel>
      <Controls showInteractive={false} position="top-right" orientation="horizontal" showFitView={false}>
        <ControlButton title="All of it, or as much as the names have room for" aria-label="Fit View" onClick={showMost}>
          <svg viewBox="0 0 32 30" aria-hidden="true">
            <path d="M3 3h8v3H6v5H3zM29 3v8h-3V6h-5V3zM3 27v-8h3v5h5v3zM29 27h-8v-3h5v-5h3z" />
          </svg>
        </ControlButton>
        <ControlButton title="Full screen" aria-label="Full screen" onClick={(event) => fillScreen(event.currentTarget.closest(".canvas"))}>
          ⤢
        </ControlButton>
      </Controls>
      <ReactFlow
        className={far ? "far" : ""}
        nodes={nodes}
        onNodesChange={onNodesChange}
        edges={bare ? NO_EDGES : edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        defaultViewport={network.variables.length > MOST_DRAWN ? FROM_AFAR : undefined}
        minZoom={least}
        maxZoom={2}
        nodesFocusable={false}
        edgesFocusable
        onlyRenderVisibleElements={network.variables.length > MOST_DRAWN}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        onNodeContextMenu={(event, node) => node.type === "variable" && openMenu(event, node.data.label, itemsOfVariable(node.data, chosenNames().includes(node.id) ? chosenNames() : [node.id], removeVariables))}
        onEdgeContextMenu={(event, edge) => edge.selectable !== false && openMenu(event, [edge.source, edge.target].map(wordsFor(network).name).join(" → "), itemsOfArrow(edge.source, edge.target))}
        onPaneContextMenu={(event) => openMenu(event, "The network", itemsOfPane())}
        onNodeDragStop={(_, node, dragged) => {
          for (const { id, position } of [node, ...dragged]) moved.current.set(id, { x: position.x, y: position.y });
          setMovedCount((count) => count + 1);
          if (isWhole) useStudio.getState().arrange({ positions: Object.fromEntries([node, ...dragged].map(({ id, position: { x, y } }) => [id, back([x, y])])) });
        }}
        onNodeMouseEnter={(_, node) => show({ hovered: node.id })}
        onNodeMouseLeave={() => show({ hovered: null })}
        onEdgeClick={(_, edge) => chooseArc(edge)}
        onEdgesChange={(changes) => {
          const chosen = changes.find((each) => each.type === "select" && each.selected); // by the keyboard
          if (chosen) chooseArc(edges.find((each) => each.id === chosen.id));
        }}
        onConnect={({ source, target }) => useStudio.getState().edit?.({ op: "add_arc", parent: source, child: target })}
      >
        <Background gap={24} size={1} />
        {bare && <FarArrows edges={edges} boxOf={boxOf} />}
        {far && <FarNames boxes={boxes} keyOf={keyOf} />}
        {(isLarge || isPart) && beyond && (
          <MiniMap
            pannable
            zoomable
            position="bottom-left"
            style={isPart ? MAP : SMALL_MAP}
            ariaLabel="Map of the network"
            nodeColor={({ id }) => (id === chosen || knownOf(given, id).length ? "var(--accent)" : "var(--bar)")}
            maskStrokeColor="var(--accent)"
            maskStrokeWidth={1.5}
            onClick={(_, { x, y }) => flow.setCenter(x, y, { zoom: flow.getZoom(), duration: MOVING })}
          />
        )}
        <Panel position="top-right" className="export">
          <details>
            <summary aria-label="Save the picture">⤓</summary>
            <div>
              <button type="button" onClick={exportSvg}>
                As SVG
              </button>
              <button type="button" onClick={() => useStudio.getState().attempt(exportPng)}>
                As PNG
              </button>
              <button type="button" onClick={() => window.print()}>
                Print, or PDF
              </button>
            </div>
          </details>
        </Panel>
        <Panel position="bottom-right" className="signs">
          {["raises", "lowers"].map((kind) => kinds.has(kind) && <span key={kind} className={kind}>{kind}</span>)}
          {hasBefore && <span className="was">the previous fit</span>}
        </Panel>
      </ReactFlow>
      {menu && <Menu menu={menu} close={closeMenu} />}
    </div>
  );
}

export function Graph() {
  const drawing = useStudio((s) => s.drawing);
  const message = useStudio((s) => s.message);
  if (!drawing && message)
    return (
      <div className="empty">
        <p>The network cannot be shown until this is mended.</p>
        <p className="problem">{message}</p>
      </div>
    );
  if (!drawing)
    return (
      <div className="empty">
        <p>There are no variables yet.</p>
        <p>
          Write <code>variable outcome: no, yes</code> on the left, or
        </p>
        <p>
          <button type="button" className="primary" onClick={() => useStudio.getState().drawFirst()}>
            Draw the first variable
          </button>
        </p>
      </div>
    );
  return (
    <ReactFlowProvider>
      <Flow />
    </ReactFlowProvider>
  );
}
