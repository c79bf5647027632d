// Variables and states may have any name, `constructor` and `__proto__` too: objects are asked for what they own alone.
export const at = (object, name) => (object !== null && object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined);

// The object with another value under a name; undefined takes the name away.
export const withName = (object, name, value) =>
  Object.fromEntries([...Object.entries(object).filter(([each]) => each !== name), ...(value === undefined ? [] : [[name, value]])]);

export const KINDS = ["evidence", "do", "soft"];
export const NOTHING_GIVEN = { evidence: {}, do: {}, soft: {} };

// What is known about one variable: [kind, state or weights]; an empty list for nothing.
export function knownOf(given, name) {
  const kind = KINDS.find((each) => at(given[each], name) !== undefined);
  return kind ? [kind, at(given[kind], name)] : [];
}

// A case with something else about one variable.
export const givenWith = (given, name, kind, value) =>
  Object.fromEntries(KINDS.map((each) => [each, withName(given[each], name, each === kind ? value : undefined)]));

// How probable the states of a variable are; what is to be decided has no probability before it is.
export const chancesOf = (state, { name, decision }) => (decision && !knownOf(state.given, name).length ? undefined : at(state.bars?.bars, name));

// Decisions that are open, and that a variable depends on.
export function openDecisions(given, network, name) {
  const byName = new Map(network.variables.map((each) => [each.name, each]));
  const found = new Set([name]);
  for (const each of found) for (const parent of byName.get(each)?.parents ?? []) found.add(parent);
  return [...found].filter((each) => each !== name && byName.get(each)?.decision && !knownOf(given, each).length);
}

// What of a case is about variables and states that exist now.
export function givenNow(given, network) {
  const states = new Map(network?.variables.map((each) => [each.name, each.states]) ?? []);
  const kept = (kind, known) =>
    Object.fromEntries(
      Object.entries(known).filter(([name, value]) => {
        const own = states.get(name);
        return own && (kind === "soft" ? Object.keys(value).every((each) => own.includes(each)) : own.includes(value));
      }),
    );
  return Object.fromEntries(KINDS.map((kind) => [kind, kept(kind, given[kind])]));
}

// What people read in place of the name of a state.
export const labelOf = (variable, state) => variable.labels?.[variable.states.indexOf(state)] ?? state;

// Whether what was learned about a variable's CPT is about the variable as it is now: its states, cut points and parents.
export function isSame(learned, now, name) {
  const [one, two] = [learned, now].map((network) => network?.variables.find((each) => each.name === name));
  const same = (names, others) => names.length === others.length && names.every((each) => others.includes(each));
  const alike = (each) => {
    const [own, other] = [learned, now].map((network) => network.variables.find((found) => found.name === each));
    return own && other && same(own.states, other.states) && JSON.stringify(own.cuts) === JSON.stringify(other.cuts);
  };
  return Boolean(one && two && same(one.parents, two.parents) && [name, ...one.parents].every(alike));
}

// A network that was learned, with the labels that the text gives now.
export function labelledAs(learned, now) {
  const byName = new Map(now?.variables.map((each) => [each.name, each]) ?? []);
  const variables = learned.variables.map((each) => {
    const own = byName.get(each.name);
    return own ? { ...each, label: own.label, about: own.about, labels: each.states.map((state) => labelOf(own.states.includes(state) ? own : each, state)) } : each;
  });
  return { ...learned, variables };
}

// The same from the names alone, where they may be those of another network: what is not known is called as it is.
export function wordsFor(network) {
  const byName = new Map(network?.variables.map((each) => [each.name, each]) ?? []);
  return { name: (name) => byName.get(name)?.label ?? name, state: (name, state) => (byName.has(name) ? labelOf(byName.get(name), state) : state) };
}

export const countGiven = (given) => KINDS.reduce((sum, kind) => sum + Object.keys(given[kind]).length, 0);
