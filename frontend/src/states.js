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
