// The page: a bar on top, the text on the left, the network in the middle, answers on the right.
import { useEffect, useState } from "react";
import { AskPanel } from "./ask.jsx";
import { DataPanel } from "./data.jsx";
import { DrawPanel } from "./draw.jsx";
import { Editor } from "./editor.jsx";
import { ExpertsPanel } from "./experts.jsx";
import { Graph } from "./graph.jsx";
import { onKey } from "./keys.js";
import { KnowList } from "./know.jsx";
import { LearnPanel, RUNNING, hasNothingToLearn } from "./learn.jsx";
import { LookPanel } from "./look.jsx";
import { OpenDialog } from "./open.jsx";
import { ConflictDialog } from "./saving.jsx";
import { useStudio } from "./store.js";
import { Tour } from "./tour.jsx";

const PANELS = [
  ["ask", "Ask", AskPanel],
  ["learn", "Learn", LearnPanel],
  ["look", "Look", LookPanel],
  ["experts", "Experts", ExpertsPanel],
  ["draw", "Draw", DrawPanel],
  ["data", "Data", DataPanel],
];
const VIEWS = [
  ["text", "Knowledge"],
  ["network", "Network"],
  ["answers", "Answers"],
];

const THEMES = ["auto", "light", "dark"];

function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem("credo-theme") ?? "auto");
  useEffect(() => {
    localStorage.setItem("credo-theme", theme);
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <button type="button" aria-label={`Colours: ${theme}. Change them`} title={`Colours: ${theme}`} onClick={() => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % 3])}>
      {{ auto: "◐", light: "☀", dark: "☾" }[theme]}
    </button>
  );
}

// The one button that everything else leads to.
function LearnButton() {
  const opened = useStudio((s) => s.opened);
  const running = useStudio((s) => RUNNING.has(s.progress.event));
  const nothing = useStudio(hasNothingToLearn);
  const needed = useStudio((s) => s.changes.length > 0 || !s.fit) && !nothing;
  const { learn, show } = useStudio.getState();
  return (
    <button
      type="button"
      className={needed ? "primary" : ""}
      aria-label={running ? "Learning: show how far it is" : "Learn the numbers from the table and the statements"}
      disabled={!opened && !running}
      onClick={() => {
        show({ panel: "learn", view: "answers" });
        if (!running && !nothing) learn();
      }}
    >
      {running ? "Learning …" : "Learn"}
    </button>
  );
}

// One page for a colleague, of numbers that are current.
function Share() {
  const ready = useStudio((s) => (s.fit ? s.changes.length === 0 : Boolean(s.opened?.arrows)));
  return (
    <button type="button" disabled={!ready} title="One file that answers in any browser, without rows of data" onClick={() => useStudio.getState().share()}>
      Share
    </button>
  );
}

// Numbers that are not those of the present text are never shown without this.
function Stale() {
  const changes = useStudio((s) => s.changes);
  const hasNumbers = useStudio((s) => Boolean(s.fit));
  const running = useStudio((s) => RUNNING.has(s.progress.event));
  const { learn } = useStudio.getState();
  if (!hasNumbers || !changes.length) return null;
  return (
    <div className="notice stale-notice" role="status">
      <span>
        <b>The numbers are those of an earlier text or table.</b> {changes.join(" ")}
      </span>
      {!running && (
        <button type="button" className="primary" onClick={() => learn()}>
          Learn again
        </button>
      )}
    </div>
  );
}

