// The data: a histogram for each column, with cut points to drag; and the rows, any of which can be the case.
import { useEffect, useRef, useState } from "react";
import { get, post } from "./api.js";
import { ofTable, useFetched } from "./asking.jsx";
import { NOTHING_GIVEN, givenWith, labelOf } from "./names.js";
import { SaveChart } from "./save_chart.jsx";
import { useStudio } from "./store.js";

const [WIDTH, HEIGHT] = [320, 62];
const PAGE = 50;
const MOST_SHOWN = 40; // columns at first

const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// A cut point as somebody would write it: as many digits as the width of the histogram can show.
function rounded(value, range) {
  const digits = Math.max(0, Math.ceil(-Math.log10(range / 200)));
  return Number(value.toFixed(Math.min(10, digits)));
}

// The state of a cell: that of a number between cut points, or the text itself; undefined where it is none.
export function stateOfCell(variable, cell) {
  if (cell === null || cell === undefined || String(cell).trim() === "") return undefined;
  if (!variable.cuts) return variable.states.includes(String(cell)) ? String(cell) : undefined;
  const value = Number(cell);
  return Number.isFinite(value) ? variable.states[variable.cuts.filter((point) => value >= point).length] : undefined;
}

function Histogram({ column, variable }) {
  const [low, high] = [column.edges[0], column.edges.at(-1)];
  const range = Math.max(1e-12, high - low);
  const most = Math.max(1, ...column.counts);
  const [cuts, setCuts] = useState(variable?.cuts ?? []);
  const picture = useRef(null);
  const key = JSON.stringify(variable?.cuts ?? []);
  useEffect(() => setCuts(variable?.cuts ?? []), [key]);
  const fromFile = useStudio((s) => Boolean(s.opened?.network));
  const x = (value) => (WIDTH * (value - low)) / range;
  // A cut point stays between its neighbours.
  const moved = (index, value) => {
    const [least, largest] = [cuts[index - 1] ?? -Infinity, cuts[index + 1] ?? Infinity];
    const wanted = rounded(value, range);
    return wanted > least && wanted < largest ? cuts.map((each, place) => (place === index ? wanted : each)) : cuts;
  };
  const use = (fresh) => {
    if (JSON.stringify(fresh) !== key) useStudio.getState().edit({ op: "set_cuts", name: column.name, points: fresh, states: madeOfNumbers(variable) ? [] : variable.states });
  };
  const at = (event) => {
    const box = picture.current.getBoundingClientRect();
    return low + (range * (event.clientX - box.left)) / box.width;
  };
  const counts = variable?.cuts && variable.states.map((state, index) => [state, index]);
  return (
    <>
      <svg ref={picture} className="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT + 14}`} role="group" aria-label={`Histogram of ${column.name}, from ${low} to ${high}`}>
        {column.counts.map((each, index) => (
          <rect key={index} x={x(column.edges[index]) + 0.5} width={Math.max(1, x(column.edges[index + 1]) - x(column.edges[index]) - 1)} y={HEIGHT - (HEIGHT * each) / most} height={(HEIGHT * each) / most}>
            <title>{`${column.edges[index]} to ${column.edges[index + 1]}: ${count(each, "row")}`}</title>
          </rect>
        ))}
        {counts &&
          cuts.map((point, index) => (
            <g
              key={index}
              className="cut"
              role="slider"
              tabIndex={fromFile ? -1 : 0}
              aria-label={`Cut point ${index + 1} of ${column.name}`}
              aria-valuenow={point}
              aria-valuemin={low}
              aria-valuemax={high}
              onPointerDown={(event) => !fromFile && event.currentTarget.setPointerCapture(event.pointerId)}
              onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && setCuts(moved(index, at(event)))}
              onPointerUp={() => use(cuts)}
              onKeyDown={(event) => {
                const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
                if (!step || fromFile) return;
                event.preventDefault();
                const fresh = moved(index, point + (step * range) / 100);
                setCuts(fresh);
                use(fresh);
              }}
            >
              <rect className="touch" x={x(point) - 8} y={0} width={16} height={HEIGHT + 14} />
              <line x1={x(point)} x2={x(point)} y1={0} y2={HEIGHT} />
              <text x={Math.min(WIDTH - 14, Math.max(14, x(point)))} y={HEIGHT + 12} textAnchor="middle">
                {point}
              </text>
            </g>
          ))}
      </svg>
      {counts && !fromFile && <p className="hint">Drag a line to cut elsewhere: the states are {variable.states.map((each) => labelOf(variable, each)).join(", ")}.</p>}
      {!counts && variable && <p className="hint">Its numbers are the states.</p>}
    </>
  );
}

// Whether states were named after their cut points, which are others now.
const madeOfNumbers = (variable) => variable.states.every((state) => /\d/.test(state));

