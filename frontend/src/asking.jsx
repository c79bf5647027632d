// Questions to the studio, and their answers: each is shown for as long as what it is about stays the same.
import { useEffect, useRef, useState } from "react";
import { post } from "./api.js";
import { givenNow } from "./names.js";
import { useStudio } from "./store.js";

// What every answer rests on: what was learned, how the text and the table differ from that, what is to be decided.
const whole = (state) => JSON.stringify([state.opened?.table, state.fit?.seconds, state.changes, state.decisions, state.tableRead]);

// The same for what the table alone says.
export const ofTable = (state) => `${state.opened?.table} ${state.tableRead}`;

// [what was found, or null; what went wrong; a function that asks]. An answer that comes late, or is about something else
// than `about` says by now, is none.
export function useAnswer(request, about, basis = whole) {
  const key = JSON.stringify([useStudio(basis), about]);
  const [answer, setAnswer] = useState({});
  const number = useRef(0);
  const ask = async () => {
    const own = (number.current += 1);
    const fresh = await request().then(
      (found) => ({ key, found, problem: "" }),
      (error) => ({ key, found: null, problem: error.message }),
    );
    if (number.current === own) setAnswer(fresh);
  };
  return answer.key === key ? [answer.found, answer.problem, ask, key] : [null, "", ask, key];
}

// The same, asked at once and whenever what it is about changes; until the new answer is here, `last` is the one before.
export function useFetched(request, about, basis = whole) {
  const [found, problem, ask, key] = useAnswer(request, about, basis);
  const last = useRef(null);
  if (found) last.current = found;
  useEffect(() => void ask(), [key]);
  return [found, problem, last.current];
}

export function Asking({ label, path, request = {}, children }) {
  const given = useStudio((s) => s.given);
  const [found, problem, ask] = useAnswer(() => post(path, { ...request, ...givenNow(given, useStudio.getState().network) }), [given, request]);
  return (
    <section>
      <button type="button" onClick={ask}>
        {label}
      </button>
      {problem && <p className="problem">{problem}</p>}
      {found && children(found)}
    </section>
  );
}
