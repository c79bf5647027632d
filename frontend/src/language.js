// How the knowledge language is coloured, and what completes it.
import { StreamLanguage } from "@codemirror/language";

const WORDS =
  /^(?:depends on|does not affect|raises|lowers|sub-synergi[sz]e|synergi[sz]e|with confidence|is (?:at least|at most|about|between|cut at|very likely|likely|unlikely|very unlikely)|by at least|by at most|times as likely|relative risk of|odds ratio of|prevalence of|risk difference of|has median|half between|worth|cases|certainty|had|between-study variation|among|sensitivity of|specificity of|(?:positive|negative) predictive value of|noisy-?(?:or|and|max|min)|variables?|decision|expert|with reliability|utility of|costs? of|order|group|label|unit|note|source|within|with|without|given|each|against|between|share|differ|rows|and|for|of|on|as|is|in|do|leak)(?![\w.\-/])/i;
const NAME = /^[^\W\d][\w]*(?:[.\-/]\w+)*/u;

export const credoLanguage = StreamLanguage.define({
  name: "credo",
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "{", '"'] } },
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return "string";
    if (stream.match(/^[<>]=?|^[=~≤≥±|!*+]=?/)) return "operator";
    if (stream.match(/^P(?=\s*\()/)) return "keyword";
    if (stream.match(/^\d+(?:\.\d+)?(?:e-?\d+)?%?(?!\w)/i)) return "number";
    if (stream.match(WORDS)) return "keyword";
    if (stream.match(NAME)) return "variableName";
    stream.next();
    return null;
  },
});

const VERBS = [
  ["raises", "makes higher states of the second more probable"],
  ["lowers", "makes higher states of the second less probable"],
  ["depends on", "an arrow: the second is a cause of the first"],
  ["does not affect", "changes nothing about the second"],
  ["is at least", "P(…) is at least 20%"],
  ["is at most", "P(…) is at most 20%"],
  ["is about", "P(…) is about 30%"],
  ["is between", "P(…) is between 10% and 20%"],
  ["with confidence", "how sure you are, between 0 and 1"],
  ["by at least", "a raises b by at least 0.1"],
];
const STARTS = [
  ["P(", "a probability"],
  ["prevalence of ", "prevalence of disease=yes is about 2%"],
  ["sensitivity of ", "sensitivity of test=positive for disease=yes is at least 90%"],
  ["specificity of ", "specificity of test=positive for disease=yes is at least 90%"],
  ["positive predictive value of ", "positive predictive value of test=positive for disease=yes is about 60%"],
  ["relative risk of ", "relative risk of outcome=yes for exposed=yes against exposed=no is at least 2"],
  ["odds ratio of ", "odds ratio of outcome=yes for exposed=yes against exposed=no is at least 3"],
  ["variable ", "variable outcome: no, yes"],
  ["label ", 'label outcome=yes: "died within a year"'],
  ["group ", "group symptoms: fever, cough"],
  ["decision ", "decision treat: no, yes"],
  ["utility of ", "utility of disease=yes, treat=no is -100"],
  ["cost of ", "cost of ecg is 2"],
];

const quoted = (text, bare) => (bare.test(text) ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);
const BARE_NAME = /^[^\W\d]\w*(?:[.\-/]\w+)*$/u;
const BARE_LABEL = /^\w+(?:[.\-/]\w+)*\+?$/u;
export const nameText = (name) => quoted(name, BARE_NAME);
export const labelText = (label) => quoted(label, BARE_LABEL);

// What an empty text shows: what can be written there, about the variables at hand.
export function exampleText(variables) {
  const child = variables.find((each) => each.parents.length);
  if (!child)
    return "Write what you know, one statement per line, such as:\n\nvariable smoker: no, yes\nvariable disease: no, yes\ndisease depends on smoker\nsmoker raises disease";
  const [name, parent, state] = [nameText(child.name), nameText(child.parents[0]), labelText(child.states.at(-1))];
  return `Write what you know, one statement per line, such as:\n\n${parent} raises ${name}\nP(${name}=${state}) is about 30%`;
}

// Lines to begin with, about a variable that somebody chose: what each is for, and the line.
export function templates(variable, parents) {
  if (!variable) return [["A variable and its states", "variable outcome: no, yes"]];
  const name = nameText(variable.name);
  const order = variable.order ?? variable.states;
  const high = labelText(order.at(-1));
  const event = `${name}=${high}`;
  const [parent] = parents;
  const found = [["How frequent it is", `P(${event}) is about 30%`], ["A range, with certainty", `P(${event}) is between 20% and 40% with 90% certainty`], ["A number, worth so many cases", `P(${event}) is 30%, worth 50 cases`]];
  if (parent) {
    const own = nameText(parent.name);
    const [least, most] = [parent.order?.[0] ?? parent.states[0], parent.order?.at(-1) ?? parent.states.at(-1)].map(labelText);
    found.push(
      ["What raises it", `${own} raises ${name}`],
      ["What makes no difference", `${own} does not affect ${name}`],
      ["How frequent it is in a case", `P(${event} | ${own}=${most}) is at least 50%`],
      ["How much more frequent", `${event} is 2 times as likely given ${own}=${most} as given ${own}=${least}`],
      ["What a study counted", `in "a study" 34 of 240 with ${own}=${most} had ${event}`],
    );
  }
  return [...found, ["Somebody who may be wrong", `expert Ann: P(${event}) is about 30%`], ["What people read", `label ${event}: "${high}"`], ["A decision about it", `decision act: no, yes\nutility of ${name}=${high}, act=no is -100\nutility of act=yes is -10`]];
}

// After `name =` come its states; elsewhere names, and where a word fits, verbs.
export const completer = (variables) => (context) => {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  if (before.includes("#")) return null;
  const word = context.matchBefore(/[\w.\-/"]*/);
  const from = word ? word.from : context.pos;
  if (from === context.pos && !context.explicit && !/[=(|,{]\s*$/.test(before)) return null;
  const head = line.text.slice(0, from - line.from);
  const equals = head.match(/("(?:[^"\\]|\\.)*"|[\w.\-/]+)\s*(?:=|!=|in\s*\{[^}]*)\s*$/u);
  if (equals) {
    const name = equals[1].startsWith('"') ? JSON.parse(equals[1]) : equals[1];
    const variable = variables().find((each) => each.name === name);
    if (variable)
      return {
        from,
        options: variable.states.map((state) => ({ label: labelText(state), type: "constant", detail: `state of ${name}` })),
      };
  }
  const names = variables().map((each) => ({
    label: nameText(each.name),
    type: "variable",
    detail: each.states.slice(0, 4).join(", "),
  }));
  const inside = (head.match(/\(/g)?.length ?? 0) > (head.match(/\)/g)?.length ?? 0);
  const verbs = !inside && head.trim() ? VERBS : [];
  const starts = head.trim() ? [] : STARTS;
  const words = [...verbs, ...starts].map(([label, info]) => ({ label, info, type: "keyword", boost: -1 }));
  return { from, options: [...names, ...words], validFor: /^[\w.\-/"]*$/u };
};
