/** Directional amplification of one attribute: the value, its pairs, intervals and bounds, as an entry of the document. */
import type { Entry, Pair } from "../audit";
import { aggregate, closedForm, crossed, degreesOfFreedom, sharedVariance, signedMean, standardError, type Aggregate, type Interval } from "./aggregates";
import { alternating, changeIntervals, complementary, exclusiveSets, pairErrors, unseenVariance } from "./changes";
import { halvesOf, type BagCounts, type PairCounts } from "./counts";
import { normal, normalQuantile } from "./distributions";
import { CONSTANTS } from "./facts";
import { fixed, grouped } from "./format";
import { general } from "./text";
import { associationP, associationSigns, changeP, qValues } from "./signs";
import { clip, meanOver } from "./sums";

const SMALL_GROUP = 30;
const SMALL_SHARE = 0.2;
const FEW_FREEDOM = 30;
const BIAS_THAT_MATTERS = 0.5;
const SHARED_NOISE = 0.5;

interface Caution {
  kind: string;
  words: string;
}

export const plain = (x: number): number | null => (Number.isNaN(x) ? null : x);

/** The size of the normal statistic that has a two-sided p-value. */
const normalStatistic = (p: number): number => -normalQuantile(Math.min(Math.max(p, 1e-300), 1) / 2);

/** A number for every pair; pairs whose signs follow from one another have the same. */
function tiedSigns(counts: PairCounts, sets: number[][]): Int32Array {
  const O = counts.outcome.length;
  const together = complementary(counts);
  const column = [...counts.outcome.keys()];
  for (const places of sets) if (places.length === 2) for (const o of places) column[o] = places[0];
  const raw = Int32Array.from(counts.joint, (_, i) => (together ? 0 : Math.floor(i / O)) * O + column[i % O]);
  const numbers = new Map([...new Set(raw)].sort((a, b) => a - b).map((key, i) => [key, i]));
  return raw.map((key) => numbers.get(key)!);
}

/** The signs that make the aggregate as large and as small as the records allow, and which pairs have an unknown direction. */
function worseSigns(counts: PairCounts, factor: Int8Array, delta: Float64Array, signP: Float64Array): { up: Int8Array; down: Int8Array; unknown: boolean[] } {
  const sets = exclusiveSets(counts);
  const tied = tiedSigns(counts, sets);
  const many = Math.max(...tied) + 1;
  const defined = Array.from(delta, (one) => !Number.isNaN(one));
  const least = new Float64Array(many);
  const moved = new Float64Array(many);
  const free = new Set<number>();
  const other = alternating(counts, sets);
  const turned = factor.map((f, i) => f || other[i]);
  tied.forEach((t, i) => {
    if (!defined[i]) return;
    free.add(t);
    least[t] = Math.max(least[t], signP[i]);
    moved[t] += turned[i] * delta[i];
  });
  const limit = CONSTANTS.clear_of_all / Math.max(free.size, 1);
  const known = Array.from(tied, (t) => least[t] < limit);
  const worse = turned.map((f, i) => (moved[tied[i]] < 0 ? -f : f));
  return {
    up: factor.map((f, i) => (known[i] ? f : worse[i])),
    down: factor.map((f, i) => (known[i] ? f : -worse[i])),
    unknown: known.map((one, i) => !one && defined[i]),
  };
}

/** What to say where groups are so small that an interval covers less often than it says. */
function smallCautions(counts: PairCounts): Caution[] {
  const defined = [...counts.size].filter((size) => size > 0);
  const small = defined.filter((size) => size < SMALL_GROUP);
  if (!small.length || small.length * counts.outcome.length < SMALL_SHARE * Math.max(defined.length * counts.outcome.length, 1)) return [];
  const words = `${small.length} of ${defined.length} groups hold fewer than ${SMALL_GROUP} records (the smallest ${Math.ceil(Math.min(...defined))}): ` +
    "intervals of so small groups cover less often than their level";
  return [{ kind: "interval", words }];
}