function TopBar() {
  const opened = useStudio((s) => s.opened);
  const unsaved = useStudio((s) => s.unsaved);
  const connected = useStudio((s) => s.connected);
  const canUndo = useStudio((s) => s.past.length > 0);
  const canRedo = useStudio((s) => s.future.length > 0);
  const { show, save } = useStudio.getState();
  return (
    <header className="topbar">
      <h1>
        credo <span>studio</span>
      </h1>
      <p className="files">
        {opened && (
          <>
            <b>{opened.network ?? opened.knowledge}</b>
            {opened.network && <> with {opened.knowledge}</>}
            {opened.table && <> · {opened.table}</>}{" "}
            <span className="saved" role="status">
              {!connected ? "" : unsaved ? "changed, kept as a draft" : "saved"}
            </span>
          </>
        )}
        {!connected && (
          <span className="problem" role="alert">
            Not connected. What you type is kept in this tab. If the studio has ended, start it again: this page goes on as soon as its new
            address is open.
          </span>
        )}
      </p>
      <nav aria-label="Actions">
        <LearnButton />
        <button type="button" onClick={() => show({ dialog: "open" })}>
          Open …
        </button>
        <button type="button" disabled={!canUndo} onClick={() => useStudio.getState().travel(true)}>
          Undo
        </button>
        <button type="button" disabled={!canRedo} onClick={() => useStudio.getState().travel(false)}>
          Redo
        </button>
        <button type="button" disabled={!opened || !unsaved || !connected} onClick={() => save()}>
          Save
        </button>
        <Share />
        <Theme />
        <button type="button" disabled={!opened} onClick={() => show({ tour: 0 })}>
          Tour
        </button>
      </nav>
    </header>
  );
}

function Toast() {
  const toast = useStudio((s) => s.toast);
  useEffect(() => {
    if (!toast) return undefined;
    const timer = setTimeout(() => useStudio.setState({ toast: "" }), 8_000);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <div className={toast ? "toast" : "hidden"} role="status">
      {toast}
    </div>
  );
}

function Notices() {
  const error = useStudio((s) => s.error);
  const dialog = useStudio((s) => s.dialog); // it shows the error itself
  const notice = useStudio((s) => s.opened?.notice);
  const hidden = useStudio((s) => s.noticeHidden);
  const { show } = useStudio.getState();
  return (
    <>
      {error && !dialog && (
        <div className="notice problem" role="alert">
          <span>{error}</span>
          <button type="button" aria-label="× close this message" onClick={() => show({ error: "" })}>
            ×
          </button>
        </div>
      )}
      <Stale />
      {notice && !hidden && (
        <div className="notice" role="status">
          <span>{notice}</span>
          <button type="button" aria-label="× close this message" onClick={() => show({ noticeHidden: true })}>
            ×
          </button>
        </div>
      )}
    </>
  );
}

// As tabs do everywhere: the arrow keys go to the next one and the one before, Home and End to the first and the last.
function moveTab(event) {
  const place = PANELS.findIndex(([id]) => id === useStudio.getState().panel);
  const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const [id] = PANELS[(to + PANELS.length) % PANELS.length];
  useStudio.setState({ panel: id });
  document.getElementById(`tab-${id}`)?.focus();
}

// How wide the panels are, and which of them are away; kept for the next time.
const SIDES = { left: { width: 29, least: 14, most: 60 }, right: { width: 26, least: 16, most: 60 } }; // percent of the page
const STEP = 2; // percent, of an arrow key

function readLayout() {
  try {
    const found = JSON.parse(localStorage.getItem("credo-layout"));
    const width = (side) => (Number.isFinite(found?.[side]) ? Math.min(SIDES[side].most, Math.max(SIDES[side].least, found[side])) : SIDES[side].width);
    return { left: width("left"), right: width("right"), hidden: { left: Boolean(found?.hidden?.left), right: Boolean(found?.hidden?.right) } };
  } catch {
    return { left: SIDES.left.width, right: SIDES.right.width, hidden: { left: false, right: false } };
  }
}

// The border between two panels: drag it, or move it with the arrow keys; its button puts the panel away.
function Border({ side, layout, change }) {
  const name = side === "left" ? "knowledge" : "answers";
  const hidden = layout.hidden[side];
  const resize = (percent) => change({ ...layout, [side]: Math.min(SIDES[side].most, Math.max(SIDES[side].least, percent)) });
  const drag = (event) => {
    if (event.target.closest("button") || hidden) return;
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const share = (100 * event.clientX) / window.innerWidth;
    resize(side === "left" ? share : 100 - share);
  };
  const key = (event) => {
    const outwards = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!outwards || event.target.closest("button")) return;
    event.preventDefault();
    resize(layout[side] + (side === "left" ? outwards : -outwards));
  };
  const arrow = (side === "left") === hidden ? "›" : "‹";
  return (
    <div className={`border ${side}`}>
      <div className="grip" role="separator" tabIndex={hidden ? -1 : 0} aria-orientation="vertical" aria-label={`Width of the ${name}`} aria-valuenow={Math.round(layout[side])} aria-valuemin={SIDES[side].least} aria-valuemax={SIDES[side].most} onPointerDown={drag} onPointerMove={move} onKeyDown={key} />
      <button type="button" aria-label={hidden ? `Show the ${name}` : `Put the ${name} away`} aria-expanded={!hidden} onClick={() => change({ ...layout, hidden: { ...layout.hidden, [side]: !hidden } })}>
        {arrow}
      </button>
    </div>
  );
}

