/** Cautions of an audit, in the words of the Python package, each where it applies to the data at hand. */
import type { Entry, Excluded, FindingFields, Pair } from "../audit";
import { exclusiveSets } from "./changes";
import type { BagCounts, Label, Outcomes } from "./counts";
import { eachOnce, knownDirections, placeOf, sideOfZero, unknownDirections } from "./evidence";
import { CONSTANTS, FACTS, METRICS } from "./facts";
import { caution, figureOf, gapWords, placeWords, valueWithInterval, type Context } from "./findings";
import { fixed, grouped, number } from "./format";
import { byCharacters, printable } from "./text";
import { ratio } from "./near";
import { fairCoins } from "./signs";
import { pairwise } from "./sums";

/** What cautions look at besides the document: the counts of each attribute, of labels that have truth. */
export interface Subject {
  attribute: string;
  bags: BagCounts;
}

const SHOWN = 3;
const GROUPS_NAMED = 5;
const IDENTITY = new RegExp(FACTS.patterns.identity, "i");
const FUTURE = new RegExp(FACTS.patterns.future, "i");
const [PREDICTED, SCORED, TRUE] = (["predicted", "scored", "true"] as const).map((name) => new RegExp(FACTS.patterns[name], "i"));
const NUMBER = new RegExp(`^(?:${FACTS.patterns.number})$`);

