// What was found about the statements: mistakes, conflicts with their ways out, and the state of each line.
import { useState } from "react";
import { templates } from "./language.js";
import { STATES, describeStatement } from "./states.js";
import { useStudio } from "./store.js";

const ORDER = ["conflict", "excluded", "contradicted", "unchecked", "redundant", "consistent"]; // the worst first
const LEFT_OUT = new Set(["excluded", "contradicted", "redundant"]); // that one may want to do without
const FEW = 30; // statements that a group shows at first
const SHOWN_CONFLICTS = 20;

const LINE = 15; // pixels, of a text in the graph
const WIDE = 33; // letters of such a line
const MOST_PLACES = 12;

// A distribution in lines: its variable, then what is given.
function linesOf(place) {
  const [event, given] = place.split(" | ");
  if (!given) return [event];
  const lines = [`${event})`];
  const parts = given.slice(0, -1).split(", ");
  let line = "given";
  for (const [index, part] of parts.entries()) {
    if (line.length + part.length > WIDE && line !== "given") {
      lines.push(line);
      line = "";
    }
    line += ` ${part}${index < parts.length - 1 ? "," : ""}`;
  }
  return [...lines, line];
}

// Statements on the left, what they are about on the right: who pulls at the same numbers is seen at once.
function ConflictGraph({ conflict }) {
  const about = [...new Set(conflict.about.flat())];
  if (!about.length || about.length > MOST_PLACES) return null;
  const texts = about.map(linesOf);
  const starts = texts.map((_, index) => texts.slice(0, index).reduce((sum, lines) => sum + LINE * lines.length + 12, 6));
  const total = starts.at(-1) + LINE * texts.at(-1).length + 6;
  const height = Math.max(total, 30 * conflict.statements.length);
  const shift = (height - total) / 2;
  const left = (index) => (height * (index + 0.5)) / conflict.statements.length;
  const right = (index) => shift + starts[index] + (LINE * texts[index].length) / 2;
  return (
    <svg className="conflict-graph" viewBox={`0 0 350 ${height}`} role="img" aria-label={`Lines ${conflict.statements.map((each) => each.line).join(", ")} are about ${about.join(", ")}`}>
      {conflict.about.map((places, index) =>
        places.map((place) => (
          <path key={`${index}-${place}`} d={`M62 ${left(index)}C84 ${left(index)} 72 ${right(about.indexOf(place))} 94 ${right(about.indexOf(place))}`} />
        )),
      )}
      {conflict.statements.map((each, index) => (
        <g key={each.number}>
          <rect x={1} y={left(index) - 11} width={61} height={22} rx={5} />
          <text x={31} y={left(index) + 4} textAnchor="middle">
            line {each.line}
          </text>
        </g>
      ))}
      {texts.map((lines, index) => (
        <text key={about[index]} y={shift + starts[index] + LINE - 4}>
          {lines.map((line, number) => (
            <tspan key={number} x={100} dy={number ? LINE : 0}>
              {line}
            </tspan>
          ))}
        </text>
      ))}
    </svg>
  );
}

function Conflict({ conflict, number }) {
  const editor = useStudio((s) => s.editor);
  return (
    <li className="conflict">
      <p>
        {conflict.statements.length > 1 ? "These cannot all hold" : "This cannot hold"}
        {conflict.slack ? `; each would have to give way by ${(100 * conflict.slack).toPrecision(2)} points` : ""}
      </p>
      <ConflictGraph conflict={conflict} />
      <ul>
        {conflict.statements.map((each) => (
          <li key={each.number}>
            <button type="button" className="link" onClick={() => editor?.goTo(each.line)}>
              {each.line}: {each.text}
            </button>
            <button type="button" aria-label={`leave this one out: line ${each.line} of conflict ${number}, ${each.text}`} onClick={() => editor?.leaveOut(each.line)}>
              leave this one out
            </button>
          </li>
        ))}
      </ul>
    </li>
  );
}

function Mistakes() {
  const mistakes = useStudio((s) => s.mistakes).toSorted((a, b) => a.line - b.line);
  const editor = useStudio((s) => s.editor);
  if (!mistakes.length) return null;
  return (
    <ul className="mistakes" aria-label="Mistakes">
      {mistakes.slice(0, 20).map((each, index) => (
        <li key={index}>
          <button type="button" className="link" onClick={() => editor?.goTo(each.line)}>
            Line {each.line}: {each.message}
          </button>{" "}
          <span>{each.suggestion}</span>
          <span className="row">
            {each.fixes.map((fix) => (
              <button type="button" className="fix" key={fix} onClick={() => editor?.replaceLine(each.line, fix)}>
                Write: <code>{fix}</code>
              </button>
            ))}
            {!each.fixes.length && (
              <button type="button" aria-label={`leave this line out: line ${each.line}`} onClick={() => editor?.leaveOut(each.line)}>
                leave this line out
              </button>
            )}
          </span>
        </li>
      ))}
      {mistakes.length > 20 && <li>… and {mistakes.length - 20} more</li>}
    </ul>
  );
}

