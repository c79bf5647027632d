// Keys that work everywhere on the page; what single parts do with keys stands with them.
import { useStudio } from "./store.js";

// The parts of the page, each with what takes the focus there.
const PARTS = [
  ["text", ".know", ".cm-content"],
  ["network", ".network", ".canvas, .empty button"],
  ["answers", ".answers", "#panel"],
];

// F6 goes from part to part, as in other programs whose windows have several.
function nextPart(step) {
  const now = PARTS.findIndex(([, part]) => document.activeElement?.closest(part));
  const place = now < 0 ? (step > 0 ? 0 : PARTS.length - 1) : (now + step + PARTS.length) % PARTS.length;
  const [view, , wanted] = PARTS[place];
  const target = document.querySelector(wanted);
  useStudio.setState({ view });
  target?.focus({ preventScroll: true });
  // On a tablet it is shown with the next frame.
  if (document.activeElement !== target) requestAnimationFrame(() => target?.focus({ preventScroll: true }));
}

export function onKey(event) {
  const { opened, dialog, travel, save } = useStudio.getState();
  if (!opened || dialog || event.defaultPrevented || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key === "f6") nextPart(event.shiftKey ? -1 : 1);
  else if (!event.ctrlKey && !event.metaKey) return;
  else if (key === "s") save();
  else if (event.target.closest("input:is(:not([type]), [type=search], [type=number]), .cm-editor")) return; // they have their own
  else if (key === "y" || (key === "z" && event.shiftKey)) travel(false);
  else if (key === "z") travel(true);
  else return;
  event.preventDefault();
}
