/** What was found, in the words of the Python package, each with the figure it rests on. */
import type { AuditDocument, Entry, FindingFields, Invented, Pair } from "../audit";
import { changedPairs, eachOnce, keptOf, knownDirections, placeOf, sideOfZero, unknownDirections, verdicts, type Place } from "./evidence";
import { CONSTANTS, GAPS, METRICS, URGENCY, WEIGHTS, isSigned } from "./facts";
import { grouped, number, symbol } from "./format";
import { general, printable } from "./text";
import { LONGEST, labelNames } from "./names";

/** The audit's document, and what is concluded of its figures. */
export class Context {
  readonly verdicts: Map<Place, number>;
  readonly kept: Set<Place>;
  private readonly names: Record<string, string>;

  constructor(readonly document: AuditDocument) {
    this.verdicts = verdicts(document);
    this.kept = keptOf(document);
    this.names = labelNames(document.data);
  }

  entries(metric: string): Entry[] {
    return this.document.metrics.filter((entry) => entry.metric === metric);
  }

  entry(metric: string, attribute: string): Entry | undefined {
    return this.entries(metric).find((entry) => entry.attribute === attribute);
  }

  /** +1 or -1 where a figure is decided with all others counted, 0 where it is not, null without an interval. */
  verdict(entry: Entry): number | null {
    return this.verdicts.get(placeOf(entry)) ?? null;
  }

  /** What a label is called in a sentence. */
  name(label: string): string {
    return (Object.hasOwn(this.names, label) && this.names[label]) || printable(label, LONGEST);
  }
}

/** The value of an entry with its interval in brackets, where it has one. */
export function valueWithInterval(entry: Entry): string {
  const signed = isSigned(entry.metric);
  const [low, high] = entry.interval as (number | null)[];
  const bounds = low === null || high === null ? "" : ` [${number(low, signed)}, ${number(high, signed)}]`;
  return number(entry.value, signed) + bounds;
}

/** The attribute and direction that a sentence begins with. */
export function placeWords(entry: { attribute: string; direction?: string | null }, between = ", "): string {
  return [printable(entry.attribute, 40), symbol(entry.direction)].filter(Boolean).join(between);
}

/** The figure a finding rests on. */
export function figureOf(entry: Entry, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { attribute: entry.attribute, metric: entry.metric, direction: entry.direction, value: entry.value, interval: entry.interval, ...more };
}

type About = { metric?: string | null; attribute?: string | null; direction?: FindingFields["direction"]; label?: string | null };

function subjectOf(about: About): Pick<FindingFields, "metric" | "attribute" | "direction" | "label"> {
  return { metric: about.metric ?? null, attribute: about.attribute ?? null, direction: about.direction ?? null, label: about.label ?? null };
}

function finding(code: string, text: string, weight: number, entry: Entry, more: Record<string, unknown>): FindingFields {
  return { kind: "finding", code, text, weight, figure: figureOf(entry, more), ...subjectOf({ metric: entry.metric, attribute: entry.attribute, direction: entry.direction }) };
}

/** One caution; `about` is what it speaks of, and `shown` its figure. */
export function caution(code: string, text: string, about: About, shown: Record<string, unknown>): FindingFields {
  return { kind: "caution", code, text, weight: WEIGHTS.caution + URGENCY[code], figure: shown, ...subjectOf(about) };
}

/** The findings on amplification, rates and invented labels. */
export function* findings(context: Context): Generator<FindingFields> {
  yield* amplification(context);
  yield* pairs(context);
  yield* hidden(context);
  yield* rates(context);
  yield* inventions(context);
}

