// Named cases: what was known about each, kept beside the text; some of them side by side.
import { useState } from "react";
import { post } from "./api.js";
import { Computing, useFetched } from "./asking.jsx";
import { KINDS, at, countGiven, givenNow, labelOf } from "./names.js";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

// What is known in a case, in words.
export function describeCase(given, network) {
  const byName = new Map(network.variables.map((each) => [each.name, each]));
  const words = (kind, verb) =>
    Object.entries(given[kind]).map(([name, state]) => (byName.has(name) ? `${byName.get(name).label} ${verb} ${labelOf(byName.get(name), state)}` : name));
  const soft = Object.keys(given.soft).map((name) => `an uncertain finding about ${byName.get(name)?.label ?? name}`);
  return [...words("evidence", "is"), ...words("do", "set to"), ...soft].join(", ") || "nothing is known";
}

// What of a case nothing can be said about now: no numbers then, rather than those of another case.
async function answerFor({ given }, network, signal) {
  const now = givenNow(given, network);
  const gone = KINDS.flatMap((kind) => Object.keys(given[kind]).filter((name) => at(now[kind], name) === undefined));
  const found = await post("/api/marginals", { ...now, quick: true }, signal).catch((error) => ({ problem: error.message || "impossible" }));
  const unused = [...gone, ...(found.unused ?? [])];
  return unused.length ? { problem: `${unused.join(", ")}: learned otherwise, or gone` } : found;
}

function Compared({ cases, variable, network }) {
  const { last: found, isSlow, stop } = useFetched((signal) => Promise.all(cases.map((each) => answerFor(each, network, signal))), cases);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Cases side by side">
      {isSlow && <Computing stop={stop} />}
      <table className="rows">
        <caption className="hidden">How probable the states of {variable.label} are in each case</caption>
        <thead>
          <tr>
            <th scope="col">{variable.label}</th>
            {cases.map((each, index) => (
              <th scope="col" key={each.name} title={describeCase(each.given, network)}>
                {each.name}
                {found?.[index]?.problem && <small className="problem">{found[index].problem}</small>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(variable.order ?? variable.states).map((state) => (
            <tr key={state}>
              <th scope="row">{labelOf(variable, state)}</th>
              {cases.map((each, index) => {
                const [value, low, high] = at(at(found?.[index]?.bars, variable.name), state) ?? [];
                return (
                  <td key={each.name}>
                    <b>{percent(value)}</b>
                    {low !== null && low !== undefined && high > low && (
                      <small>
                        {percent(low)} to {percent(high)}
                      </small>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Cases({ variable }) {
  const network = useStudio((s) => s.network);
  const given = useStudio((s) => s.given);
  const cases = Object.entries(useStudio((s) => s.arrangement.cases) ?? {}).map(([name, given]) => ({ name, given }));
  const { arrange, suppose } = useStudio.getState();
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState([]);
  const keep = (event) => {
    event.preventDefault();
    const wanted = name.trim();
    if (!wanted) return;
    arrange({ cases: { [wanted]: given } });
    setName("");
  };
  const compared = cases.filter((each) => chosen.includes(each.name));
  return (
    <details className="cases">
      <summary>Cases ({cases.length})</summary>
      <form className="row" onSubmit={keep}>
        <label>
          Keep this case as
          <input value={name} placeholder={countGiven(given) ? "a name" : "a name, such as nothing known"} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" disabled={!name.trim()}>
          Keep
        </button>
      </form>
      <ul className="statements" aria-label="Cases that are kept">
        {cases.map((each) => (
          <li key={each.name}>
            <label className="check">
              <input type="checkbox" checked={chosen.includes(each.name)} onChange={(event) => setChosen(event.target.checked ? [...chosen, each.name] : chosen.filter((other) => other !== each.name))} />{" "}
              {each.name}
            </label>
            <small>{describeCase(each.given, network)}</small>
            <span className="row">
              <button type="button" aria-label={`Show the case ${each.name}`} onClick={() => suppose(each.given)}>
                Show it
              </button>
              <button type="button" aria-label={`× forget the case ${each.name}`} onClick={() => arrange({ cases: { [each.name]: null } })}>
                ×
              </button>
            </span>
          </li>
        ))}
      </ul>
      {cases.length > 1 && compared.length < 2 && <p className="hint">Tick two or more cases to see them side by side.</p>}
      {compared.length > 1 && <Compared cases={compared} variable={variable} network={network} />}
    </details>
  );
}