/** What to say where signs come from the evaluated records and they cannot tell them. */
function signCautions(signP: Float64Array, counts: PairCounts, delta: Float64Array): Caution[] {
  const error = pairErrors(counts);
  let [bias, square, unclear, defined] = [0, 0, 0, 0];
  delta.forEach((d, i) => {
    square += error[i] ** 2;
    if (Number.isNaN(d)) return;
    defined++;
    if (signP[i] > 0.05) unclear++;
    const z = normalStatistic(signP[i]);
    bias += 2 * normal(-z) * Math.abs(d) + 2 * SHARED_NOISE * (Math.exp(-(z ** 2) / 2) / Math.sqrt(2 * Math.PI)) * error[i];
  });
  const whole = Math.sqrt(square);
  if ((whole > 0 ? bias / whole : 0) <= BIAS_THAT_MATTERS) return [];
  const words = `the records cannot tell the direction of ${grouped(unclear)} of ${grouped(defined)} pairs: with signs from the same records the value is biased, ` +
    "and its interval covers less often than its level; its bounds count either sign, and train labels would tell them";
  return [{ kind: "unclear-signs", words }];
}

function fewCautions(influence: Float64Array): Caution[] {
  const freedom = degreesOfFreedom(influence);
  if (freedom >= FEW_FREEDOM || freedom <= 0) return [];
  const words = `the error rests on few of about ${grouped(influence.length)} records (about ${fixed(freedom, 0)} degrees of freedom): the interval covers less often than its level`;
  return [{ kind: "interval", words }];
}

/** An interval cut at the range of its figure, with notes where it was cut. */
function within(made: { low: number; high: number }, least: number, most: number): { ends: [number | null, number | null]; notes: Caution[] } {
  const notes: Caution[] = [];
  if (made.low < least) notes.push({ kind: "cut", words: `the interval reached below ${general(least)} and is cut there: the figure is never less` });
  if (made.high > most) notes.push({ kind: "cut", words: `the interval reached above ${general(most)} and is cut there: the figure is never more` });
  const ends = notes.length ? [clip(made.low, least, most), clip(made.high, least, most)] : [made.low, made.high];
  return { ends: [plain(ends[0]), plain(ends[1])], notes };
}

const NO_GIVEN = "no record has the given label";

/** An entry, the pairs that are undefined, and the p-value of every pair. */
export interface Directional {
  entry: Entry;
  excluded: Record<string, unknown>[];
  p: Float64Array;
}