// The statements that were found to be in one state; those that need somebody stand open.
function Group({ state, statements, open }) {
  const editor = useStudio((s) => s.editor);
  const [most, setMost] = useState(FEW);
  const [isOpen, setOpen] = useState(open);
  const { sign, label } = STATES[state];
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <b aria-hidden="true">{sign}</b> {label} ({statements.length.toLocaleString("en")})
      </summary>
      {isOpen && (
        <ul className="statements">
          {statements.slice(0, most).map((each) => (
            <li key={each.number} className={each.state}>
              <button type="button" className="link" onClick={() => editor?.goTo(each.line)}>
                {each.line}: {each.text}
              </button>
              <small>{describeStatement(each)}</small>
              {LEFT_OUT.has(state) && (
                <button type="button" aria-label={`leave this one out: line ${each.line}, ${each.text}`} onClick={() => editor?.leaveOut(each.line)}>
                  leave this one out
                </button>
              )}
            </li>
          ))}
          {statements.length > most && (
            <li>
              <button type="button" onClick={() => setMost(most + 100)}>
                Show more
              </button>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}

// What can be said about the variable that is chosen: a line to begin with.
function Templates() {
  const network = useStudio((s) => s.network);
  const selected = useStudio((s) => s.selected);
  const editor = useStudio((s) => s.editor);
  const variable = network?.variables.find((each) => each.name === selected) ?? network?.variables[0];
  const lines = templates(variable, variable?.parents.map((name) => network.variables.find((each) => each.name === name)) ?? []);
  return (
    <label className="templates">
      <span>Say something about {variable?.label ?? "a variable"}</span>
      <select value="" onChange={(event) => editor?.addLine(lines[Number(event.target.value)][1])}>
        <option value="">choose …</option>
        {lines.map(([label, line], index) => (
          <option key={label} value={index} title={line}>
            {label}: {line.split("\n")[0]}
          </option>
        ))}
      </select>
    </label>
  );
}

export function KnowList() {
  const check = useStudio((s) => s.check);
  const mistakes = useStudio((s) => s.mistakes);
  const message = useStudio((s) => s.message);
  const findings = useStudio((s) => s.findings);
  const statements = check?.statements ?? [];
  const groups = ORDER.map((state) => [state, statements.filter((each) => each.state === state)]).filter(([, own]) => own.length);
  return (
    <div className="found" tabIndex={0} role="region" aria-label="What was found about the statements">
      <h2 className="hidden">What was found</h2>
      <Templates />
      <p className="summary" role="status">
        {mistakes.length > 0 && (
          <span className="chip conflict">
            {mistakes.length} mistake{mistakes.length > 1 ? "s" : ""}
          </span>
        )}
        {groups.map(([state, own]) => (
          <span key={state} className={`chip ${state}`}>
            <b aria-hidden="true">{STATES[state].sign}</b> {own.length.toLocaleString("en")} {STATES[state].short}
          </span>
        ))}
        {check?.message && <span className="problem">{check.message}</span>}
        {message && <span className="problem">{message}</span>}
      </p>
      {!statements.length && !mistakes.length && !message && (
        <p className="hint">Statements that you write above are checked as you type; what is found is listed here.</p>
      )}
      <Mistakes />
      {check?.conflicts?.length > 0 && (
        <ul className="conflicts" aria-label="Conflicts">
          {check.conflicts.slice(0, SHOWN_CONFLICTS).map((conflict, index) => (
            <Conflict key={index} conflict={conflict} number={index + 1} />
          ))}
          {check.conflicts.length > SHOWN_CONFLICTS && <li>… and {check.conflicts.length - SHOWN_CONFLICTS} more conflicts</li>}
        </ul>
      )}
      {statements.length > 0 && <h3>Each statement</h3>}
      {groups.map(([state, own]) => (
        <Group key={state} state={state} statements={own} open={state === "contradicted" || state === "excluded"} />
      ))}
      {findings.length > 0 && (
        <details>
          <summary>Taken from the table ({findings.length})</summary>
          {findings.map((each) => (
            <p key={each} className="hint">
              {each}
            </p>
          ))}
        </details>
      )}
    </div>
  );
}
