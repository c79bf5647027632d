// What was found about the statements: mistakes, conflicts with their ways out, and the state of each line.
import { STATES } from "./states.js";
import { useStudio } from "./store.js";

function Conflict({ conflict, number }) {
  const editor = useStudio((s) => s.editor);
  return (
    <li className="conflict">
      <p>These cannot all hold{conflict.about.length ? <> (about {[...new Set(conflict.about.flat())].slice(0, 3).join(", ")})</> : null}:</p>
      <ul>
        {conflict.statements.map((each) => (
          <li key={each.number}>
            <button type="button" className="link" onClick={() => editor?.goTo(each.line)}>
              {each.line}: {each.text}
            </button>
            <button
              type="button"
              aria-label={`Leave out line ${each.line} of conflict ${number}: ${each.text}`}
              onClick={() => editor?.leaveOut(each.line)}
            >
              leave this one out
            </button>
          </li>
        ))}
      </ul>
    </li>
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
    .map(([state, { label, sign }]) => [state, label, sign, statements.filter((each) => each.state === state).length])
    .filter(([, , , count]) => count);
  return (
    <div className="found">
      <p className="summary" role="status">
        {mistakes.length > 0 && (
          <span className="chip conflict">
            {mistakes.length} mistake{mistakes.length > 1 ? "s" : ""}
          </span>
        )}
        {counts.map(([state, label, sign, count]) => (
          <span key={state} className={`chip ${state}`}>
            <b aria-hidden="true">{sign}</b> {count} {label.toLowerCase()}
          </span>
        ))}
        {check?.message && <span className="problem">{check.message}</span>}
        {message && <span className="problem">{message}</span>}
      </p>
      {mistakes.length > 0 && (
        <ul className="mistakes">
          {mistakes.slice(0, 20).map((each, index) => (
            <li key={index}>
              <button type="button" className="link" onClick={() => editor?.goTo(each.line)}>
                Line {each.line}: {each.message}
              </button>{" "}
              {each.suggestion}
            </li>
          ))}
        </ul>
      )}
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
                {each.verdict && `; the data ${each.verdict}`}; {each.constraints} constraint
                {each.constraints === 1 ? "" : "s"}. {each.detail}
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