/** The directional value of counts; null where no pair is defined. */
export function directional(attribute: string, bags: BagCounts, level: number): Directional | null {
  const counts = bags.whole;
  const O = counts.outcome.length;
  const signs = associationSigns(counts);
  const size = (i: number) => counts.size[Math.floor(i / O)];
  const defined = Array.from(counts.joint, (_, i) => size(i) > 0);
  if (!defined.some(Boolean)) return null;
  const rate = (table: Float64Array) => table.map((one, i) => (defined[i] ? one / size(i) : NaN));
  const [truthRate, predictedRate] = [rate(counts.joint), rate(counts.held)];
  const delta = counts.held.map((held, i) => (defined[i] ? (held - counts.joint[i]) / size(i) : NaN));
  const amplification = delta.map((d, i) => (defined[i] ? (signs[i] === 0 ? 0 : signs[i] * d + 0) : NaN));
  const value = meanOver(amplification, defined);
  const signP = associationP(counts);
  const clear = Array.from(signP, (p, i) => defined[i] && p <= CONSTANTS.clear_sign);
  const worse = worseSigns(counts, signs, delta, signP);
  const unknown = worse.unknown.filter(Boolean).length;

  const halves = halvesOf(bags);
  const main = aggregate(bags, signs);
  const unseen = unseenVariance(counts, signs, defined);
  const made = closedForm(main, level, unseen);
  let cautions = smallCautions(counts);
  if (halves) cautions.push(...signCautions(signP, counts, delta));
  let ends: [number | null, number | null];
  if (main.influence.length < 2) {
    // One record alone has no interval, and nothing else is said of it.
    cautions = [{ kind: "interval", words: "there is one record only" }];
    ends = [null, null];
  } else {
    if (!unseen) cautions.push(...fewCautions(main.influence));
    const cut = within(made, -1, 1);
    cautions.push(...cut.notes);
    ends = cut.ends;
  }
  const entry: Entry = {
    attribute, metric: "directional", direction: "A->T", value: plain(value), interval: ends as Entry["interval"], interval_method: made.method, n: counts.n,
    sign_source: "the evaluated labels", base_source: null,
  };
  if (halves) {
    const [upper, lower] = halves;
    const [above, below] = [associationSigns(upper.whole), associationSigns(lower.whole)];
    const both = crossed(aggregate(upper, below), aggregate(lower, above));
    entry.crossfit = plain(both.value);
    const z = signP.map(normalStatistic);
    entry.crossfit_interval = cutEnds(closedForm(both, level, unseen, sharedVariance(bags, delta, z)));
  }
  if (clear.some(Boolean)) {
    entry.clear_value = plain(meanOver(amplification, clear));
    entry.clear_interval = cutEnds(closedForm(aggregate(bags, signs, clear), level, unseenVariance(counts, signs, clear)));
  }
  if (level > 0.5) {
    entry.bounds = boundsOf(bags, worse, unknown, main, level, defined);
    entry.unknown = unknown;
  }
  const p = changeP(counts);
  const [low, high] = changeIntervals(counts, level);
  const places = [...defined.keys()].filter((i) => defined[i]);
  const q = qValues(places.map((i) => p[i]));
  const pairs = places.map((i, k): Pair => {
    let [from, to] = signs[i] < 0 ? [-high[i], -low[i]] : [low[i], high[i]];
    if (signs[i] === 0) {
      to = Math.max(Math.abs(from), Math.abs(to));
      from = -to;
    }
    return {
      given: counts.given[Math.floor(i / O)].text, outcome: counts.outcome[i % O].text, sign: signs[i] as Pair["sign"], sign_p: signP[i],
      truth_rate: truthRate[i], predicted_rate: predictedRate[i], delta: delta[i], amplification: amplification[i], low: from, high: to, support: size(i),
      clear: signP[i] <= CONSTANTS.clear_sign, p: p[i], q: q[k], known: !worse.unknown[i],
    };
  });
  entry.pairs_in_all = pairs.length;
  entry.pairs = listed(pairs);
  entry.cautions = cautions.map((one) => one.words);
  entry.caution_kinds = cautions.map((one) => one.kind);
  const excluded = [...defined.keys()].filter((i) => !defined[i]).map((i) => ({
    attribute, metric: "directional", direction: "A->T", given: counts.given[Math.floor(i / O)].text, outcome: counts.outcome[i % O].text, reason: NO_GIVEN,
    given_count: size(i), outcome_count: counts.truth[i % O], joint_count: counts.joint[i],
  }));
  return { entry, excluded, p: Float64Array.from(places, (i) => p[i]) };
}

const cutEnds = (made: Interval): [number | null, number | null] => within(made, -1, 1).ends;

/** How far amplification may reach: one-sided bounds, with the worse sign of every pair of unknown direction. */
function boundsOf(bags: BagCounts, worse: { up: Int8Array; down: Int8Array }, unknown: number, main: Aggregate, level: number, defined: boolean[]): [number | null, number | null] {
  const reach = CONSTANTS.reach * (normalQuantile(level) / normalQuantile(0.95));
  const [up, down] = [worse.up, worse.down].map((factor) => {
    const made = unknown ? aggregate(bags, factor) : main;
    const error = standardError(made, CONSTANTS.errors_more * unseenVariance(bags.whole, factor, defined));
    return { value: unknown ? signedMean(bags, factor) : main.value, error };
  });
  return within({ low: down.value - reach * down.error, high: up.value + reach * up.error }, -1, 1).ends;
}

/** The pairs that a document lists: where there are many, those with the largest amplification, in their order. */
function listed(pairs: Pair[]): Pair[] {
  if (pairs.length <= CONSTANTS.most_pairs) return pairs;
  const places = [...pairs.keys()].sort((a, b) => Math.abs(pairs[b].amplification ?? 0) - Math.abs(pairs[a].amplification ?? 0));
  return places.slice(0, CONSTANTS.most_pairs).sort((a, b) => a - b).map((place) => pairs[place]);
}

/** Make the q-values of listed pairs those over all pairs of the audit. */
export function correctPairs(made: Directional[]): void {
  const p = made.flatMap((one) => [...one.p]);
  const q = qValues(p);
  const known = new Map(p.map((value, i) => [value, q[i]]));
  for (const { entry } of made) for (const pair of entry.pairs!) pair.q = known.get(pair.p!) ?? null;
}

