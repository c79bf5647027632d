// How a variable follows from its parents, as a form: a learned CPT, a gate, a noisy family, or a weighted mean.
import { useEffect, useState } from "react";
import { wordsFor } from "./names.js";
import { useStudio } from "./store.js";

// Each with what it needs: two states of everybody, or as many of parents as of the child.
const WAYS = [
  ["learned", "as learned: every combination by itself", () => true],
  ["or", "if any of them happens, and only then (or)", (sizes) => sizes.every((each) => each === 2)],
  ["and", "if all of them happen, and only then (and)", (sizes) => sizes.every((each) => each === 2)],
  ["at least", "if at least so many of them happen", (sizes) => sizes.every((each) => each === 2)],
  ["max", "as the highest of them (max)", (sizes) => sizes.every((each) => each === sizes[0])],
  ["min", "as the lowest of them (min)", (sizes) => sizes.every((each) => each === sizes[0])],
  ["noisy-or", "each of them may cause it by itself (noisy-or)", (sizes) => sizes[0] === 2],
  ["noisy-and", "it needs each of them (noisy-and)", (sizes) => sizes[0] === 2],
  ["noisy-max", "each of them may raise it by itself (noisy-max)", (sizes) => sizes[0] > 2],
  ["noisy-min", "each of them may lower it by itself (noisy-min)", (sizes) => sizes[0] > 2],
  ["weighted mean", "near their weighted mean (ranked)", () => true],
  ["weighted max", "near the weighted highest of them (ranked)", () => true],
  ["weighted min", "near the weighted lowest of them (ranked)", () => true],
];

export function Family({ variable, network }) {
  const [how, setHow] = useState("learned");
  const [least, setLeast] = useState("2");
  const [leak, setLeak] = useState(true);
  const [weights, setWeights] = useState({});
  const [spread, setSpread] = useState("");
  useEffect(() => (setHow("learned"), setWeights({}), setSpread("")), [variable.name, variable.family, JSON.stringify(variable.parents)]);
  if (!variable.parents.length) return null;
  const words = wordsFor(network);
  const sizes = [variable, ...variable.parents.map((name) => network.variables.find((each) => each.name === name))].map((each) => each?.states.length ?? 0);
  const given = Object.fromEntries(variable.parents.flatMap((name) => (weights[name] ? [[name, Number(weights[name])]] : [])));
  const isRanked = how.startsWith("weighted");
  const state = (event) => {
    event.preventDefault();
    useStudio.getState().edit({ op: "family", name: variable.name, how, least: Number(least), leak, weights: given, spread: spread === "" ? null : Number(spread) });
  };
  return (
    <details className="family">
      <summary>How {variable.label} follows from them</summary>
      {variable.family && (
        <p className="hint">
          The text says: <code>{variable.family}</code>
        </p>
      )}
      <form onSubmit={state}>
        <label>
          It is
          <select aria-label={`How ${variable.name} follows from its parents`} value={how} onChange={(event) => setHow(event.target.value)}>
            {WAYS.filter(([, , fits]) => fits(sizes)).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {how === "at least" && (
          <label>
            How many
            <input type="number" min={1} max={variable.parents.length} value={least} onChange={(event) => setLeast(event.target.value)} />
          </label>
        )}
        {how.startsWith("noisy") && (
          <label className="check">
            <input type="checkbox" checked={leak} onChange={(event) => setLeak(event.target.checked)} /> also without any of them (a leak)
          </label>
        )}
        {isRanked && (
          <>
            <p className="hint">Weights and the spread (0.05 is narrow, 0.3 wide) are learned where nothing is filled in.</p>
            {variable.parents.map((name) => (
              <label key={name}>
                Weight of {words.name(name)}
                <input type="number" min={0} step="any" value={weights[name] ?? ""} onChange={(event) => setWeights({ ...weights, [name]: event.target.value })} />
              </label>
            ))}
            <label>
              Spread
              <input type="number" min={0.001} max={1} step="any" value={spread} onChange={(event) => setSpread(event.target.value)} />
            </label>
          </>
        )}
        <button type="submit" disabled={how === "learned" && !variable.family}>
          {how === "learned" ? "Learn it freely" : "State it"}
        </button>
      </form>
    </details>
  );
}
