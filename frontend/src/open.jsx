// What to begin with: an example, files of the folder, files from elsewhere, or nothing.
import { useEffect, useRef, useState } from "react";
import { post } from "./api.js";
import { useStudio } from "./store.js";

const FIRST = "heart"; // for somebody who has never been here
const SEPARATORS = [
  ["", "found by itself"],
  [",", "comma ,"],
  [";", "semicolon ;"],
  ["tab", "tab"],
  ["|", "bar |"],
];

const NOTHING = { kind: "", sheets: [] };

// How the file of a table is written, with its first rows as they would be read.
function Written({ table, format, setFormat, setProblem }) {
  const [found, setFound] = useState(null);
  useEffect(() => {
    let wanted = true;
    if (table)
      post("/api/preview", { table, format })
        .then((answer) => wanted && setFound({ ...answer, table }))
        .catch((error) => wanted && setFound((old) => ({ ...(old ?? NOTHING), table, problem: error.message, columns: [], rows: [] })));
    return () => {
      wanted = false;
    };
  }, [table, JSON.stringify(format)]);
  const isShown = Boolean(table) && found?.table === table; // until the rows of another choice are here, those of the last one stay
  useEffect(() => setProblem((isShown && found.problem) || ""), [isShown, found, setProblem]);
  if (!isShown) return null;
  const change = (part) => setFormat({ ...format, ...part });
  return (
    <div className="written">
      <div className="row">
        {found.kind === "CSV" && (
          <>
            <label>
              Between cells
              <select value={format.separator ?? ""} onChange={(event) => change({ separator: event.target.value })}>
                {SEPARATORS.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
            <label>
              Encoding
              <select value={format.encoding ?? ""} onChange={(event) => change({ encoding: event.target.value })}>
                <option value="">UTF-8</option>
                <option value="cp1252">Windows (cp1252)</option>
                <option value="latin-1">Latin-1</option>
                <option value="utf-16">UTF-16</option>
              </select>
            </label>
          </>
        )}
        {found.kind === "Excel" && (
          <label>
            Sheet
            <select value={format.sheet ?? ""} onChange={(event) => change({ sheet: event.target.value })}>
              <option value="">the only one with content</option>
              {found.sheets.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        {found.kind !== "Parquet" && (
          <label>
            Decimals
            <select value={format.decimal ?? ""} onChange={(event) => change({ decimal: event.target.value })}>
              <option value="">1.5</option>
              <option value=",">1,5</option>
            </select>
          </label>
        )}
      </div>
      {found.problem && (
        <p className="problem" role="alert">
          {found.problem}
        </p>
      )}
      {found.columns.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={`The first rows of ${table}`}>
          <table className="rows">
            <thead>
              <tr>
                {found.columns.map((name) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {found.rows.map((row, number) => (
                <tr key={number}>
                  {row.map((cell, place) => (
                    <td key={place}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found.total !== undefined && <p className="hint">{found.total.toLocaleString("en")} rows, {found.columns.length} columns</p>}
    </div>
  );
}

export function OpenDialog() {
  const dialog = useRef(null);
  const state = useStudio((s) => s.state);
  const opened = useStudio((s) => s.opened);
  const error = useStudio((s) => s.error);
  const { open: openFiles, upload, show } = useStudio.getState();
  const [busy, setBusy] = useState("");
  // Where a table is missing, it is most likely wanted for the knowledge that is open.
  const [model, setModel] = useState(opened && !opened.table ? (opened.network ?? opened.knowledge) : "");
  const [table, setTable] = useState("");
  const [problem, setProblem] = useState("");
  const [format, setFormat] = useState({});
  useEffect(() => {
    show({ error: "" });
    dialog.current.showModal();
    useStudio.getState().refreshFiles();
  }, [show]);
  const open = async (request, what) => {
    setBusy(`Opening ${what} …`);
    await openFiles(request);
    setBusy("");
  };
  const chooseTable = (name) => {
    setTable(name);
    setFormat({});
  };
  const take = async (event, kind) => {
    const file = event.target.files[0];
    if (!file) return;
    setBusy(`Copying ${file.name} …`);
    const name = await upload(file);
    setBusy("");
    if (!name) return;
    await useStudio.getState().refreshFiles();
    if (kind === "model") setModel(name);
    else chooseTable(name);
  };
  const { knowledge, networks, tables, unsaved } = state.files;
  const isNew = (name) => !knowledge.includes(name) && !networks.includes(name);
  const fresh = [...new Set([...unsaved, ...(model ? [model] : [])])].filter(isNew);
  return (
    <dialog
      ref={dialog}
      className="open"
      aria-labelledby="open-title"
      onClose={() => show({ dialog: null })}
      onCancel={(event) => !opened && event.preventDefault()}
    >
      <h2 id="open-title">Begin</h2>
      <p>
        Here you put together what experts know and what data show: credo learns how probable things are, says what each number rests on, and answers for a single
        case, with intervals. Everything stays on this machine.
      </p>
      <section>
        <h3>With an example</h3>
        <ul className="examples">
          {[...state.examples].sort((a, b) => (b.name === FIRST) - (a.name === FIRST)).map(({ name, about }) => (
            <li key={name}>
              <button type="button" className={name === FIRST && !model && !table ? "first" : ""} disabled={Boolean(busy)} onClick={() => open({ example: name }, name)}>
                <b>{name}</b>
                <span>
                  {name === FIRST ? "Start here. " : ""}
                  {about}
                </span>
              </button>
            </li>
          ))}
        </ul>
        <p className="hint">The files of an example are copied into {state.folder}, where you can change them.</p>
      </section>
      <section>
        <h3>With your files</h3>
        <div className="row">
          <label>
            Knowledge or network (.credo, .bif, …)
            <select value={model} onChange={(event) => setModel(event.target.value)}>
              <option value="">none: start with an empty text</option>
              {[...knowledge, ...networks].map((name) => (
                <option key={name}>{name}</option>
              ))}
              {fresh.map((name) => (
                <option key={name} value={name}>
                  {name} (not saved yet)
                </option>
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
            Table (.csv, .xlsx, …)
            <select value={table} onChange={(event) => chooseTable(event.target.value)}>
              <option value="">none</option>
              {tables.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label className="file">
            or bring a file here
            <input type="file" accept=".csv,.tsv,.txt,.xlsx,.xlsm,.parquet,.gz" onChange={(e) => take(e, "table")} />
          </label>
        </div>
        <Written table={table} format={format} setFormat={setFormat} setProblem={setProblem} />
        {error && (
          <p className="problem" role="alert">
            {error}
          </p>
        )}
        <div className="row">
          <button type="button" className={model || table ? "primary" : ""} disabled={Boolean(busy || problem)} onClick={() => open({ model, table, format }, model || table || "an empty text")}>
            {model || table ? "Open these" : "Start from nothing"}
          </button>
          {opened && (
            <button type="button" onClick={() => dialog.current.close()}>
              Cancel
            </button>
          )}
          <span role="status">{busy}</span>
        </div>
      </section>
    </dialog>
  );
}
