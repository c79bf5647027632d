// What to begin with: an example, files of the folder, files from elsewhere, or nothing.
import { useEffect, useRef, useState } from "react";
import { useStudio } from "./store.js";

const FIRST = "heart"; // for somebody who has never been here
const ABOUT = {
  heart: "Start here: a cardiologist's sentences and 220 patients",
  "brain-tumour": "Metastatic cancer and coma: an oncologist's notes and a table",
  asia: "The chest clinic, a textbook network, with statements but no table",
  cooling: "A cooling loop and why it fails: an engineer's fault tree",
  lake: "Lakes, with a state that nobody sees",
};

export function OpenDialog() {
  const dialog = useRef(null);
  const state = useStudio((s) => s.state);
  const opened = useStudio((s) => s.opened);
  const { open, upload, show } = useStudio.getState();
  const [model, setModel] = useState("");
  const [table, setTable] = useState("");
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  const take = async (event, kind) => {
    const file = event.target.files[0];
    if (!file) return;
    const name = await upload(file);
    if (!name) return;
    await useStudio.getState().refreshFiles();
    (kind === "model" ? setModel : setTable)(name);
  };
  const { knowledge, networks, tables } = state.files;
  return (
    <dialog
      ref={dialog}
      className="open"
      aria-labelledby="open-title"
      onClose={() => show({ dialog: null })}
      onCancel={(event) => !opened && event.preventDefault()}
    >
      <h2 id="open-title">Begin</h2>
      <section>
        <h3>With an example</h3>
        <ul className="examples">
          {[...state.examples].sort((a, b) => (b === FIRST) - (a === FIRST)).map((name) => (
            <li key={name}>
              <button type="button" onClick={() => open({ example: name })}>
                <b>{name}</b>
                <span>{ABOUT[name] ?? ""}</span>
              </button>
            </li>
          ))}
        </ul>
        <p className="hint">Its files are copied into {state.folder}, where you can change them.</p>
      </section>
      <section>
        <h3>With your files</h3>
        <div className="row">
          <label>
            Knowledge or network
            <select value={model} onChange={(event) => setModel(event.target.value)}>
              <option value="">none: start with an empty text</option>
              {[...knowledge, ...networks].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label className="file">
            or bring a file here
            <input type="file" accept=".credo,.bif,.xdsl,.xmlbif,.net,.uai,.dsl,.gz" onChange={(e) => take(e, "model")} />
          </label>
        </div>
        <div className="row">
          <label>
            Table
            <select value={table} onChange={(event) => setTable(event.target.value)}>
              <option value="">none</option>
              {tables.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label className="file">
            or bring a file here
            <input type="file" accept=".csv,.tsv,.txt,.xlsx,.parquet,.gz" onChange={(e) => take(e, "table")} />
          </label>
        </div>
        <div className="row">
          <button type="button" className="primary" onClick={() => open({ model, table })}>
            {model || table ? "Open these" : "Start from nothing"}
          </button>
          {opened && (
            <button type="button" onClick={() => dialog.current.close()}>
              Cancel
            </button>
          )}
        </div>
      </section>
    </dialog>
  );
}
