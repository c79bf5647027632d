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

export const percent = (value) => {
  if (value === null || value === undefined) return "–";
  const number = 100 * value;
  if (value === 0 || value === 1) return `${number}%`;
  if (number > 0 && number < 0.1) return "<0.1%";
  if (number < 100 && number > 99.9) return ">99.9%";
  return `${number < 10 || number > 90 ? number.toFixed(1) : number.toFixed(0)}%`;
};
