// The rows of the table, scored: how probable the states of a variable are in each.
import { useEffect, useState } from "react";
import { post } from "./api.js";
import { Computing, useAnswer } from "./asking.jsx";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

// The columns that hold scores, each with the places of its bounds where it has an interval.
function scoreColumns({ columns, scores }) {
  const places = new Map(columns.slice(0, scores).map((name, place) => [name, place]));
  const isBound = (name) => / (low|high)$/.test(name) && places.has(name.replace(/ (low|high)$/, ""));
  const own = [...places.keys()].filter((name) => !isBound(name));
  return own.map((name) => ({ name, value: places.get(name), low: places.get(`${name} low`), high: places.get(`${name} high`) }));
}

// The rows with their numbers, sorted by a column: numbers as numbers, everything else as text, empty cells last.
function inOrder({ numbers, rows }, order) {
  const all = rows.map((row, index) => [numbers[index], row]);
  if (!order) return all;
  const compare = ([, one], [, other]) => {
    const [a, b] = [one[order.place], other[order.place]];
    if (a === null || b === null) return (a === null) - (b === null);
    const difference = Number.isFinite(Number(a)) && Number.isFinite(Number(b)) ? Number(a) - Number(b) : String(a).localeCompare(String(b));
    return order.down ? -difference : difference;
  };
  return all.sort(compare);
}

export function Scores({ variable, state }) {
  const table = useStudio((s) => s.opened?.table);
  const [sorted, setSorted] = useState(false);
  const [order, setOrder] = useState(null); // of the rows that are here: by which column, and whether from large to small
  const score = `${variable.name}=${state}`;
  const { found, problem, ask, stop, isSlow } = useAnswer((signal) => post("/api/predict", { targets: [variable.name], by: sorted ? score : null }, signal), variable.name);
  useEffect(() => {
    if (found) ask();
  }, [sorted, sorted && score]);
  if (!table) return null;
  const scores = found ? scoreColumns(found) : [];
  return (
    <section>
      <button type="button" onClick={ask}>
        Score every row of {table}
      </button>
      {isSlow && <Computing stop={stop} />}
      {problem && <p className="problem">{problem}</p>}
      {found && (
        <>
          <p>
            <a className="button" href="/api/predictions" download="predictions.csv">
              Download all {found.total.toLocaleString("en")} rows
            </a>
          </p>
          <label className="check">
            <input type="checkbox" checked={sorted} onChange={(event) => setSorted(event.target.checked)} /> The most probable {score} first
          </label>
          {found.total > found.rows.length && <p className="hint">The first {found.rows.length} rows; the file has all.</p>}
          <div className="scroll" tabIndex={0} role="region" aria-label={`Rows of ${table}, scored`}>
            <table className="rows">
              <thead>
                <tr>
                  <th scope="col">row</th>
                  {[...scores.map((each) => [each.name, each.value]), ...found.columns.slice(found.scores).map((name, index) => [name, found.scores + index])].map(([name, place]) => (
                    <th scope="col" key={name} title={name} aria-sort={order?.place === place ? (order.down ? "descending" : "ascending") : "none"}>
                      <button type="button" className="link" onClick={() => setOrder({ place, down: order?.place === place ? !order.down : place < found.scores })}>
                        {name} {order?.place === place ? (order.down ? "▼" : "▲") : ""}
                      </button>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {inOrder(found, order).map(([number, row]) => (
                  <tr key={number}>
                    <th scope="row">{number}</th>
                    {scores.map((each) => (
                      <td key={each.name}>
                        <b>{percent(row[each.value])}</b>
                        {each.low !== undefined && (
                          <small>
                            {percent(row[each.low])} to {percent(row[each.high])}
                          </small>
                        )}
                      </td>
                    ))}
                    {row.slice(found.scores).map((value, column) => (
                      <td key={column} title={String(value ?? "")}>
                        {String(value ?? "")}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
