// Percentages as people say them: whole, unless they are next to nothing or to everything.
export function percent(value) {
  const number = 100 * value;
  if (value === 0 || value === 1) return `${number}%`;
  if (value > 0 && value < 0.0001) return value < 1e-12 ? "<1e-12" : value.toExponential(1).replace(".0e", "e");
  if (number < 0.1) return `${number.toFixed(2)}%`;
  if (number > 99.9) return ">99.9%";
  return `${number < 1 || number > 99 ? number.toFixed(1) : number.toFixed(0)}%`;
}

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