export function App() {
  const [layout, setLayout] = useState(readLayout);
  const change = (fresh) => {
    setLayout(fresh);
    try {
      localStorage.setItem("credo-layout", JSON.stringify({ left: fresh.left, right: fresh.right, hidden: fresh.hidden }));
    } catch {
      // It is as usual next time.
    }
  };
  const columns = `${layout.hidden.left ? "0px" : `${layout.left}%`} minmax(0, 1fr) ${layout.hidden.right ? "0px" : `${layout.right}%`}`;
  const start = useStudio((s) => s.start);
  const opened = useStudio((s) => s.opened);
  const state = useStudio((s) => s.state);
  const panel = useStudio((s) => s.panel);
  const isStale = useStudio((s) => Boolean(s.fit) && s.changes.length > 0);
  const view = useStudio((s) => s.view);
  const dialog = useStudio((s) => s.dialog);
  const error = useStudio((s) => s.error);
  const { show } = useStudio.getState();
  useEffect(() => start(), [start]);
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  if (!state) return <p className="loading">{error || "Opening …"}</p>;
  const Shown = PANELS.find(([id]) => id === panel)?.[2] ?? AskPanel;
  return (
    <>
      <a className="skip" href="#answers">
        Skip to the answers
      </a>
      <TopBar />
      <Notices />
      <nav className="views" aria-label="Parts of the page">
        {VIEWS.map(([id, label]) => (
          <button type="button" key={id} aria-pressed={view === id} onClick={() => show({ view: id })}>
            {label}
          </button>
        ))}
      </nav>
      <main className={`work view-${view} ${layout.hidden.left ? "no-left" : ""} ${layout.hidden.right ? "no-right" : ""}`} style={{ "--columns": columns }}>
        <section className="know" aria-label="Knowledge">
          {opened && <Editor />}
          <KnowList />
        </section>
        <section className="network" aria-label="Network">
          <Border side="left" layout={layout} change={change} />
          <Graph />
          <Border side="right" layout={layout} change={change} />
        </section>
        <section className="answers" id="answers" aria-label="Answers">
          <div className="tabs" role="tablist" aria-label="Answers" onKeyDown={moveTab}>
            {PANELS.map(([id, label]) => (
              <button
                type="button"
                role="tab"
                key={id}
                id={`tab-${id}`}
                aria-selected={panel === id}
                tabIndex={panel === id ? 0 : -1}
                aria-controls="panel"
                onClick={() => show({ panel: id })}
              >
                {label}
              </button>
            ))}
          </div>
          <div className={isStale ? "panel stale" : "panel"} key={panel} role="tabpanel" id="panel" aria-labelledby={`tab-${panel}`} tabIndex={0}>
            <h2 className="hidden">{PANELS.find(([id]) => id === panel)?.[1]}</h2>
            <Shown />
          </div>
        </section>
      </main>
      {dialog === "open" && <OpenDialog />}
      {dialog === "conflict" && <ConflictDialog />}
      <Tour />
      <Toast />
    </>
  );
}
