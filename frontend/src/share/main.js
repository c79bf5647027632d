// A shared page: what is known about a case on one side, how probable the rest is on the other; all of it offline.
import { percent } from "./words.js";
import { ImpossibleError, decided, planEngine, tableEngine } from "./engine.js";
import { picture } from "./picture.js";

const MANY_STATES = 6; // from which on they are chosen from a list
const SLOW = 150; // milliseconds after which the page says that it computes

const content = JSON.parse(document.getElementById("content").textContent);
const text = document.getElementById("numbers").textContent;
const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
const numbers = new Float64Array(bytes.buffer);
const { variables } = content;
const engine = (content.kind === "plan" ? planEngine : tableEngine)(content, numbers);
const { answer } = engine;
const placeOf = new Map(variables.map((each, index) => [each.name, index]));
const shown = variables.map((_, index) => index).filter((each) => !variables[each].hidden);
const inputs = content.inputs.length ? content.inputs.map((name) => placeOf.get(name)) : shown;
// What is to be decided: it is set, and never asked for.
const decisions = new Set(content.decision?.options.flatMap((option) => option.set.map(([number]) => number)) ?? []);
const targets = content.targets.length ? content.targets.map((name) => placeOf.get(name)) : shown.filter((each) => !decisions.has(each));

const given = new Map(); // what is known, by the number of the variable
let target = placeOf.get(content.target);
let targetState = null;
let sets = false; // whether a choice sets a variable, instead of saying that it was observed
let found = null;
let baseline = null;

// Elements -----------------------------------------------------------------------------------------------------------------

function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

const nameOf = (number) => variables[number].label;
const hintOf = ({ label, name, unit, note, source }) => [label === name ? "" : name, unit, note, source && `Source: ${source}`].filter(Boolean).join(". ");

// The state in which a number is.
const stateOfNumber = (cuts, value) => cuts.filter((point) => value >= point).length;

// What is known --------------------------------------------------------------------------------------------------------------

function choose(variable, state) {
  const kind = sets || decisions.has(variable) ? "set" : "state";
  if (state === null || given.get(variable)?.[kind] === state) given.delete(variable);
  else given.set(variable, { [kind]: state });
  update();
}

const rows = new Map();

function row(number) {
  const variable = variables[number];
  const isLong = variable.states.length > MANY_STATES || variable.labels.join("").length > 44;
  const known = h("span", { class: "known" });
  const heading = h("legend", { title: hintOf(variable) }, variable.label, variable.unit ? h("small", {}, ` ${variable.unit}`) : null, known);
  const options = [null, ...variable.order];
  const labelOf = (state) => (state === null ? (decisions.has(number) ? "not decided" : "not known") : variable.labels[state]);
  let show;
  let control;
  if (isLong) {
    control = h(
      "select",
      { "aria-label": variable.label, onchange: (event) => choose(number, event.target.value === "" ? null : Number(event.target.value)) },
      ...options.map((state) => h("option", { value: state === null ? "" : String(state) }, labelOf(state))),
    );
    show = (state) => (control.value = state === null ? "" : String(state));
  } else {
    const buttons = options.map((state) => {
      const input = h("input", { type: "radio", name: `v${number}`, onclick: () => choose(number, state) });
      return [state, input, h("label", {}, input, h("span", {}, labelOf(state)))];
    });
    control = h("div", { class: "segments" }, ...buttons.map(([, , label]) => label));
    show = (state) => {
      for (const [own, input] of buttons) input.checked = own === state;
    };
  }
  let typed = null;
  if (variable.cuts) {
    typed = h("input", { type: "number", step: "any", "aria-label": `${variable.label} as a number`, placeholder: variable.unit || "number" });
    typed.addEventListener("input", () => {
      if (typed.value === "" || !Number.isFinite(Number(typed.value))) return;
      given.delete(number);
      choose(number, stateOfNumber(variable.cuts, Number(typed.value)));
    });
  }
  const element = h("fieldset", { class: "input" }, heading, h("div", { class: "controls" }, control, typed));
  rows.set(number, () => {
    const own = given.get(number);
    const state = own?.state ?? own?.set ?? null;
    show(state);
    known.textContent = own?.set !== undefined ? "set by us" : "";
    element.classList.toggle("is-known", Boolean(own));
    if (typed && (state === null || (typed.value !== "" && stateOfNumber(variable.cuts, Number(typed.value)) !== state))) typed.value = "";
  });
  return element;
}

// How probable ---------------------------------------------------------------------------------------------------------------

const interval = (low, high) => (low === null ? "" : `${percent(low)} to ${percent(high)}`);

