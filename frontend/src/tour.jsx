// A short tour: where things are, in the order in which one needs them.
import { useEffect, useRef } from "react";
import { useStudio } from "./store.js";

const STEPS = [
  [".know", "text", "Knowledge", "This is what experts know, one statement a line. Mistakes are underlined as you type, and a sign beside each statement says what was found: ✓ it can hold, = it follows from others, ✕ it is in conflict, ! the data contradict it."],
  [".network", "network", "Network", "These are the variables. Bars show how probable each state is, and the line on a bar is its 95% interval. Click a state to say that it was observed; click again to take it back."],
  ["#tab-learn", "answers", "Learn", "Here you learn the probabilities from the table and the statements together. It takes seconds for the examples, and can be cancelled."],
  ["#tab-ask", "answers", "Ask", "Here you describe a case, see what follows for one variable, what the answer is sensitive to, and score a whole table."],
  ["#tab-look", "answers", "Look", "Here is what each number rests on: the data, what the knowledge allows, the learned value with its interval. The report is for download."],
  ["#tab-draw", "answers", "Draw", "Here you add, rename and connect variables. Every change is a line of the text, so that Undo takes it back and the command line reads the same file."],
];

export function Tour() {
  const step = useStudio((s) => s.tour);
  const { show } = useStudio.getState();
  const box = useRef(null);
  useEffect(() => {
    if (step === null || step === undefined) return undefined;
    const [target, view] = STEPS[step];
    show({ view });
    const element = document.querySelector(target);
    element?.classList.add("toured");
    box.current?.focus();
    return () => element?.classList.remove("toured");
  }, [step, show]);
  if (step === null || step === undefined) return null;
  const [, , title, text] = STEPS[step];
  return (
    <div className="tour" role="dialog" aria-label={`Tour: ${title}`} tabIndex={-1} ref={box} onKeyDown={(event) => event.key === "Escape" && show({ tour: null })}>
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
        <button type="button" onClick={() => show({ tour: null })}>
          {step < STEPS.length - 1 ? "Close" : "Done"}
        </button>
      </div>
    </div>
  );
}
