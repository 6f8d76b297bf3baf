/** Rates of groups: a row for each group and outcome, and an entry for each largest difference. */
import type { Entry, GroupRow, NotRun } from "../audit";
import { onlyOutcomes, type BagCounts, type Outcomes } from "./counts";
import { plain } from "./directional";
import { twoSided } from "./distributions";
import { CONSTANTS, FACTS } from "./facts";
import { grouped } from "./format";
import { printable, quotedByPython } from "./text";
import { betweenGroups, deciding, largestDifference, overGroups, proportion, wilson, type Proportion } from "./proportions";
import { clip } from "./sums";
import { Refused } from "./types";

export const RATES = ["selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "precision"] as const;
type RateName = (typeof RATES)[number];
const DIFFERENCES: Record<string, RateName> = { fpr_difference: "false_positive_rate", tpr_difference: "true_positive_rate", accuracy_difference: "accuracy" };
const MEAN = "mean_per_class_accuracy";
const SHOWN = 5;

/** The outcomes that rates are of, the positive value of each task where it is known, and the tasks where it is not. */
export interface Positive {
  columns: number[];
  positive: Record<string, string>;
  unknown: string[];
}

/** Of every two-valued task the positive value; of all others every label, unless one is named. */
export function chooseOutcomes(outcomes: Outcomes, known: boolean[], invented: Set<string>, positive: string | null): Positive {
  let start = 0;
  let number = 0;
  const variables = outcomes.variables.map((variable) => {
    const width = variable.kind === "binary" ? 1 : variable.categories.length;
    const held = Array.from({ length: width }, (_, i) => i).filter((i) => known[start + i]);
    start += width;
    const first = number;
    number += held.length;
    return { ...variable, categories: variable.kind === "binary" ? [] : held.map((i) => variable.categories[i]), width: held.length, first };
  });
  const named = namedValues(variables, positive);
  const out: Positive = { columns: [], positive: {}, unknown: [] };
  for (const variable of variables) {
    const mine = Array.from({ length: variable.width }, (_, i) => variable.first + i);
    const two = variable.kind === "categorical" && variable.width === 2 && !invented.has(variable.name);
    const value = named.get(variable.name) ?? (two ? evident(variable.categories) : null);
    if (value !== null && variable.kind !== "binary") {
      out.positive = { ...out.positive, ...Object.fromEntries([[variable.name, value]]) };
      out.columns.push(mine[variable.categories.indexOf(value)]);
      continue;
    }
    if (two) out.unknown.push(variable.name);
    out.columns.push(...mine);
  }
  return out;
}

function evident(categories: string[]): string | null {
  const spelled = new Map(categories.map((one) => [one.trim().toLowerCase(), one]));
  const found = FACTS.evident.find(([no, yes]) => spelled.size === 2 && spelled.has(no) && spelled.has(yes));
  return found ? spelled.get(found[1])! : null;
}

type Named = { name: string; kind: string; categories: string[] };

/** The value of each task that is named: as a label of it, or one for all tasks. */
function namedValues(variables: Named[], positive: string | null): Map<string, string> {
  if (positive === null) return new Map();
  for (const variable of variables) {
    for (const category of variable.categories) if ((variable.name ? `${variable.name}=${category}` : category) === positive) return new Map([[variable.name, category]]);
  }
  const found = variables.map((variable) => [variable.name, spelledBy(variable, positive)] as const).filter((pair): pair is readonly [string, string] => pair[1] !== null);
  if (found.length) return new Map(found);
  throw new Refused(refusal(variables[0], positive));
}

function spelledBy(variable: Named, value: string): string | null {
  if (variable.kind === "binary") return FACTS.yes.includes(value.toLowerCase()) ? "1" : null;
  if (variable.categories.includes(value)) return value;
  const alike = variable.categories.filter((category) => category.toLowerCase() === value.toLowerCase());
  return alike.length === 1 ? alike[0] : null;
}

function refusal(variable: Named, value: string): string {
  const name = printable(variable.name, 40);
  const shown = quotedByPython(value).slice(0, 60);
  if (variable.kind === "binary") {
    return `positive is ${shown} for ${quotedByPython(name)}, a yes/no column: value 1 is what counts. Turn the column and its predictions round to measure the other value`;
  }
  const more = variable.categories.length > SHOWN ? ` and ${variable.categories.length - SHOWN} more` : "";
  const held = variable.categories.slice(0, SHOWN).map((one) => quotedByPython(printable(one, 40))).join(", ") + more;
  return `positive is ${shown}, which the task ${quotedByPython(name)} does not have: it has ${held}`;
}

/** The rates of every group and outcome. */
function ratesOf(bags: BagCounts): Record<RateName, Proportion> {
  const { whole } = bags;
  const [G, O] = [whole.given.length, whole.outcome.length];
  const given = whole.joint.map((_, i) => whole.size[Math.floor(i / O)]);
  const { joint, held, both } = whole;
  return {
    selection_rate: proportion(G, held, given),
    true_positive_rate: proportion(G, both, joint),
    false_positive_rate: proportion(G, held.map((one, i) => one - both[i]), given.map((one, i) => one - joint[i])),
    accuracy: proportion(G, given.map((one, i) => one - joint[i] - held[i] + 2 * both[i]), given),
    precision: proportion(G, both, held),
  };
}

export interface Parity {
  entries: Entry[];
  rows: GroupRow[];
  excluded: Record<string, unknown>[];
  notRun: NotRun[];
}

const SAME = "no two groups have this rate";

/** The table of groups, and one entry for each largest difference and for mean per-class accuracy. */
export function parity(attribute: string, everything: BagCounts, outcomes: Positive, level: number, minGroup: number): Parity {
  const bags = onlyOutcomes(everything, outcomes.columns);
  const { whole } = bags;
  const O = whole.outcome.length;
  const made = ratesOf(bags);
  const out: Parity = { entries: [], rows: [], excluded: [], notRun: [] };
  const begin = (metric: string, value: number, ends: [number, number], outcome: number): Entry => ({
    attribute, metric, direction: "A->T", value: plain(value), interval: [plain(ends[0]), plain(ends[1])], n: whole.n, outcome: whole.outcome[outcome].text,
  });
  for (const [name, rate] of Object.entries(DIFFERENCES)) {
    const decides = deciding(made[rate], minGroup);
    const found = largestDifference(made[rate], decides, level);
    if (!found) {
      out.notRun.push({ attribute, metric: name, direction: "A->T", reason: SAME });
      continue;
    }
    const entry = begin(name, found.value, [found.low, found.high], found.outcome);
    entry.interval_method = found.compared === 1 ? "Newcombe score" : `Clopper-Pearson limits combined, simultaneous over ${grouped(found.compared)} differences (Bonferroni)`;
    entry.between = [found.higher, found.lower].map((g) => whole.given[g].text);
    entry.sizes = [found.higher, found.lower].map((g) => made[rate].size[g * O + found.outcome]);
    entry.expected = found.expected;
    entry.outcomes = found.byOutcome.map((one, o) => ({ outcome: whole.outcome[o].text, [name]: plain(one.value), low: plain(one.low), high: plain(one.high) }));
    const cautions: [string, string][] = [];
    if (decides.all.some((one, i) => one && made[rate].size[i] < minGroup)) {
      cautions.push(["small-groups", `no two groups have ${minGroup} records that this rate is taken over: smaller ones decide it`]);
    }
    const gone = leftOut(made[rate], decides.all, whole.size, minGroup).map(([g, size, some]): LeftOut => [whole.given[g].text, size, some]);
    if (gone.length) {
      entry.left_out = Object.fromEntries(gone.map(([group, size]) => [group, size]));
      const some = gone.filter((one) => one[2]);
      if (some.length) entry.left_out_outcomes = Object.fromEntries(some.map(([group, , many]) => [group, many]));
      cautions.push(["left-out", saidLeftOut(gone, O, minGroup)]);
    }
    if (cautions.length) {
      entry.cautions = cautions.map((one) => one[1]);
      entry.caution_kinds = cautions.map((one) => one[0]);
    }
    const everyGroup = Math.max(...betweenGroups(made[rate]).filter((one) => !Number.isNaN(one)));
    if (!(Math.abs(everyGroup - found.value) <= 1e-8 + 1e-5 * Math.abs(found.value))) entry.every_group = plain(everyGroup);
    out.entries.push(entry);
  }
  meanAccuracy(made, whole.given.map((one) => one.text), whole.outcome.map((one) => one.text), level, begin, out, attribute);
  out.rows = rowsOf(attribute, bags, made, level);
  return out;
}

/** A group, the records that its rate is taken over, and in how many outcomes they are too few where they are not in all. */
type LeftOut = [string, number, number];

/** Groups that decide in no outcome, with the most records; and those of too few in some outcomes, with the fewest and in how many. */
function leftOut(made: Proportion, decides: boolean[], size: ArrayLike<number>, least: number): [number, number, number][] {
  const O = decides.length / size.length;
  const groups = [...Array(size.length).keys()].filter((g) => size[g] > 0);
  const asked = [...Array(O).keys()].filter((o) => groups.some((g) => made.size[g * O + o] > 0));
  const partly = decides.every((one, i) => !one || made.size[i] >= least);
  const out: [number, number, number][] = [];
  for (const g of groups) {
    const most = Math.max(...made.size.subarray(g * O, (g + 1) * O));
    const few = asked.map((o) => made.size[g * O + o]).filter((records) => records < least);
    if (most < least && !decides.slice(g * O, (g + 1) * O).some(Boolean)) out.push([g, most, 0]);
    else if (partly && few.length) out.push([g, Math.min(...few), few.length]);
  }
  return out;
}

function saidLeftOut(groups: LeftOut[], outcomes: number, least: number): string {
  const shown = groups.map(([group, size, some]) => `${printable(group, 40)} (${grouped(size)}${some ? ` in ${grouped(some)} of ${grouped(outcomes)} outcomes` : ""})`);
  const more = shown.length > SHOWN ? ` and ${shown.length - SHOWN} more` : "";
  return `the difference leaves out groups of which fewer than ${least} records have what the rate is taken over: ${shown.slice(0, SHOWN).join(", ")}${more}`;
}

/** Mean per-class accuracy averaged over groups: the lowest of all outcomes, with the table of all rates. */
function meanAccuracy(
  made: Record<RateName, Proportion>, given: string[], outcome: string[], level: number,
  begin: (metric: string, value: number, ends: [number, number], outcome: number) => Entry, out: Parity, attribute: string,
): void {
  const [G, O] = [given.length, outcome.length];
  const [positive, negative] = [made.true_positive_rate, made.false_positive_rate];
  const each = positive.value.map((one, i) => 0.5 * (one + 1 - negative.value[i]));
  const values = overGroups(each, G);
  const there = [...values.keys()].filter((o) => !Number.isNaN(values[o]));
  const undefinedRates = undefinedOf(made, given, outcome).map((row) => ({ attribute, metric: MEAN, direction: "A->T", ...row }));
  if (!there.length) {
    out.notRun.push({ attribute, metric: MEAN, direction: "A->T", reason: SAME });
    return;
  }
  const z = twoSided(1 - (1 - level) / there.length);
  let [low, high, lowest] = [Infinity, Infinity, there[0]];
  for (const o of there) {
    let [variance, count] = [0, 0];
    for (let g = 0; g < G; g++) {
      const i = g * O + o;
      if (Number.isNaN(each[i])) continue;
      count++;
      for (const rate of [positive, negative]) {
        const middle = (rate.value[i] * rate.size[i] + 2) / (rate.size[i] + 4);
        variance += (0.25 * middle * (1 - middle)) / rate.size[i];
      }
    }
    const reach = (z * Math.sqrt(variance)) / Math.max(count, 1);
    low = Math.min(low, values[o] - reach);
    high = Math.min(high, values[o] + reach);
    if (values[o] < values[lowest]) lowest = o;
  }
  const entry = begin(MEAN, values[lowest], [clip(low, 0, 1), clip(high, 0, 1)], lowest);
  entry.between = null;
  entry.outcomes = outcome.map((label, o) => ({ outcome: label, [MEAN]: plain(values[o]) }));
  const quantile = twoSided(level);
  entry.groups = [...each.keys()].map((i) => ({
    given: given[Math.floor(i / O)], outcome: outcome[i % O],
    false_positive_rate: plain(negative.value[i]), true_positive_rate: plain(positive.value[i]), accuracy: plain(made.accuracy.value[i]), [MEAN]: plain(each[i]),
    selection_rate: plain(made.selection_rate.value[i]), positives: positive.size[i], negatives: negative.size[i], precision: plain(made.precision.value[i]),
    ...Object.fromEntries(RATES.flatMap((rate) => wilson(made[rate].value[i], made[rate].size[i], quantile).map((end, k) => [`${rate}_${k ? "high" : "low"}`, plain(end)]))),
  })) as Entry["groups"];
  out.excluded = undefinedRates;
  out.entries.push(entry);
}

/** The rates that no record makes, each with the reason. */
function undefinedOf(made: Record<RateName, Proportion>, given: string[], outcome: string[]): { given: string; outcome: string; rate: string; reason: string }[] {
  const O = outcome.length;
  const reasons: [RateName, string][] = [
    ["accuracy", "no record has the group"], ["true_positive_rate", "no record of the group truly has the outcome"],
    ["false_positive_rate", "everybody in the group truly has the outcome"],
  ];
  return reasons.flatMap(([rate, reason]) => [...made[rate].value.keys()]
    .filter((i) => Number.isNaN(made[rate].value[i]) && (rate === "accuracy" || !Number.isNaN(made.accuracy.value[i])))
    .map((i) => ({ given: given[Math.floor(i / O)], outcome: outcome[i % O], rate, reason })));
}

/** A row for every group and outcome; where there are many, those of the outcomes that differ most. */
function rowsOf(attribute: string, bags: BagCounts, made: Record<RateName, Proportion>, level: number): GroupRow[] {
  const { whole } = bags;
  const [G, O] = [whole.given.length, whole.outcome.length];
  const z = twoSided(level);
  const each = Object.values(DIFFERENCES).map((rate) => betweenGroups(made[rate]).map((one) => (Number.isNaN(one) ? 0 : one)));
  const apart = Array.from({ length: O }, (_, o) => Math.max(...each.map((one) => one[o])));
  const most = Math.max(1, Math.floor(CONSTANTS.most_rates / G));
  const columns = [...apart.keys()].sort((a, b) => apart[b] - apart[a]).slice(0, most).sort((a, b) => a - b);
  return columns.flatMap((o) => whole.given.map((label, g) => {
    const rates = RATES.map((rate) => {
      const { value, size } = made[rate];
      const [low, high] = wilson(value[g * O + o], size[g * O + o], z);
      return [rate, { value: plain(value[g * O + o]), low: plain(low), high: plain(high), size: size[g * O + o] }];
    });
    return {
      attribute, group: label.text, outcome: whole.outcome[o].text, records: whole.size[g], share: whole.size[g] / whole.n, ignored: false, reference: false,
      ...Object.fromEntries(rates),
    } as GroupRow;
  }));
}