function* amplification(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    const [where, shown, verdict] = [placeWords(entry), valueWithInterval(entry), context.verdict(entry)];
    const kept = context.kept.has(placeOf(entry));
    let words: string;
    if (verdict === null) words = `${where}: amplification is ${shown}. There is no interval, so this concludes nothing.`;
    else if (verdict > 0) {
      words = `${where}: the model amplifies the bias of its data, ${shown}: predictions of the task lean further towards the groups that the data tie it to.`;
    } else if (verdict < 0) words = `${where}: the model weakens the associations of its data, ${shown}.`;
    else if (kept) {
      const mean = eachOnce(entry.pairs!).length === 1 ? "" : `, on average over ${listed(entry)}`;
      words = `${where}: the model keeps the bias of its data to within ${general(CONSTANTS.as_good_as_0)}${mean}: amplification is ${shown}.`;
    } else if (!entry.interval.some(Boolean)) {
      words = `${where}: amplification is 0 in every resample: no pair has a direction, or no prediction is wrong.`;
    } else words = `${where}: amplification is ${shown}. ${undecided(context, entry)}, so this concludes nothing.`;
    const weight = (verdict ? WEIGHTS.decided_aggregate : WEIGHTS.aggregate) + Math.abs(entry.value ?? 0);
    yield finding("amplification", words, weight, entry, { verdict, kept });
  }
}

/** Why a figure with an interval gets no verdict. */
function undecided(context: Context, entry: Entry): string {
  if (!sideOfZero(entry.interval as (number | null)[])) return "The interval covers 0";
  const bounds = (entry.bounds ?? [null, null]) as (number | null)[];
  if (entry.unknown && sideOfZero(bounds) === 0) {
    const [unknown, many] = unknownDirections(entry);
    return `The signs come from ${entry.sign_source ?? "the evaluated labels"}, which do not tell the direction of ${grouped(unknown)} of ${grouped(many)} pairs; ` +
      `with the better and the worse sign of each, amplification may lie anywhere from ${number(bounds[0])} to ${number(bounds[1])}`;
  }
  return `Its own interval does not cover 0, but with all ${context.verdicts.size} figures counted that may be chance`;
}

/** How many pairs are looked at, and of how many. */
function listed(entry: Entry): string {
  const [held, once] = [entry.pairs!.length, eachOnce(entry.pairs!).length];
  const known = entry.pairs_in_all ?? held;
  if (held === known) return `${grouped(once)} pair${once === 1 ? "" : "s"}`;
  return `the ${grouped(once)} listed pairs of ${grouped(known)}${once < held ? " (with mirror images)" : ""}`;
}

/** Pairs that change for certain and whose direction is known, each with its amplification. */
function oriented(entry: Entry): Map<Pair, number> {
  const known = new Set(knownDirections(entry));
  return new Map(changedPairs(entry).filter((pair) => known.has(pair)).map((pair) => [pair, pair.amplification ?? 0]));
}

function* pairs(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    const changed = changedPairs(entry);
    if (!changed.length) continue;
    const known = oriented(entry);
    const named = changed.slice(0, CONSTANTS.pairs_shown);
    const shown = named.map((pair) => {
      const turned = known.has(pair) ? ` (${number(known.get(pair))})` : "";
      return `${context.name(pair.given)} → ${context.name(pair.outcome)} ${number(pair.truth_rate, false)} becomes ${number(pair.predicted_rate, false)}${turned}`;
    }).join("; ");
    const up = [...known.values()].filter((change) => change > 0).length;
    const ways = [`${up} ${up === 1 ? "is" : "are"} amplified`, `${known.size - up} weakened`];
    if (changed.length > known.size) ways.push(`${changed.length - known.size} changed without a known direction`);
    const words = `${placeWords(entry)}: of ${listed(entry)}, ${ways.slice(0, -1).join(", ")} and ${ways.at(-1)} beyond chance (of such pairs, at most ` +
      `${Math.round(100 * CONSTANTS.false_discoveries)}% are expected to be chance). Largest: ${shown}.`;
    yield finding("pairs", words, WEIGHTS.pairs + Math.abs(named[0].delta ?? 0), entry, { pairs: named.map((pair) => ({ ...pair, known: known.has(pair) })) });
  }
}

/** An aggregate near 0 can hide large opposite pairs. */
function* hidden(context: Context): Generator<FindingFields> {
  for (const entry of context.entries("directional")) {
    const changes = [...oriented(entry).values()];
    if (!changes.length) continue;
    const [up, down] = [Math.max(...changes), Math.min(...changes)];
    if (!(up > 0 && down < 0 && Math.min(up, -down) > CONSTANTS.hides * Math.abs(entry.value ?? 0))) continue;
    const words = `${placeWords(entry)}: the aggregate ${number(entry.value)} hides pairs of known direction that move in opposite ways, from ${number(down)} to ${number(up)}: read the pairs.`;
    yield finding("opposite-pairs", words, WEIGHTS.opposite_pairs, entry, { low: down, high: up });
  }
}

