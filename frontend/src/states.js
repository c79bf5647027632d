// What a statement can be found to be: a sign and words, so that colour is never the only difference.
export const STATES = {
  consistent: { sign: "✓", label: "Consistent with the others" },
  redundant: { sign: "=", label: "Redundant" },
  conflict: { sign: "✕", label: "In conflict" },
  excluded: { sign: "✕", label: "Ruled out by statements that must hold" },
  contradicted: { sign: "!", label: "Contradicted by the data" },
  unchecked: { sign: "?", label: "Not checked" },
};

export const percent = (value) => {
  if (value === null || value === undefined) return "–";
  const number = 100 * value;
  if (number > 0 && number < 0.1) return "<0.1%";
  if (number < 100 && number > 99.9) return ">99.9%";
  return `${number < 10 || number > 90 ? number.toFixed(1) : number.toFixed(0)}%`;
};
