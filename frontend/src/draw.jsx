// Drawing: variables, their states and cut points, and arrows. Every change is a change of the text, and can be undone.
import { useEffect, useRef, useState } from "react";
import { ChooseVariable } from "./choose_variable.jsx";
import { Family } from "./family.jsx";
import { at, labelOf, wordsFor } from "./names.js";
import { useStudio } from "./store.js";

const listOf = (text) =>
  text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter(Boolean);

function NewVariable() {
  const [name, setName] = useState("");
  const [states, setStates] = useState("no, yes");
  const field = useRef(null);
  const { edit, show } = useStudio.getState();
  const add = async (event) => {
    event.preventDefault();
    if (await edit({ op: "add_variable", name: name.trim(), states: listOf(states) })) {
      show({ selected: name.trim() });
      setName("");
      field.current.focus(); // for the next one
    }
  };
  return (
    <form onSubmit={add} className="new" aria-label="New variable">
      <h3>New variable</h3>
      <label>
        Name
        <input ref={field} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        States, from low to high, with commas
        <input value={states} onChange={(event) => setStates(event.target.value)} />
      </label>
      <button type="submit" disabled={!name.trim()}>
        Add
      </button>
    </form>
  );
}

function States({ variable }) {
  const [states, setStates] = useState(variable.order);
  const [cuts, setCuts] = useState("");
  const list = useRef(null);
  const { edit } = useStudio.getState();
  const key = JSON.stringify([variable.name, variable.order, variable.cuts]);
  useEffect(() => {
    setStates(variable.order);
    setCuts(variable.cuts ? variable.cuts.join(", ") : "");
  }, [key]);
  const move = (from, to) => {
    const moved = [...states];
    moved.splice(to, 0, ...moved.splice(from, 1));
    setStates(moved);
    // The key goes on moving the same state; where it cannot go further, its name takes the focus.
    requestAnimationFrame(() => {
      const [up, down] = list.current.children[to].querySelectorAll("button");
      const same = to < from ? up : down;
      (same.disabled ? list.current.children[to].querySelector("input") : same).focus();
    });
  };
  const points = listOf(cuts).map(Number);
  const changed = JSON.stringify(states) !== JSON.stringify(variable.order) || cuts !== (variable.cuts?.join(", ") ?? "");
  return (
    <>
      <h3>States of {variable.label}, from low to high</h3>
      <ol className="states-list" ref={list}>
        {states.map((state, index) => (
          <li key={index}>
            <input
              aria-label={`State ${index + 1}`}
              value={state}
              onChange={(event) => setStates(states.map((each, place) => (place === index ? event.target.value : each)))}
            />
            {labelOf(variable, state) !== state && <small className="label">{labelOf(variable, state)}</small>}
            <button type="button" aria-label={`↑ move ${state} up`} disabled={index === 0} onClick={() => move(index, index - 1)}>
              ↑
            </button>
            <button type="button" aria-label={`↓ move ${state} down`} disabled={index === states.length - 1} onClick={() => move(index, index + 1)}>
              ↓
            </button>
            <button type="button" aria-label={`× remove ${state}`} disabled={states.length < 2} onClick={() => setStates(states.filter((_, place) => place !== index))}>
              ×
            </button>
          </li>
        ))}
      </ol>
      <div className="row">
        <button type="button" onClick={() => setStates([...states, `state${states.length + 1}`])}>
          Add a state
        </button>
      </div>
      <label>
        Cut points, if the column holds numbers
        <input value={cuts} placeholder="40, 60" onChange={(event) => setCuts(event.target.value)} />
      </label>
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={!changed || points.some(Number.isNaN)}
          onClick={() => edit(cuts.trim() ? { op: "set_cuts", name: variable.name, points, states: states.length === points.length + 1 ? states : [] } : { op: "set_states", name: variable.name, states })}
        >
          Use these states
        </button>
      </div>
    </>
  );
}

