/** Which columns play which role: what is refused by their names alone. */

import { printable, quotedByPython } from "./text";
import { Refused, type Choice } from "./types";

const named = (names: string[]): string => names.slice(0, 3).map(quotedByPython).join(", ");

function repeated(names: string[]): string | undefined {
  return names.find((name, i) => names.indexOf(name) < i);
}

/** Refuse roles that cannot be measured together. */
export function checkChoice(choice: Choice): void {
  const { attributes, tasks, task_predictions: predictions } = choice;
  if (!(choice.confidence > 0 && choice.confidence < 1)) {
    throw new Refused(`confidence is ${choice.confidence}; it must lie strictly between 0 and 1, such as 0.95`);
  }
  if (!Number.isInteger(choice.min_group) || choice.min_group < 0) throw new Refused(`min_group is ${choice.min_group}; a whole number of 0 or more is needed`);
  if (!attributes.length) throw new Refused("attributes must be a column name, a list or a mapping of them, found []");
  let twice = repeated(attributes);
  if (twice !== undefined) throw new Refused(`attributes names ${quotedByPython(twice)} twice`);
  if (!tasks.length) throw new Refused("tasks must be a column name or a list of them, found a list");
  twice = repeated(tasks);
  if (twice !== undefined) throw new Refused(`tasks names the column ${quotedByPython(twice)} twice`);
  const both = attributes.find((name) => tasks.includes(name));
  if (both !== undefined) {
    throw new Refused(
      `attributes and tasks both name the column '${printable(both, 60)}': an attribute is held against another column, so name a task that differs from it`,
    );
  }
  if (!predictions.length) {
    throw new Refused(
      "neither task_predictions nor attribute_predictions is given: amplification compares predictions with truth. Without ground truth, use associate()",
    );
  }
  twice = predictions.find((name, i) => predictions.lastIndexOf(name) > i);
  if (twice !== undefined) throw new Refused(`task_predictions names ${quotedByPython(twice)} twice`);
  if (predictions.length !== tasks.length) {
    throw new Refused(
      `task_predictions names ${predictions.length} columns (${named(predictions)}) and the truth ` +
        `${tasks.length} (${named(tasks)}): they pair by position. Probabilities of several classes are biasamp.categorical([...], categories=[...])`,
    );
  }
  const wrong: [string, string[], string][] = [
    ["tasks", tasks, "the truth would be compared with itself, and nothing would ever be amplified"],
    ["attributes", attributes, "the groups themselves would be read as predictions of the task"],
  ];
  for (const [role, names, why] of wrong) {
    const same = names.find((name) => predictions.includes(name));
    if (same !== undefined) {
      throw new Refused(`${role} and task_predictions both name the column '${printable(same, 60)}': ${why}. Name the column of the model's predictions`);
    }
  }
}
