// The network: variables as boxes with their states as bars, laid out in layers; a click on a state is evidence.
import dagre from "@dagrejs/dagre";
import {
  Background,
  BaseEdge,
  Controls,
  Handle,
  MarkerType,
  MiniMap,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  getBezierPath,
  useNodesState,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { percent } from "./states.js";
import { useStudio } from "./store.js";

const WIDTH = 224;
const ROW = 24;
const HEAD = 34;
const MOST_STATES = 12; // that a box shows
const FAR = 0.5; // zoom below which a box shows its name alone
const LARGEST = 1.1; // zoom to begin with
const READABLE = 0.34; // zoom below which names are too small to begin with
const LARGE = 40; // variables from which on boxes stand closer, and a map shows where one is

const heightOf = (variable) => HEAD + ROW * Math.min(variable.states.length, MOST_STATES + 1) + 8;

function layout(variables) {
  const graph = new dagre.graphlib.Graph();
  const close = variables.length > LARGE;
  graph.setGraph({ rankdir: "TB", nodesep: close ? 14 : 36, edgesep: close ? 6 : 20, ranksep: close ? 44 : 56, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const each of variables) graph.setNode(each.name, { width: WIDTH, height: heightOf(each) });
  for (const each of variables)
    for (const parent of each.parents) if (graph.hasNode(parent)) graph.setEdge(parent, each.name);
  dagre.layout(graph);
  const places = new Map(
    variables.map((each) => {
      const place = graph.node(each.name);
      return [each.name, { x: place.x - WIDTH / 2, y: place.y - heightOf(each) / 2 }];
    }),
  );
  const routes = new Map(graph.edges().map((edge) => [arcId(edge.v, edge.w), graph.edge(edge).points]));
  return { places, routes };
}

// Everything that is drawn: arrows may go round the boxes.
function bounds(variables, places, routes) {
  const all = [...routes.values()].flat();
  for (const each of variables) {
    const place = places.get(each.name);
    all.push(place, { x: place.x + WIDTH, y: place.y + heightOf(each) });
  }
  const [xs, ys] = [all.map((each) => each.x), all.map((each) => each.y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

export const arcId = (parent, child) => JSON.stringify([parent, child]);

// An arrow goes where the layout left room for it; between boxes that were moved, it goes straight there.
function Arrow({ id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data, markerEnd }) {
  const points = data?.points;
  let path;
  if (points && points.length > 2) {
    const inner = points.slice(1, -1);
    const all = [{ x: sourceX, y: sourceY }, ...inner, { x: targetX, y: targetY }];
    path = `M ${all[0].x} ${all[0].y}`;
    for (let i = 1; i < all.length; i += 1) {
      const [from, to] = [all[i - 1], all[i]];
      const half = (to.y - from.y) / 2;
      path += ` C ${from.x} ${from.y + half}, ${to.x} ${to.y - half}, ${to.x} ${to.y}`;
    }
  } else [path] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  return <BaseEdge id={id} path={path} markerEnd={markerEnd} interactionWidth={18} />;
}


export function Bar({ numbers }) {
  const [value, low, high] = numbers ?? [null, null, null];
  return (
    <span className="bar" aria-hidden="true">
      {value !== null && <span className="fill" style={{ width: `${100 * value}%` }} />}
      {low !== null && low !== undefined && (
        <span className="whisker" style={{ left: `${100 * low}%`, width: `${Math.max(0.5, 100 * (high - low))}%` }} />
      )}
    </span>
  );
}

export function describe(state, numbers) {
  if (!numbers) return state;
  const [value, low, high] = numbers;
  const interval = low === null ? "" : `, 95% interval ${percent(low)} to ${percent(high)}`;
  return `${state} ${percent(value)}${interval}`;
}

const VariableNode = memo(({ data: variable }) => {
  const numbers = useStudio((s) => s.bars?.bars?.[variable.name]);
  const observed = useStudio((s) => s.given.evidence[variable.name]);
  const set = useStudio((s) => s.given.do[variable.name]);
  const soft = useStudio((s) => s.given.soft[variable.name]);
  const selected = useStudio((s) => s.selected === variable.name);
  const clickMeans = useStudio((s) => s.clickMeans ?? "evidence");
  const { observe, show } = useStudio.getState();
  const kind = observed ? "observed" : set ? "set" : soft ? "soft" : "";
  return (
    <div className={`node ${kind} ${selected ? "selected" : ""}`} role="group" aria-label={`Variable ${variable.name}`}>
      <Handle type="target" position={Position.Top} isConnectable />
      <button
        type="button"
        className="name"
        aria-pressed={selected}
        title={variable.name}
        onClick={() => show({ selected: variable.name, clickedInNetwork: variable.name })}
      >
        <span>{variable.name}</span>
        {kind && <em>{{ observed: "observed", set: "set by do", soft: "soft evidence" }[kind]}</em>}
      </button>
      <div className="states">
        {variable.states.slice(0, MOST_STATES).map((state, index) => (
          <button
            type="button"
            key={state}
            className="state nodrag"
            aria-pressed={observed === state || set === state}
            aria-label={`${describe(state, numbers?.[index])}; ${variable.name}`}
            title={describe(state, numbers?.[index])}
            onClick={(event) => observe(variable.name, state, event.altKey ? "do" : clickMeans)}
          >
            <span className="label">{state}</span>{" "}
            <Bar numbers={numbers?.[index]} />
            <span className="number">{numbers ? percent(numbers[index]?.[0]) : ""}</span>
          </button>
        ))}
        {variable.states.length > MOST_STATES && (
          <p className="more">and {variable.states.length - MOST_STATES} more states</p>
        )}
      </div>
      <Handle type="source" position={Position.Bottom} isConnectable />
    </div>
  );
});

const nodeTypes = { variable: VariableNode };
const edgeTypes = { arrow: Arrow };

function Flow() {
  const network = useStudio((s) => s.network);
  const given = useStudio((s) => s.given);
  const impossible = useStudio((s) => s.impossible);
  const note = useStudio((s) => s.bars?.note);
  const clear = useStudio((s) => s.clear);
  const selected = useStudio((s) => s.selectedArc);
  const far = useStore((s) => s.transform[2] < FAR);
  const flow = useReactFlow();
  const moved = useRef(new Map());
  const shape = JSON.stringify(network?.variables.map((each) => [each.name, each.states.length, each.parents]) ?? []);

  const [nodes, setNodes, onNodesChange] = useNodesState([]);
  const { places, routes } = useMemo(() => layout(network.variables), [shape]);
  const [movedCount, setMovedCount] = useState(0);
  useEffect(() => {
    setNodes(network.variables.map((each) => ({
      id: each.name,
      type: "variable",
      data: each,
      position: moved.current.get(each.name) ?? places.get(each.name),
      width: WIDTH,
      height: heightOf(each),
      ariaLabel: each.name,
    })));
  }, [network, places, setNodes]);
  const edges = useMemo(
    () =>
      network.variables.flatMap((each) =>
        each.parents.map((parent) => ({
          id: arcId(parent, each.name),
          type: "arrow",
          source: parent,
          target: each.name,
          selected: selected === arcId(parent, each.name),
          data: { points: moved.current.has(parent) || moved.current.has(each.name) ? null : routes.get(arcId(parent, each.name)) },
          ariaLabel: `Arrow from ${parent} to ${each.name}`,
          markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18 },
        })),
      ),
    [network, selected, routes, movedCount],
  );
  const isLarge = network.variables.length > LARGE;
  const chosen = useStudio((s) => s.selected);
  const centre = (name, zoom) => {
    const place = moved.current.get(name) ?? places.get(name);
    if (place) flow.setCenter(place.x + WIDTH / 2, place.y + HEAD, { zoom, duration: 200 });
  };
  useEffect(() => {
    const timer = setTimeout(async () => {
      await flow.fitBounds(bounds(network.variables, places, routes), { padding: 0.06 });
      if (flow.getZoom() > LARGEST) await flow.fitView({ padding: 0.1, maxZoom: LARGEST });
      // Of a large network as a whole nothing could be read: it begins at the variable that is asked for.
      if (flow.getZoom() < READABLE) centre(useStudio.getState().selected, READABLE);
    }, 30);
    return () => clearTimeout(timer);
  }, [shape, flow]);
  useEffect(() => {
    const { clickedInNetwork } = useStudio.getState();
    if (isLarge && chosen && chosen !== clickedInNetwork) centre(chosen, Math.max(flow.getZoom(), READABLE));
  }, [chosen]);

  const count = Object.keys(given.evidence).length + Object.keys(given.do).length + Object.keys(given.soft).length;
  return (
    <ReactFlow
      className={far ? "far" : ""}
      nodes={nodes}
      onNodesChange={onNodesChange}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      minZoom={0.05}
      maxZoom={2}
      nodesFocusable={false}
      edgesFocusable
      onlyRenderVisibleElements={network.variables.length > 60}
      deleteKeyCode={null}
      onNodeDragStop={(_, node) => {
        moved.current.set(node.id, node.position);
        setMovedCount((count) => count + 1);
      }}
      onEdgeClick={(_, edge) => useStudio.setState({ selectedArc: edge.id, selected: edge.target, panel: "draw" })}
      onConnect={({ source, target }) => useStudio.getState().edit?.({ op: "add_arc", parent: source, child: target })}
    >
      <Background gap={24} size={1} />
      {isLarge && <MiniMap pannable zoomable position="bottom-left" ariaLabel="Map of the network" nodeColor="var(--bar)" />}
      <Controls showInteractive={false} position="top-right" orientation="horizontal" />
      <Panel position="top-left" className="given">
        {count > 0 && (
          <button type="button" onClick={clear}>
            Clear evidence ({count})
          </button>
        )}
        {impossible && <span className="problem" role="alert">{impossible}</span>}
        {!impossible && note && <span className="note">{note}</span>}
      </Panel>
    </ReactFlow>
  );
}

export function Graph() {
  const network = useStudio((s) => s.network);
  if (!network)
    return (
      <div className="empty">
        <p>There are no variables yet.</p>
        <p>
          Write <code>variable outcome: no, yes</code> on the left, or
        </p>
        <p>
          <button type="button" className="primary" onClick={() => useStudio.setState({ panel: "draw", view: "answers" })}>
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
