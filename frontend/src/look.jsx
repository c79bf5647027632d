// What was learned, and why: a CPT with data, knowledge and result; what each statement did; the report.
import { useMemo, useRef, useState } from "react";
import { get } from "./api.js";
import { useFetched } from "./asking.jsx";
import { barsPicture } from "./export.js";
import { hasMoved } from "./graph.jsx";
import { CptGrid } from "./grid.jsx";
import { LearnNow, Progress, RUNNING } from "./learn.jsx";
import { ChooseVariable } from "./choose_variable.jsx";
import { at, isSame, labelOf, labelledAs, wordsFor } from "./names.js";
import { percent } from "./share/words.js";
import { SaveChart } from "./save_chart.jsx";
import { StateBounds } from "./stating.jsx";
import { useStudio } from "./store.js";

const FEW_ROWS = 40; // configurations that are shown at first
const MANY = 12; // configurations from which on a field finds them

// Where values are missing, rows are counted by how probable it is that they belong here.
function rowsText(observations) {
  const whole = Math.round(observations);
  return `${Math.abs(whole - observations) < 1e-6 ? "" : "about "}${whole.toLocaleString("en")} row${whole === 1 ? "" : "s"}`;
}

function Cell({ row, index, state, before, onClick, onFocus, tabIndex, pressed, label }) {
  const at = (value) => `${100 * value}%`;
  const learned = row.learned[index];
  const [low, high] = [row.low?.[index], row.high?.[index]];
  const [least, most] = [row.lowest?.[index], row.highest?.[index]];
  const data = row.data?.[index];
  const words = [
    `learned ${percent(learned)}`,
    low !== null && low !== undefined ? `95% interval ${percent(low)} to ${percent(high)}` : "",
    data !== null && data !== undefined ? `data ${percent(data)} of ${rowsText(row.observations)}` : row.observations === null ? "" : "no data",
    least !== null && least !== undefined ? `knowledge allows ${percent(least)} to ${percent(most)}` : "",
    before !== undefined ? `${percent(before)} in the previous fit` : "",
  ].filter(Boolean);
  return (
    <button type="button" className="cell" aria-pressed={pressed} aria-label={`${state} ${percent(learned)}; ${label}: ${words.join("; ")}`} title={words.join("\n")} onClick={onClick} onFocus={onFocus} tabIndex={tabIndex}>
      <span className="label">{state}</span>{" "}
      <span className="track" aria-hidden="true">
        {least !== null && least !== undefined && <span className="allowed" style={{ left: at(least), width: at(Math.max(0.005, most - least)) }} />}
        {low !== null && low !== undefined && <span className="whisker" style={{ left: at(low), width: at(Math.max(0.005, high - low)) }} />}
        {data !== null && data !== undefined && <span className="data" style={{ left: at(data) }} />}
        {hasMoved(learned, before) && <span className="before" style={{ left: at(before) }} />}
        <span className="learned" style={{ left: at(learned) }} />
      </span>
      <span className="number">
        {percent(learned)}
        {hasMoved(learned, before) && <small>{percent(before)}</small>}
      </span>
    </button>
  );
}

