const nodes = [...document.querySelectorAll(".node")];
const statements = [...document.querySelectorAll(".statements tbody tr")].map((row) => [row, row.cells[0].textContent.toLowerCase()]);
const boxes = [...document.querySelectorAll(".net .v")];
const folds = [...document.querySelectorAll("details")];
const box = document.getElementById("search");
const count = document.getElementById("found");

function show(wanted) {
  let shown = 0;
  for (const node of nodes) {
    const fits = node.dataset.name.toLowerCase().includes(wanted);
    node.classList.toggle("hidden", !fits);
    shown += fits ? 1 : 0;
  }
  for (const box of boxes) box.classList.toggle("found", wanted !== "" && box.dataset.name.toLowerCase().includes(wanted));
  for (const [row, text] of statements) row.classList.toggle("hidden", !text.includes(wanted));
  for (const fold of folds) fold.open = wanted !== "" && fold.querySelector(":is(.statements tbody tr, .node):not(.hidden)") !== null;
  bring(wanted && boxes.find((box) => box.classList.contains("found")));
  count.textContent = wanted ? `${shown} of ${nodes.length} variables` : "";
}

// A box that was found comes to the middle of the picture; the page stays where it is.
function bring(found) {
  const frame = found && found.closest(".network");
  if (!frame) return;
  const [box, around] = [found.getBoundingClientRect(), frame.getBoundingClientRect()];
  frame.scrollBy(box.left + box.width / 2 - around.left - around.width / 2, box.top + box.height / 2 - around.top - around.height / 2);
}

// The target of a link may be folded, or hidden by a search.
function reveal() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let each = target; each; each = each.parentElement) {
    each.classList.remove("hidden");
    if (each.tagName === "DETAILS") each.open = true;
  }
  target.scrollIntoView({ block: target.closest("svg") ? "center" : "start", inline: "center" });
}

// Each link to a statement shows its words.
document.addEventListener("pointerover", (event) => {
  const link = event.target.closest?.("a[href^='#s']");
  const row = link && document.getElementById(link.hash.slice(1));
  if (row) link.title = row.cells[0].textContent;
});

box?.addEventListener("input", () => show(box.value.trim().toLowerCase()));
box?.addEventListener("keydown", (event) => {
  if (event.key === "Enter") nodes.find((node) => !node.classList.contains("hidden"))?.scrollIntoView();
});

// The picture of the network: without this script it scrolls; with it, it can be enlarged, dragged and moved by keys too.
const FAR = 0.62, LEAST = 0.1, MOST = 4, FIRST_LEAST = 0.36, STEP = 1.25;

function zoomable(frame) {
  const svg = frame.querySelector("svg");
  const width = svg.viewBox.baseVal.width, height = svg.viewBox.baseVal.height;
  let scale = 1;
  // The point of the picture under (x, y) of the frame stays there.
  function zoom(wanted, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
    const next = Math.min(MOST, Math.max(LEAST, wanted));
    const [left, top] = [(frame.scrollLeft + x) / scale, (frame.scrollTop + y) / scale];
    scale = next;
    svg.style.width = `${width * scale}px`;
    svg.style.height = `${height * scale}px`;
    svg.classList.toggle("far", scale < FAR);
    frame.scrollLeft = left * scale - x;
    frame.scrollTop = top * scale - y;
  }
  const fit = () => { zoom(Math.min(1, (frame.clientWidth - 2) / width)); frame.scrollTop = 0; };

  const tools = document.createElement("div");
  tools.className = "tools";
  for (const [text, label, act] of [
    ["+", "larger", () => zoom(scale * STEP)],
    ["−", "smaller", () => zoom(scale / STEP)],
    ["fit to width", "the whole width of the picture", fit],
    ["100%", "letters as large as those of the page", () => zoom(1)],
  ]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = label;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    tools.append(button);
  }
  const hint = document.createElement("span");
  hint.textContent = "drag to move; keys + − 0 and arrows";
  tools.append(hint);
  frame.before(tools);

  frame.tabIndex = 0;
  frame.classList.add("zoomed");
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", "The network: keys plus and minus change its size, 0 fits it to the width, arrows move it");
  frame.addEventListener("keydown", (event) => {
    const keys = {
      "+": () => zoom(scale * STEP), "=": () => zoom(scale * STEP), "-": () => zoom(scale / STEP), "−": () => zoom(scale / STEP), "0": fit,
      ArrowLeft: () => frame.scrollBy(-80, 0), ArrowRight: () => frame.scrollBy(80, 0),
      ArrowUp: () => frame.scrollBy(0, -80), ArrowDown: () => frame.scrollBy(0, 80),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  const within = (event) => { const box = frame.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  // Pinching on a touchpad is a wheel with Ctrl.
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(scale * Math.exp(-event.deltaY / 200), ...within(event));
  }, { passive: false });

  let held = null, dragged = false;
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    held = [event.clientX + frame.scrollLeft, event.clientY + frame.scrollTop];
    dragged = false;
  });
  addEventListener("pointermove", (event) => {
    if (!held) return;
    const [left, top] = [held[0] - event.clientX, held[1] - event.clientY];
    if (Math.abs(left - frame.scrollLeft) + Math.abs(top - frame.scrollTop) > 4) dragged = true;
    if (!dragged) return;
    frame.classList.add("held");
    frame.scrollTo(left, top);
  });
  addEventListener("pointerup", () => { held = null; frame.classList.remove("held"); });
  frame.addEventListener("click", (event) => { if (dragged) { event.preventDefault(); event.stopPropagation(); dragged = false; } }, true);
  frame.addEventListener("dragstart", (event) => event.preventDefault());

  let pinch = null;
  const apart = (touches) => Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
  frame.addEventListener("touchstart", (event) => {
    pinch = event.touches.length === 2 ? { apart: apart(event.touches), scale } : null;
  }, { passive: true });
  frame.addEventListener("touchmove", (event) => {
    if (!pinch || event.touches.length !== 2) return;
    event.preventDefault();
    const [one, other] = [within(event.touches[0]), within(event.touches[1])];
    zoom(pinch.scale * apart(event.touches) / pinch.apart, (one[0] + other[0]) / 2, (one[1] + other[1]) / 2);
  }, { passive: false });

  const arrows = [...svg.querySelectorAll("[data-e]")].map((arrow) => [arrow, ...arrow.dataset.e.split(" ").map((end) => `v${end}`)]);
  function pick(box) {
    for (const each of svg.querySelectorAll(".near")) each.classList.remove("near");
    svg.classList.toggle("picked", box !== null);
    box?.classList.add("near");
    for (const [arrow, parent, child] of box ? arrows : []) {
      if (box.id !== parent && box.id !== child) continue;
      arrow.classList.add("near");
      document.getElementById(box.id === parent ? child : parent).classList.add("near");
    }
  }
  svg.addEventListener("pointerover", (event) => { if (!held) pick(event.target.closest(".v")); });
  svg.addEventListener("pointerleave", () => pick(null));
  svg.addEventListener("focusin", (event) => pick(event.target.querySelector(".v")));
  svg.addEventListener("focusout", () => pick(null));

  zoom(Math.min(1, Math.max(FIRST_LEAST, (frame.clientWidth - 2) / width)));
  frame.scrollTo((frame.scrollWidth - frame.clientWidth) / 2, 0);
}
for (const frame of document.querySelectorAll(".network")) zoomable(frame);

addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => { if (event.target.closest?.("a[href^='#']")) setTimeout(reveal); });
reveal();
