// What was found about the statements: mistakes, conflicts with their ways out, and the state of each line.
import { STATES } from "./states.js";
import { useStudio } from "./store.js";

const ROW = 34;

// Statements on the left, what they are about on the right: who pulls at the same numbers is seen at once.
function ConflictGraph({ conflict }) {
  const about = [...new Set(conflict.about.flat())];
  const height = ROW * Math.max(conflict.statements.length, about.length);
  if (!about.length || about.length > 12) return null;
  const y = (index, count) => (height * (index + 0.5)) / count;
  return (
    <svg className="conflict-graph" viewBox={`0 0 400 ${height}`} role="img" aria-label={`Lines ${conflict.statements.map((each) => each.line).join(", ")} are about ${about.join(", ")}`}>
      {conflict.about.map((places, index) =>
        places.map((place) => (
          <line key={`${index}-${place}`} x1={64} y1={y(index, conflict.statements.length)} x2={104} y2={y(about.indexOf(place), about.length)} />
        )),
      )}
      {conflict.statements.map((each, index) => (
        <g key={each.number}>
          <rect x={1} y={y(index, conflict.statements.length) - 11} width={63} height={22} rx={5} />
          <text x={32} y={y(index, conflict.statements.length) + 4} textAnchor="middle">
            line {each.line}
          </text>
        </g>
      ))}
      {about.map((place, index) => (
        <text key={place} y={y(index, about.length) - (place.includes(" | ") ? 3 : -4)}>
          {place.split(" | ").map((part, line) => (
            <tspan key={line} x={110} dy={line ? 14 : 0}>
              {line ? `given ${part.slice(0, -1)}` : place.includes(" | ") ? `${part})` : part}
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
  const mistakes = useStudio((s) => s.mistakes);
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
          {each.fixes.map((fix) => (
            <button type="button" className="fix" key={fix} onClick={() => editor?.replaceLine(each.line, fix)}>
              Write: <code>{fix}</code>
            </button>
          ))}
        </li>
      ))}
    </ul>
  );
}

export function KnowList() {
  const check = useStudio((s) => s.check);
  const mistakes = useStudio((s) => s.mistakes);
  const message = useStudio((s) => s.message);
  const findings = useStudio((s) => s.findings);
  const editor = useStudio((s) => s.editor);
  const statements = check?.statements ?? [];
  const counts = Object.entries(STATES)
    .map(([state, { short, sign }]) => [state, short, sign, statements.filter((each) => each.state === state).length])
    .filter(([, , , count]) => count)
    .reverse();
  return (
    <div className="found" tabIndex={0} role="region" aria-label="What was found about the statements">
      <h2 className="hidden">What was found</h2>
      <p className="summary" role="status">
        {mistakes.length > 0 && (
          <span className="chip conflict">
            {mistakes.length} mistake{mistakes.length > 1 ? "s" : ""}
          </span>
        )}
        {counts.map(([state, short, sign, count]) => (
          <span key={state} className={`chip ${state}`}>
            <b aria-hidden="true">{sign}</b> {count} {short}
          </span>
        ))}
        {check?.message && <span className="problem">{check.message}</span>}
        {message && <span className="problem">{message}</span>}
      </p>
      <Mistakes />
      {check?.conflicts?.length > 0 && (
        <ul className="conflicts" aria-label="Conflicts">
          {check.conflicts.map((conflict, index) => (
            <Conflict key={index} conflict={conflict} number={index + 1} />
          ))}
        </ul>
      )}
      <details>
        <summary>Each statement</summary>
        <ul className="statements">
          {statements.map((each) => (
            <li key={each.number} className={each.state}>
              <button type="button" className="link" onClick={() => editor?.goTo(each.line)}>
                <b aria-hidden="true">{STATES[each.state].sign}</b> {each.line}: {each.text}
              </button>
              <small>
                {STATES[each.state].label}
                {each.verdict ? `; the data ${each.verdict}` : ""}; it binds {each.numbers} number{each.numbers === 1 ? "" : "s"}. {each.detail}
              </small>
            </li>
          ))}
        </ul>
        {findings.map((each) => (
          <p key={each} className="hint">
            {each}
          </p>
        ))}
      </details>
    </div>
  );
}
