// A short tour: where things are, in the order in which one needs them.
import { useEffect, useRef } from "react";
import { useStudio } from "./store.js";

// What is shown around each step, its part of the page on a tablet, its panel; then what is said.
const STEPS = [
  [".know", "text", "ask", "Knowledge", "This is what experts know, one statement per line. Mistakes are underlined as you type, and a sign beside each statement says what was found: ✓ it can hold, = it follows from others, ✕ it is in conflict, ! the data contradict it."],
  [".answers", "answers", "learn", "Learn", "Here you learn the probabilities from the table and the statements together. It takes seconds for the examples, and can be cancelled."],
  [".network", "network", "ask", "Network", "These are the variables. Once something was learned, bars show how probable each state is, and the line on a bar is its 95% interval. Click a state to say that it was observed; click again to take it back."],
  [".answers", "answers", "ask", "Ask", "Here you describe a case, see what follows for one variable, what the answer is sensitive to, and score a whole table."],
  [".answers", "answers", "look", "Look", "Here is what each number rests on: the data, what the knowledge allows, the learned value with its interval. The report is for download."],
  [".answers", "answers", "draw", "Draw", "Here you add, rename and connect variables. Every change is a line of the text, so that Undo takes it back and the command line reads the same file."],
];

export function Tour() {
  const step = useStudio((s) => s.tour);
  const { show } = useStudio.getState();
  const box = useRef(null);
  const opener = useRef(null);
  useEffect(() => {
    if (step === null || step === undefined) return undefined;
    const [target, view, panel] = STEPS[step];
    show({ view, panel });
    const element = document.querySelector(target);
    element?.classList.add("toured");
    opener.current ??= document.activeElement;
    box.current.focus();
    return () => element?.classList.remove("toured");
  }, [step, show]);
  if (step === null || step === undefined) return null;
  const [target, , , title, text] = STEPS[step];
  const end = () => {
    show({ tour: null, panel: "ask", view: "network" });
    opener.current?.focus();
    opener.current = null;
  };
  return (
    <div className={`tour ${target === ".answers" ? "left" : ""}`} role="dialog" aria-label={`Tour: ${title}`} tabIndex={-1} ref={box} onKeyDown={(event) => event.key === "Escape" && end()}>
      <h2>{title}</h2>
      <p>{text}</p>
      <div className="row">
        <small>
          {step + 1} of {STEPS.length}
        </small>
        <button type="button" disabled={step === 0} onClick={() => show({ tour: step - 1 })}>
          Back
        </button>
        {step < STEPS.length - 1 ? (
          <button type="button" className="primary" onClick={() => show({ tour: step + 1 })}>
            Next
          </button>
        ) : null}
        <button type="button" onClick={end}>
          {step < STEPS.length - 1 ? "Close" : "Done"}
        </button>
      </div>
    </div>
  );
}