function bars(number, own, before) {
  const variable = variables[number];
  return h(
    "ul",
    { class: "bars", "aria-label": `How probable the states of ${variable.label} are` },
    ...variable.order.map((state) => {
      const [value, low, high] = own[state];
      const fill = h("span", { class: "fill" });
      const track = h("span", { class: "track", "aria-hidden": "true" }, fill);
      fill.style.width = `${100 * value}%`;
      if (low !== null && high > low) {
        const line = h("span", { class: "whisker" });
        line.style.left = `${100 * low}%`;
        line.style.width = `${100 * (high - low)}%`;
        track.append(line);
      }
      if (before && Math.abs(before[state][0] - value) >= 0.005) {
        const mark = h("span", { class: "before" });
        mark.style.left = `${100 * before[state][0]}%`;
        track.append(mark);
      }
      const button = h("button", { type: "button", class: "pick", "aria-pressed": String(state === targetState), onclick: () => ((targetState = state), draw()) }, variable.labels[state]);
      return h("li", {}, button, track, h("b", {}, percent(value)), h("small", {}, interval(low, high)));
    }),
  );
}

// A hundred cases like this one: a picture that people read better than a percentage.
function hundred(value, low, high) {
  const grid = h("div", { class: "hundred", "aria-hidden": "true" });
  const [sure, most] = [Math.round(100 * (low ?? value)), Math.round(100 * (high ?? value))];
  const middle = Math.round(100 * value);
  for (let number = 1; number <= 100; number += 1)
    grid.append(h("i", { class: number <= sure ? "yes" : number <= middle ? "likely" : number <= most ? "maybe" : "no" }));
  return grid;
}

// Of so many cases that at least one is expected to have it, and one not to have it.
function sentence(variable, state, [value, low, high]) {
  const rare = Math.min(value, 1 - value);
  let cases = 100;
  while (rare > 1e-9 && rare * cases < 1) cases *= 10;
  const count = (share) => Math.round(cases * share).toLocaleString("en");
  const range = low !== null && count(low) !== count(high) ? ` (${count(low)} to ${count(high)})` : "";
  return `Of ${cases.toLocaleString("en")} cases like this one, about ${count(value)}${range} have ${variable.label}: ${variable.labels[state]}.`;
}

// What to do -----------------------------------------------------------------------------------------------------------------

const decision = h("div", { class: "decision" });
const amount = (value) => (Math.abs(value) < 1e-12 ? "0" : String(Number(Math.abs(value) < 1000 ? value.toPrecision(3) : value.toFixed(0))).replace("-", "−"));
const between = ([low, high]) => (low === null || low >= high ? "" : `95% interval ${amount(low)} to ${amount(high)}`);
const hasIntervals = !content.note && content.draws > 1;

// What is known that cannot be known before deciding: the decision, and what depends on it.
const lateOf = (known) => [...known.keys()].filter((each) => content.decision.late.includes(each));

function decide() {
  if (!content.decision) return;
  const late = lateOf(given);
  if (!found || late.length) {
    decision.replaceChildren(h("p", { class: "hint" }, late.length ? `What to do cannot be said: ${late.map(nameOf).join(", ")} depends on the decision, and is not known before it. Take it back.` : "What to do cannot be said: these things cannot all be true together."));
    return;
  }
  const { options, gain, gainEnds } = decided(content.decision, engine, given, hasIntervals);
  const [best] = options;
  const [least, most] = [Math.min(...options.map((each) => each.utility)), Math.max(...options.map((each) => each.utility))];
  const sure = best.best === null ? "" : ` with probability ${percent(best.best)}`;
  const by = between(gainEnds);
  decision.replaceChildren(
    h("p", { class: "sentence" }, h("b", {}, best.option), ` ${options.length > 2 ? "has the largest expected utility" : "is better"}${sure}, by ${amount(gain)}${by ? ` (${by})` : ""}.`),
    h(
      "ul",
      { class: "bars", "aria-label": "Expected utility of each option" },
      ...options.map((each) => {
        const fill = h("span", { class: "fill" });
        fill.style.width = `${most > least ? 4 + (96 * (each.utility - least)) / (most - least) : 100}%`;
        return h("li", {}, h("span", { class: "option" }, each.option), h("span", { class: "track", "aria-hidden": "true" }, fill), h("b", {}, amount(each.utility)), h("small", {}, between(each.ends)));
      }),
    ),
  );
}

// Decisions that are open, and that a variable depends on.
function openDecisions(number, seen = new Set()) {
  return variables[number].parents.flatMap((parent) => {
    if (seen.has(parent)) return [];
    seen.add(parent);
    return [...(decisions.has(parent) && !given.has(parent) ? [parent] : []), ...openDecisions(parent, seen)];
  });
}

