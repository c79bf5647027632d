// The network as a picture file: SVG, or PNG at twice the size; in light colours, for paper and slides.
import { keepFile } from "./api.js";
import { KINDS, at } from "./names.js";
import { picture } from "./share/picture.js";
import { useStudio } from "./store.js";

const STYLE = `
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px; fill: #1c2328; }
.name { font-weight: 650; font-size: 14px; } .number, .more { fill: #55606a; }
.box { fill: #ffffff; stroke: #b9c2ca; stroke-width: 1.2; } .box.known { fill: #dcecf6; stroke: #0b6394; }
.arrow { fill: none; stroke: #6f7c87; stroke-width: 1.5; } .tip { fill: #6f7c87; }
.track { fill: #eceff1; } .fill { fill: #7fb2d3; } .whisker { stroke: #1c2328; stroke-width: 1.5; fill: none; }
.touch { fill: none; } .chosen text { font-weight: 700; }`;

function drawnPicture() {
  const { drawing, arrangement, bars, given } = useStudio.getState();
  if (!drawing) return null;
  const moved = drawing.part === "[[],null]" ? (arrangement?.positions ?? {}) : {};
  const boxes = Object.fromEntries(Object.entries(drawing.picture.boxes).map(([name, box]) => [name, at(moved, name) ? [...moved[name], box[2], box[3]] : box]));
  const middle = (name, share) => [boxes[name][0] + boxes[name][2] / 2, boxes[name][1] + boxes[name][3] * share];
  const routes = drawing.picture.routes.map(([parent, child, points]) => [parent, child, at(moved, parent) || at(moved, child) ? [middle(parent, 1), middle(parent, 1), middle(child, 0)] : points]);
  const { variables } = drawing.network;
  const shown = variables.map((each) => ({ ...each, order: each.states.map((_, index) => index), hidden: false }));
  const drawn = picture({ picture: { boxes, routes }, variables: shown }, () => {});
  const found = variables.map((each) => each.states.map((state) => at(at(bars?.bars, each.name), state) ?? []));
  const known = new Map(
    variables.flatMap((each, number) => {
      const kind = KINDS.find((own) => at(given[own], each.name) !== undefined);
      if (!kind) return [];
      return [[number, kind === "soft" ? {} : { state: each.states.indexOf(at(given[kind], each.name)) }]];
    }),
  );
  drawn.update(found, known);
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = STYLE;
  drawn.element.prepend(style);
  drawn.element.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return drawn.element;
}

const nameOf = () => (useStudio.getState().opened?.knowledge ?? "network").replace(/^.*\//, "").replace(/\.credo$/, "");

export function exportSvg() {
  const element = drawnPicture();
  if (element) keepFile(new Blob([new XMLSerializer().serializeToString(element)], { type: "image/svg+xml" }), `${nameOf()}.svg`);
}

export async function exportPng() {
  const element = drawnPicture();
  if (!element) return;
  const [width, height] = [Number(element.getAttribute("width")), Number(element.getAttribute("height"))];
  const scale = Math.min(2, 12_000 / Math.max(width, height)); // beyond that browsers draw nothing
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(element))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
  const brush = canvas.getContext("2d");
  brush.fillStyle = "#ffffff";
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(image, 0, 0, canvas.width, canvas.height);
  keepFile(await new Promise((done) => canvas.toBlob(done, "image/png")), `${nameOf()}.png`);
}
