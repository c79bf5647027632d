// A CPT to type, to paste from a spreadsheet or to set by sliders, beside what the data show and what was learned: what is
// filled in becomes statements.
import { useEffect, useState } from "react";
import { labelOf } from "./names.js";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

const MOST_ROWS = 200;
const MOST_COLUMNS = 2; // of parents

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

// Columns for parents; where there are many, one for all of them, so that the numbers are in sight.
const joined = (each) => (each.length > MOST_COLUMNS ? [each] : each.map((own) => [own]));

// The other numbers of a distribution make room for one that moved, in proportion to what they were; whole tenths.
function withNumber(numbers, index, value) {
  const rest = numbers.reduce((sum, each, place) => (place === index ? sum : sum + each), 0);
  const others = numbers.length - 1;
  const fresh = numbers.map((each, place) => Math.round(10 * (place === index ? value : rest > 0 ? (each * (100 - value)) / rest : (100 - value) / others)) / 10);
  const last = fresh.findLastIndex((_, place) => place !== index);
  if (last >= 0) fresh[last] = Math.max(0, Math.round(10 * (fresh[last] + 100 - fresh.reduce((sum, each) => sum + each, 0))) / 10);
  return fresh;
}

// One distribution by sliders: it adds up to 100% all the time.
function Sliders({ own, given, numbers, set }) {
  return (
    <fieldset className="sliders">
      <legend>{given.length ? given.map(([parent, value]) => `${parent} is ${value}`).join(", ") : `All of ${own.label}`}</legend>
      {own.states.map((each, index) => (
        <label key={each} className="weight">
          <span>{labelOf(own, each)}</span>
          <input type="range" min={0} max={100} step={0.5} value={numbers[index]} aria-valuetext={`${numbers[index]}%`} onChange={(event) => set(withNumber(numbers, index, Number(event.target.value)))} />
          <output>{numbers[index]}%</output>
        </label>
      ))}
    </fieldset>
  );
}

export function CptGrid({ variable, learned, word = "learned" }) {
  const network = useStudio((s) => s.network);
  const [cells, setCells] = useState({});
  const [how, setHow] = useState("about");
  const [cases, setCases] = useState("50");
  const [current, setCurrent] = useState(0); // the distribution that sliders move
  const byName = new Map(network.variables.map((each) => [each.name, each]));
  const own = byName.get(variable.name);
  useEffect(() => (setCells({}), setCurrent(0)), [variable.name, JSON.stringify(own?.states), JSON.stringify(own?.parents)]);
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
  const isWorth = how === "worth";
  // Cases are those of a distribution: it is given as a whole, or by one number.
  const partial = isWorth ? typed.findIndex((each) => Object.keys(each.numbers).length > 1 && Object.keys(each.numbers).length < own.states.length) : -1;
  const isReady = count > 0 && wrong < 0 && !unread && partial < 0 && (!isWorth || Number(cases) > 0);
  const state = async () => {
    const stated = typed.filter((each) => Object.keys(each.numbers).length);
    if (await useStudio.getState().edit({ op: "cpt_statements", name: own.name, how, cases: Number(cases), rows: stated })) setCells({});
  };
  const foundAt = (given, column, kind) => {
    const row = learned?.find((each) => Object.entries(each.given).every(([parent, value]) => given.some(([name, own_]) => name === parent && own_ === value)));
    return row?.[kind]?.[variable.states.indexOf(own.states[column])] ?? undefined;
  };
  const besideAt = (given, column) => [["data", "data"], ["learned", word]].flatMap(([kind, word]) => (foundAt(given, column, kind) === undefined ? [] : [`${word} ${percent(foundAt(given, column, kind))}`]));
  // Sliders begin where the row is: at what was typed, at what was learned, or in the middle.
  const numbersAt = (row) => {
    const start = own.states.map((_, column) => Math.round(1000 * (foundAt(rows[row], column, "learned") ?? 1 / own.states.length)) / 10);
    return own.states.reduce((numbers, _, column) => (valueAt(row, column) === null ? numbers : isWhole(row) ? numbers.with(column, valueAt(row, column)) : withNumber(numbers, column, valueAt(row, column))), start);
  };
  const setRow = (row, numbers) => setCells((old) => ({ ...old, ...Object.fromEntries(numbers.map((each, column) => [keyOf(row, column), String(each)])) }));
  const sliding = Math.min(current, rows.length - 1);
  return (
    <details className="grid">
      <summary>Type these numbers, paste them from a spreadsheet, or set them by sliders</summary>
      <p className="hint">In percent. What you fill in becomes statements; empty cells stay open.</p>
      <div className="scroll" tabIndex={0} role="region" aria-label={`Numbers of ${own.name} to type`}>
        <table className="rows">
          <thead>
            <tr>
              {joined(own.parents).map((parents) => (
                <th scope="col" key={parents[0]} className={parents.length > 1 ? "joined" : undefined}>
                  {parents.map((parent) => byName.get(parent)?.label ?? parent).join(" · ")}
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
              <tr key={row} className={row === wrong || row === partial ? "wrong" : row === sliding ? "current" : ""} onFocus={() => setCurrent(row)}>
                {joined(given).map((own_) => (
                  <th scope="row" key={own_[0][0]} className={own_.length > 1 ? "joined" : undefined} title={own_.map(([parent, value]) => `${parent}=${value}`).join("\n")}>
                    {own_.map(([parent, value]) => labelOf(byName.get(parent), value)).join(" · ")}
                  </th>
                ))}
                {own.states.map((each, column) => (
                  <td key={each}>
                    <input
                      inputMode="decimal"
                      size={5}
                      aria-label={`${own.name}=${each}${given.length ? ` given ${given.map(([parent, value]) => `${parent}=${value}`).join(", ")}` : ""}, in percent`}
                      value={cells[keyOf(row, column)] ?? ""}
                      onChange={(event) => set(keyOf(row, column), event.target.value)}
                      onPaste={(event) => paste(event, row, column)}
                    />
                    {besideAt(given, column).map((each) => (
                      <small key={each}>{each}</small>
                    ))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Sliders own={own} given={rows[sliding].map(([parent, value]) => [byName.get(parent).label, labelOf(byName.get(parent), value)])} numbers={numbersAt(sliding)} set={(numbers) => setRow(sliding, numbers)} />
      {wrong >= 0 && <p className="problem">The numbers of a row add up to 100%: those of row {wrong + 1} make {sums[wrong].toFixed(1)}%.</p>}
      {unread && <p className="problem">A cell is not a number from 0 to 100.</p>}
      {partial >= 0 && <p className="problem">Fill in one number of row {partial + 1}, or all of them, to say how many cases they are worth.</p>}
      <div className="row">
        <label>
          They hold
          <select value={how} onChange={(event) => setHow(event.target.value)}>
            <option value="about">about: data can move them a little</option>
            <option value="worth">as an expert's number, worth so many cases</option>
            <option value="exactly">exactly</option>
          </select>
        </label>
        {isWorth && (
          <label>
            cases
            <input type="number" min={1} step={1} value={cases} onChange={(event) => setCases(event.target.value)} />
          </label>
        )}
        <button type="button" disabled={!isReady} onClick={state}>
          State {count || ""} number{count === 1 ? "" : "s"}
        </button>
      </div>
    </details>
  );
}
