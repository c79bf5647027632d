// Questions: what is known about a case, what follows for the others, and what the answer rests on.
import { memo, useState } from "react";
import { Asking } from "./asking.jsx";
import { Cases, describeCase } from "./cases.jsx";
import { ChooseVariable } from "./choose_variable.jsx";
import { barsPicture } from "./export.js";
import { Bar, describe, hasMoved } from "./graph.jsx";
import { LearnNow } from "./learn.jsx";
import { Next } from "./next.jsx";
import { Questions } from "./questions.jsx";
import { Scores } from "./scores.jsx";
import { at, chancesOf, givenNow, knownOf, labelOf, openDecisions, wordsFor } from "./names.js";
import { percent } from "./share/words.js";
import { SaveChart } from "./save_chart.jsx";
import { StateBounds } from "./stating.jsx";
import { useStudio } from "./store.js";
import { Tornado } from "./tornado.jsx";
import { Term } from "./words.jsx";

const MANY = 12; // variables from which on a field finds them
const MOST = 60; // variables that are listed

function Target({ variable, state, setState }) {
  const numbers = useStudio((s) => chancesOf(s, variable));
  const before = useStudio((s) => (variable.decision ? undefined : at(s.bars?.before, variable.name)));
  const drawn = () => {
    const { given, network } = useStudio.getState();
    const rows = variable.states.map((each) => [labelOf(variable, each), ...(at(numbers, each) ?? [])]);
    return barsPicture(variable.label, [[describeCase(givenNow(given, network), network), rows]]);
  };
  return (
    <section>
      <ul className="target" aria-label={`How probable the states of ${variable.name} are`}>
        {variable.states.map((each) => {
          const [own, was] = [at(numbers, each), at(before, each)];
          const [value, low, high] = own ?? [];
          const hasInterval = low !== null && low !== undefined && low < high;
          return (
            <li key={each} title={describe(labelOf(variable, each), own, was)}>
              <label className="pick">
                <input type="radio" name="target-state" checked={each === state} onChange={() => setState(each)} />
                <span>{labelOf(variable, each)}</span>
              </label>
              <Bar numbers={own} before={was} />
              <b>{percent(value)}</b>
              <small>
                {hasInterval ? `${percent(low)} to ${percent(high)}` : ""}
                {hasMoved(value, was) ? `${hasInterval ? "; " : ""}${percent(was)} in the previous fit` : ""}
              </small>
            </li>
          );
        })}
      </ul>
      {numbers && <SaveChart name={`how probable ${variable.label} is`} drawn={drawn} />}
    </section>
  );
}

// What is known about a variable, as the list of a case has it.
function valueOf(given, name) {
  const [kind, value] = knownOf(given, name);
  return kind === "evidence" ? `=${value}` : kind === "do" ? `!${value}` : kind ? "~" : "";
}

const Case = memo(() => {
  const network = useStudio((s) => s.network);
  const given = useStudio((s) => s.given);
  const { observe } = useStudio.getState();
  const [filter, setFilter] = useState("");
  const shown = network.variables.filter((each) => `${each.label} ${each.name}`.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      {network.variables.length > MANY && (
        <label>
          Find a variable
          <input type="search" value={filter} onChange={(event) => setFilter(event.target.value)} />
        </label>
      )}
      <table className="case">
        <thead className="hidden">
          <tr>
            <th scope="col">Variable</th>
            <th scope="col">What is known</th>
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, MOST).map((each) => (
            <tr key={each.name}>
              <th scope="row" title={[each.name, each.about].filter(Boolean).join("\n")}>
                <span>{each.label}</span>
              </th>
              <td>
                <select
                  aria-label={`What is known about ${each.name}`}
                  value={valueOf(given, each.name)}
                  onChange={(event) => {
                    const value = event.target.value;
                    if (value.startsWith("=")) observe(each.name, value.slice(1), "evidence");
                    else if (value.startsWith("!")) observe(each.name, value.slice(1), "do");
                    else observe(each.name, null);
                  }}
                >
                  <option value="">{each.decision ? "not decided" : "not known"}</option>
                  {!each.decision && (
                    <optgroup label="observed">
                      {each.states.map((state) => (
                        <option key={state} value={`=${state}`}>
                          {labelOf(each, state)}
                        </option>
                      ))}
                    </optgroup>
                  )}
                  <optgroup label={each.decision ? "decided" : "set by us (an intervention)"}>
                    {each.states.map((state) => (
                      <option key={state} value={`!${state}`}>
                        {each.decision ? "" : "set to "}
                        {labelOf(each, state)}
                      </option>
                    ))}
                  </optgroup>
                  {at(given.soft, each.name) && <option value="~">uncertain finding</option>}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length > MOST && (
        <p className="hint">
          These are {MOST} of {shown.length} variables; the field above finds the others.
        </p>
      )}
    </>
  );
});

