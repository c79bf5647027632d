// Questions to the studio, and their answers: each is shown for as long as what it is about stays the same.
import { useEffect, useRef, useState } from "react";
import { post } from "./api.js";
import { givenNow } from "./names.js";
import { useStudio } from "./store.js";

// What every answer rests on: what was learned, how the text and the table differ from that, what is to be decided.
const whole = (state) => JSON.stringify([state.opened?.table, state.fit?.seconds, state.changes, state.decisions, state.tableRead]);

// The same for what the table alone says.
export const ofTable = (state) => `${state.opened?.table} ${state.tableRead}`;

const SLOW = 400; // milliseconds after which a page says that it computes

// What was found, or null; what went wrong; a function that asks; whether one has been waiting for long, and a function
// that gives up. An answer that comes late, or is about something else than `about` says by now, is none.
export function useAnswer(request, about, basis = whole) {
  const key = JSON.stringify([useStudio(basis), about]);
  const [answer, setAnswer] = useState({});
  const [isSlow, setSlow] = useState(false);
  const asked = useRef(null);
  const stop = () => {
    asked.current?.abort();
    asked.current = null;
    setSlow(false);
  };
  const ask = async () => {
    stop();
    const own = (asked.current = new AbortController());
    const timer = setTimeout(() => asked.current === own && setSlow(true), SLOW);
    const fresh = await request(own.signal).then(
      (found) => ({ key, found, problem: "" }),
      (error) => ({ key, found: null, problem: error.message }),
    );
    clearTimeout(timer);
    if (asked.current !== own) return;
    stop();
    setAnswer(fresh);
  };
  useEffect(() => stop, [key]);
  const isCurrent = answer.key === key;
  return { found: isCurrent ? answer.found : null, problem: isCurrent ? answer.problem : "", ask, stop, isSlow, key };
}

// The same, asked at once and whenever what it is about changes; until the new answer is here, `last` is the one before.
export function useFetched(request, about, basis = whole) {
  const { ask, ...asked } = useAnswer(request, about, basis);
  const last = useRef(null);
  if (asked.found) last.current = asked.found;
  useEffect(() => void ask(), [asked.key]);
  return { ...asked, last: last.current };
}

// That something takes long, and a way to do without it.
export function Computing({ what = "", stop }) {
  return (
    <span className="note" role="status">
      Computing {what}…{" "}
      <button type="button" onClick={stop}>
        Stop
      </button>
    </span>
  );
}

export function Asking({ label, path, request = {}, children }) {
  const given = useStudio((s) => s.given);
  const { found, problem, ask, stop, isSlow } = useAnswer((signal) => post(path, { ...request, ...givenNow(given, useStudio.getState().network) }, signal), [given, request]);
  return (
    <section>
      <button type="button" onClick={ask}>
        {label}
      </button>
      {isSlow && <Computing stop={stop} />}
      {problem && <p className="problem">{problem}</p>}
      {found && children(found)}
    </section>
  );
}
