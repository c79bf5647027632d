// A CPT to type or to paste from a spreadsheet: what is filled in becomes statements, one for each number.
import { useEffect, useState } from "react";
import { labelOf } from "./names.js";
import { percent } from "./states.js";
import { useStudio } from "./store.js";

const MOST_ROWS = 200;

const keyOf = (row, column) => `${row}-${column}`;

// "30%", "30" and "0,3" as they are meant: percentages, as the head of the table says.
function numberOf(text) {
  const value = Number(text.trim().replace("%", "").replace(",", "."));
  return text.trim() === "" || !Number.isFinite(value) || value < 0 || value > 100 ? null : value;
}

// All configurations of what a variable depends on, the last parent fastest.
function configurations(variable, byName) {
  return variable.parents.reduce((all, parent) => all.flatMap((given) => (byName.get(parent)?.states ?? []).map((state) => [...given, [parent, state]])), [[]]);
}

export function CptGrid({ variable, learned }) {
  const network = useStudio((s) => s.network);
  const [cells, setCells] = useState({});
  const [how, setHow] = useState("about");
  const byName = new Map(network.variables.map((each) => [each.name, each]));
  const own = byName.get(variable.name);
  useEffect(() => setCells({}), [variable.name, JSON.stringify(own?.states), JSON.stringify(own?.parents)]);
  if (!own) return null;
  const rows = configurations(own, byName);
  if (rows.length > MOST_ROWS) return <p className="hint">This CPT has {rows.length.toLocaleString("en")} distributions: too many to type here.</p>;
  const set = (key, text) => setCells((old) => ({ ...old, [key]: text }));
  // A block of a spreadsheet: lines of cells with tabs between them, from this cell on.
  const paste = (event, row, column) => {
    const lines = event.clipboardData.getData("text").replace(/\r/g, "").replace(/\n+$/, "").split("\n");
    const block = lines.map((line) => line.split("\t"));
    if (block.length === 1 && block[0].length === 1) return;
    event.preventDefault();
    setCells((old) => {
      const fresh = { ...old };
      block.forEach((line, down) => line.forEach((cell, right) => row + down < rows.length && column + right < own.states.length && (fresh[keyOf(row + down, column + right)] = cell)));
      return fresh;
    });
  };
  const valueAt = (row, column) => numberOf(cells[keyOf(row, column)] ?? "");
  const typed = rows.map((given, row) => ({ given: Object.fromEntries(given), numbers: Object.fromEntries(own.states.flatMap((state, column) => (valueAt(row, column) === null ? [] : [[state, valueAt(row, column) / 100]]))) }));
  const sums = rows.map((_, row) => own.states.reduce((sum, __, column) => sum + (valueAt(row, column) ?? 0), 0));
  const isWhole = (row) => own.states.every((_, column) => valueAt(row, column) !== null);
  const wrong = rows.findIndex((_, row) => sums[row] > 100.5 || (isWhole(row) && Math.abs(sums[row] - 100) > 0.5));
  const unread = Object.values(cells).some((text) => text.trim() !== "" && numberOf(text) === null);
  const count = typed.reduce((sum, each) => sum + Object.keys(each.numbers).length, 0);
  const state = async () => {
    const done = await useStudio.getState().edit({ op: "cpt_statements", name: own.name, how, rows: typed.filter((each) => Object.keys(each.numbers).length) });
    if (done) setCells({});
  };
  const learnedAt = (given, column) => {
    const row = learned?.find((each) => Object.entries(each.given).every(([parent, value]) => given.some(([name, own_]) => name === parent && own_ === value)));
    return row ? row.learned[variable.states.indexOf(own.states[column])] : undefined;
  };
  return (
    <details className="grid">
      <summary>Type these numbers, or paste them from a spreadsheet</summary>
      <p className="hint">In percent. Grey is what was learned. What you fill in becomes statements; empty cells stay open.</p>
      <div className="scroll" tabIndex={0} role="region" aria-label={`Numbers of ${own.name} to type`}>
        <table className="rows">
          <thead>
            <tr>
              {own.parents.map((parent) => (
                <th scope="col" key={parent}>
                  {byName.get(parent)?.label ?? parent}
                </th>
              ))}
              {own.states.map((each) => (
                <th scope="col" key={each}>
                  {labelOf(own, each)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((given, row) => (
              <tr key={row} className={row === wrong ? "wrong" : ""}>
                {given.map(([parent, value]) => (
                  <th scope="row" key={parent}>
                    {labelOf(byName.get(parent), value)}
                  </th>
                ))}
                {own.states.map((each, column) => (
                  <td key={each}>
                    <input
                      inputMode="decimal"
                      size={5}
                      aria-label={`${own.name}=${each}${given.length ? ` given ${given.map(([parent, value]) => `${parent}=${value}`).join(", ")}` : ""}, in percent`}
                      value={cells[keyOf(row, column)] ?? ""}
                      placeholder={learnedAt(given, column) === undefined ? "" : percent(learnedAt(given, column)).replace("%", "")}
                      onChange={(event) => set(keyOf(row, column), event.target.value)}
                      onPaste={(event) => paste(event, row, column)}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {wrong >= 0 && <p className="problem">The numbers of a row add up to 100%: those of row {wrong + 1} make {sums[wrong].toFixed(1)}%.</p>}
      {unread && <p className="problem">A cell is not a number from 0 to 100.</p>}
      <div className="row">
        <label>
          They hold
          <select value={how} onChange={(event) => setHow(event.target.value)}>
            <option value="about">about: data can move them a little</option>
            <option value="exactly">exactly</option>
          </select>
        </label>
        <button type="button" disabled={!count || wrong >= 0 || unread} onClick={state}>
          State {count || ""} number{count === 1 ? "" : "s"}
        </button>
      </div>
    </details>
  );
}