/** What a difference between groups is, in words. */
export function gapWords(context: Context, entry: Entry): string {
  const gap = METRICS[entry.metric].gap;
  const shown = valueWithInterval(entry);
  const outcome = context.name(entry.outcome ?? "");
  const groups = (entry.between ?? []).map((name, i) => `${context.name(name)} (${grouped(entry.sizes![i])} records)`);
  const apart = groups.length ? ` between ${groups.join(" and ")}` : "";
  if (context.verdict(entry)) return `${gap} differ by ${shown}${apart} (${outcome})`;
  if (entry.value === 0) return `no difference in ${gap} is seen (${shown})`;
  let because = "without an interval it concludes nothing";
  if (context.verdict(entry) === 0) {
    const counted = ((entry.interval[0] as number | null) ?? 0) > 0 ? `with all ${context.verdicts.size} figures counted ` : "";
    because = `${counted}chance may explain it`;
  }
  return `the largest difference in ${gap} seen is ${shown}${apart} (${outcome}), and ${because}`;
}

function* rates(context: Context): Generator<FindingFields> {
  // True positive rates come first: they say who is not given what is theirs.
  const gaps = [...GAPS.filter((name) => name === "tpr_difference"), ...GAPS.filter((name) => name !== "tpr_difference")];
  for (const attribute of context.document.data.attributes) {
    const found = gaps.map((name) => context.entry(name, attribute)).filter((entry): entry is Entry => entry !== undefined);
    if (!found.length) continue;
    const text = `${printable(attribute, 40)}: between groups, ${found.map((entry) => gapWords(context, entry)).join("; ")}.`;
    const decided = found.filter((entry) => context.verdict(entry));
    const weight = WEIGHTS.error_rates + Math.max(0, ...decided.map((entry) => entry.value ?? 0));
    yield finding("parity", text, weight, (decided.length ? decided : found)[0], { decided: decided.map((entry) => entry.metric) });
  }
}

const SHOWN = 3;

/** Invented labels that groups get at different rates. */
function* inventions(context: Context): Generator<FindingFields> {
  const rows = context.document.invented ?? [];
  for (const attribute of new Set(rows.map((row) => row.attribute))) {
    const mine = rows.filter((row) => row.attribute === attribute);
    const clear = mine.filter((row) => row.q !== null && row.q < CONSTANTS.clear_difference && row.between);
    if (!clear.length) continue;
    clear.sort((a, b) => (b.difference ?? 0) - (a.difference ?? 0));
    const words = clear.slice(0, SHOWN).map((row) => inventionWords(context, row));
    const more = clear.length > SHOWN ? `, and ${clear.length - SHOWN} more` : "";
    const top = clear[0];
    yield {
      kind: "finding", code: "invented",
      text: `${placeWords(mine[0])}: the model gives labels that the truth never has, and groups get them at different rates: ${words.join("; ")}${more}. ` +
        "They have no truth to be amplified and are no part of the figures of amplification.",
      weight: WEIGHTS.invented + Math.min(1, top.difference ?? 0), figure: { label: top.label, difference: top.difference, q: top.q },
      ...subjectOf({ attribute, direction: top.direction, label: top.label }),
    };
  }
}

function inventionWords(context: Context, row: Invented): string {
  const rateOf = new Map(row.groups.map((group) => [group.group, group.rate]));
  const [highest, lowest] = row.between!;
  const ends = row.low === null ? "" : ` [${number(row.low, false)}, ${number(row.high, false)}]`;
  return `${printable(row.label, 40)} is predicted for ${number(rateOf.get(highest), false)} of ${context.name(highest)} and ${number(rateOf.get(lowest), false)} of ` +
    `${context.name(lowest)} (difference ${number(row.difference, false)}${ends})`;
}
