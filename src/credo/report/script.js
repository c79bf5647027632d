const nodes = [...document.querySelectorAll(".node")];
const statements = [...document.querySelectorAll(".statements tbody tr")].map((row) => [row, row.cells[0].textContent.toLowerCase()]);
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
  for (const [row, text] of statements) row.classList.toggle("hidden", !text.includes(wanted));
  for (const fold of folds) fold.open = wanted !== "" && fold.querySelector("tbody tr:not(.hidden)") !== null;
  count.textContent = wanted ? `${shown} of ${nodes.length} variables` : "";
}

// The target of a link may be folded, or hidden by a search.
function reveal() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let each = target; each; each = each.parentElement) {
    each.classList.remove("hidden");
    if (each.tagName === "DETAILS") each.open = true;
  }
  target.scrollIntoView();
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
addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => { if (event.target.closest?.("a[href^='#']")) setTimeout(reveal); });
reveal();
