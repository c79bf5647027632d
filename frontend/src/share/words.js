// Percentages with as many digits as people read: more where they are next to nothing or to everything, as in the terminal and the report.
export function percent(value) {
  if (value === null || value === undefined) return "–";
  const number = 100 * value;
  if (value === 0 || value === 1) return `${number}%`;
  if (value > 0 && value < 0.0001) return small(value);
  if (number > 0 && number < 0.1) return `${number.toFixed(2)}%`;
  if (number < 100 && number > 99.9) return ">99.9%";
  return `${number < 10 || number > 90 ? number.toFixed(1) : number.toFixed(0)}%`;
}

// A probability that is next to nothing: 1.1e-6.
export const small = (value) => (value < 1e-12 ? "<1e-12" : value.toExponential(1).replace(".0e", "e"));

// The parts between which a name may be broken: after a sign, before a capital letter or a number.
const partsOf = (name) => name.match(/\p{Lu}*[^\p{Lu}\s_.\-\d]*\d*[\s_.\-]*/gu).filter(Boolean);

// A name in lines that fit; null where a part has to be broken and may not be.
export function wrapped(name, fits, mayBreak = true) {
  const lines = [""];
  for (const part of partsOf(name)) {
    if (fits(lines.at(-1) + part.trimEnd())) lines[lines.length - 1] += part;
    else if (fits(part.trimEnd())) lines.push(part);
    else if (!mayBreak) return null;
    else
      for (const letter of part) {
        if (!fits(lines.at(-1) + letter)) lines.push("");
        lines[lines.length - 1] += letter;
      }
  }
  return lines.filter(Boolean);
}
