// What to ask an expert next: the questions whose answers would narrow the chosen probability most; an answer is a statement.
import { useState } from "react";
import { Asking } from "./asking.jsx";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

function Answers({ question }) {
  const [words, setWords] = useState("");
  const { edit } = useStudio.getState();
  if (question.kind === "number")
    return (
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          edit({ op: "answer", about: question.about, words });
        }}
      >
        <label>
          Of 100 cases (12, or 5 to 20)
          <input value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        <button type="submit" disabled={!words.trim()}>
          State it
        </button>
      </form>
    );
  return (
    <div className="row">
      {question.answers
        .filter((each) => each.statement)
        .map((each) => (
          <button key={each.label} type="button" title={each.statement} onClick={() => edit({ op: "answer", statement: each.statement })}>
            {each.label}
          </button>
        ))}
    </div>
  );
}

export function Questions({ variable, state }) {
  return (
    <Asking label="What should an expert be asked?" path="/api/questions" request={{ variable: variable.name, state }}>
      {(found) =>
        found.questions.length ? (
          <ol>
            {found.questions.map((each) => (
              <li key={each.text}>
                <p>
                  {each.text} <small>(would narrow the interval by {percent(each.narrowing)})</small>
                </p>
                <Answers question={each} />
              </li>
            ))}
          </ol>
        ) : (
          <p>There is nothing left to ask about {found.target}.</p>
        )
      }
    </Asking>
  );
}
