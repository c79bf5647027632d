// A question about the present case, asked by a button; its answer is shown until the question or the case changes.
import { useEffect, useRef, useState } from "react";
import { post } from "./api.js";
import { givenNow } from "./names.js";
import { useStudio } from "./store.js";

export function Asking({ label, path, request = {}, children }) {
  const given = useStudio((s) => s.given);
  const learned = useStudio((s) => s.fit?.seconds);
  const changes = useStudio((s) => s.changes);
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState("");
  const asked = useRef(0); // an answer that comes when something else is the case already is dropped
  useEffect(() => {
    asked.current += 1;
    setFound(null);
    setProblem("");
  }, [given, JSON.stringify(request), learned, JSON.stringify(changes)]);
  const ask = async () => {
    const number = (asked.current += 1);
    try {
      const answer = await post(path, { ...request, ...givenNow(given, useStudio.getState().network) });
      if (asked.current === number) (setFound(answer), setProblem(""));
    } catch (error) {
      if (asked.current === number) setProblem(error.message);
    }
  };
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
