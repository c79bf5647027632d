// What was learned, and why: a CPT with data, knowledge and result; what each statement did; the report.
import { percent } from "./states.js";
import { useStudio } from "./store.js";

export function LookPanel() {
  const fit = useStudio((s) => s.fit);
  const explanation = useStudio((s) => s.explanation);
  if (!fit) return <p className="hint">Learn first; then this shows what the result rests on.</p>;
  return (
    <>
      {fit.report && (
        <p>
          <a className="button" href="/api/report" download="report.html">
            Download the report
          </a>
        </p>
      )}
      {explanation?.summary.map((each) => (
        <p key={each}>{each}</p>
      ))}
    </>
  );
}
