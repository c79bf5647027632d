// The editor of the text: coloured, completed, with mistakes underlined and the state of each statement beside it.
// Tabs share the text: every change has a version, and one that was made to an older version is moved over the newer.
import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, selectedCompletion } from "@codemirror/autocomplete";
import { collab, getSyncedVersion, receiveUpdates, sendableUpdates } from "@codemirror/collab";
import { defaultKeymap, history, historyKeymap, isolateHistory, redo, undo, undoDepth } from "@codemirror/commands";
import { bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { ChangeSet, EditorState, Prec, RangeSetBuilder, StateEffect, StateField, Text } from "@codemirror/state";
import {
  EditorView,
  GutterMarker,
  drawSelection,
  gutter,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { ApiError, TAB, get, postToKeep } from "./api.js";
import { completer, credoLanguage, exampleText } from "./language.js";
import { TEXT } from "./past.js";
import { STATES, describeStatement } from "./states.js";
import { useStudio } from "./store.js";

const WAIT = 10; // milliseconds after a keystroke until the change is sent
const RETRY = 2_000; // milliseconds until a change that could not be sent is sent again

class StateMarker extends GutterMarker {
  constructor(state, title) {
    super();
    this.state = state;
    this.title = title;
  }
  eq(other) {
    return other.state === this.state && other.title === this.title;
  }
  toDOM() {
    const mark = document.createElement("span");
    mark.className = `mark ${this.state}`;
    mark.textContent = STATES[this.state].sign;
    mark.title = this.title;
    return mark;
  }
}

const setMarks = StateEffect.define();
const marks = StateField.define({
  create: () => new RangeSetBuilder().finish(),
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return effect.value;
    return value.map(transaction.changes);
  },
});

const nonce = document.querySelector("script[nonce]")?.nonce ?? "";

export function Editor() {
  const place = useRef(null);
  const view = useRef(null);
  const generation = useStudio((s) => s.state?.generation);
  const mistakes = useStudio((s) => s.mistakes);
  const check = useStudio((s) => s.check);

  useEffect(() => {
    const { opened, show } = useStudio.getState();
    if (!opened) return undefined;
    const sync = makeSync(view, generation, opened);
    view.current = new EditorView({
      parent: place.current,
      state: newState(opened.text, opened.version, sync),
    });
    show({ editor: editorActions(view, sync) });
    sync.takeBack();
    // What was found needs room, and takes it from the editor: the line that is being written stays in sight.
    const resized = new ResizeObserver(() => {
      const now = view.current;
      if (now?.hasFocus) now.dispatch({ effects: EditorView.scrollIntoView(now.state.selection.main.head) });
    });
    resized.observe(place.current);
    return () => {
      resized.disconnect();
      sync.stop();
      view.current.destroy();
      view.current = null;
      show({ editor: null });
    };
  }, [generation]);

  useEffect(() => {
    if (view.current) view.current.dispatch(setDiagnostics(view.current.state, diagnostics(view.current.state, mistakes)));
  }, [mistakes]);

  useEffect(() => {
    if (!view.current) return;
    const doc = view.current.state.doc;
    const builder = new RangeSetBuilder();
    for (const each of [...(check?.statements ?? [])].sort((a, b) => a.line - b.line)) {
      if (each.line < 1 || each.line > doc.lines) continue;
      const start = doc.line(each.line).from;
      builder.add(start, start, new StateMarker(each.state, describeStatement(each)));
    }
    view.current.dispatch({ effects: setMarks.of(builder.finish()) });
  }, [check]);

  return <div className="editor" ref={place} />;
}

// A word that is complete needs no completion: the Enter key begins the next line.
function leaveCompleted(view) {
  const label = selectedCompletion(view.state)?.label;
  const { head } = view.state.selection.main;
  if (label && view.state.sliceDoc(head - label.length, head) === label) closeCompletion(view);
  return false;
}

function newState(text, version, sync) {
  return EditorState.create({
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      lineNumbers(),
      marks,
      gutter({ class: "marks", markers: (v) => v.state.field(marks), initialSpacer: () => new StateMarker("consistent", "") }),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      Prec.highest(keymap.of([{ key: "Enter", run: leaveCompleted }])),
      autocompletion({ override: [completer(() => useStudio.getState().network?.variables ?? [])], icons: false }),
      search({ top: true }),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      credoLanguage,
      syntaxHighlighting(classHighlighter),
      EditorView.lineWrapping,
      placeholder(exampleText(useStudio.getState().network?.variables ?? [])),
      EditorView.contentAttributes.of({ "aria-label": "Knowledge, one statement per line", tabindex: "0" }),
      collab({ startVersion: version }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          for (const each of update.transactions) noteStep(each);
          sync.soon();
        }
      }),
      keymap.of([
        { key: "Mod-s", preventDefault: true, run: () => (useStudio.getState().save(), true) },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...lintKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
    ],
  });
}

