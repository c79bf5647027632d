// What Undo takes back, and Redo does again, in the order in which it happened: changes of the text, of the case, and of
// what was arranged. The editor remembers changes of the text by itself; here stands only when each of them came.
const MOST = 300; // steps
const TOGETHER = 1_000; // milliseconds within which a slider that goes on moving is one step

export const NO_PAST = { past: [], future: [] };
export const TEXT = "text";

// A step, after which nothing that was undone can come back. One that goes on with the last one becomes part of it.
export function withStep({ past }, step, now) {
  const last = past.at(-1);
  if (step.going && last?.going === step.going && now - last.at < TOGETHER) return { past: [...past.slice(0, -1), { ...last, after: step.after, at: now }], future: [] };
  return { past: [...past.slice(1 - MOST), { ...step, at: now }], future: [] };
}

// A change of the text that the editor took back, or did again: the last one that is left.
export function withTextMoved({ past, future }, back) {
  const [from, to] = back ? [past, future] : [future, past];
  const place = from.findLastIndex((each) => each.kind === TEXT);
  const moved = place < 0 ? [{ kind: TEXT }] : [from[place]];
  const left = from.filter((_, index) => index !== place);
  return back ? { past: left, future: [...to, ...moved] } : { past: [...to, ...moved], future: left };
}
