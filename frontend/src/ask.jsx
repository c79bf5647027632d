// Questions: what is known about a case, and what follows for the others.
import { Bar, describe } from "./graph.jsx";
import { percent } from "./states.js";
import { useStudio } from "./store.js";

function Case() {
  const network = useStudio((s) => s.network);
  const given = useStudio((s) => s.given);
  const { observe } = useStudio.getState();
  return (
    <table className="case">
      <tbody>
        {network.variables.map((each) => (
          <tr key={each.name}>
            <th scope="row">
              <label htmlFor={`case-${each.name}`}>{each.name}</label>
            </th>
            <td>
              <select
                id={`case-${each.name}`}
                value={given.evidence[each.name] ?? ""}
                onChange={(event) => observe(each.name, event.target.value || null)}
              >
                <option value="">not known</option>
                {each.states.map((state) => (
                  <option key={state}>{state}</option>
                ))}
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Target({ variable }) {
  const numbers = useStudio((s) => s.bars?.bars?.[variable.name]);
  return (
    <ul className="target" aria-label={`How probable the states of ${variable.name} are`}>
      {variable.states.map((state, index) => (
        <li key={state} title={describe(state, numbers?.[index])}>
          <span>{state}</span>
          <Bar numbers={numbers?.[index]} />
          <b>{percent(numbers?.[index]?.[0])}</b>
          <small>
            {numbers?.[index]?.[1] !== null && numbers?.[index] && `${percent(numbers[index][1])} to ${percent(numbers[index][2])}`}
          </small>
        </li>
      ))}
    </ul>
  );
}

export function AskPanel() {
  const network = useStudio((s) => s.network);
  const selected = useStudio((s) => s.selected);
  const bars = useStudio((s) => s.bars);
  const clickMeans = useStudio((s) => s.clickMeans ?? "evidence");
  const { show } = useStudio.getState();
  if (!network) return <p className="hint">There is no network yet.</p>;
  const variable = network.variables.find((each) => each.name === selected) ?? network.variables[0];
  return (
    <>
      {!bars?.source && <p className="hint">{bars?.note ?? "Learn first."}</p>}
      <label>
        Question: how probable is
        <select value={variable.name} onChange={(event) => show({ selected: event.target.value })}>
          {network.variables.map((each) => (
            <option key={each.name}>{each.name}</option>
          ))}
        </select>
      </label>
      {bars?.source && <Target variable={variable} />}
      <fieldset className="means">
        <legend>A click on a state in the network</legend>
        <label>
          <input type="radio" name="means" checked={clickMeans === "evidence"} onChange={() => show({ clickMeans: "evidence" })} /> observes it
        </label>
        <label>
          <input type="radio" name="means" checked={clickMeans === "do"} onChange={() => show({ clickMeans: "do" })} /> sets it: do(…)
        </label>
      </fieldset>
      <h3>This case</h3>
      <Case />
    </>
  );
}
