/** The door of an audit: a table and a choice of columns become labels, or are refused in the words of the Python package. */

import { ADVICE } from "./advice";
import { checkAlone, titleOf, type Side, type Variable } from "./column_checks";
import { joined, labelsOf, moved, refuseMissing, wholeTitle } from "./labels";
import { nearest } from "./near";
import { checkChoice } from "./plan";
import { printable, quotedByPython } from "./text";
import { Beyond, Refused, type Choice, type Column, type Labels, type Roles, type Table } from "./types";
import { areYesNo, checkSaid, refuseUnknownTruth } from "./vocabulary";

/** Check the chosen columns and read them as labels. Throws Refused. */
export function rolesOf(table: Table, choice: Choice): Roles {
  checkChoice(choice);
  const columns = chosen(table, choice);
  const held = (names: string[]): Column[] => names.map((name) => columns.get(name) as Column);
  refuseContinuous(held(choice.tasks));
  let beyond: Beyond | null = null;
  const read = (names: string[], role: string, side: Side, like: Variable[] | null = null): Variable[] => {
    const labels = labelsOf(held(names), role, like);
    beyond ??= labels.beyond;
    const { variables } = labels;
    const missing = held(names).map((column) => goneOf(column.codes));
    const none = variables.every((variable) => variable.kind === "categorical" && !variable.categories.length);
    if (none) throw new Refused(`${role} column ${quotedByPython(names.join(", "))} holds no label: every value is missing`);
    // Of probabilities there is nothing to look at but which are missing.
    if (!labels.beyond || variables.length > 1 || variables[0].kind === "multilabel") {
      checkAlone(variables, role, side, table.records, new Set(like?.flatMap((variable) => (variable.kind === "binary" ? [] : variable.categories))));
    }
    refuseMissing(variables, missing, role);
    return variables;
  };
  const tasks = read(choice.tasks, "tasks", "outcomes");
  const predictions = read(choice.task_predictions, "task_predictions", "predictions", tasks);
  tasks.forEach((task, i) => refuseOtherKind(task, predictions[i]));
  const sides = tasks.map((task, i) => oneSpace(task, predictions[i], beyond !== null));
  const attributes = choice.attributes.map((name) => read([name], "attributes", "groups")[0]);
  if (beyond !== null) throw beyond as Beyond;
  return {
    records: table.records,
    attributes: attributes.map(asLabels),
    tasks: sides.map((side) => side.task),
    predictions: sides.map((side) => side.prediction),
    invented: sides.map((side) => side.invented),
  };
}

/** The chosen columns by name; one that cannot be used is refused. */
function chosen(table: Table, choice: Choice): Map<string, Column> {
  const names = new Set([...choice.tasks, ...choice.task_predictions, ...choice.attributes]);
  const there = table.names ?? table.columns.map((column) => column.name);
  for (const name of names) refuseUnclear(name, there, table.source);
  if (!table.records) throw new Refused(`${table.source} has no records`);
  const found = new Map([...names].map((name) => [name, table.columns.find((column) => column.name === name) as Column]));
  for (const column of found.values()) {
    if (column.refusal !== undefined) throw new Refused(column.refusal);
  }
  return found;
}

/** Raise for a column that does not exist, offering the nearest names, and for one that exists more than once. */
function refuseUnclear(name: string, there: string[], source: string): void {
  const times = there.filter((one) => one === name).length;
  if (times === 1) return;
  if (times > 1) throw new Refused(`${source} has ${times} columns named ${quotedByPython(printable(name, 60))}: rename them, so that it is clear which is meant`);
  const near = nearest(name, there);
  const offered = (near.length ? near : there.slice(0, 8)).map((one) => `'${printable(one, 40)}'`).join(", ");
  const more = there.length > 8 ? ` and ${there.length - 8} more` : "";
  throw new Refused(`${source} has no column '${printable(name, 60)}'; ${near.length ? `did you mean ${offered}?` : `it has ${offered}${more}`}`);
}

/** A task of numbers that are no labels: fractions that are no probabilities. */
function refuseContinuous(tasks: Column[]): void {
  if (tasks.length !== 1 || tasks[0].type !== "float") return;
  const values = (tasks[0].values as number[]).filter(Number.isFinite);
  if (values.some((value) => !Number.isInteger(value)) && values.some((value) => Math.abs(value) > 1)) {
    throw new Beyond(
      `tasks column ${quotedByPython(printable(tasks[0].name, 60))} holds numbers that are no labels, such as a salary or a score, and this page measures labels alone: ` +
        "the full audit measures means of groups",
    );
  }
}

/** Which records have no value; null where all have one. */
function goneOf(codes: Int32Array): Uint8Array | null {
  let gone: Uint8Array | null = null;
  for (let i = 0; i < codes.length; i += 1) {
    if (codes[i] < 0) {
      gone ??= new Uint8Array(codes.length);
      gone[i] = 1;
    }
  }
  return gone;
}

/** How often each category comes. */
function totals(variable: Variable): number[] {
  const out = new Array<number>(variable.categories.length).fill(0);
  for (const code of variable.codes) if (code >= 0) out[code] += 1;
  return out;
}

/** Refuse a task that was read as another kind of labels than its predictions. */
function refuseOtherKind(task: Variable, said: Variable): void {
  if (task.kind !== said.kind) {
    throw new Refused(
      `${wholeTitle("tasks", task.name)} was read as ${task.kind} and ${wholeTitle("task_predictions", said.name)} as ${said.kind}: ` +
        ADVICE.kinds,
    );
  }
}

/** A task and its predictions in one label space, after their values were compared. */
function oneSpace(task: Variable, said: Variable, soft: boolean): { task: Labels; prediction: Labels; invented: number[] } {
  if (task.kind !== "categorical") return { task: asLabels(task), prediction: asLabels(said), invented: [] };
  const titles: [string, string] = [titleOf("tasks", task), titleOf("task_predictions", said)];
  refuseUnknownTruth(task.categories, said.categories, ...titles);
  const known = new Set(task.categories);
  if (said.categories.some((value) => !known.has(value)) || known.size === 1) {
    const often = soft ? said.categories.map(() => 1) : totals(said);
    checkSaid(task.categories, new Map(said.categories.map((value, i) => [value, often[i]])), ...titles);
  }
  const both = joined(task.categories, said.categories);
  const categories = areYesNo(both) ? ["0", "1"] : both;
  const place = new Map(categories.map((category, i) => [category, i]));
  const into = (variable: Variable): Labels => {
    const target = new Int32Array(variable.categories.map((category) => place.get(category) as number));
    return { variable: variable.name, kind: "categorical", categories, codes: moved(variable.codes, target) };
  };
  const invented = areYesNo(both) ? [] : categories.flatMap((category, i) => (known.has(category) ? [] : [i]));
  return { task: into(task), prediction: into(said), invented };
}

function asLabels(variable: Variable): Labels {
  // Lists of labels were left to the full audit before.
  return { variable: variable.name, kind: variable.kind === "categorical" ? "categorical" : "binary", categories: variable.categories, codes: variable.codes };
}