function Values({ column, variable }) {
  const most = Math.max(1, ...column.values.map(([, number]) => number));
  const unknown = variable ? column.values.filter(([value]) => !variable.states.includes(value)) : [];
  if (!variable && column.distinct > 20) return <p className="hint">{count(column.distinct, "different value")}: not part of the network.</p>;
  return (
    <>
      <ul className="values">
        {column.values.slice(0, 12).map(([value, number]) => (
          <li key={value}>
            <span title={value}>{variable ? labelOf(variable, value) : value}</span>
            <span className="bar" aria-hidden="true">
              <span className="fill" style={{ width: `${(100 * number) / most}%` }} />
            </span>
            <b>{number.toLocaleString("en")}</b>
          </li>
        ))}
      </ul>
      {unknown.length > 0 && <p className="problem">Not a state of {variable.name}: {unknown.map(([value]) => value).slice(0, 5).join(", ")}</p>}
    </>
  );
}

function Rows() {
  const network = useStudio((s) => s.network);
  const table = useStudio((s) => s.opened?.table);
  const [start, setStart] = useState(1);
  const [chosen, setChosen] = useState(null);
  const { suppose, show } = useStudio.getState();
  const { problem, last: found } = useFetched((signal) => post("/api/rows", { start }, signal), start, ofTable);
  if (problem) return <p className="problem">{problem}</p>;
  if (!found) return null;
  const use = (row, number) => {
    const known = found.columns.map((name, index) => [network?.variables.find((each) => each.name === name), row[index]]).filter(([variable]) => variable);
    const given = known.reduce((all, [variable, cell]) => givenWith(all, variable.name, "evidence", stateOfCell(variable, cell)), NOTHING_GIVEN);
    setChosen(number);
    suppose(given);
    show({ toast: `Row ${number} is the case now, with all that it says.` });
  };
  return (
    <>
      <p className="hint">A click on the number of a row makes it the case that is asked about.</p>
      <div className="scroll" tabIndex={0} role="region" aria-label={`Rows of ${table}`}>
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">row</th>
              {found.columns.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.rows.map((row, index) => (
              <tr key={index} className={chosen === found.start + index ? "chosen" : ""}>
                <th scope="row">
                  <button type="button" className="link underlined" aria-label={`Row ${found.start + index} as the case`} onClick={() => use(row, found.start + index)}>
                    {found.start + index}
                  </button>
                </th>
                {row.map((cell, place) => (
                  <td key={place}>{String(cell ?? "")}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="row">
        <button type="button" disabled={start <= 1} onClick={() => setStart(Math.max(1, start - PAGE))}>
          Rows before
        </button>
        <button type="button" disabled={start + PAGE > found.total} onClick={() => setStart(start + PAGE)}>
          Next rows
        </button>
      </div>
    </>
  );
}

export function DataPanel() {
  const table = useStudio((s) => s.opened?.table);
  const network = useStudio((s) => s.network);
  const [most, setMost] = useState(MOST_SHOWN);
  const { problem, last: found } = useFetched(() => (table ? get("/api/columns") : Promise.resolve(null)), null, ofTable);
  if (!table)
    return (
      <p className="hint">
        There is no table.{" "}
        <button type="button" onClick={() => useStudio.setState({ dialog: "open" })}>
          Open a table …
        </button>
      </p>
    );
  if (problem) return <p className="problem">{problem}</p>;
  if (!found) return <p className="hint">Reading the table …</p>;
  const variableOf = (name) => network?.variables.find((each) => each.name === name);
  const columns = [...found.columns].sort((a, b) => Boolean(variableOf(b.name)) - Boolean(variableOf(a.name)));
  const hidden = network?.variables.filter((each) => !found.columns.some((column) => column.name === each.name)) ?? [];
  return (
    <>
      <p>
        {table}: {count(found.rows, "row")}, {count(found.columns.length, "column")}
        {hidden.length > 0 && `. Without a column, and so never seen: ${hidden.map((each) => each.label).join(", ")}`}
      </p>
      {columns.slice(0, most).map((column) => {
        const variable = variableOf(column.name);
        return (
          <section key={column.name} className={`column ${variable ? "" : "unused"}`} aria-label={`Column ${column.name}`}>
            <h3>
              {column.name} {column.counts && <SaveChart name={`histogram of ${column.name}`} />}
              <small>{[variable ? (variable.label === column.name ? "" : variable.label) : "not used", variable?.about, column.missing ? `${count(column.missing, "value")} missing` : ""].filter(Boolean).join("; ")}</small>
            </h3>
            {column.counts ? <Histogram column={column} variable={variable} /> : <Values column={column} variable={variable} />}
            {column.codes?.map(([code, number]) => (
              <p className="problem" key={code}>
                {code} occurs {number === 1 ? "once" : `${number.toLocaleString("en")} times`}, far from all others: is it a code for a value that is missing? Leave such cells empty.
              </p>
            ))}
          </section>
        );
      })}
      {columns.length > most && (
        <button type="button" onClick={() => setMost(most + 100)}>
          Show more columns
        </button>
      )}
      <h3>Rows</h3>
      <Rows />
    </>
  );
}
