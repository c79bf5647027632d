// The keyboard focus is never lost: where what had it is gone, hidden or disabled, something near takes it.
// Without that, somebody without a mouse would begin at the top of the page again, and a screen reader would fall silent.

const FOCUSABLE = "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), summary";

let last = null; // what had the focus
let around = []; // what it was in, from the inside out

const isUsable = (element) => element.isConnected && !element.disabled && element.checkVisibility();

// The part of the page that it was in: each of them can have the focus itself.
const part = () => [...around, document.getElementById("panel")].find((each) => each?.hasAttribute("tabindex") && isUsable(each));

// What stands before a button that was disabled, as the field that it is for; otherwise what stands behind it.
function neighbour() {
  for (const each of around) {
    const own = [...each.querySelectorAll(FOCUSABLE)].filter(isUsable);
    const before = own.filter((other) => other.compareDocumentPosition(last) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (own.length) return before.at(-1) ?? own[0];
  }
  return undefined;
}

function restore() {
  const active = document.activeElement;
  if (!last || (active && active !== document.body && !(active === last && last.disabled)) || isUsable(last)) return;
  const next = last.isConnected && last.disabled && last.checkVisibility() ? neighbour() : part();
  next?.focus({ preventScroll: true });
}

export function keepFocus() {
  document.addEventListener("focusin", ({ target }) => {
    last = target;
    around = [];
    for (let each = target.parentElement; each; each = each.parentElement) around.push(each);
  });
  let waits = false;
  const soon = () => {
    if (waits) return;
    waits = true;
    // Browsers take the focus from what is hidden or disabled when they draw the next frame.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        waits = false;
        restore();
      }),
    );
  };
  new MutationObserver(soon).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["disabled", "class", "open"] });
}