// The arrow keys go from number to number, so that the Tab key leaves a large CPT at once.
function moveCell(event) {
  const cells = [...event.currentTarget.querySelectorAll(".cell")];
  const place = cells.indexOf(event.target);
  const next = { ArrowDown: cells[place + 1], ArrowUp: cells[place - 1], Home: cells[0], End: cells.at(-1) }[event.key];
  if (place < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

const conditionsOf = (row) => Object.entries(row.given).map(([parent, state]) => `${parent}=${state}`);
const labelledConditions = (row, words) => Object.entries(row.given).map(([parent, state]) => `${words.name(parent)}=${words.state(parent, state)}`);

// The numbers of a CPT; with what they rest on, once that is computed.
function useRows(variable) {
  const explained = useStudio((s) => at(s.explanation?.cpts, variable?.name));
  const { found, problem } = useFetched(() => (variable && !explained ? get(`/api/cpt?name=${encodeURIComponent(variable.name)}`) : Promise.resolve({})), [variable?.name, Boolean(explained)]);
  return { rows: explained ?? found?.rows, problem };
}

function Cpt({ variable, network, rows }) {
  const words = wordsFor(network);
  const before = useStudio((s) => (s.showBefore ? at(s.comparison?.cpts, variable.name) : undefined));
  const [cell, setCell] = useState(null);
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(FEW_ROWS);
  const [current, setCurrent] = useState(null); // where the Tab key enters: the number that had the focus last
  const form = useRef(null);
  const wanted = filter.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const found = rows.filter((row) => wanted.every((word) => [...conditionsOf(row), ...labelledConditions(row, words)].some((each) => each.toLowerCase().includes(word))));
  const shown = found.slice(0, most);
  const drawn = () =>
    barsPicture(
      `Probabilities of ${variable.label}`,
      shown.map((row) => [labelledConditions(row, words).join(", "), variable.states.map((state, index) => [labelOf(variable, state), row.learned[index], row.low?.[index], row.high?.[index]])]),
    );
  const entry = shown.some((row) => row.index === current?.[0]) ? current : [shown[0]?.index, 0];
  const isCurrent = (row, index) => row.index === entry[0] && index === entry[1];
  const chosen = cell && cell.name === variable.name ? rows.find((row) => row.index === cell.row) : null;
  return (
    <>
      {rows.length > MANY && (
        <label>
          Show only
          <input type="search" value={filter} placeholder={conditionsOf(rows[0]).join(" ")} onChange={(event) => setFilter(event.target.value)} />
        </label>
      )}
      <div className="scroll" role="region" aria-label={`Probabilities of ${variable.label}; the arrow keys go from number to number`}>
        <ul className="cpt" onKeyDown={moveCell}>
          {shown.map((row) => {
            const conditions = conditionsOf(row);
            return (
              <li key={row.index}>
                <p>
                  {labelledConditions(row, words).map((each, index) => (
                    <span key={conditions[index]} title={conditions[index]}>
                      {each}
                    </span>
                  ))}
                  <small>{row.observations === null ? "" : rowsText(row.observations)}</small>
                </p>
                <div className="cells">
                  {variable.states.map((state, index) => (
                    <Cell
                      key={state}
                      row={row}
                      index={index}
                      state={labelOf(variable, state)}
                      before={before?.[row.index]?.[index]}
                      label={`P(${variable.name}=${state}${conditions.length ? ` | ${conditions.join(", ")}` : ""})`}
                      pressed={chosen === row && cell.index === index}
                      tabIndex={isCurrent(row, index) ? 0 : -1}
                      onFocus={() => setCurrent([row.index, index])}
                      onClick={(event) => {
                        setCell({ name: variable.name, row: row.index, index });
                        // By a key: what can be said about it stands further down.
                        if (!event.detail) requestAnimationFrame(() => form.current?.querySelector("input")?.focus());
                      }}
                    />
                  ))}
                </div>
              </li>
            );
          })}
          {found.length > most && (
            <li>
              <button type="button" onClick={() => setMost(most + 100)}>
                Show more of {found.length.toLocaleString("en")}
              </button>
            </li>
          )}
          {!found.length && <li>No configuration matches these words.</li>}
        </ul>
      </div>
      <SaveChart name={`probabilities of ${variable.label}`} drawn={drawn} />
      <p className="legend" aria-hidden="true">
        {[
          ...(rows.some((row) => row.low || row.data) ? [["learned", "learned"]] : []),
          ...(rows.some((row) => row.low) ? [["whisker", "95% interval"]] : []),
          ...(rows.some((row) => row.data) ? [["data", "data"]] : []),
          ...(rows.some((row) => row.lowest) ? [["allowed", "allowed by knowledge"]] : []),
          ...(before ? [["before", "the previous fit (second number)"]] : []),
        ].map(([key, label]) => (
          <span key={key}>
            <span className={`key ${key}`} /> {label}
          </span>
        ))}
      </p>
      {chosen && (
        <div className="stating" ref={form} onKeyDown={(event) => event.key === "Escape" && document.querySelector(".cell[aria-pressed=true]")?.focus()}>
          <h3>State something about this number</h3>
          <StateBounds
            name={variable.name}
            state={variable.states[cell.index]}
            given={chosen.given}
            start={[chosen.low?.[cell.index] ?? 0, chosen.high?.[cell.index] ?? 1].map((value) => Math.round(100 * value) / 100)}
          />
        </div>
      )}
    </>
  );
}

// The network with its learned numbers, for other programs.
function LearnedNetwork() {
  const [ending, setEnding] = useState(".bif");
  return (
    <>
      <a className="button" href={`/api/network?ending=${encodeURIComponent(ending)}`} download={`learned${ending}`}>
        Download the network
      </a>
      <select aria-label="Kind of network file" value={ending} onChange={(event) => setEnding(event.target.value)}>
        {[".bif", ".xdsl", ".net", ".xmlbif", ".dsl", ".uai"].map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </>
  );
}

// What was learned in another session is explained when somebody wants it.
function Explain() {
  const running = useStudio((s) => RUNNING.has(s.progress.event));
  const { explain } = useStudio.getState();
  return (
    <section>
      {!running && (
        <>
          <p>These numbers were learned before. What they rest on, data and statements, is computed again in a moment.</p>
          <button type="button" className="primary" onClick={explain}>
            Explain them
          </button>
        </>
      )}
      <Progress />
    </section>
  );
}

function Numbers({ variable, network, stands }) {
  const isLearned = useStudio((s) => Boolean(s.fit));
  const { rows, problem } = useRows(stands ? variable : null);
  const own = network.variables.find((each) => each.name === variable.name);
  return (
    <>
      {problem && <p className="problem">{problem}</p>}
      {rows && <Cpt variable={own} network={network} rows={rows} />}
      <CptGrid variable={own ?? variable} learned={rows} word={isLearned ? "learned" : "now"} />
    </>
  );
}

export function LookPanel() {
  const fit = useStudio((s) => s.fit);
  const explanation = useStudio((s) => s.explanation);
  const learned = useStudio((s) => s.fit?.network);
  const now = useStudio((s) => s.network);
  const network = useMemo(() => (learned ? labelledAs(learned, now) : now), [learned, now]);
  const selected = useStudio((s) => s.selected);
  const editor = useStudio((s) => s.editor);
  const variables = now?.variables ?? [];
  const variable = variables.find((each) => each.name === selected) ?? variables[0];
  const fromFile = useStudio((s) => !s.fit && Boolean(s.opened?.arrows)); // a network file brought its numbers
  const stands = variable && (fromFile || isSame(learned, now, variable.name));
  return (
    <>
      {!fit && !fromFile && (
        <>
          <p className="hint">Learn first; then this shows what the result rests on.</p>
          <LearnNow />
        </>
      )}
      {fromFile && <p className="hint">These are the numbers of the network file. Learn, and they have intervals, and reasons.</p>}
      {(fit || fromFile) && (
        <div className="row">
          {fit?.report && (
            <a className="button" href="/api/report" download="report.html">
              Download the report
            </a>
          )}
          <LearnedNetwork />
        </div>
      )}
      {variable && <ChooseVariable label="The probabilities of" variable={variable} variables={variables} />}
      {variable && fit && !stands && <p className="problem">{variable.label} was learned with other states, cut points or parents, or not at all: learn again.</p>}
      {variable && <Numbers variable={variable} network={network} stands={stands} />}
      {fit && !explanation && <Explain />}
      {explanation && (
        <>
          <h3>In short</h3>
          {explanation.summary.map((each) => (
            <p key={each}>{each}</p>
          ))}
          {explanation.notes.length > 0 && (
            <details>
              <summary>How this was computed</summary>
              {explanation.notes.map((each) => (
                <p key={each} className="hint">
                  {each}
                </p>
              ))}
            </details>
          )}
          {explanation.statements.length > 0 && <h3>What each statement did</h3>}
          <ul className="statements">
            {explanation.statements.map((each) => (
              <li key={each.number}>
                <button type="button" className="link" onClick={() => editor?.goTo(each.line)}>
                  {each.line}: {each.text}
                </button>
                <small>
                  {each.effect}
                  {each.largest_change ? `; without it, a probability would change by ${(100 * each.largest_change).toPrecision(2)} points` : ""}
                  {each.verdict && !each.contradicted ? `; the data ${each.verdict}` : ""}
                </small>
              </li>
            ))}
          </ul>
          {explanation.next.length > 0 && (
            <>
              <h3>What to observe next</h3>
              <ol className="plain">
                {explanation.next.slice(0, 6).map((each) => (
                  <li key={each.label}>
                    {each.label} <small>so far {rowsText(each.observations ?? 0)}</small>
                  </li>
                ))}
              </ol>
            </>
          )}
        </>
      )}
    </>
  );
}
