/** Counts of pairs, of all records and by bag of records: all figures follow from them. */
import { bagsFor, bagsOf } from "./keys";
import { inOrder } from "./text";
import { Beyond, type Labels, type Roles } from "./types";

/** A label: a category of a variable, or a yes/no variable itself, whose category is null. */
export interface Label {
  variable: string;
  category: string | null;
  text: string;
}

/** What is counted of the records of one attribute with all tasks. Tables have a row for each given label. */
export interface PairCounts {
  given: Label[];
  outcome: Label[];
  n: number;
  /** C(g), C(o), C(o_hat), C(o and o_hat). */
  size: Float64Array;
  truth: Float64Array;
  predicted: Float64Array;
  agreeing: Float64Array;
  /** C(g, o), C(g, o_hat), C(g, o and o_hat). */
  joint: Float64Array;
  held: Float64Array;
  both: Float64Array;
}

/** The counts of every bag that holds records, in ascending order of their numbers. */
export interface BagCounts {
  /** Into how many bags records fall, and which of them hold any. */
  bags: number;
  numbers: number[];
  /** Of bags by given labels, of bags by outcomes, and of bags by pairs. */
  n: Float64Array;
  size: Float64Array;
  truth: Float64Array;
  joint: Float64Array;
  held: Float64Array;
  whole: PairCounts;
}

export function label(variable: string, category: string | null): Label {
  return { variable, category, text: category === null ? variable : variable ? `${variable}=${category}` : category };
}

/** One task: where its labels begin among all outcomes, and the place of each true and predicted value among its own. */
interface Task {
  start: number;
  binary: boolean;
  width: number;
  truth: Int32Array;
  predicted: Int32Array;
  /** The place that a predicted code has among the outcomes of the task. */
  places: number[];
}

/** The labels of the tasks: all that truth or predictions have, and which of them have truth. */
export interface Outcomes {
  labels: Label[];
  tasks: Task[];
  variables: { name: string; kind: Labels["kind"]; categories: string[] }[];
  exclusive: boolean;
}

export function outcomesOf(roles: Roles): Outcomes {
  const labels: Label[] = [];
  const tasks: Task[] = [];
  const variables: Outcomes["variables"] = [];
  roles.tasks.forEach((task, i) => {
    const said = roles.predictions[i];
    const start = labels.length;
    if (task.kind === "binary") {
      labels.push(label(task.variable, null));
      tasks.push({ start, binary: true, width: 1, truth: task.codes, predicted: said.codes, places: [0] });
      variables.push({ name: task.variable, kind: "binary", categories: [] });
      return;
    }
    const all = said.categories.every((one) => task.categories.includes(one)) ? task.categories : inOrder(new Set([...task.categories, ...said.categories]));
    const own = task.categories.map((one) => all.indexOf(one));
    const truth = all === task.categories ? task.codes : task.codes.map((code) => own[code]);
    labels.push(...all.map((one) => label(task.variable, one)));
    tasks.push({ start, binary: false, width: all.length, truth, predicted: said.codes, places: said.categories.map((one) => all.indexOf(one)) });
    variables.push({ name: task.variable, kind: "categorical", categories: all });
  });
  return { labels, tasks, variables, exclusive: tasks.length === 1 };
}

const TOO_MANY = "there are more than 16,384 pairs of groups and outcomes, which this page does not measure: the full audit does";

/** Count the pairs of one attribute and all tasks, in one pass over the records for each task. */
export function countPairs(attribute: Labels, outcomes: Outcomes, records: number, bagsKnown: Map<number, Uint16Array>): BagCounts {
  const given = attribute.kind === "binary" ? [label(attribute.variable, null)] : attribute.categories.map((one) => label(attribute.variable, one));
  const [G, O] = [given.length, outcomes.labels.length];
  const bags = bagsFor(G * O);
  if (!bags) throw new Beyond(TOO_MANY);
  if (!bagsKnown.has(bags)) bagsKnown.set(bags, bagsOf(records, bags));
  const bag = bagsKnown.get(bags)!;
  // Records that a yes/no attribute does not have are one more group while counting.
  const yesNo = attribute.kind === "binary";
  const groups = yesNo ? 2 : G;
  const group = yesNo ? attribute.codes.map((code) => 1 - code) : attribute.codes;
  const filled = new Float64Array(bags);
  for (let i = 0; i < records; i++) filled[bag[i]]++;
  const numbers = [...filled.keys()].filter((number) => filled[number] > 0);
  const row = new Int32Array(bags);
  numbers.forEach((number, i) => (row[number] = i));
  const many = numbers.length;
  const cell = new Int32Array(records);
  const sizes = new Float64Array(many * groups);
  for (let i = 0; i < records; i++) {
    cell[i] = row[bag[i]] * groups + group[i];
    sizes[cell[i]]++;
  }
  const out: BagCounts = {
    bags, numbers, n: Float64Array.from(numbers, (number) => filled[number]), size: new Float64Array(many * G), truth: new Float64Array(many * O),
    joint: new Float64Array(many * G * O), held: new Float64Array(many * G * O),
    whole: {
      given, outcome: outcomes.labels, n: records, size: new Float64Array(G), truth: new Float64Array(O), predicted: new Float64Array(O), agreeing: new Float64Array(O),
      joint: new Float64Array(G * O), held: new Float64Array(G * O), both: new Float64Array(G * O),
    },
  };
  for (let r = 0; r < many; r++) for (let g = 0; g < G; g++) out.size[r * G + g] = sizes[r * groups + g];
  for (const task of outcomes.tasks) {
    const { width } = task;
    const [joint, held, both] = [new Int32Array(many * groups * width), new Int32Array(many * groups * width), new Float64Array(groups * width)];
    if (task.binary) countYesNo(task, cell, group, joint, held, both);
    else countClasses(task, width, cell, group, joint, held, both);
    for (let r = 0; r < many; r++) {
      for (let g = 0; g < groups; g++) {
        for (let o = 0; o < width; o++) {
          const from = (r * groups + g) * width + o;
          out.truth[r * O + task.start + o] += joint[from];
          out.whole.predicted[task.start + o] += held[from];
          if (g >= G) continue;
          const to = (r * G + g) * O + task.start + o;
          out.joint[to] = joint[from];
          out.held[to] = held[from];
        }
      }
    }
    for (let g = 0; g < groups; g++) {
      for (let o = 0; o < width; o++) {
        out.whole.agreeing[task.start + o] += both[g * width + o];
        if (g < G) out.whole.both[g * O + task.start + o] = both[g * width + o];
      }
    }
  }
  addUp(out);
  return out;
}

