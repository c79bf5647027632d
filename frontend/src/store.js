// What the page knows, and what it does: one store, from which components read.
import { create } from "zustand";
import { TAB, download, get as fetchJson, listen, post, upload } from "./api.js";
import { NO_PAST, TEXT, withStep, withTextMoved } from "./past.js";
import { KINDS, NOTHING_GIVEN, at, givenNow, givenWith } from "./names.js";

// What is known about a case outlives a reload of the page, in this tab.
const caseKey = (state) => `credo-case-${state.folder}/${state.opened?.knowledge}`;

function keptCase(state) {
  try {
    const found = JSON.parse(sessionStorage.getItem(caseKey(state)));
    return found && KINDS.every((kind) => typeof found[kind] === "object" && found[kind] !== null) ? found : NOTHING_GIVEN;
  } catch {
    return NOTHING_GIVEN;
  }
}

function keepCase(state, given) {
  try {
    sessionStorage.setItem(caseKey(state), JSON.stringify(given));
  } catch {
    // There is no room, or it is not allowed.
  }
}

// The variable that a question is most likely about: the one with the most parents, the last of these.
const mainVariable = (network) =>
  network?.variables.reduce((best, each) => (!best || each.parents.length >= best.parents.length ? each : best), null)?.name ?? null;

// New bars in which everything that did not change is the same object as before, so that nothing is drawn again for it.
function sharing(fresh, old) {
  const own = (now, before) =>
    now && Object.fromEntries(Object.entries(now).map(([name, numbers]) => [name, JSON.stringify(at(before, name)) === JSON.stringify(numbers) ? before[name] : numbers]));
  return { ...fresh, bars: own(fresh.bars, old?.bars), before: own(fresh.before, old?.before) };
}

// What is drawn: groups that are folded, and the variables around the one in focus; all of them where there is none.
function partOf({ network, arrangement, focus }) {
  const folded = Object.keys(arrangement.folded ?? {}).filter((each) => at(network?.groups, each));
  if (!focus || !network?.variables.some((each) => each.name === focus.name)) return { folded, shown: null };
  const around = new Map(network.variables.map((each) => [each.name, new Set(each.parents)]));
  for (const each of network.variables) for (const parent of each.parents) around.get(parent)?.add(each.name);
  let found = new Set([focus.name]);
  for (let step = 0; step < focus.depth; step += 1) found = new Set([...found].flatMap((name) => [name, ...around.get(name)]));
  const order = network.variables.map((each) => each.name).filter((name) => found.has(name));
  return { folded: folded.filter((each) => !network.groups[each].includes(focus.name)), shown: order };
}

// Something else under each part of an arrangement.
const named = (part, of) => Object.fromEntries(Object.entries(part).map(([kind, own]) => [kind, of(kind, own)]));

function copiedVariables(text) {
  try {
    const found = JSON.parse(text);
    return Array.isArray(found) && found.length && found.every((each) => typeof each?.name === "string") ? found : null;
  } catch {
    return null;
  }
}

// What bars are for: they are asked for again where it changes.
const shownKey = (changes, network) => JSON.stringify([changes, network?.variables.map(({ name, states, cuts, parents }) => [name, states, cuts, parents])]);

const SLOW = 400; // milliseconds after which a page says that it computes

const fetchState = () => fetchJson("/api/state");