// What Undo of the page is to take back: each step that the editor remembers.
function noteStep(transaction) {
  const { remember, textMoved } = useStudio.getState();
  if (!transaction.docChanged) return;
  if (transaction.isUserEvent("undo")) textMoved(true);
  else if (transaction.isUserEvent("redo")) textMoved(false);
  else if (undoDepth(transaction.state) > undoDepth(transaction.startState)) remember({ kind: TEXT });
}

const asJson = (updates) => updates.map((each) => ({ clientID: each.clientID, changes: each.changes.toJSON() }));

// One thing at a time: what comes while a change is on its way waits for it, and nothing is missed.
function makeSync(view, generation, opened) {
  let timer = null;
  let last = Promise.resolve();
  let pullWaits = false;
  let stopped = false;
  let onTheWay = 0; // changes that were sent and not yet answered
  let isAway = false; // whether the last change found no studio
  let agreed = Text.of(opened.text.split("\n")); // the text that the studio has, as far as this tab knows

  const inTurn = (task) => {
    last = last.then(() => (stopped || !view.current ? undefined : task()));
    return last;
  };

  const apply = (updates) => {
    const received = updates.map((each) => ({ clientID: each.clientID, changes: ChangeSet.fromJSON(each.changes) }));
    for (const each of received) agreed = each.changes.apply(agreed);
    if (received.length) view.current.dispatch(receiveUpdates(view.current.state, received));
  };

  // What other tabs wrote; where this tab is too far behind, it begins again.
  async function take() {
    const version = getSyncedVersion(view.current.state);
    try {
      const found = await get(`/api/updates?since=${version}&generation=${encodeURIComponent(generation)}`);
      if (!stopped) apply(found.updates);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) return;
      await reconnect();
    }
  }

  function pull() {
    if (pullWaits) return;
    pullWaits = true;
    inTurn(() => {
      pullWaits = false;
      return take();
    });
  }

  async function send() {
    while (!stopped && view.current) {
      const sent = sendableUpdates(view.current.state);
      if (!sent.length) return;
      const version = getSyncedVersion(view.current.state);
      const updates = asJson(sent);
      try {
        onTheWay = sent.length;
        const reading = await postToKeep("/api/updates", { generation, version, updates, tab: TAB });
        isAway = false;
        if (stopped) return;
        apply(updates);
        useStudio.setState({ unsaved: true, error: "" });
        if (!sendableUpdates(view.current.state).length) useStudio.getState().setReading(reading);
      } catch (error) {
        isAway = error.status !== 409;
        if (stopped) return;
        if (isAway) {
          // Without a connection the bar on top says so; when it is back, this is sent.
          useStudio.setState(error.status ? { error: error.message } : { connected: false });
          timer = setTimeout(flush, RETRY);
          return;
        }
        if (error.content.generation !== generation) await reconnect();
        else await take();
      } finally {
        onTheWay = 0;
      }
    }
  }

  const flush = () => {
    clearTimeout(timer);
    return inTurn(send);
  };

  const soon = () => {
    clearTimeout(timer);
    if (view.current && sendableUpdates(view.current.state).length) timer = setTimeout(flush, WAIT);
  };

  // What was typed and not yet taken, with all that is needed to make it to another text; null where there is nothing.
  const left = () => {
    const updates = view.current ? asJson(sendableUpdates(view.current.state)) : [];
    if (!updates.length) return null;
    return { file: fileOf(opened), generation, version: getSyncedVersion(view.current.state), base: agreed.toString(), updates };
  };

  // The studio started anew, or this tab was too far behind: what was typed and not yet taken is carried over.
  async function reconnect() {
    const before = carried;
    carried = left() ?? carried;
    stopped = true;
    try {
      await useStudio.getState().load();
    } catch {
      stopped = false; // it is gone again: the next sign of life leads back here
      carried = before;
    }
  }

  // What this tab wrote, or one that was closed, when no studio was there to take it: made to the text as it is now.
  async function takeBack() {
    if (carried && carried.file !== fileOf(opened)) keep(carried); // until its file is open again
    const found = [...(carried?.file === fileOf(opened) ? [carried] : []), ...keptBefore(fileOf(opened))];
    carried = null;
    for (const each of found) {
      const changes = await notTaken(each, generation);
      if (!view.current || stopped) return keep(each);
      const now = view.current.state.doc;
      const mine = changes && changes.own.map(ChangeSet.of(difference(changes.base, now.toString()), changes.base.length));
      if (!mine || changes.result === now.toString() || mine.apply(now).eq(now)) continue;
      view.current.dispatch({ changes: mine });
      useStudio.setState({ toast: "What you typed while the studio was away is back. Undo takes it out again." });
    }
    return undefined;
  }

  // A tab that closes sends what was not sent yet, and leaves what no studio takes to the next tab.
  const leave = () => {
    const waiting = left();
    if (!waiting || stopped) return;
    const { version, updates } = waiting;
    if (isAway || !useStudio.getState().connected) keep(waiting);
    // With what is on its way, which may arrive later: the studio makes each change once.
    else if (updates.length > onTheWay) postToKeep("/api/updates", { generation, version, updates }).catch(() => {});
  };
  window.addEventListener("pagehide", leave);

  return {
    soon,
    flush,
    pull,
    reconnect,
    takeBack,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      window.removeEventListener("pagehide", leave);
    },
  };
}