const and = (names: string[]): string => [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");

/** All cautions, in the order of the rules of the Python package. */
export function* cautions(context: Context, subjects: Subject[], outcomes: Outcomes): Generator<FindingFields> {
  yield* notFairness(context);
  yield* balanced(context);
  yield* overZero(context);
  yield* noInterval(context);
  yield* unclearSigns(context);
  yield* thresholds(context, subjects[0].bags);
  yield* notGroundTruth(context);
  yield* perceived(subjects);
  yield* smallGroups(context);
  yield* leftOut(context);
  yield* numbers(context);
  yield* undefinedPairs(context);
  yield* oneValue(context, subjects, outcomes);
  yield* constant(context, subjects[0].bags);
  yield* noTruth(subjects[0].bags);
  yield* neverPredicted(context, subjects[0].bags);
  yield* perfect(context, subjects);
  yield* copied(context, subjects, outcomes);
  yield* swapped(context);
  yield* unknownPositive(context);
  yield* againstTheTruth(context, subjects[0].bags);
}

function rateOf(context: Context, pair: Pair, name: "truth_rate" | "predicted_rate"): string {
  return `${number(pair[name], false)} of ${context.name(pair.given)}`;
}

/** The first item with the largest figure. */
function largest<T>(items: T[], figure: (item: T) => number): T {
  return items.reduce((best, item) => (figure(item) > figure(best) ? item : best));
}

function* notFairness(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    const known = eachOnce(knownDirections(entry));
    if (!known.length || context.verdict(entry) === 1) continue;
    const rates = new Map<string, Pair[]>();
    for (const pair of eachOnce(entry.pairs!)) if (pair.truth_rate !== null) rates.set(pair.outcome, [...(rates.get(pair.outcome) ?? []), pair]);
    const means = new Map([...rates].map(([outcome, held]) => [outcome, pairwise(held.map((pair) => pair.truth_rate ?? 0)) / held.length]));
    const widest = largest(known, (pair) => Math.abs((pair.truth_rate ?? 0) - means.get(pair.outcome)!));
    const least = context.document.data.min_group;
    const all = rates.get(widest.outcome)!;
    const enough = all.filter((pair) => pair.support >= least);
    const other = largest(enough.length ? enough : all, (pair) => Math.abs((pair.truth_rate ?? 0) - (widest.truth_rate ?? 0)));
    const companion = context.entry("tpr_difference", entry.attribute);
    let apart = "";
    if (companion && context.verdict(companion)) {
      const words = gapWords(context, companion);
      apart = ` ${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
    }
    yield caution("not-fairness",
      `${printable(entry.attribute, 40)}: amplification says nothing of fairness, as it is measured from the data: there ${context.name(widest.outcome)} is true of ` +
      `${rateOf(context, widest, "truth_rate")} and ${rateOf(context, other, "truth_rate")}. It is predicted for ${rateOf(context, widest, "predicted_rate")} and ` +
      `${rateOf(context, other, "predicted_rate")}.${apart}`,
      { metric: entry.metric, attribute: entry.attribute, direction: entry.direction, label: widest.outcome }, figureOf(entry));
  }
}

const about = (entry: Entry) => ({ metric: entry.metric, attribute: entry.attribute, direction: entry.direction });

function* balanced(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    if (!entry.pairs!.length || knownDirections(entry).length) continue;
    yield caution("balanced",
      `${placeWords(entry)}: the data are balanced, or too few to tell: no association is beyond chance, so no direction is known and directional amplification ` +
      `(${number(entry.value)}) has nothing to go by. Neither DPA nor Multi, which need no direction, was measured with an interval.`, about(entry), figureOf(entry));
  }
}

function* overZero(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    if (sideOfZero(entry.interval) !== 0 || !entry.interval.some(Boolean) || context.kept.has(placeOf(entry))) continue;
    yield caution("over-zero", `${placeWords(entry)}: an interval over 0 concludes nothing, neither amplification nor its absence: ${valueWithInterval(entry)}.`, about(entry), figureOf(entry));
  }
}

function* noInterval(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    if (sideOfZero(entry.interval) !== null || !entry.cautions?.length) continue;
    yield caution("no-interval", `${placeWords(entry)}: ${entry.cautions.join("; ")}.`, about(entry), { attribute: entry.attribute, direction: entry.direction });
  }
}

function* unclearSigns(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    if (entry.crossfit === null || entry.crossfit === undefined) continue;
    const [unclear, many] = unknownDirections(entry);
    if (!unclear) continue;
    const rest = entry.clear_value;
    const without = rest !== null && rest !== undefined && entry.pairs!.some((pair) => !pair.clear)
      ? ` Over the pairs whose own sign test is below ${Math.round(100 * CONSTANTS.clear_sign)}%, as one in twenty is by chance, the value is ${number(rest)}.` : "";
    yield caution("unclear-signs",
      `${placeWords(entry)}: with all pairs counted, the data do not tell the direction of ${grouped(unclear)} of ${grouped(many)}. Signs and changes then share their noise: ` +
      `${number(entry.value)} is biased downwards if the model amplifies nothing, and towards 0 if it does. With signs from the other half of the records it is ` +
      `${number(entry.crossfit)}, which on average is right if the model amplifies nothing, and nearer to 0 than the truth if it does.${without}`,
      about(entry), figureOf(entry, { crossfit: entry.crossfit, unclear }));
  }
}

/** Predicted rates off the base rates: the threshold, not the model, may make the amplification. */
function* thresholds(context: Context, bags: BagCounts): Generator<FindingFields> {
  const { outcome, truth, predicted, agreeing, n } = bags.whole;
  const p = truth.map((true_, o) => fairCoins(predicted[o] - agreeing[o], true_ - agreeing[o]));
  const off = outcome.map((_, o) => p[o] * outcome.length <= CONSTANTS.off && Math.abs(predicted[o] - truth[o]) > CONSTANTS.rate_share * truth[o]);
  if (!off.some(Boolean)) return;
  const positive = context.document.data.positive ?? {};
  const told = outcome.map((label) => (Object.hasOwn(positive, label.variable) ? positive[label.variable] : label.category) === label.category);
  const both = off.map((one, o) => one && told[o]);
  const among = both.some(Boolean) ? both : off;
  const worst = largest([...outcome.keys()], (o) => (among[o] ? Math.abs(predicted[o] - truth[o]) : -1));
  const tasks = new Set(outcome.map((label) => label.variable));
  const many = new Set(outcome.filter((_, o) => off[o]).map((label) => label.variable)).size;
  const label = outcome[worst].text;
  const name = context.name(label);
  const words = tasks.size === 1 ? `${name} is predicted at another rate than it occurs`
    : `${many} of ${tasks.size} tasks ${many === 1 ? "is" : "are"} predicted at another rate than ${many === 1 ? "it occurs" : "they occur"}, ${many > 1 ? "most of all " : ""}${name}`;
  yield caution("threshold",
    `${words}: ${number(predicted[worst] / n, false)} predicted against ${number(truth[worst] / n, false)}. Amplification is sensitive to the threshold: give scores instead of ` +
    "decisions to see which threshold makes rates agree, and calibrate it before judging the model.",
    { direction: "A->T", label }, { outcome: label, predicted_rate: predicted[worst] / n, base_rate: truth[worst] / n });
}

function* notGroundTruth(context: Context): Generator<FindingFields> {
  const title = context.document.data.tasks.title;
  if (!FUTURE.test(title)) return;
  yield caution("not-ground-truth",
    `The task (${printable(title, 60)}) looks like a future event or a past decision. Such labels are not ground truth: they carry the bias of whoever recorded them, and matching them ` +
    "is not the goal.", {}, { tasks: title });
}

function* perceived(subjects: Subject[]): Generator<FindingFields> {
  for (const { attribute, bags } of subjects) {
    const categories = new Set(bags.whole.given.map((label) => (label.category || label.variable).toLowerCase()));
    const named = FACTS.identity_values.some((value) => categories.has(value)) || FACTS.identity_letters.some((letters) => letters.every((letter) => categories.has(letter)));
    if (!named && !IDENTITY.test(attribute)) continue;
    const two = categories.size === 2 ? " It has two values here, which leaves people out." : "";
    yield caution("perceived",
      `Labels of ${printable(attribute, 40)} are often what an annotator perceived, not what a person said of themselves. State where they come from.${two}`, { attribute }, { attribute });
  }
}

function* smallGroups(context: Context): Generator<FindingFields> {
  const data = context.document.data;
  for (const attribute of data.attributes) {
    const small = data.groups.filter((group) => group.small && group.attribute === attribute);
    if (!small.length) continue;
    const shown = small.slice(0, GROUPS_NAMED).map((group) => `${context.name(group.group)} (${group.records})`).join(", ");
    const more = small.length > GROUPS_NAMED ? ` and ${small.length - GROUPS_NAMED} more` : "";
    yield caution("small-groups",
      `${printable(attribute, 40)}: ${small.length} group${small.length > 1 ? "s have" : " has"} fewer than ${data.min_group} records: ${shown}${more}. Their figures may rest on a single record.`,
      { attribute }, { groups: small.map((group) => group.group) });
  }
}

function* leftOut(context: Context): Generator<FindingFields> {
  const least = context.document.data.min_group;
  for (const attribute of context.document.data.attributes) {
    const said = new Map<string, { groups: [string, string][]; gaps: string[] }>();
    for (const entry of context.document.metrics) {
      const outcomes = grouped(entry.outcomes?.length ?? 0);
      const groups = Object.entries(entry.left_out ?? {}).map(([group, size]): [string, string] => {
        const some = new Map(Object.entries(entry.left_out_outcomes ?? {})).get(group);
        return [group, some === undefined ? grouped(size) : `${grouped(size)} in ${grouped(some)} of ${outcomes} outcomes`];
      });
      if (entry.attribute !== attribute || !groups.length) continue;
      const key = JSON.stringify(groups);
      const held = said.get(key) ?? { groups, gaps: [] };
      held.gaps.push(METRICS[entry.metric].gap);
      said.set(key, held);
    }
    if (!said.size) continue;
    const parts = [...said.values()].map(({ groups, gaps }) => {
      const shown = groups.slice(0, GROUPS_NAMED).map(([group, size]) => `${context.name(group)} (${size})`);
      if (groups.length > shown.length) shown.push(`${groups.length - shown.length} more`);
      return `${and(gaps)}, ${and(shown)}`;
    });
    const named = [...new Set([...said.values()].flatMap(({ groups }) => groups.map(([group]) => group)))].sort(byCharacters);
    yield caution("left-out",
      `${printable(attribute, 40)}: differences leave out groups of which fewer than ${least} records have what the rate is taken over: of ${parts.join("; of ")}. ` +
      "Nothing is said of how they compare.", { attribute }, { groups: named });
  }
}

/** Groups that are many numbers, each compared as a group of its own. */
function* numbers(context: Context): Generator<FindingFields> {
  const data = context.document.data;
  for (const attribute of data.attributes) {
    const groups = data.groups.filter((row) => row.attribute === attribute && row.records);
    if (groups.length <= CONSTANTS.many_numbers || !groups.every((row) => NUMBER.test(row.category || ""))) continue;
    const least = Math.min(...groups.map((row) => row.records));
    yield caution("numbers",
      `${printable(attribute, 40)}: each of its ${grouped(groups.length)} numbers is a group of its own, the smallest of ${grouped(least)} record${least === 1 ? "" : "s"}. If they are quantities, ` +
      "such as ages, cut them into a few bins: binned() in Python, --bins on the command line.", { attribute }, { groups: groups.length });
  }
}

function* undefinedPairs(context: Context): Generator<FindingFields> {
  const rows = new Map<string, Excluded[]>();
  for (const row of context.document.excluded) rows.set(placeOf(row), [...(rows.get(placeOf(row)) ?? []), row]);
  for (const held of rows.values()) {
    const [first, several] = [held[0], held.length > 1];
    yield caution("excluded",
      `${placeWords(first)}: ${grouped(held.length)} figure${several ? "s" : ""} of ${first.metric} ${several ? "are" : "is"} undefined and left out, such as (${context.name(first.given)}, ` +
      `${context.name(first.outcome)}): ${first.reason}.`, { attribute: first.attribute, metric: first.metric, direction: first.direction }, { count: held.length });
  }
}

function* oneValue(context: Context, subjects: Subject[], outcomes: Outcomes): Generator<FindingFields> {
  const { whole } = subjects[0].bags;
  const sides = subjects.map(({ attribute, bags }) => ({ role: "attribute", title: attribute, labels: bags.whole.given, sizes: bags.whole.size, exclusive: true }));
  sides.push({ role: "task", title: context.document.data.tasks.title, labels: whole.outcome, sizes: whole.truth, exclusive: outcomes.exclusive });
  for (const { role, title, labels, sizes, exclusive } of sides) {
    const first = largest([...labels.keys()], (i) => sizes[i]);
    const both = labels[first].category === null && sizes[first] < whole.n;
    if (!exclusive || sizes.filter((size) => size > 0).length !== 1 || both) continue;
    const attribute = role === "attribute" ? title : null;
    const moved = context.entries("directional").filter((entry) => (attribute === null || entry.attribute === attribute) && entry.value);
    const shown = moved.map((entry) => `${placeWords(entry, " ")} ${number(entry.value)}`).join(", ");
    const rest = moved.length
      ? `without a second one there is nothing to compare in these records; what is left is a change against labels of other records (${shown})`
      : "no pair has a direction here, so that directional amplification is 0 by definition. Other figures may differ from 0";
    const only = labels[first].text;
    yield caution("one-value", `The ${role} ${printable(title, 40)} has one value only, ${printable(only, 40)}: ${rest}.`, { attribute, metric: "directional", label: only }, { label: only });
  }
}

function* constant(context: Context, bags: BagCounts): Generator<FindingFields> {
  const { outcome, predicted, n } = bags.whole;
  const said = new Map<string, number[]>();
  outcome.forEach((label, o) => said.set(label.variable, [...(said.get(label.variable) ?? []), o]));
  const same: string[] = [];
  for (const [variable, held] of said) {
    const [first] = held;
    if (held.length === 1 && outcome[first].category === null && (predicted[first] === 0 || predicted[first] === n)) {
      same.push(`${printable(variable, 40)} is predicted for ${predicted[first] === 0 ? "no" : "every"} record`);
    }
    if (held.length > 1) same.push(...held.filter((o) => predicted[o] === n).map((o) => `${context.name(outcome[o].text)} is predicted for every record`));
  }
  if (!same.length) return;
  const more = same.length > SHOWN ? `, and ${same.length - SHOWN} more` : "";
  yield caution("constant",
    `Predictions of the task have one value only: ${same.slice(0, SHOWN).join(", ")}${more}. What is said of them holds of any model that always answers so; is the column right?`,
    { direction: "A->T" }, { count: same.length });
}

function* noTruth(bags: BagCounts): Generator<FindingFields> {
  const { outcome, truth, predicted } = bags.whole;
  const named = outcome.filter((label, o) => !truth[o] && predicted[o] && label.category === null).map((label) => label.text);
  if (!named.length) return;
  const several = named.length > 1;
  const shown = named.slice(0, SHOWN).map((name) => printable(name, 30)).join(", ");
  const more = named.length > SHOWN ? ` and ${named.length - SHOWN} more` : "";
  yield caution("no-truth",
    `${named.length} task column${several ? "s have" : " has"} no record in truth, and the model predicts ${several ? "them" : "it"}: ${shown}${more}. Their pairs have no direction and count ` +
    "0 in the mean.", { direction: "A->T" }, { labels: named });
}

/** Values of a variable that records have and the model never gives: a weak model, or another spelling in the truth. */
function* neverPredicted(context: Context, bags: BagCounts): Generator<FindingFields> {
  const { outcome, truth, predicted } = bags.whole;
  const given = outcome.filter((label, o) => label.category !== null && predicted[o]);
  const several = new Set(given.filter((label) => given.some((other) => other !== label && other.variable === label.variable)).map((label) => label.variable));
  const named = outcome.map((label, o) => ({ label, records: truth[o] })).filter(({ label, records }, o) => label.category !== null && !predicted[o] && records && several.has(label.variable));
  if (!named.length) return;
  const shown = named.slice(0, SHOWN).map(({ label, records }) => `${context.name(label.text)} (${grouped(records)} records)`);
  if (named.length > SHOWN) shown.push(`${named.length - SHOWN} more`);
  let asked = named.length > 1 ? "Their predicted rates are 0 in every group." : "Its predicted rate is 0 in every group.";
  search: for (const { label } of named.slice(0, CONSTANTS.looked_at)) {
    for (const other of given) {
      if (other.variable !== label.variable || /^\p{Nd}+$/u.test(label.category! + other.category!)) continue;
      if (ratio([...other.category!], [...label.category!]) <= CONSTANTS.alike) continue;
      asked = `Is ${context.name(label.text)} another spelling of ${context.name(other.text)}?`;
      break search;
    }
  }
  yield caution("never-predicted", `Predictions of the task never have ${and(shown)}. ${asked}`, { direction: "A->T" }, { labels: named.map(({ label }) => label.text) });
}

function* perfect(context: Context, subjects: Subject[]): Generator<FindingFields> {
  const right = subjects.every(({ bags: { whole } }) => whole.truth.some((one) => one > 0) && whole.truth.every((one, o) => one === whole.predicted[o] && one === whole.agreeing[o]));
  if (!right) return;
  const still = context.entries("directional").every((entry) => entry.value === 0) ? ", so amplification is 0 in them" : "";
  yield caution("perfect", `Task predictions equal the truth in every record${still}. Is the column of predictions a copy of the truth?`, { direction: "A->T" }, { direction: "A->T" });
}

/** A column that equals another one, value for value or recoded, though the two have different roles. */
function* copied(context: Context, subjects: Subject[], outcomes: Outcomes): Generator<FindingFields> {
  const task = printable(context.document.data.tasks.title, 40);
  if (!outcomes.exclusive) return;
  for (const { attribute, bags: { whole } } of subjects) {
    const name = printable(attribute, 40);
    for (const [what, joint] of [["predictions of the task", whole.held], ["task", whole.joint]] as const) {
      const found = matched(whole.given, whole.outcome, joint);
      if (!found.length) continue;
      let how = "are equal in every record, value for value";
      let asked = "is one column a copy of the other?";
      if (!found.every(([one, other]) => one === other)) {
        const shown = found.slice(0, SHOWN).map((both) => both.map((value) => printable(value, 20)).join(" with ")).join(", ");
        how = `go together in every record (${shown}${found.length > SHOWN ? ", …" : ""})`;
        asked = what === "task" ? "is one column the other one recoded?" : `does the model decide by ${name} alone? Or is one column the other one recoded?`;
      }
      yield caution("copied", `The attribute ${name} and the ${what} ${task} ${how}: ${asked} Then no figure here says anything of the model.`, { attribute }, { direction: "A->T" });
    }
  }
}

/** The values that always go together, where every record has such two; of few records only values that are the same, or groups that are merged. */
function matched(given: Label[], outcome: Label[], joint: Float64Array): [string, string][] {
  const found: [string, string][] = [];
  const seen = new Map<number, number>();
  let n = 0;
  for (let g = 0; g < given.length; g++) {
    const held = [...outcome.keys()].filter((o) => joint[g * outcome.length + o] > 0);
    if (given[g].category === null || held.length > 1) return [];
    for (const o of held) {
      seen.set(o, (seen.get(o) ?? 0) + joint[g * outcome.length + o]);
      n += joint[g * outcome.length + o];
      found.push([given[g].category!, outcome[o].category!]);
    }
  }
  if (seen.size < found.length) return seen.size > 1 && [...seen.values()].every((size) => size >= CONSTANTS.no_chance) ? found : [];
  const same = found.every(([one, other]) => one === other);
  return found.length > 1 && (same || n >= CONSTANTS.no_chance) ? found : [];
}

function* swapped(context: Context): Generator<FindingFields> {
  const { tasks, task_predictions: predicted } = context.document.data.roles;
  if (!namedOtherwise(tasks, predicted)) return;
  const shown = (names: string[]) => names.slice(0, 3).map((name) => printable(name, 40)).join(", ");
  yield caution("swapped", `tasks names ${shown(tasks)} and task_predictions names ${shown(predicted)}: are truth and predictions swapped?`, {}, {});
}

/** Whether columns of the truth are named as predictions are, and those of predictions are not. */
function namedOtherwise(truth: string[], predicted: string[]): boolean {
  const [ofTruth, ofPredicted] = [truth, predicted].map((names) => names.map((name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_")));
  if (ofPredicted.some((name) => PREDICTED.test(name) || SCORED.test(name))) return false;
  if (ofTruth.some((name) => PREDICTED.test(name))) return true;
  const scored = ofTruth.filter((name) => SCORED.test(name));
  const derived = scored.some((name) => ofPredicted.some((other) => name.startsWith(`${other}_`) || name.endsWith(`_${other}`)));
  return derived || (scored.length > 0 && ofPredicted.some((name) => TRUE.test(name)));
}

function* unknownPositive(context: Context): Generator<FindingFields> {
  const names = context.document.data.positive_unknown ?? [];
  if (!names.length) return;
  const shown = names.slice(0, SHOWN).map((name) => printable(name, 40)).join(", ");
  yield caution("positive",
    `Neither value of ${shown} is plainly the positive one, so rates are given for both, and false positive rates of one are true positive rates of the other turned round. ` +
    "Name the value that is meant: positive= in Python, --positive on the command line.", {}, { tasks: names });
}

/** The correlation of predictions with the truth over some labels, and how many standard errors that is from 0. */
function skill(whole: BagCounts["whole"], places: number[]): [number, number] | null {
  const n = whole.n;
  const [truth, predicted, both] = [whole.truth, whole.predicted, whole.agreeing].map((held) => places.map((o) => held[o] / n));
  const together = pairwise(both.map((one, i) => one - truth[i] * predicted[i]));
  const spread = truth.map((one, i) => one * (1 - one) * predicted[i] * (1 - predicted[i]));
  const total = pairwise(spread);
  if (!(total > 0) || n < 2) return null;
  let variance = total;
  const at = new Map(places.map((o, i) => [o, i]));
  for (const set of exclusiveSets(whole)) {
    const held = [...set].map((o) => at.get(o)).filter((i): i is number => i !== undefined);
    for (const a of held) for (const b of held) if (a !== b) variance += truth[a] * truth[b] * (predicted[a] * predicted[b]);
  }
  return [together / pairwise(spread.map(Math.sqrt)), together / Math.sqrt(variance / (n - 1))];
}

/** Predictions that are opposite to the truth, or have nothing to do with it. */
function* againstTheTruth(context: Context, bags: BagCounts): Generator<FindingFields> {
  const { whole } = bags;
  const found = skill(whole, [...whole.outcome.keys()]);
  if (!found) return;
  const [correlation, z] = found;
  const shown = ` (correlation ${fixed(correlation, 2, true)})`;
  const where = { direction: "A->T" } as const;
  if (correlation < CONSTANTS.opposite && z < -CONSTANTS.sure) {
    yield caution("opposite", `Task predictions are opposite to the truth${shown}: were values swapped, turned round, or taken from the probabilities of the other class?`, where, { ...where });
  } else if ((z < CONSTANTS.better || correlation < CONSTANTS.hardly) && whole.n >= CONSTANTS.least) {
    const [how, asked] = z < CONSTANTS.better ? ["no better than", ""] : ["hardly better than", ", or were tables joined by a key that many rows share"];
    yield caution("unrelated", `Task predictions agree with the truth ${how} chance would make them${shown}: are their rows those of the truth${asked}?`, where, { ...where });
  } else {
    yield* valuesAgainst(context, whole);
    yield* columnsAgainst(whole);
  }
}

/** Of several values of one column, those that are predicted no better than by chance where others are predicted well: codes in another order. */
function* valuesAgainst(context: Context, whole: BagCounts["whole"]): Generator<FindingFields> {
  const { outcome, n, truth, predicted } = whole;
  if (outcome.length < 3 || new Set(outcome.map((label) => label.variable)).size > 1 || n < 2 * CONSTANTS.least) return;
  const skills = outcome.map((_, o) => skill(whole, [o]));
  const told = outcome.map((_, o) => Math.min(truth[o], n - truth[o], predicted[o], n - predicted[o]) >= CONSTANTS.least_either);
  if (!told.some(Boolean)) return;
  const best = Math.max(...skills.filter((one) => one !== null).map(([correlation]) => correlation));
  const wrong = [...outcome.keys()].filter((o) => {
    const found = skills[o];
    return found !== null && told[o] && found[1] < CONSTANTS.better_column && found[0] + 2 / Math.sqrt(n) < CONSTANTS.far_below * best;
  });
  if (wrong.length < 2) return;
  const opposite = wrong.filter((o) => skills[o]![0] < CONSTANTS.opposite && skills[o]![1] < -CONSTANTS.sure).length > 1;
  const mine = wrong.map((o) => outcome[o].text);
  const shown = mine.slice(0, SHOWN).map((label) => context.name(label));
  if (mine.length > SHOWN) shown.push(`${mine.length - SHOWN} more`);
  const how = opposite
    ? "are opposite to the truth, though those of other values are not"
    : "agree with the truth no better than chance would make them, though those of other values do";
  const where = { direction: "A->T" } as const;
  yield caution(opposite ? "opposite" : "unrelated", `Predictions of ${and(shown)} ${how}: are values coded alike in both columns?`, where, { values: mine, ...where });
}

/** Of several columns, those that go against their own truth, though all together do not: columns in another order. */
function* columnsAgainst(whole: BagCounts["whole"]): Generator<FindingFields> {
  const places = new Map<string, number[]>();
  whole.outcome.forEach((label, o) => places.set(label.variable, [...(places.get(label.variable) ?? []), o]));
  if (places.size < 2 || whole.n < 2 * CONSTANTS.least) return;
  const [opposite, unrelated]: string[][] = [[], []];
  for (const [name, held] of places) {
    const enough = (o: number) => Math.min(whole.truth[o], whole.n - whole.truth[o], whole.predicted[o], whole.n - whole.predicted[o]) >= CONSTANTS.least_either;
    const found = held.some(enough) ? skill(whole, held) : null;
    if (!found) continue;
    const [correlation, z] = found;
    if (correlation < CONSTANTS.opposite && z < -CONSTANTS.sure) opposite.push(name);
    else if (z < CONSTANTS.better_column) unrelated.push(name);
  }
  for (const [code, names, asked] of [
    ["opposite", opposite, "are opposite to their truth: were values turned round, or are the columns in another order?"],
    ["unrelated", unrelated, "agree with their truth no better than chance would make them: are the columns in the order of the truth?"],
  ] as const) {
    if (!names.length) continue;
    const shown = names.slice(0, SHOWN).map((name) => printable(name, 40));
    if (names.length > SHOWN) shown.push(`${names.length - SHOWN} more`);
    const where = { direction: "A->T" } as const;
    yield caution(code, `Predictions of ${and(shown)} ${asked}`, where, { columns: [...names], ...where });
  }
}
