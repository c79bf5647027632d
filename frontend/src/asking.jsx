// A question about the present case, asked by a button; its answer is shown until the question or the case changes.
import { useEffect, useState } from "react";
import { post } from "./api.js";
import { givenNow } from "./names.js";
import { useStudio } from "./store.js";

export function Asking({ label, path, request = {}, children }) {
  const given = useStudio((s) => s.given);
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => setFound(null), [given, JSON.stringify(request)]);
  const ask = async () => {
    try {
      setFound(await post(path, { ...request, ...givenNow(given, useStudio.getState().network) }));
      setProblem("");
    } catch (error) {
      setProblem(error.message);
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
