// Pictures as files: SVG, or PNG at twice the size; the network in light colours, for paper and slides.
import { keepFile } from "./api.js";
import { pointsBetween } from "./arrow_paths.js";
import { KINDS, at } from "./names.js";
import { picture, svg } from "./share/picture.js";
import { percent } from "./share/words.js";
import { useStudio } from "./store.js";

const STYLE = `
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px; fill: #1c2328; }
.name { font-weight: 650; font-size: 14px; } .name.long { font-size: 12px; } .number, .more { fill: #55606a; }
.box { fill: #ffffff; stroke: #b9c2ca; stroke-width: 1.2; } .box.known { fill: #dcecf6; stroke: #0b6394; }
.arrow { fill: none; stroke: #6f7c87; stroke-width: 1.5; } .tip { fill: #6f7c87; }
.track { fill: #eceff1; } .fill { fill: #7fb2d3; } .whisker { stroke: #1c2328; stroke-width: 1.5; fill: none; }
.touch { fill: none; } .chosen text { font-weight: 700; }`;

function drawnPicture() {
  const { drawing, arrangement, bars, given } = useStudio.getState();
  if (!drawing) return null;
  const moved = drawing.part === "[[],null]" ? (arrangement?.positions ?? {}) : {};
  const boxes = Object.fromEntries(Object.entries(drawing.picture.boxes).map(([name, box]) => [name, at(moved, name) ? [...moved[name], box[2], box[3]] : box]));
  const boxOf = ([x, y, width, height]) => ({ x, y, width, height });
  const routes = drawing.picture.routes.map(([parent, child, points]) => [parent, child, at(moved, parent) || at(moved, child) ? pointsBetween(boxOf(boxes[parent]), boxOf(boxes[child])) : points]);
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
  drawn.element.prepend(withStyle());
  drawn.element.setAttribute("xmlns", SVG);
  return drawn.element;
}

const fileName = (name) => name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "") || "chart";

// A picture that stands on the page, with the colours and letters that the page gives it.
const COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
function standingAlone(element) {
  if (!element.isConnected) return element;
  const copy = element.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [element, ...element.querySelectorAll("*")].forEach((each, index) => {
    const style = getComputedStyle(each);
    for (const property of COPIED) copies[index].setAttribute(property, style.getPropertyValue(property));
  });
  const [, , width, height] = element.getAttribute("viewBox").split(" ").map(Number);
  for (const [key, value] of [["width", width], ["height", height], ["xmlns", SVG]]) copy.setAttribute(key, value);
  return copy;
}

const SVG = "http://www.w3.org/2000/svg";
const textOf = (element) => new XMLSerializer().serializeToString(standingAlone(element));

export function keepSvg(element, name) {
  keepFile(new Blob([textOf(element)], { type: "image/svg+xml" }), `${fileName(name)}.svg`);
}

export async function keepPng(element, name) {
  const text = textOf(element);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  const scale = Math.min(2, 12_000 / Math.max(width, height)); // beyond that browsers draw nothing
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
  const brush = canvas.getContext("2d");
  brush.fillStyle = "#ffffff";
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(image, 0, 0, canvas.width, canvas.height);
  keepFile(await new Promise((done) => canvas.toBlob(done, "image/png")), `${fileName(name)}.png`);
}

const nameOf = () => (useStudio.getState().opened?.knowledge ?? "network").replace(/^.*\//, "").replace(/\.credo$/, "");

export function exportSvg() {
  const element = drawnPicture();
  if (element) keepSvg(element, nameOf());
}

export async function exportPng() {
  const element = drawnPicture();
  if (element) await keepPng(element, nameOf());
}

// Bars -----------------------------------------------------------------------------------------------------------------------

const [WIDTH, LABEL, LINE] = [460, 150, 22];

// Bars with their intervals, in groups with a heading each: [heading, [[label, value, low, high], …]].
export function barsPicture(title, groups) {
  const rows = [[title, "title"], ...groups.flatMap(([heading, own]) => [...(heading ? [[heading, "heading"]] : []), ...own])];
  const room = WIDTH - LABEL - 60;
  const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const parts = rows.flatMap((row, index) => {
    const middle = 8 + LINE * index + LINE / 2;
    if (row[1] === "title" || row[1] === "heading") return [svg("text", { x: 8, y: middle + 4, class: row[1] === "title" ? "name" : "more" }, shortened(row[0], 60))];
    const [label, value, low, high] = row;
    const [start, width] = [LABEL, room * (value ?? 0)];
    return [
      svg("text", { x: 16, y: middle + 4 }, shortened(label, 18)),
      svg("rect", { x: start, y: middle - 6, width: room, height: 12, rx: 2, class: "track" }),
      svg("rect", { x: start, y: middle - 6, width, height: 12, rx: 2, class: "fill" }),
      ...(low !== null && low !== undefined && high > low ? [svg("path", { class: "whisker", d: `M${start + room * low} ${middle - 4}v8m0 -4H${start + room * high}m0 -4v8` })] : []),
      svg("text", { x: WIDTH - 8, y: middle + 4, class: "number", "text-anchor": "end" }, percent(value)),
    ];
  });
  const height = 16 + LINE * rows.length;
  return svg("svg", { xmlns: SVG, viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height }, withStyle(), ...parts);
}

function withStyle() {
  const style = document.createElementNS(SVG, "style");
  style.textContent = STYLE;
  return style;
}
