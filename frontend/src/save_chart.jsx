// One chart as a file: SVG, PNG, or on paper and as PDF by the browser's own printing.
import { useRef } from "react";
import { keepPng, keepSvg } from "./export.js";
import { useStudio } from "./store.js";

// `drawn` makes the picture; without it, it is the one of the figure that this stands in.
export function SaveChart({ name, drawn }) {
  const place = useRef(null);
  const element = () => drawn?.() ?? place.current.closest("figure, section").querySelector("svg");
  const print = () => {
    const chart = place.current.closest("figure, section");
    chart.classList.add("print-this");
    document.documentElement.classList.add("print-one");
    window.print();
    document.documentElement.classList.remove("print-one");
    chart.classList.remove("print-this");
  };
  const ways = [
    ["SVG", () => keepSvg(element(), name)],
    ["PNG", () => useStudio.getState().attempt(() => keepPng(element(), name))],
    ["Print", print],
  ];
  return (
    <span className="save-chart" ref={place}>
      {ways.map(([way, save]) => (
        <button type="button" className="link underlined" key={way} aria-label={`${way === "Print" ? "Print, or save as PDF," : `Save as ${way}`}: ${name}`} onClick={save}>
          {way}
        </button>
      ))}
    </span>
  );
}
