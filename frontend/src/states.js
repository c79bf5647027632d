// What a statement can be found to be: a sign and words, so that colour is never the only difference.
export const STATES = {
  consistent: { sign: "✓", label: "Consistent with the others", short: "can hold" },
  redundant: { sign: "=", label: "Redundant", short: "redundant" },
  conflict: { sign: "✕", label: "In conflict", short: "in conflict" },
  excluded: { sign: "✕", label: "Ruled out by statements that must hold", short: "ruled out" },
  contradicted: { sign: "!", label: "Contradicted by the data", short: "contradicted by the data" },
  unchecked: { sign: "?", label: "Not checked", short: "not checked" },
};

// What was found about one statement, in words.
export const describeStatement = (each) =>
  [
    `${STATES[each.state].label}${each.verdict && each.state !== "contradicted" ? `; the data ${each.verdict}` : ""}; ${each.whole ? "it is about the network as a whole" : `it binds ${each.numbers} number${each.numbers === 1 ? "" : "s"}`}.`,
    each.detail,
  ]
    .filter(Boolean)
    .join(" ");

// A probability that is next to nothing, as the terminal and the report write it: 1.1e-6.
export const small = (value) => (value < 1e-12 ? "<1e-12" : value.toExponential(1).replace(".0e", "e"));

export const percent = (value) => {
  if (value === null || value === undefined) return "–";
  const number = 100 * value;
  if (value === 0 || value === 1) return `${number}%`;
  if (value > 0 && value < 0.0001) return small(value);
  if (number > 0 && number < 0.1) return `${number.toFixed(2)}%`;
  if (number < 100 && number > 99.9) return ">99.9%";
  return `${number < 10 || number > 90 ? number.toFixed(1) : number.toFixed(0)}%`;
};