function Arrows({ variable }) {
  const network = useStudio((s) => s.network);
  const arc = useStudio((s) => s.selectedArc);
  const { edit, show } = useStudio.getState();
  const [parent, setParent] = useState("");
  const chosen = useRef(null);
  useEffect(() => {
    // In the next frame: the key that chose the arrow must not press the button as well.
    const frame = requestAnimationFrame(() => chosen.current?.querySelector("button")?.focus());
    return () => cancelAnimationFrame(frame);
  }, [arc]);
  const words = wordsFor(network);
  const others = network.variables.filter((each) => each.name !== variable.name && !variable.parents.includes(each.name));
  return (
    <>
      <h3>What {variable.label} depends on</h3>
      <ul className="arrows">
        {variable.parents.map((each) => (
          <li key={each} ref={arc === JSON.stringify([each, variable.name]) ? chosen : null} className={arc === JSON.stringify([each, variable.name]) ? "chosen" : ""}>
            <span title={`${each} → ${variable.name}`}>
              {words.name(each)} → {variable.label}
            </span>
            <span className="row">
              {["raises", "lowers", "does not affect"].map((verb) => (
                <button
                  type="button"
                  key={verb}
                  aria-pressed={verb === at(variable.stated, each)}
                  aria-label={`${verb}: state that ${each} ${verb} ${variable.name}`}
                  onClick={() => edit({ op: "arc_statement", verb, parent: each, child: variable.name })}
                >
                  {verb}
                </button>
              ))}
              <button type="button" aria-label={`× remove the arrow from ${each} to ${variable.name}`} onClick={() => edit({ op: "remove_arc", parent: each, child: variable.name })}>
                ×
              </button>
            </span>
          </li>
        ))}
      </ul>
      <div className="row">
        <label>
          New arrow from
          <select value={parent} onChange={(event) => setParent(event.target.value)}>
            <option value="">choose …</option>
            {others.map((each) => (
              <option key={each.name} value={each.name}>
                {each.label}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          disabled={!parent}
          onClick={async () => {
            await edit({ op: "add_arc", parent, child: variable.name });
            setParent("");
            show({ selectedArc: null });
          }}
        >
          Draw it
        </button>
      </div>
      <p className="hint">Or drag from the dot under one box to the dot above another.</p>
    </>
  );
}

export function DrawPanel() {
  const network = useStudio((s) => s.network);
  const opened = useStudio((s) => s.opened);
  const selected = useStudio((s) => s.selected);
  const { edit, show, declare } = useStudio.getState();
  const variable = network?.variables.find((each) => each.name === selected) ?? network?.variables[0];
  const [name, setName] = useState("");
  useEffect(() => setName(variable?.name ?? ""), [variable?.name]);
  const fromFile = Boolean(opened?.network);
  return (
    <>
      {fromFile && (
        <p className="hint">
          The variables come from {opened.network}.{" "}
          <button type="button" onClick={declare}>
            Write them into the text
          </button>{" "}
          to draw; its numbers are then learned anew.
        </p>
      )}
      {variable && (
        <>
          <ChooseVariable label="Variable" variable={variable} variables={network.variables} />
          <Arrows variable={variable} />
          <Family variable={variable} network={network} />
          {!fromFile && (
            <>
              <States variable={variable} />
              <h3>Name{variable.label === variable.name ? "" : `, which people read as “${variable.label}”`}</h3>
              <div className="row">
                <label>
                  <span className="hidden">New name</span>
                  <input aria-label={`New name of ${variable.name}`} value={name} onChange={(event) => setName(event.target.value)} />
                </label>
                <button
                  type="button"
                  disabled={!name.trim() || name === variable.name}
                  onClick={async () => (await edit({ op: "rename", name: variable.name, new: name.trim() })) && show({ selected: name.trim() })}
                >
                  Rename
                </button>
                <button type="button" key={variable.name} onClick={() => edit({ op: "remove_variable", name: variable.name })}>
                  Delete {variable.label}
                </button>
              </div>
            </>
          )}
        </>
      )}
      {!fromFile && <NewVariable />}
    </>
  );
}
