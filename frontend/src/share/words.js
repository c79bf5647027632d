// Percentages as people say them: whole, unless they are next to nothing or to everything.
export function percent(value) {
  const number = 100 * value;
  if (value === 0 || value === 1) return `${number}%`;
  if (number < 0.1) return "<0.1%";
  if (number > 99.9) return ">99.9%";
  return `${number < 1 || number > 99 ? number.toFixed(1) : number.toFixed(0)}%`;
}
