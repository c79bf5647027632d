// The menu of a box or an arrow: what can be done with it, at the pointer or where the focus is.
import { useEffect, useRef } from "react";
import { exportSvg } from "./export.js";
import { useStudio } from "./store.js";

export function Menu({ menu, close }) {
  const list = useRef(null);
  useEffect(() => {
    list.current?.querySelector("button")?.focus();
    const outside = (event) => !list.current?.contains(event.target) && close();
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [menu, close]);
  const onKeyDown = (event) => {
    const items = [...list.current.querySelectorAll("button")];
    const place = items.indexOf(document.activeElement);
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: items.length - 1 }[event.key];
    if (next !== undefined) items[(next + items.length) % items.length].focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={list} className="menu" role="menu" aria-label={menu.title} style={{ left: menu.x, top: menu.y }} onKeyDown={onKeyDown}>
      <p aria-hidden="true">{menu.title}</p>
      {menu.items.map(([label, action]) => (
        <button
          type="button"
          role="menuitem"
          key={label}
          onClick={() => {
            close();
            action();
          }}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

// `names` are the variables that are chosen with it.
export function itemsOfVariable(variable, names, remove) {
  const { show, focusOn, observe, opened, copied, attempt } = useStudio.getState();
  const several = names.length > 1 ? `these ${names.length}` : "it";
  const panel = (id) => () => show({ selected: variable.name, clickedInNetwork: variable.name, panel: id, view: "answers" });
  return [
    ["How probable is it?", panel("ask")],
    ["What its numbers rest on", panel("look")],
    ["Only this and its neighbours", () => (show({ selected: variable.name, clickedInNetwork: variable.name }), focusOn({ name: variable.name, depth: 1 }))],
    ["Forget what is known about it", () => observe(variable.name, null)],
    ["Change its states and arrows", panel("draw")],
    [`Copy ${several}`, () => attempt(() => navigator.clipboard.writeText(copied(names)))],
    ...(opened?.network ? [] : [[`Delete ${several}`, () => remove(names)]]),
  ];
}

export function itemsOfPane() {
  const { drawFirst, paste, opened, show } = useStudio.getState();
  return opened?.network ? [["Save the picture as SVG", exportSvg]] : [["Draw a variable", drawFirst], ["Paste", () => navigator.clipboard.readText().then(paste, () => show({ toast: "Choose the network and press Ctrl+V: the browser keeps the clipboard from buttons." }))], ["Save the picture as SVG", exportSvg]];
}

export function itemsOfArrow(parent, child) {
  const { edit, opened } = useStudio.getState();
  return [
    ...["raises", "lowers", "does not affect"].map((verb) => [`State: ${parent} ${verb} ${child}`, () => edit({ op: "arc_statement", verb, parent, child })]),
    ...(opened?.network ? [] : [["Delete the arrow", () => edit({ op: "remove_arc", parent, child })]]),
  ];
}