const result = h("div", { class: "result" });
const chosen = h("p", { class: "chosen" });
const status = h("p", { class: "hidden", role: "status" });
const below = h("p", { class: "below", "aria-hidden": "true" }); // the answer, where it is out of sight on a phone
const busy = h("p", { class: "busy", hidden: true }, "Computing …");

function draw() {
  const variable = variables[target];
  const own = found?.[target];
  if (targetState === null || targetState >= variable.states.length) targetState = variable.order.at(-1);
  if (!own) {
    result.replaceChildren(h("p", { class: "problem" }, "These things cannot all be true together, as far as this model knows. Take one of them back."));
    status.textContent = "This is impossible.";
    below.replaceChildren("These things cannot all be true together.");
  } else {
    const main = own[targetState];
    const isGiven = given.has(target);
    const before = given.size ? baseline?.[target] : null;
    const [value, low, high] = main;
    result.replaceChildren(
      h(
        "div",
        { class: "headline" },
        h(
          "div",
          {},
          h("p", { class: "what" }, `${variable.label}: ${variable.labels[targetState]}`),
          h("p", { class: "big" }, percent(value)),
          h("p", { class: "range" }, low === null ? "" : `95% interval ${interval(low, high)}`),
          before ? h("p", { class: "was" }, `${percent(before[targetState][0])} when nothing is known`) : null,
        ),
        hundred(value, low, high),
      ),
      h("p", { class: "sentence" }, isGiven ? `${variable.label} is what you said.` : sentence(variable, targetState, main)),
      bars(target, own, before),
    );
    const open = openDecisions(target).map(nameOf);
    if (open.length) result.append(h("p", { class: "note" }, `${variable.label} depends on ${open.join(", ")}, which is not decided: these numbers mix the options. Choose one to see what it leads to.`));
    status.textContent = `${variable.label}: ${variable.labels[targetState]} ${percent(value)}`;
    below.replaceChildren(h("span", {}, `${variable.label}: ${variable.labels[targetState]}`), h("b", {}, percent(value)), h("small", {}, interval(low, high)));
  }
  const words = [...given].map(([number, known]) => `${nameOf(number)} ${known.set !== undefined ? "set to" : "is"} ${variables[number].labels[known.set ?? known.state]}`);
  chosen.textContent = words.length ? words.join(" · ") : "Nothing is known yet: these are the numbers for everybody.";
  for (const each of rows.values()) each();
  clear.disabled = given.size === 0;
  decide();
  drawing?.update(found && found.map((each, number) => (decisions.has(number) && !given.has(number) ? undefined : each)), given);
  overview();
}

let waits = null;
function update() {
  clearTimeout(waits);
  const slow = lasted > SLOW;
  busy.hidden = !slow;
  const compute = () => {
    const start = performance.now();
    try {
      found = answer(given);
    } catch (error) {
      if (!(error instanceof ImpossibleError)) throw error;
      found = null;
    }
    lasted = performance.now() - start;
    baseline ??= found;
    busy.hidden = true;
    draw();
  };
  if (slow) waits = setTimeout(compute, 20);
  else compute();
}
let lasted = 0;

// The page --------------------------------------------------------------------------------------------------------------------

const clear = h("button", { type: "button", disabled: true, onclick: () => (given.clear(), update()) }, "Start over");

const select = h(
  "select",
  {
    "aria-label": "What you want to know",
    onchange: (event) => {
      target = Number(event.target.value);
      targetState = null;
      draw();
    },
  },
  ...targets.map((number) => h("option", { value: String(number), selected: number === target }, nameOf(number))),
);

const search = h("input", { type: "search", placeholder: "Find", "aria-label": "Find something that is known" });
const list = h("div", { class: "inputs" }, ...inputs.map((number) => row(number)));
search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  inputs.forEach((number, index) => {
    list.children[index].hidden = !`${variables[number].label} ${variables[number].name}`.toLowerCase().includes(wanted) && !given.has(number);
  });
});

const drawing = content.picture ? picture(content, choose) : null;
const all = h("div", { class: "overview" });

// Every other variable, for those who want to see all of it.
function overview() {
  if (drawing || !found) return;
  all.replaceChildren(
    ...targets
      .filter((each) => each !== target && found[each])
      .map((each) => h("section", {}, h("h3", {}, nameOf(each)), bars(each, found[each], given.size ? baseline?.[each] : null))),
  );
}

const day = content.about.date ? new Date(content.about.date).toLocaleDateString("en-GB", { year: "numeric", month: "long", day: "numeric" }) : "";
const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
const about = content.about;
const lead =
  about.rows === undefined
    ? "A model of how things depend on each other."
    : `A model that was learned from ${about.rows ? `${count(about.rows, "row")} of data` : "no data"}${about.statements ? ` and ${count(about.statements, "statement")} of experts` : ""}${day ? `, on ${day}` : ""}.`;

