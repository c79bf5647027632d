// A statement made by dragging: the bounds of one probability, or “about”.
import { useEffect, useState } from "react";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

export function StateBounds({ name, state, given, start }) {
  const [low, setLow] = useState(0);
  const [high, setHigh] = useState(1);
  const [about, setAbout] = useState(30);
  const { edit } = useStudio.getState();
  const key = JSON.stringify([name, state, given]);
  useEffect(() => {
    setLow(start?.[0] ?? 0);
    setHigh(start?.[1] ?? 1);
  }, [key]);
  const conditions = Object.entries(given)
    .map(([parent, value]) => `${parent}=${value}`)
    .join(", ");
  const label = `P(${name}=${state}${conditions ? ` | ${conditions}` : ""})`;
  const make = (part) => edit({ op: "probability_statement", name, state, given, ...part });
  return (
    <div className="bounds">
      <p>
        <code>{label}</code> is between {percent(low)} and {percent(high)}
      </p>
      <label className="weight">
        <span>at least</span>
        <input
          type="range"
          min={0}
          max={1}
          step={0.01}
          value={low}
          aria-valuetext={percent(low)}
          onChange={(event) => setLow(Math.min(Number(event.target.value), high))}
        />
        <output>{percent(low)}</output>
      </label>
      <label className="weight">
        <span>at most</span>
        <input
          type="range"
          min={0}
          max={1}
          step={0.01}
          value={high}
          aria-valuetext={percent(high)}
          onChange={(event) => setHigh(Math.max(Number(event.target.value), low))}
        />
        <output>{percent(high)}</output>
      </label>
      <div className="row">
        <button type="button" disabled={low <= 0 && high >= 1} onClick={() => make({ low, high })}>
          State these bounds
        </button>
      </div>
      <div className="row">
        <label>
          or about (%)
          <input type="number" min={0} max={100} step={1} value={about} onChange={(event) => setAbout(event.target.value)} />
        </label>
        <button type="button" disabled={!(about >= 0 && about <= 100)} onClick={() => make({ about: Number(about) / 100 })}>
          State it
        </button>
      </div>
    </div>
  );
}
