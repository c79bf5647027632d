// The variable that a panel is about, by its label: the one that is chosen in the network, too.
import { useStudio } from "./store.js";

export function ChooseVariable({ label, variable, variables }) {
  return (
    <label>
      {label}
      <select value={variable.name} title={[variable.name, variable.about].filter(Boolean).join("\n")} onChange={(event) => useStudio.setState({ selected: event.target.value })}>
        {variables.map((each) => (
          <option key={each.name} value={each.name}>
            {each.label}
          </option>
        ))}
      </select>
    </label>
  );
}
