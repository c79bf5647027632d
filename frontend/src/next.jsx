// What comes next in a case: which observation would tell most, and, where the text has a decision, what to do.
import { Asking } from "./asking.jsx";
import { wordsFor } from "./names.js";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

const amount = (value) => Number(value.toPrecision(3)).toString().replace("-", "−");

function Tests({ found }) {
  const words = wordsFor(useStudio((s) => s.network));
  const rows = found.tests;
  if (!rows.length) return null;
  const isUtility = found.by === "utility";
  const hasDraws = rows[0].probability_best !== null;
  return (
    <table className="numbers">
      <caption>{isUtility ? "What deciding after each observation gains, less its cost" : `How much of the uncertainty about ${found.goal} each observation would remove`}</caption>
      <thead>
        <tr>
          <th scope="col">observe</th>
          <th scope="col">{isUtility ? "gain" : "removes"}</th>
          {isUtility && <th scope="col">changes the decision in</th>}
          {hasDraws && <th scope="col">best with probability</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((each) => (
          <tr key={each.test}>
            <th scope="row" title={each.test}>
              {words.name(each.test)}
            </th>
            <td>{isUtility ? amount(each.net) : percent(each.share)}</td>
            {isUtility && <td>{percent(each.changes)}</td>}
            {hasDraws && <td>{percent(each.probability_best)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Next({ variable }) {
  return (
    <Asking label="Which test next, and what to do?" path="/api/next" request={{ variable: variable.name }}>
      {(found) => (
        <>
          {[found.decision, found.gains].filter(Boolean).map((each) => (
            <p key={each.sentence}>{each.sentence}</p>
          ))}
          {found.decision?.rules.length > 0 && (
            <ul>
              {found.decision.rules.map((rule) => (
                <li key={rule}>{rule}</li>
              ))}
            </ul>
          )}
          {found.gains && <Tests found={found.gains} />}
          {found.tests && <p>{found.tests.sentence}</p>}
          {found.tests && <Tests found={found.tests} />}
          {found.hint && <p className="hint">{found.hint}</p>}
        </>
      )}
    </Asking>
  );
}