function SoftEvidence({ variable }) {
  const soft = useStudio((s) => at(s.given.soft, variable.name));
  const { weigh } = useStudio.getState();
  const value = (state) => at(soft, state) ?? 1;
  return (
    <details>
      <summary>An uncertain finding about {variable.label}</summary>
      <p className="hint">How likely is what was seen in each state? Equal weights mean that nothing was seen.</p>
      {variable.states.map((state) => (
        <label key={state} className="weight">
          <span>{labelOf(variable, state)}</span>
          <input
            type="range"
            min={0}
            max={1}
            step={0.01}
            value={value(state)}
            aria-valuetext={`${Math.round(100 * value(state))} of 100`}
            onChange={(event) =>
              weigh(variable.name, Object.fromEntries(variable.states.map((each) => [each, each === state ? Number(event.target.value) : value(each)])))
            }
          />
          <output>{value(state).toFixed(2)}</output>
        </label>
      ))}
      {soft && (
        <button type="button" onClick={() => weigh(variable.name, null)}>
          Forget it
        </button>
      )}
    </details>
  );
}

function Explanation() {
  const words = wordsFor(useStudio((s) => s.network));
  return (
    <Asking label="Most probable explanation" path="/api/most-probable">
      {({ states }) => (
        <table className="numbers">
          <caption>These states together are the most probable</caption>
          <tbody>
            {states.map((each) => (
              <tr key={each.variable}>
                <th scope="row" title={each.variable}>
                  {words.name(each.variable)}
                </th>
                <td title={each.state}>
                  {words.state(each.variable, each.state)}
                  {each.given ? " (given)" : ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Asking>
  );
}

const signed = (points) => `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(2)}`;

function Sensitivity({ variable, state }) {
  const given = useStudio((s) => s.given);
  const isLearned = useStudio((s) => s.bars?.source === "fit");
  return (
    <Asking label="What is it sensitive to?" path="/api/sensitivity" request={{ variable: variable.name, state }}>
      {(found) => (
        <>
          <p>
            {found.query}
            {Object.keys(given.soft).length > 0 ? ", with the uncertain findings," : ""} is {percent(found.probability)}{isLearned ? " at the learned numbers" : ""}.
          </p>
          {found.evidence.length > 0 && (
            <table className="numbers">
              <caption>Without this evidence it would be</caption>
              <tbody>
                {found.evidence.map((each) => (
                  <tr key={each.evidence}>
                    <th scope="row">{each.evidence}</th>
                    <td>{percent(each.without)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          {found.parameters.length > 0 && <Tornado probability={found.probability} parameters={found.parameters} />}
          {found.parameters.length > 0 && (
            <table className="numbers">
              <caption>
                The numbers that it depends on most: by how many points the answer changes if the number were one point larger
                {found.parameters[0].contribution !== undefined && ", and how uncertain the answer is because the number is"}
              </caption>
              <thead>
                <tr>
                  <th scope="col">number</th>
                  <th scope="col">a point larger</th>
                  {found.parameters[0].contribution !== undefined && <th scope="col">uncertain by</th>}
                </tr>
              </thead>
              <tbody>
                {found.parameters.slice(0, 8).map((each) => (
                  <tr key={each.parameter}>
                    <th scope="row">
                      {each.parameter} = {percent(each.value)}
                    </th>
                    <td>{signed(100 * each.change_per_point)}</td>
                    {each.contribution !== undefined && <td>±{(100 * each.contribution).toFixed(1)}</td>}
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </>
      )}
    </Asking>
  );
}

export function AskPanel() {
  const network = useStudio((s) => s.network);
  const message = useStudio((s) => s.message);
  const impossible = useStudio((s) => s.impossible);
  const selected = useStudio((s) => s.selected);
  const bars = useStudio((s) => s.bars);
  const given = useStudio((s) => s.given);
  const clickMeans = useStudio((s) => s.clickMeans ?? "evidence");
  const { show } = useStudio.getState();
  const [chosen, setChosen] = useState(null);
  if (!network) return <p className="hint">{message ? "There is nothing to ask until the text and the table can be read together." : "There are no variables to ask about yet: write or draw them first."}</p>;
  const variable = network.variables.find((each) => each.name === selected) ?? network.variables[0];
  const state = variable.states.includes(chosen) ? chosen : (variable.order ?? variable.states).at(-1);
  const words = wordsFor(network);
  const open = bars?.source ? openDecisions(given, network, variable.name).map(words.name) : [];
  if (impossible && !bars?.source) return <p className="problem">{impossible}</p>;
  if (bars && !bars.source)
    return (
      <section>
        <p>Here you ask: click on what is known about a case, and see how probable everything else is.</p>
        <p>There are no probabilities yet. Learn them from the table and the statements first.</p>
        <LearnNow />
        <p className="hint">
          New here?{" "}
          <button type="button" className="link underlined" onClick={() => show({ tour: 0 })}>
            The tour
          </button>{" "}
          says where things are.
        </p>
      </section>
    );
  return (
    <>
      <ChooseVariable label="How probable is" variable={variable} variables={network.variables} />
      {bars?.source && <Target variable={variable} state={state} setState={setChosen} />}
      <p className="hidden" role="status">
        {bars?.source && `${variable.label} is ${labelOf(variable, state)}: ${percent(at(chancesOf({ bars, given }, variable), state)?.[0])}`}
      </p>
      {variable.decision && <p className="hint">{variable.label} is to be decided: choose an option to see what it leads to. What to do is answered below.</p>}
      {open.length > 0 && (
        <p className="hint">
          {variable.label} depends on {open.join(", ")}, which is not decided: these numbers mix the options. Choose one to see what it leads to.
        </p>
      )}
      {bars?.source && bars.note && <p className="hint">{bars.note}</p>}
      <h3>This case</h3>
      <p className="hint">Click a state in the network, or choose it here, to say that it was observed.</p>
      <Case />
      <fieldset className="means">
        <legend>A click on a state in the network</legend>
        <label>
          <input type="radio" name="means" checked={clickMeans === "evidence"} onChange={() => show({ clickMeans: "evidence" })} /> observes it
        </label>
        <label>
          <input type="radio" name="means" checked={clickMeans === "do"} onChange={() => show({ clickMeans: "do" })} /> sets it, as an intervention does
        </label>
      </fieldset>
      <SoftEvidence variable={variable} />
      {bars?.source && <Cases variable={variable} />}
      {bars?.source && (
        <p className="hint words">
          What is meant by: <Term>95% interval</Term>, <Term>set by us</Term>, <Term>uncertain finding</Term>, <Term>most probable explanation</Term>?
        </p>
      )}
      {bars?.source && (
        <>
          <h3>More about it</h3>
          <Sensitivity variable={variable} state={state} />
          <Next variable={variable} />
          {bars.source === "fit" && <Questions variable={variable} state={state} />}
          <Explanation />
          <Scores variable={variable} state={state} />
        </>
      )}
      {bars?.source && (
        <details>
          <summary>I know this probability</summary>
          <StateBounds name={variable.name} state={state} given={given.evidence} />
        </details>
      )}
    </>
  );
}
