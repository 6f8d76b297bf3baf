/** What figures are evidence of, with all sentences of the audit counted: Holm over figures, q-values over pairs. */
import type { AuditDocument, Data, Entry, Pair } from "../audit";
import { normal, twoSided } from "./distributions";
import { CONSTANTS, METRICS } from "./facts";
import { byCharacters } from "./text";

export type Place = string;

/** What tells one figure of an audit from all others. */
export function placeOf(entry: { attribute: string; metric: string; direction?: string | null }): Place {
  return JSON.stringify([entry.attribute, entry.metric, entry.direction ?? null]);
}

/** The p-value of 0, by the bound towards it, which is `quantile` standard errors away; 1 if it is beyond. */
function twoSidedP(value: number, bound: number, quantile: number): number {
  if (!(value * bound > 0)) return 1;
  const reach = Math.abs(value - bound);
  return reach === 0 ? 0 : 2 * normal((-quantile * Math.abs(value)) / reach);
}

/** The tests that are rejected so that any false rejection at all has at most the chance `1 - level`. */
export function holm(p: Map<Place, number>, level: number): Set<Place> {
  const rejected = new Set<Place>();
  const keys = [...p.keys()].sort((a, b) => p.get(a)! - p.get(b)!);
  for (const [rank, key] of keys.entries()) {
    if (p.get(key)! > (1 - level) / (p.size - rank)) break;
    rejected.add(key);
  }
  return rejected;
}

function test(entry: Entry, level: number): [number, number] | null {
  const value = entry.value;
  let [low, high] = entry.interval as (number | null)[];
  if (value === null || low === null || high === null) return null;
  let quantile = twoSided(level);
  const known = entry.bounds as (number | null)[] | undefined;
  if (known && entry.unknown && known[0] !== null && known[1] !== null) {
    [low, high] = known as [number, number];
    quantile = twoSided(2 * level - 1);
  }
  const up = value > 0;
  return [up ? 1 : -1, twoSidedP(value, up ? low! : high!, quantile)];
}

/** Every figure that gets a verdict in words: +1 or -1 where it is decided, all of them counted, else 0. */
export function verdicts(document: AuditDocument): Map<Place, number> {
  const level = document.data.confidence;
  const tests = new Map<Place, [number, number]>();
  for (const entry of document.metrics) {
    const made = METRICS[entry.metric]?.judged ? test(entry, level) : null;
    if (made) tests.set(placeOf(entry), made);
  }
  const decided = holm(new Map([...tests].map(([key, [, p]]) => [key, p])), level);
  return new Map([...tests].map(([key, [side]]) => [key, decided.has(key) ? side : 0]));
}

/** The directional values that are as good as 0, whichever the signs that are unknown. */
export function keptOf(document: AuditDocument): Set<Place> {
  const level = document.data.confidence;
  const held = document.metrics.filter((entry) => entry.metric === "directional" && entry.bounds);
  const out = new Set<Place>();
  if (!held.length) return out;
  const further = twoSided(1 - (2 * (1 - level)) / held.length) / twoSided(2 * level - 1);
  for (const entry of held) {
    const value = entry.value;
    const [low, high] = entry.bounds as (number | null)[];
    if (value === null || low === null || high === null || !knownDirections(entry).length) continue;
    if (Math.max(...[low, high].map((end) => Math.abs(value + further * (end - value)))) < CONSTANTS.as_good_as_0) out.add(placeOf(entry));
  }
  return out;
}

export const eachOnce = (pairs: Pair[]): Pair[] => pairs.filter((pair) => !pair.mirror);

/** The pairs whose direction is known. */
export const knownDirections = (entry: Entry): Pair[] => (entry.pairs ?? []).filter((pair) => pair.known && pair.sign !== 0);

/** How many pairs have a direction that is not known, and of how many: each fact once where all pairs are listed. */
export function unknownDirections(entry: Entry): [number, number] {
  const pairs = entry.pairs ?? [];
  const inAll = entry.pairs_in_all ?? pairs.length;
  if (pairs.length < inAll) return [entry.unknown ?? 0, inAll];
  const once = eachOnce(pairs);
  return [once.filter((pair) => !pair.known).length, once.length];
}

/** The pairs that change for certain, the largest first, each fact once. */
export function changedPairs(entry: Entry): Pair[] {
  return eachOnce(entry.pairs ?? []).filter(changes).sort((a, b) => Math.abs(b.delta ?? 0) - Math.abs(a.delta ?? 0));
}

function changes(pair: Pair): boolean {
  const { q, low, high } = pair;
  if (q === null || q === undefined || q >= CONSTANTS.false_discoveries || low === null || high === null) return false;
  return low > 0 || high < 0 || pair.sign === 0;
}

/** +1 or -1 where an interval lies on one side of 0, 0 where it covers 0, null without an interval. */
export function sideOfZero(ends: readonly (number | null)[] | undefined): number | null {
  const [low, high] = ends ?? [null, null];
  if (low === null || high === null) return null;
  return low > 0 ? 1 : high < 0 ? -1 : 0;
}

// Rates of two outcomes add up to 1 but for rounding.
const CLOSE = 1e-9;

/** Mark one of every two pairs that are each other's mirror image: that of the value which is not positive, or the first. */
export function markMirrors(document: AuditDocument): void {
  const data = document.data;
  const variables = new Map((data.task_labels ?? []).map((row) => [row.label, row.variable]));
  for (const row of data.groups) if (row.variable !== undefined) variables.set(row.group, row.variable);
  const negative = negativeLabels(data);
  for (const entry of document.metrics) {
    const together = new Map<string, Pair[]>();
    for (const pair of entry.pairs ?? []) {
      if (!variables.has(pair.outcome)) continue;
      const key = JSON.stringify([pair.given, variables.get(pair.outcome)]);
      together.set(key, [...(together.get(key) ?? []), pair]);
    }
    for (const both of together.values()) {
      if (both.length !== 2 || !mirrored(both[0], both[1])) continue;
      const [one, other] = byCharacters(both[0].outcome, both[1].outcome) <= 0 ? both : [both[1], both[0]];
      (negative.has(other.outcome) ? other : one).mirror = true;
    }
  }
}

function negativeLabels(data: Data): Set<string> {
  const known = data.positive ?? {};
  return new Set((data.task_labels ?? []).filter((row) => Object.hasOwn(known, row.variable) && row.category !== known[row.variable]).map((row) => row.label));
}

function mirrored(one: Pair, other: Pair): boolean {
  if (one.support !== other.support || one.delta === null || other.delta === null || one.truth_rate === null || other.truth_rate === null) return false;
  return Math.abs(one.delta + other.delta) < CLOSE && Math.abs(one.truth_rate + other.truth_rate - 1) < CLOSE;
}
