// What to do when the file changed while its text was edited here: nothing that anybody wrote is lost.
import { useEffect, useRef, useState } from "react";
import { useStudio } from "./store.js";

const SIGNS = { "-": "only here", "+": "only in the file" };

export function ConflictDialog() {
  const dialog = useRef(null);
  const { file, difference, places, free, mark, merged } = useStudio((s) => s.conflict);
  const error = useStudio((s) => s.error);
  const { save, saveMerged, show } = useStudio.getState();
  const [name, setName] = useState(free);
  useEffect(() => dialog.current.showModal(), []);
  return (
    <dialog ref={dialog} className="conflict-dialog" aria-labelledby="conflict-title" onClose={() => show({ dialog: null })}>
      <h2 id="conflict-title">{file} changed meanwhile</h2>
      <p>Another program or another studio wrote to the file since it was opened here. Nothing is saved yet. This differs:</p>
      <div className="scroll" tabIndex={0} role="region" aria-label="What differs">
        <ul className="difference">
          {difference.map(([sign, line], index) => (
            <li key={index} className={{ "-": "here", "+": "there" }[sign] ?? ""}>
              <b aria-hidden="true">{{ "-": "here", "+": "file" }[sign] ?? (sign === "…" ? "…" : "")}</b>
              {SIGNS[sign] && <span className="hidden">{SIGNS[sign]}: </span>}
              <code>{line || " "}</code>
            </li>
          ))}
        </ul>
      </div>
      <p className="hint">
        {places
          ? `Both changed the same lines at ${places === 1 ? "one place" : `${places} places`}: your lines stay there, and those of the file follow as comments.`
          : "Both changes fit together."}
      </p>
      {error && (
        <p className="problem" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        <button type="button" className="primary" onClick={() => saveMerged({ merged, mark })}>
          Merge both, and save
        </button>
        <button type="button" onClick={() => dialog.current.close()}>
          Cancel
        </button>
      </div>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          save({ as: name });
        }}
      >
        <label>
          Or keep both: save yours as
          <input value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" disabled={!name.trim()}>
          Save as
        </button>
      </form>
    </dialog>
  );
}
