// A percentage where there is little room, as `short_percent` of credo writes it: 35%, 3.1%, 0.02%, 9.5e-7.
export function percent(value) {
  if (value === null || value === undefined) return "–";
  if (value > 0 && value < 0.0001) return small(value);
  if (value < 0.0005) return value ? `${rounded(100 * value, 2)}%` : "0%";
  if (value >= 0.9995 && value < 1) return ">99.9%";
  return `${rounded(100 * value, value < 0.0995 || (value > 0.99 && value < 1) ? 1 : 0)}%`;
}

// Halves are rounded to the even digit, as Python does: 12.5 to 12.
function rounded(number, decimals) {
  const isHalf = /^50*$/.test(number.toFixed(20).split(".")[1].slice(decimals));
  if (!isHalf) return number.toFixed(decimals);
  const scale = 10 ** decimals;
  const below = Math.floor(number * scale);
  return ((below + (below % 2)) / scale).toFixed(decimals);
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
