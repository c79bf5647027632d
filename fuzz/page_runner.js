// Runs the script of shared pages without a browser: a line of JSON comes with a page's texts and cases, answers go back.
// What the script draws goes into elements that take anything.
const vm = require("node:vm");

function element() {
  const children = [];
  const own = { style: {}, classList: { toggle() {}, add() {}, remove() {} }, children, value: "", textContent: "" };
  return new Proxy(own, {
    get(target, key) {
      if (key in target) return target[key];
      if (key === Symbol.iterator) return undefined;
      return (...given) => {
        if (key === "append" || key === "replaceChildren") {
          if (key === "replaceChildren") children.length = 0;
          children.push(...given.map((each) => (typeof each === "object" ? each : element())));
        }
      };
    },
    set(target, key, value) {
      target[key] = value;
      return true;
    },
  });
}

function answersOf({ script, content, numbers, cases, decisions }) {
  const texts = { content: { textContent: content }, numbers: { textContent: numbers }, page: element() };
  const document = {
    getElementById: (name) => texts[name],
    createElement: element,
    createElementNS: element,
  };
  const window = {};
  vm.runInNewContext(script, { document, window, atob, performance, setTimeout, clearTimeout, Float64Array, Uint8Array });
  const tried = (run) => {
    try {
      return run();
    } catch (error) {
      return { error: String(error) };
    }
  };
  return {
    answers: cases.map(([known, set, soft]) => tried(() => window.credo.answer(known, { set, soft }))),
    decisions: decisions.map((known) => tried(() => window.credo.decide(known))),
  };
}

require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    let found;
    try {
      found = answersOf(JSON.parse(line));
    } catch (error) {
      found = { failed: String(error.stack ?? error) };
    }
    process.stdout.write(JSON.stringify(found) + "\n");
  });
