/** Intervals of the changes of pairs, and what errors that were not seen add to the variance of aggregates. */
import type { PairCounts } from "./counts";
import { twoSided } from "./distributions";
import { clip } from "./sums";

const CLOSE = 1e-6;

/** The change of every pair with one more error of either kind, its standard error, and the plain variance. */
function adjusted(counts: PairCounts): { shrunk: Float64Array; error: Float64Array; plain: Float64Array } {
  const O = counts.outcome.length;
  const many = counts.joint.length;
  const out = { shrunk: new Float64Array(many), error: new Float64Array(many), plain: new Float64Array(many) };
  for (let i = 0; i < many; i++) {
    const n = counts.size[Math.floor(i / O)];
    const [one, held] = [counts.joint[i], counts.held[i]];
    const mean = (held - one) / n;
    const meanSquare = (one + held - 2 * counts.both[i]) / n;
    const shrunk = (n * mean) / (n + 2);
    const square = (n * meanSquare + 2) / (n + 2);
    out.shrunk[i] = shrunk;
    out.error[i] = Math.sqrt(Math.max(square - shrunk ** 2, 0) / (n + 2));
    out.plain[i] = Math.max(meanSquare - mean ** 2, 0) / n;
  }
  return out;
}

/** Bonett and Price's interval of the change of every pair. */
export function changeIntervals(counts: PairCounts, level: number): [Float64Array, Float64Array] {
  const { shrunk, error } = adjusted(counts);
  const z = twoSided(level);
  return [shrunk.map((x, i) => clip(x - z * error[i], -1, 1)), shrunk.map((x, i) => clip(x + z * error[i], -1, 1))];
}

/** The standard error of the change of every pair, from its own counts. */
export function pairErrors(counts: PairCounts): Float64Array {
  const O = counts.outcome.length;
  return Float64Array.from(counts.joint, (one, i) => {
    const size = counts.size[Math.floor(i / O)];
    const held = counts.held[i];
    const moved = (held - one) / size;
    const variance = (one + held - 2 * counts.both[i] - 2 * moved * (held - one) + moved ** 2 * size) / size ** 2;
    return Math.sqrt(Math.max(Number.isNaN(variance) ? 0 : variance, 0));
  });
}

/** By how much one more error of either kind raises the variance of every pair's change. */
export function pairExcess(counts: PairCounts): Float64Array {
  const O = counts.outcome.length;
  const { error, plain } = adjusted(counts);
  return error.map((x, i) => {
    const excess = x ** 2 - plain[i];
    return counts.size[Math.floor(i / O)] > 0 && !Number.isNaN(excess) ? Math.max(excess, 0) : 0;
  });
}

/** The outcomes of which every record has exactly one, in truth and in prediction, set by set. */
export function exclusiveSets(counts: PairCounts): number[][] {
  const O = counts.outcome.length;
  const byVariable = new Map<string, number[]>();
  counts.outcome.forEach((label, place) => {
    if (label.category !== null) byVariable.set(label.variable, [...(byVariable.get(label.variable) ?? []), place]);
  });
  const addsUp = (places: number[]): boolean => [counts.joint, counts.held].every((table) => counts.size.every((whole, g) => {
    const sum = places.reduce((total, o) => total + table[g * O + o], 0);
    return Math.abs(sum - whole) <= CLOSE * whole;
  }));
  return [...byVariable.values()].filter((places) => places.length > 1 && addsUp(places));
}

/** Whether there are two given labels and every record has exactly one of them: signs are then opposite. */
export function complementary(counts: PairCounts): boolean {
  if (counts.given.length !== 2) return false;
  const O = counts.outcome.length;
  return counts.n === counts.size[0] + counts.size[1] && counts.truth.every((one, o) => one === counts.joint[o] + counts.joint[O + o]);
}

/** Signs for pairs that have none: opposite in neighbouring given labels and within a set of exclusive outcomes. */
export function alternating(counts: PairCounts, sets: number[][]): Int8Array {
  const O = counts.outcome.length;
  const place = new Int32Array(O);
  for (const places of sets) places.forEach((o, i) => (place[o] = i));
  return Int8Array.from(counts.joint, (_, i) => ((Math.floor(i / O) + place[i % O]) % 2 ? -1 : 1));
}

/** The share of records that each given label has; 0 where records have one label each. */
function overlap(counts: PairCounts): Float64Array {
  const total = counts.size.reduce((sum, one) => sum + one, 0);
  return total > counts.n * (1 + CLOSE) ? counts.size.map((one) => one / counts.n) : new Float64Array(counts.size.length);
}

/** What errors that were not seen add to the variance of the mean of `factor * change` over the counted pairs. */
export function unseenVariance(counts: PairCounts, factor: Int8Array, counted: boolean[]): number {
  const [G, O] = [counts.given.length, counts.outcome.length];
  const sets = exclusiveSets(counts);
  const other = alternating(counts, sets);
  const excess = pairExcess(counts);
  const counting = factor.map((f, i) => (counted[i] ? f || other[i] : 0));
  const shares = overlap(counts);
  const single = new Set(counts.outcome.keys());
  for (const places of sets) for (const o of places) single.delete(o);
  const columns: Float64Array[] = [];
  for (const places of sets) {
    columns.push(Float64Array.from({ length: G }, (_, g) => {
      const held = places.map((o) => counting[g * O + o]);
      const apart = places.length === 2 ? held[0] - held[1] : Math.max(...held) - Math.min(...held);
      return apart * Math.sqrt(Math.max(...places.map((o) => excess[g * O + o])));
    }));
  }
  for (const o of single) columns.push(Float64Array.from({ length: G }, (_, g) => counting[g * O + o] * Math.sqrt(excess[g * O + o])));
  let sum = 0;
  for (const column of columns) {
    let together = 0;
    for (let g = 0; g < G; g++) {
      sum += (1 - shares[g]) * column[g] ** 2;
      together += Math.sqrt(shares[g]) * column[g];
    }
    sum += together ** 2;
  }
  return sum / Math.max(counted.filter(Boolean).length, 1) ** 2;
}
