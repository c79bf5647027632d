// Percentages as people say them: whole, unless they are next to nothing or to everything.
export function percent(value) {
  const number = 100 * value;
  if (value === 0 || value === 1) return `${number}%`;
  if (value > 0 && value < 0.0001) return value < 1e-12 ? "<1e-12" : value.toExponential(1).replace(".0e", "e");
  if (number < 0.1) return `${number.toFixed(2)}%`;
  if (number > 99.9) return ">99.9%";
  return `${number < 1 || number > 99 ? number.toFixed(1) : number.toFixed(0)}%`;
}
