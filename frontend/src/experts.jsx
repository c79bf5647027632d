// Who said what: the statements of all experts side by side, with how often each of them is right.
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

function Reliability({ stated, learned }) {
  if (!learned) return <small>{stated ? `expected to be right in ${stated}` : "how often they are right is learned"}</small>;
  const interval = learned.given ? "given" : `${percent(learned.low)} to ${percent(learned.high)}`;
  return (
    <small>
      right in {percent(learned.reliability)} ({interval})
    </small>
  );
}

export function ExpertsPanel() {
  const experts = useStudio((s) => s.experts);
  const learned = useStudio((s) => s.fit?.experts ?? []);
  const beliefs = useStudio((s) => s.fit?.beliefs ?? []);
  const editor = useStudio((s) => s.editor);
  if (!experts.length)
    return (
      <p className="hint">
        No statement has a name yet. Write <code>expert radiology: smoke raises lung</code>, or an indented block below <code>expert radiology:</code>, and everybody's statements stand here side by side.
      </p>
    );
  const subjects = [...new Set(experts.flatMap((each) => each.statements.map((own) => own.about)))];
  const beliefOf = (expert, statement) => beliefs.find((each) => each.expert === expert && each.statement === statement)?.probability;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Who said what">
      <table className="rows experts">
        <thead>
          <tr>
            <th scope="col">about</th>
            {experts.map((each) => (
              <th scope="col" key={each.name}>
                {each.name}
                <Reliability stated={each.reliability} learned={learned.find((other) => other.expert === each.name)} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {subjects.map((about) => (
            <tr key={about}>
              <th scope="row">{about || "other things"}</th>
              {experts.map((each) => (
                <td key={each.name}>
                  {each.statements
                    .filter((own) => own.about === about)
                    .map((own) => (
                      <div key={own.line}>
                        <button type="button" className="link" title={`Line ${own.line}: ${own.text}`} onClick={() => editor?.goTo(own.line)}>
                          {own.says}
                        </button>
                        {beliefOf(each.name, own.text) !== undefined && <small>true with probability {percent(beliefOf(each.name, own.text))}</small>}
                      </div>
                    ))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