/** Count a yes/no task: how many records of each cell have it and are said to, and how many of each group both. */
function countYesNo(task: Task, cell: Int32Array, group: Int32Array, joint: Int32Array, held: Int32Array, both: Float64Array): void {
  const { truth, predicted } = task;
  for (let i = 0; i < cell.length; i++) {
    joint[cell[i]] += truth[i];
    held[cell[i]] += predicted[i];
    both[group[i]] += truth[i] & predicted[i];
  }
}

/** Count a task of several classes. */
function countClasses(task: Task, width: number, cell: Int32Array, group: Int32Array, joint: Int32Array, held: Int32Array, both: Float64Array): void {
  const { truth, predicted, places } = task;
  for (let i = 0; i < cell.length; i++) {
    const [t, p] = [truth[i], places[predicted[i]]];
    joint[cell[i] * width + t]++;
    held[cell[i] * width + p]++;
    if (t === p) both[group[i] * width + t]++;
  }
}

/** Fill in the counts of all bags together that are kept by bag. */
function addUp(bags: BagCounts): void {
  const { whole } = bags;
  for (const [part, total] of [[bags.size, whole.size], [bags.truth, whole.truth], [bags.joint, whole.joint], [bags.held, whole.held]] as const) {
    const width = total.length;
    total.fill(0);
    for (let at = 0; at < part.length; at += width) for (let i = 0; i < width; i++) total[i] += part[at + i];
  }
}

/** The counts of some of the outcomes, of all records. */
export function onlyOutcomes(bags: BagCounts, keep: number[]): BagCounts {
  const { whole } = bags;
  const O = whole.outcome.length;
  if (keep.length === O) return bags;
  const some = (values: Float64Array): Float64Array => {
    const rows = values.length / O;
    const out = new Float64Array(rows * keep.length);
    for (let r = 0; r < rows; r++) keep.forEach((o, j) => (out[r * keep.length + j] = values[r * O + o]));
    return out;
  };
  return {
    ...bags, truth: some(bags.truth), joint: some(bags.joint), held: some(bags.held),
    whole: {
      ...whole, outcome: keep.map((o) => whole.outcome[o]), truth: some(whole.truth), predicted: some(whole.predicted), agreeing: some(whole.agreeing),
      joint: some(whole.joint), held: some(whole.held), both: some(whole.both),
    },
  };
}

/** The counts of some of the bags; what is not kept by bag is left as it is, and not used. */
function someBags(bags: BagCounts, rows: number[]): BagCounts {
  const take = (values: Float64Array): Float64Array => {
    const width = values.length / bags.numbers.length;
    const out = new Float64Array(rows.length * width);
    rows.forEach((row, i) => out.set(values.subarray(row * width, (row + 1) * width), i * width));
    return out;
  };
  const { whole } = bags;
  const made: BagCounts = {
    bags: bags.bags, numbers: rows.map((row) => bags.numbers[row]), n: take(bags.n), size: take(bags.size), truth: take(bags.truth), joint: take(bags.joint), held: take(bags.held),
    whole: { ...whole, size: new Float64Array(whole.size.length), truth: new Float64Array(whole.truth.length), joint: new Float64Array(whole.joint.length), held: new Float64Array(whole.held.length) },
  };
  made.whole.n = made.n.reduce((sum, one) => sum + one, 0);
  addUp(made);
  return made;
}

/** The two halves of the records, the upper one first; null where one has no pair. */
export function halvesOf(bags: BagCounts): [BagCounts, BagCounts] | null {
  const rows = [...bags.numbers.keys()];
  const upper = someBags(bags, rows.filter((row) => bags.numbers[row] >= bags.bags / 2));
  const lower = someBags(bags, rows.filter((row) => bags.numbers[row] < bags.bags / 2));
  return [upper, lower].every((part) => part.whole.size.some((size) => size > 0)) ? [upper, lower] : null;
}
