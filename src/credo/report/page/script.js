const box = document.getElementById("search");
const nodes = [...document.querySelectorAll(".node")];
const said = [...document.querySelectorAll(".statements tbody tr")];
const count = document.getElementById("found");
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  let shown = 0;
  for (const node of nodes) {
    const fits = node.dataset.name.toLowerCase().includes(wanted);
    node.classList.toggle("hidden", !fits);
    shown += fits ? 1 : 0;
  }
  for (const row of said) row.classList.toggle("hidden", !row.dataset.text.toLowerCase().includes(wanted));
  count.textContent = wanted ? `${shown} of ${nodes.length} variables` : "";
});
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const first = nodes.find((node) => !node.classList.contains("hidden"));
  if (first) first.scrollIntoView({ behavior: "smooth" });
});
