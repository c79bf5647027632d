// Words that not everybody knows, explained where they stand: hover, or go there with the Tab key.
const GLOSSARY = {
  "95% interval": "The true probability lies in this range with a probability of 95%, if the model is right. With more data it becomes narrower.",
  "most probable explanation": "The states of all variables that are most probable together, given what is known. It is one whole story, not the most probable state of each.",
  "set by us": "An intervention: we make it so, as by a treatment. What usually leads to it then says nothing about it, unlike something that was only observed.",
  "uncertain finding": "Something was seen that does not settle the state: a weight for each state says how likely the finding is in it.",
  "the previous fit": "What was learned the time before, to see what a change of the text did.",
  CPT: "Conditional probability table: how probable each state of a variable is, for every combination of what it depends on.",
};

export function Term({ children, word = children }) {
  return (
    <dfn className="term" tabIndex={0} title={GLOSSARY[word]} aria-label={`${children}: ${GLOSSARY[word]}`}>
      {children}
    </dfn>
  );
}