export const useStudio = create((set, get) => ({
  state: null, // what the server said when the page opened
  opened: null,
  connected: true,
  network: null, // the structure that the text means now
  drawing: null, // the structure that is drawn, and where: behind by the time that a new picture takes
  mistakes: [],
  message: "",
  findings: [],
  experts: [], // who said what
  statements: 0,
  check: null,
  fit: null,
  explanation: null,
  comparison: null,
  progress: { event: "idle" },
  changes: [], // since something was learned, in words
  decisions: [], // what the text says is to be decided, and what counts
  tableRead: 0, // how often the table changed while this page was open
  arrangement: {}, // places of boxes, folded groups and cases, each by names
  given: NOTHING_GIVEN,
  bars: null,
  selected: null,
  panel: "ask",
  view: "network",
  unsaved: false,
  error: "",
  toast: "",
  editor: null, // what the editor offers: goTo, replaceLines, insert
  dialog: null,
  showBefore: true, // the bars of the previous fit, beside those of this one

  show: (part) => set(part),

  // What happened on this page, which Undo takes back.
  ...NO_PAST,
  remember(step) {
    set(withStep(get(), step, Date.now()));
  },
  textMoved(back) {
    set(withTextMoved(get(), back));
  },
  // One step back, or forth again; the editor says itself when a change of the text was taken back.
  async travel(back) {
    const [from, to] = back ? ["past", "future"] : ["future", "past"];
    const step = get()[from].at(-1);
    if (!step) return;
    if (step.kind === TEXT) {
      if (get().editor?.[back ? "undo" : "redo"]()) return;
      set({ [from]: get()[from].slice(0, -1) }); // it is forgotten there: one step more
      await get().travel(back);
      return;
    }
    set({ [from]: get()[from].slice(0, -1), [to]: [...get()[to], step] });
    const value = back ? step.before : step.after;
    if (step.kind === "case") await get().setCase(value);
    else await get().setArranged(value);
  },

  // What happens while the state is on its way comes after it: events wait until it is here.
  loading: 0,
  waiting: [],
  async inOrder(request, use) {
    set({ loading: get().loading + 1 });
    try {
      use(await request());
    } finally {
      const loading = get().loading - 1;
      const waiting = loading ? [] : get().waiting;
      set({ loading, waiting: loading ? get().waiting : [] });
      waiting.forEach(get().hear);
    }
  },

  async load(request = fetchState) {
    await get().inOrder(request, get().take);
    if (get().opened) await get().ask();
  },

  take(state) {
    const opened = state.opened;
    set({
      state,
      opened,
      given: opened ? keptCase(state) : NOTHING_GIVEN,
      arrangement: opened?.view ?? {},
      bars: null,
      selected: mainVariable(opened?.reading.network),
      explanation: null,
      comparison: null,
      impossible: "",
      computing: false,
      focus: null,
      wasChosen: false,
      noticeHidden: false,
      ...NO_PAST,
      check: opened?.check ?? null,
      fit: opened?.fit ?? null,
      unsaved: opened?.unsaved ?? false,
      progress: state.progress,
      dialog: opened ? get().dialog : "open",
    });
    set({ network: null, drawing: null, mistakes: [], message: "", findings: [] });
    if (opened) get().setReading(opened.reading, opened.picture);
    if (opened?.fit?.explained) get().loadExplanation();
  },

  // A network that did not change stays the same object, so that nothing is drawn again for it.
  setReading(reading, picture) {
    const same = (old) => JSON.stringify(old) === JSON.stringify(reading.network);
    set((old) => ({
      network: !reading.network || same(old.network) ? old.network : reading.network,
      mistakes: reading.mistakes,
      message: reading.message,
      findings: reading.findings,
      experts: reading.experts,
      statements: reading.statements,
      changes: reading.changes,
      decisions: reading.decisions,
    }));
    get().draw(picture);
    // The numbers are those of what was learned: whether they still are those of this text, the studio says.
    const shown = shownKey(reading.changes, get().network);
    if (get().fit && get().shownFor !== undefined && get().shownFor !== shown) get().ask();
    set({ shownFor: shown });
  },

  // The network in the middle changes together with the places of its boxes, which the studio computes.
  async draw(given) {
    const { network, drawing } = get();
    if (!network) return;
    const { folded, shown } = partOf(get());
    const part = JSON.stringify([folded, shown]);
    if (drawing?.network === network && drawing.part === part) return;
    const isWhole = !folded.length && !shown;
    const known = [isWhole && given, drawing?.part === part && drawing.picture].find((each) => each && each.key === network.picture);
    const request = () => (isWhole ? fetchJson("/api/picture") : post("/api/picture", { folded, shown }));
    const picture = known ?? (await get().attempt(request));
    const now = partOf(get());
    if (picture?.key === get().network?.picture && JSON.stringify([now.folded, now.shown]) === part) set({ drawing: { network: get().network, picture, part } });
  },

  start() {
    get().load().catch((error) => set({ error: error.message }));
    return listen(
      (event) => get().hear(event),
      () => set({ connected: false }),
    );
  },

  // What happened while the connection was broken, or the tab was not seen.
  async catchUp() {
    await get().inOrder(fetchState, ({ opened, progress }) => {
      set({ progress, check: opened?.check ?? null, fit: opened?.fit ?? null, unsaved: opened?.unsaved ?? false, arrangement: opened?.view ?? {}, tableRead: get().tableRead + 1 });
      if (opened) get().setReading(opened.reading, opened.picture);
      if (opened?.fit?.explained) get().loadExplanation();
    });
    if (get().opened) await get().ask();
  },

  hear(event) {
    const { state, editor, loading, waiting } = get();
    if (loading) {
      set({ waiting: [...waiting, event] });
      return;
    }
    if (event.event === "hello") {
      const wasAway = get().greeted;
      set({ connected: true, greeted: true });
      if (!state) return;
      if (event.generation !== state.generation) {
        if (editor) editor.reconnect();
        else get().load();
      } else if (wasAway) {
        get().catchUp();
        editor?.pull();
        editor?.flush();
      } else if (event.progress) set({ progress: event.progress });
    } else if (event.event === "opened") {
      if (state && event.generation !== state.generation) {
        if (editor) editor.reconnect();
        else get().load();
      }
    } else if (event.event === "text") {
      set({ unsaved: true });
      editor?.pull();
    } else if (event.event === "saved") {
      set({ unsaved: false });
    } else if (event.event === "written") {
      set({ error: event.message });
    } else if (event.event === "lost") {
      set({ toast: event.message });
    } else if (event.event === "checked") {
      set({ check: event.check });
    } else if (event.event === "arranged") {
      if (event.tab !== TAB) get().rearrange(event.changes);
    } else if (event.event === "read") {
      if (event.tab !== TAB) get().readAgain(event.table);
    } else if (event.event === "learning") {
      get().hearLearning(event.progress);
    }
  },

  // Another tab changed the text, or another program the table.
  async readAgain(table) {
    if (table) set({ tableRead: get().tableRead + 1 });
    await fetchJson("/api/reading").then(get().setReading, () => {}); // the next change, or a new connection, says it again
  },

  async hearLearning(progress) {
    // At once: what explains the new fit may arrive before the fit is fetched.
    set(progress.event === "fitted" ? { progress, explanation: null } : { progress });
    if (progress.event === "fitted" || progress.event === "done") {
      const { fit } = await fetchJson("/api/fit");
      set({ fit });
      if (progress.event === "fitted") await get().ask();
    }
    if (progress.event === "explained" || progress.event === "done") get().loadExplanation();
  },

  async loadExplanation() {
    const { explanation, comparison } = await fetchJson("/api/explanation");
    set({ explanation, comparison });
  },

  async open(request) {
    await get().attempt(async () => {
      await get().editor?.flush();
      await get().load(() => post("/api/open", request));
      set({ dialog: null });
    });
  },

  // To the field for a name, which is there with the next frame.
  drawFirst() {
    set({ panel: "draw", view: "answers" });
    requestAnimationFrame(() => document.querySelector(".new input")?.focus());
  },

  async upload(file) {
    return get().attempt(async () => (await upload(file)).name);
  },

  async save(choice = {}) {
    await get().attempt(async () => {
      await get().editor?.flush();
      const { conflict } = await post("/api/save", choice);
      if (conflict) set({ dialog: "conflict", conflict });
      else set({ unsaved: false, toast: "Saved.", dialog: null });
    });
  },

  // Both texts in one, as a change of this tab, which Undo takes back; then it is written over what was looked at.
  async saveMerged({ merged, mark }) {
    get().editor?.setText(merged);
    await get().save({ over: mark });
  },

  options: { method: "auto", prior: "", seed: 0, complete_rows: false },
  async learn() {
    await get().attempt(async () => {
      await get().editor?.flush();
      await post("/api/learn", get().options);
    });
  },

  async share() {
    await get().attempt(async () => {
      await get().editor?.flush();
      set({ toast: "Writing the page …" });
      await download("/api/share");
      set({ toast: "The page is downloaded: it answers in any browser, holds no rows of data, and sends nothing." });
    });
  },

  async explain() {
    await get().attempt(() => post("/api/explain"));
  },

  async cancel() {
    await get().attempt(() => post("/api/cancel"));
  },

  // Evidence: the newest question counts; an older one is given up.
  asking: null,
  async ask() {
    get().asking?.abort();
    const own = new AbortController();
    set({ asking: own });
    const isNewest = () => get().asking === own;
    const question = { ...givenNow(get().given, get().network), before: get().showBefore };
    const take = (bars) => {
      if (!isNewest()) return;
      set({ bars: sharing(bars, get().bars), impossible: "", computing: Boolean(bars.rough) });
      if (bars.changes) set({ changes: bars.changes, shownFor: shownKey(bars.changes, get().network) });
    };
    const slow = setTimeout(() => isNewest() && set({ computing: true }), SLOW);
    try {
      // Where intervals take long, the answer at the learned numbers comes first; they follow.
      const first = await post("/api/marginals", { ...question, quick: true }, own.signal);
      take(first);
      if (first.rough && isNewest()) take(await post("/api/marginals", question, own.signal));
    } catch (error) {
      // No numbers rather than those of another case.
      if (isNewest()) set({ impossible: error.message, computing: false, bars: { ...get().bars, bars: {}, before: {} } });
    } finally {
      clearTimeout(slow);
    }
  },

  // The answer without intervals is enough.
  stopAsking() {
    const { bars, asking } = get();
    asking?.abort();
    set({ asking: null, computing: false });
    // What is shown belongs to another case, unless the answer without intervals is here.
    if (!bars?.rough) set({ bars: { ...bars, bars: {}, before: {} }, impossible: "Stopped: there are no numbers for this case." });
  },

  // A part of the network: the neighbours of a variable, up to so many steps away; null shows all of it.
  focusOn(focus) {
    set({ focus });
    get().draw();
  },
  fold(name) {
    get().arrange({ folded: { [name]: at(get().arrangement.folded, name) ? null : true } });
  },

  setCase(given) {
    set({ given });
    keepCase(get().state, given);
    return get().ask();
  },

  // Every change of the case goes through here; one that is going on is one step of Undo.
  suppose(given, going = "") {
    const before = get().given;
    if (JSON.stringify(before) !== JSON.stringify(given)) get().remember({ kind: "case", before, after: given, going });
    return get().setCase(given);
  },

  // Soft evidence: a weight for each state; null forgets it.
  weigh(name, weights) {
    return get().suppose(givenWith(get().given, name, "soft", weights ?? undefined), weights ? `weights of ${name}` : "");
  },

  // A change that was drawn: the studio makes the new text, the editor takes it as a change of this tab.
  async edit(change) {
    return get().attempt(async () => {
      await get().editor?.flush();
      const { text } = await post("/api/edit", change);
      get().editor?.setText(text);
      await get().editor?.flush();
      return true;
    });
  },

  async declare() {
    await get().attempt(async () => {
      await get().editor?.flush();
      await get().load(() => post("/api/declare"));
    });
  },

  // Where boxes stand, which groups are folded, named cases: kept in a file beside the text.
  async arrange(part) {
    const before = named(part, (kind, own) => Object.fromEntries(Object.keys(own).map((name) => [name, at(get().arrangement[kind], name) ?? null])));
    get().remember({ kind: "arranged", before, after: part });
    await get().setArranged(part);
  },
  async setArranged(part) {
    get().rearrange(part);
    await get().attempt(() => post("/api/arrange", { ...part, tab: TAB }));
  },
  rearrange(part) {
    const fresh = named(part, (kind, own) => Object.fromEntries(Object.entries({ ...get().arrangement[kind], ...own }).filter(([, value]) => value !== null)));
    set({ arrangement: { ...get().arrangement, ...fresh } });
    get().draw();
  },

  // Variables with their arrows, for the clipboard: a studio at another address takes them, too.
  copied(names) {
    set({ toast: `Copied ${names.length === 1 ? names[0] : `${names.length} variables`}: Ctrl+V pastes.` });
    const variables = get().network.variables.filter((each) => names.includes(each.name));
    return JSON.stringify(variables.map(({ name, order, cuts, parents }) => ({ name, states: order, cuts, parents })), null, 1);
  },
  async paste(text) {
    const variables = copiedVariables(text);
    if (!variables) set({ toast: "The clipboard holds no variables of a network: copy some first." });
    else if (get().mayDraw()) await get().edit({ op: "paste", variables });
  },
  mayDraw() {
    const { opened } = get();
    if (opened?.network) set({ error: `The variables come from ${opened.network}: write them into the text first (Draw), then change them.` });
    return !opened?.network;
  },

  async refreshFiles() {
    const { files } = await fetchJson("/api/state");
    set((old) => ({ state: { ...old.state, files } }));
  },

  observe(name, state, kind = "evidence") {
    const had = at(get().given[kind], name);
    return get().suppose(givenWith(get().given, name, kind, had === state || state === null ? undefined : state));
  },

  clear() {
    return get().suppose(NOTHING_GIVEN);
  },

  async attempt(action) {
    try {
      const result = await action();
      set({ error: "" });
      return result;
    } catch (error) {
      set({ error: error.message });
      return undefined;
    }
  },
}));
