/** From labels to the document of an audit, as `biasamp.audit(..., metrics=["directional", "parity"], intervals="closed_form")` makes it. */
import type { AuditDocument, Excluded, NotRun } from "../audit";
import { cautions } from "./cautions";
import { countPairs, onlyOutcomes, outcomesOf, type Outcomes } from "./counts";
import { correctPairs, directional, type Directional } from "./directional";
import { markMirrors } from "./evidence";
import { FACTS, METRICS } from "./facts";
import { Context, findings } from "./findings";
import { inventedLabels, withQ } from "./invented";
import { chooseOutcomes, parity, type Parity } from "./rates";
import { Refused, type Choice, type Roles } from "./types";

/** What is not made in the browser is said in place of it. */
const NO_FINGERPRINT = "not made in the browser";
const NO_ATTRIBUTE_PREDICTIONS = "T->A needs attribute_predictions, which were not given";
const NO_PAIR = "no pair is defined: no record has any of the given labels";

/** Which outcomes have truth: a yes/no column keeps its label whatever its records say, and a 0/1 variable both of its values. */
function withTruth(outcomes: Outcomes, truth: Float64Array): boolean[] {
  const always = outcomes.variables.flatMap(({ kind, categories }) =>
    kind === "binary" ? [true] : categories.map(() => categories.every((one) => one === "0" || one === "1")));
  return always.map((one, o) => one || truth[o] > 0);
}

/** The document of an audit of some labels. */
export function measure(roles: Roles, choice: Choice, table: { source: string; records: number }): AuditDocument {
  const { confidence: level, min_group: minGroup } = choice;
  const outcomes = outcomesOf(roles);
  const bagsKnown = new Map<number, Uint16Array>();
  const counted = roles.attributes.map((attribute) => ({ attribute: attribute.variable, bags: countPairs(attribute, outcomes, roles.records, bagsKnown) }));
  const whole = counted[0].bags.whole;
  const known = withTruth(outcomes, whole.truth);
  const kept = [...known.keys()].filter((o) => known[o]);
  const apart = [...known.keys()].filter((o) => !known[o] && whole.predicted[o] > 0);
  const positive = chooseOutcomes(outcomes, known, new Set(apart.map((o) => outcomes.labels[o].variable)), choice.positive);
  const subjects = counted.map((subject) => ({ ...subject, bags: onlyOutcomes(subject.bags, kept) }));

  const made: (Directional | null)[] = subjects.map(({ attribute, bags }) => directional(attribute, bags, level));
  const rates: Parity[] = subjects.map(({ attribute, bags }) => parity(attribute, bags, positive, level, minGroup));
  correctPairs(made.filter((one): one is Directional => one !== null));
  const metrics = subjects.flatMap((_, i) => [...(made[i] ? [made[i]!.entry] : []), ...rates[i].entries]);
  const notRun: NotRun[] = subjects.flatMap(({ attribute }, i) => [
    ...(made[i] ? [] : [{ attribute, metric: "directional", direction: "A->T", reason: NO_PAIR } as NotRun]),
    { attribute, metric: "directional", direction: "T->A", reason: NO_ATTRIBUTE_PREDICTIONS },
    ...rates[i].notRun,
  ]);
  if (!metrics.length) throw new Refused(`no metric could be computed: ${[...new Set(notRun.map((row) => row.reason))].join("; ")}`);
  const named = new Set(metrics.flatMap((entry) => (entry.pairs ?? []).map((pair) => pair.outcome)));
  const trueLabels = kept.map((o) => outcomes.labels[o]);
  const document: AuditDocument = {
    schema: FACTS.schema as 1,
    version: FACTS.version,
    seed: 0,
    data: {
      records: roles.records, fingerprint: NO_FINGERPRINT, attributes: subjects.map((subject) => subject.attribute) as AuditDocument["data"]["attributes"],
      tasks: { title: choice.tasks.join(", "), labels: trueLabels.length },
      groups: subjects.flatMap(({ attribute, bags }) => bags.whole.given.map((label, g) => ({
        attribute, group: label.text, records: bags.whole.size[g], small: bags.whole.size[g] < minGroup, kind: "attribute" as const, variable: label.variable, category: label.category,
      }))),
      confidence: level, resamples: 1000, min_group: minGroup, missing: "error", missing_values: 0,
      roles: { attributes: choice.attributes, tasks: choice.tasks, attribute_predictions: [], task_predictions: choice.task_predictions },
      train: false, base: false, weighted: false, kinds: Object.fromEntries(subjects.map(({ attribute }) => [attribute, "attribute" as const])),
      task_labels: trueLabels.filter((label) => named.has(label.text)).map((label) => ({ label: label.text, variable: label.variable, category: label.category })),
      ...(Object.keys(positive.positive).length ? { positive: positive.positive } : {}),
      ...(positive.unknown.length ? { positive_unknown: positive.unknown } : {}),
      intervals: "closed_form",
    },
    metrics: metrics as AuditDocument["metrics"], findings: [], excluded: subjects.flatMap((_, i) => [...(made[i]?.excluded ?? []), ...rates[i].excluded]) as unknown as Excluded[], not_run: notRun,
    registry: Object.fromEntries([...metrics, ...notRun].filter((row) => METRICS[row.metric]).map((row) => [row.metric, METRICS[row.metric].facts])),
    provenance: { source: table.source },
    rates: rates.flatMap((one) => one.rows),
  };
  const invented = withQ(apart.length ? counted.flatMap(({ attribute, bags }) => inventedLabels(attribute, bags, apart, level)) : []);
  if (invented.length) document.invented = invented;
  markMirrors(document);
  const context = new Context(document);
  const found = [...findings(context), ...cautions(context, subjects, outcomes)];
  document.findings = found.sort((a, b) => b.weight - a.weight);
  return document;
}
