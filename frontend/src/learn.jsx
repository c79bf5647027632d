// Learning: options with defaults that suit most, progress, and what changed.
import { Bar } from "./graph.jsx";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

export const RUNNING = new Set(["started", "progress", "fitted", "explained"]);

// Kinds of findings that may change what somebody does; the others say how the table was read and the numbers were found.
const ATTENTION = new Set([
  "contradicted by the data",
  "conflict",
  "violated",
  "missed",
  "no data",
  "impossible data",
  "doubtful state",
  "outside range",
  "knowledge not used",
  "soft statements ignored",
  "not certified",
  "not converged",
  "not drawn",
  "not mixed",
  "local optimum",
  "rows left out",
  "column left out",
]);

function Findings({ findings }) {
  const groups = Object.entries(Object.groupBy(findings, (each) => each.kind));
  const list = (own) => (
    <ul className="plain">
      {own.map((each) => (
        <li key={each.message}>{each.message}</li>
      ))}
    </ul>
  );
  const urgent = groups.filter(([kind]) => ATTENTION.has(kind));
  const notes = groups.filter(([kind]) => !ATTENTION.has(kind));
  const count = notes.reduce((sum, [, own]) => sum + own.length, 0);
  return (
    <section>
      {urgent.map(([kind, own]) => (
        <details key={kind} open className="urgent">
          <summary>
            {kind[0].toUpperCase() + kind.slice(1)} ({own.length})
          </summary>
          {list(own)}
        </details>
      ))}
      {count > 0 && (
        <details>
          <summary>How the table was read, and the numbers were found ({count})</summary>
          {notes.map(([kind, own]) => (
            <div key={kind}>{list(own)}</div>
          ))}
        </details>
      )}
    </section>
  );
}

// Progress with the time that is left, and a way out; the same in every panel.
export function Progress() {
  const progress = useStudio((s) => s.progress);
  const { cancel } = useStudio.getState();
  const running = RUNNING.has(progress.event);
  const left = progress.left ? (progress.left < 90 ? `${Math.ceil(progress.left)} s` : `${Math.ceil(progress.left / 60)} minutes`) : "";
  return (
    <div role="status" className="progress">
      {running && (
        <>
          <progress max={1} value={progress.share ?? undefined} aria-label="Progress of learning" />
          <p>
            {progress.event === "fitted" || progress.event === "explained" ? "Learned. Explaining the result …" : (progress.phase ?? "Starting")}
            {progress.detail ? ` (${progress.detail})` : ""}
            {left ? `, about ${left} left in this step` : ""}
          </p>
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        </>
      )}
      {progress.event === "cancelled" && <p>Cancelled. What was learned before is still here.</p>}
      {progress.event === "error" && <p className="problem">{progress.message}</p>}
    </div>
  );
}

// A network file with numbers, and nothing that could teach others.
export const hasNothingToLearn = (s) => Boolean(s.opened?.arrows && !s.opened.table && !s.statements);

// Learning with the usual options, from wherever it is missing.
export function LearnNow() {
  const nothing = useStudio(hasNothingToLearn);
  const running = useStudio((s) => RUNNING.has(s.progress.event));
  const table = useStudio((s) => s.opened?.table);
  const mistakes = useStudio((s) => s.mistakes.length);
  const conflicts = useStudio((s) => s.check?.conflicts?.length ?? 0);
  const { learn, show } = useStudio.getState();
  return (
    <>
      {!running && (
        <div className="row">
          <button type="button" className="primary" disabled={nothing} onClick={() => learn()}>
            Learn
          </button>
        </div>
      )}
      {!table && (
        <p className="hint">
          {nothing
            ? "The numbers are those of the network file, and there is nothing to learn others from: open a table, or write a statement."
            : "There is no table: what is learned is what the knowledge leaves possible."}{" "}
          <button type="button" onClick={() => show({ dialog: "open" })}>
            Open a table …
          </button>
        </p>
      )}
      {!running && mistakes > 0 && (
        <p className="hint">
          {mistakes === 1 ? "One line has a mistake: it is" : `${mistakes} mistakes: their lines are`} left out of what is learned.
        </p>
      )}
      {!running && !mistakes && conflicts > 0 && <p className="hint">Statements are in conflict: leave some out first, or learning will say so.</p>}
      <Progress />
    </>
  );
}

export function LearnPanel() {
  const methods = useStudio((s) => s.state.methods);
  const fit = useStudio((s) => s.fit);
  const comparison = useStudio((s) => s.comparison);
  const showBefore = useStudio((s) => s.showBefore);
  const { show, ask } = useStudio.getState();
  const { method, prior, seed, complete_rows: completeRows } = useStudio((s) => s.options);
  const choose = (part) => show({ options: { ...useStudio.getState().options, ...part } });
  return (
    <>
      <LearnNow />
      {fit && (
        <section>
          <h3>Learned</h3>
          <p>
            {fit.rows ? `From ${fit.rows.toLocaleString("en")} row${fit.rows === 1 ? "" : "s"}` : "Without a table,"} in {fit.seconds.toFixed(1)} s, with the method “{fit.method}”. {fit.status}
          </p>
          {fit.left_out.length > 0 && <p className="problem">Without {fit.left_out.join("; ")}, which {fit.left_out.length > 1 ? "have mistakes" : "has a mistake"}.</p>}
        </section>
      )}
      {comparison && (
        <section>
          <h3>What changed since the previous fit</h3>
          <label className="check">
            <input
              type="checkbox"
              checked={showBefore}
              onChange={(event) => {
                show({ showBefore: event.target.checked });
                ask();
              }}
            />{" "}
            Show the previous fit beside this one, in the network and in Look
          </label>
          {comparison.parameters.length === 0 && <p>Nothing: the numbers are the same.</p>}
          {comparison.parameters.length > 0 && (
            <table className="numbers">
              <thead>
                <tr>
                  <th scope="col">number</th>
                  <th scope="col">before</th>
                  <th scope="col">now</th>
                </tr>
              </thead>
              <tbody>
                {comparison.parameters.slice(0, 12).map((each) => (
                  <tr key={each.parameter}>
                    <th scope="row">
                      {each.parameter}
                      <Bar numbers={[each.first, null, null]} before={each.second} />
                    </th>
                    <td>{percent(each.second)}</td>
                    <td>{percent(each.first)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
      )}
      {fit && <Findings findings={fit.findings} />}
      <details>
        <summary>Options</summary>
        <label>
          Method
          <select value={method} onChange={(event) => choose({ method: event.target.value })}>
            {methods.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}: {each.title}
              </option>
            ))}
          </select>
        </label>
        <p className="hint">{methods.find((each) => each.name === method)?.when}</p>
        <label>
          Prior (empty, a number of pseudo-counts, k2, or bdeu:10)
          <input value={prior} onChange={(event) => choose({ prior: event.target.value })} />
        </label>
        <label>
          Seed
          <input type="number" min={0} value={seed} onChange={(event) => choose({ seed: Math.max(0, Number(event.target.value) | 0) })} />
        </label>
        <label className="check">
          <input type="checkbox" checked={completeRows} onChange={(event) => choose({ complete_rows: event.target.checked })} /> Leave
          out rows with missing values
        </label>
      </details>
    </>
  );
}