const facts = [
  ["Learned", day],
  ["Data", about.table ? `${about.table}, ${count(about.rows, "row")}` : about.rows ? count(about.rows, "row") : ""],
  ["Fingerprint of the data", about.fingerprint],
  ["Method", about.method],
  ["How it ended", about.status],
  ["Draws of the posterior", content.draws > 1 ? content.draws.toLocaleString("en") : ""],
  ["Made with", `credo ${about.credo}`],
].filter(([, value]) => value);

document.getElementById("page").append(
  h("header", {}, h("h1", {}, content.title), h("p", { class: "lead" }, `${lead} Say what is known about a case, and see how probable the rest is. Everything is computed on this device; nothing is sent anywhere.`)),
  h(
    "main",
    {},
    h(
      "section",
      { class: "case", "aria-labelledby": "case" },
      h("div", { class: "title" }, h("h2", { id: "case" }, "What is known"), clear),
      inputs.length > 12 ? search : null,
      list,
      content.kind === "plan"
        ? h(
            "details",
            {},
            h("summary", {}, "What if we change something ourselves?"),
            h(
              "label",
              { class: "means" },
              h("input", { type: "checkbox", onchange: (event) => (sets = event.target.checked) }),
              " From now on, a choice means that we set it, instead of seeing it. What leads to it then says nothing about it.",
            ),
          )
        : null,
    ),
    h(
      "section",
      { class: "answer", "aria-labelledby": "answer" },
      h("div", { class: "title" }, h("h2", { id: "answer" }, "How probable is"), targets.length > 1 ? select : h("b", {}, nameOf(target))),
      chosen,
      busy,
      result,
      status,
      content.decision ? h("section", { class: "what-to-do", "aria-labelledby": "what-to-do" }, h("h3", { id: "what-to-do" }, "What to do in this case"), decision, h("details", {}, h("summary", {}, "What counts"), h("ul", {}, ...content.decision.utilities.map((each) => h("li", {}, each))))) : null,
      content.note ? h("p", { class: "note" }, content.note) : null,
      h("p", { class: "caution" }, `${content.note ? "" : "The interval says how far the numbers are known, if the model is right. "}A model can be wrong: it helps to think about a case, and decides nothing.`),
    ),
    drawing
      ? h("section", { class: "network", "aria-labelledby": "network" }, h("h2", { id: "network" }, "The whole network"), h("p", { class: "hint" }, "An arrow leads from a cause to what depends on it. Click a state to say that it was observed."), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Picture of the network" }, drawing.element))
      : targets.length > 1
        ? h("section", { class: "network", "aria-labelledby": "others" }, h("h2", { id: "others" }, "Everything else"), all)
        : null,
    h(
      "section",
      { class: "about" },
      h("details", {}, h("summary", {}, "What it rests on"), h("dl", {}, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])), h("p", { class: "hint" }, "This file holds probabilities, and no rows of the data.")),
      content.text ? h("details", {}, h("summary", {}, "What experts stated"), h("pre", { tabindex: 0 }, content.text)) : null,
    ),
  ),
  h("footer", {}, h("button", { type: "button", onclick: () => window.print() }, "Print"), h("span", {}, "Offline: this page loads nothing and sends nothing.")),
  below,
);

// For whoever wants to ask it from a script: names and states as in the network.
window.credo = {
  variables: variables.map(({ name, states }) => ({ name, states })),
  answer(known = {}, kinds = {}) {
    const asked = new Map();
    const states = (name) => variables[placeOf.get(name)].states;
    for (const [name, state] of Object.entries(known)) asked.set(placeOf.get(name), { state: states(name).indexOf(state) });
    for (const [name, state] of Object.entries(kinds.set ?? {})) asked.set(placeOf.get(name), { set: states(name).indexOf(state) });
    for (const [name, weights] of Object.entries(kinds.soft ?? {})) asked.set(placeOf.get(name), { weights: states(name).map((state) => weights[state] ?? 0) });
    const numbersOf = answer(asked);
    return variables.flatMap((each, index) => (each.hidden || !numbersOf[index] ? [] : each.states.map((state, place) => [each.name, state, ...numbersOf[index][place]])));
  },
  decide(known = {}) {
    const asked = new Map(Object.entries(known).map(([name, state]) => [placeOf.get(name), { state: variables[placeOf.get(name)].states.indexOf(state) }]));
    if (lateOf(asked).length) throw new Error("This is not known before deciding.");
    return decided(content.decision, engine, asked, hasIntervals);
  },
};

update();
