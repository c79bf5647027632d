// Learning: options with defaults that suit most, progress, and what changed.
import { useState } from "react";
import { percent } from "./states.js";
import { useStudio } from "./store.js";

const RUNNING = new Set(["started", "progress", "fitted", "explained"]);

export function LearnPanel() {
  const methods = useStudio((s) => s.state.methods);
  const progress = useStudio((s) => s.progress);
  const fit = useStudio((s) => s.fit);
  const table = useStudio((s) => s.opened?.table);
  const mistakes = useStudio((s) => s.mistakes.length);
  const comparison = useStudio((s) => s.comparison);
  const { learn, cancel } = useStudio.getState();
  const [method, setMethod] = useState("auto");
  const [prior, setPrior] = useState("");
  const [seed, setSeed] = useState(0);
  const [completeRows, setCompleteRows] = useState(false);
  const running = RUNNING.has(progress.event);
  return (
    <>
      <div className="row">
        {!running && (
          <button
            type="button"
            className="primary"
            disabled={!table || mistakes > 0}
            onClick={() => learn({ method, prior, seed, complete_rows: completeRows })}
          >
            Learn
          </button>
        )}
        {running && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
      {!table && <p className="hint">Open a table to learn from.</p>}
      {mistakes > 0 && <p className="hint">Correct the mistakes in the knowledge first.</p>}
      <div role="status" className="progress">
        {running && (
          <>
            <progress max={1} value={progress.share ?? undefined} aria-label="Progress of learning" />
            <p>
              {progress.event === "fitted" || progress.event === "explained"
                ? "Learned. Explaining the result …"
                : (progress.phase ?? "Starting")}
              {progress.detail ? ` (${progress.detail})` : ""}
              {progress.left ? `, about ${Math.ceil(progress.left)} s left` : ""}
            </p>
          </>
        )}
        {progress.event === "cancelled" && <p>Cancelled. What was learned before is still here.</p>}
        {progress.event === "error" && <p className="problem">{progress.message}</p>}
      </div>
      {fit && (
        <section>
          <h3>Learned</h3>
          <p>
            From {fit.rows.toLocaleString("en")} rows by {fit.method}, in {fit.seconds.toFixed(1)} s. {fit.status}
          </p>
          {!fit.current && <p className="hint">The text has changed since: learn again to use it.</p>}
          <ul className="plain">
            {fit.findings.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </section>
      )}
      {comparison && (
        <section>
          <h3>What changed since the fit before</h3>
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
                    <th scope="row">{each.parameter}</th>
                    <td>{percent(each.second)}</td>
                    <td>{percent(each.first)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
      )}
      <details>
        <summary>Options</summary>
        <label>
          Method
          <select value={method} onChange={(event) => setMethod(event.target.value)}>
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
          <input value={prior} onChange={(event) => setPrior(event.target.value)} />
        </label>
        <label>
          Seed
          <input type="number" min={0} value={seed} onChange={(event) => setSeed(Math.max(0, Number(event.target.value) | 0))} />
        </label>
        <label className="check">
          <input type="checkbox" checked={completeRows} onChange={(event) => setCompleteRows(event.target.checked)} /> Leave
          out rows with missing values
        </label>
      </details>
    </>
  );
}