// What was typed and not yet taken when this page connected anew.
let carried = null;
const KEPT = "credo-unsent-";
const fileOf = (opened) => `${useStudio.getState().state?.folder}/${opened.knowledge}`;

// What of it the studio has not taken, as one change to the text before it, and what that leads to; null for nothing.
async function notTaken({ generation, version, base, updates }, now) {
  let taken = 0;
  if (generation === now) {
    const found = await get(`/api/updates?since=${version}&generation=${encodeURIComponent(now)}`).catch(() => ({ updates: [] }));
    taken = found.updates.filter((each) => each.clientID === updates[0].clientID).length;
  }
  const changes = updates.map((each) => ChangeSet.fromJSON(each.changes));
  if (taken >= changes.length) return null;
  const before = changes.slice(0, taken).reduce((text, each) => each.apply(text), Text.of(base.split("\n")));
  const own = changes.slice(taken).reduce((one, next) => one.compose(next));
  return { base: before.toString(), own, result: own.apply(before).toString() };
}

function keep(unsent) {
  try {
    localStorage.setItem(KEPT + crypto.getRandomValues(new Uint32Array(2)).join("-"), JSON.stringify(unsent));
  } catch {
    // There is no room, or it is not allowed.
  }
}

function keptBefore(file) {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(KEPT));
  return names.flatMap((name) => {
    try {
      const found = JSON.parse(localStorage.getItem(name));
      if (found.file !== file) return [];
      localStorage.removeItem(name);
      return [found];
    } catch {
      localStorage.removeItem(name);
      return [];
    }
  });
}

// The smallest change from one text to another: what is equal at both ends stays.
function difference(old, fresh) {
  let start = 0;
  const shorter = Math.min(old.length, fresh.length);
  while (start < shorter && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  return { from: start, to: old.length - end, insert: fresh.slice(start, fresh.length - end) };
}

function editorActions(view, sync) {
  // What one click changes is one step of Undo, however quickly the next one follows.
  const change = (changes) => view.current.dispatch({ changes, annotations: isolateHistory.of("full") });
  return {
    pull: sync.pull,
    flush: sync.flush,
    reconnect: sync.reconnect,
    undo: () => undo(view.current),
    redo: () => redo(view.current),
    text: () => view.current.state.doc.toString(),
    setText(text) {
      change(difference(view.current.state.doc.toString(), text));
    },
    goTo(line) {
      const doc = view.current.state.doc;
      const place = doc.line(Math.max(1, Math.min(line, doc.lines)));
      view.current.dispatch({ selection: { anchor: place.from, head: place.to }, scrollIntoView: true });
      useStudio.setState({ view: "text" }); // on a tablet, where one part is shown at a time
      requestAnimationFrame(() => view.current?.focus());
    },
    // A line to go on from, at the end of the text: it is chosen, so that typing changes it.
    addLine(text) {
      const doc = view.current.state.doc;
      const start = doc.length + (doc.line(doc.lines).length ? 1 : 0);
      change({ from: doc.length, insert: `${start > doc.length ? "\n" : ""}${text}\n` });
      view.current.dispatch({ selection: { anchor: start, head: start + text.length }, scrollIntoView: true });
      useStudio.setState({ view: "text" });
      requestAnimationFrame(() => view.current?.focus());
    },
    replaceLine(number, text) {
      const doc = view.current.state.doc;
      const line = doc.line(Math.min(number, doc.lines));
      change({ from: line.from, to: line.to, insert: text });
    },
    // A statement that is left out stays in the text, as a comment.
    leaveOut(line) {
      change({ from: view.current.state.doc.line(line).from, insert: "# left out: " });
    },
  };
}

function diagnostics(state, mistakes) {
  return mistakes
    .filter((each) => each.line >= 1 && each.line <= state.doc.lines)
    .map((each) => {
      const line = state.doc.line(each.line);
      const from = Math.min(line.from + each.start, line.to);
      const to = Math.min(Math.max(line.from + each.end, from), line.to);
      const text = [each.message, each.expected && `Expected: ${each.expected}`, each.suggestion].filter(Boolean);
      const actions = (each.fixes ?? []).map((fix) => ({
        name: `Write: ${fix}`,
        apply: (v) => {
          const now = v.state.doc.line(Math.min(each.line, v.state.doc.lines));
          v.dispatch({ changes: { from: now.from, to: now.to, insert: fix } });
        },
      }));
      return { from, to, severity: "error", message: text.join("\n"), actions };
    })
    .sort((a, b) => a.from - b.from);
}
