/** Intervals of means of signed changes, in closed form: from how much every bag of records moves them. */
import type { BagCounts } from "./counts";
import { normalQuantile, studentQuantile } from "./distributions";
import { pairwise, rint } from "./sums";

/** What is smaller than this share of its parts is rounding. */
const ROUNDING = 1e-12;

/** The mean of `factor * change` over the counted pairs, and how much every bag moves it. */
export interface Aggregate {
  value: number;
  influence: Float64Array;
}

/** The mean of `factor * change` over the counted pairs that are defined, in the order of given labels and outcomes. */
export function signedMean(bags: BagCounts, factor: Int8Array, counted?: boolean[]): number {
  const { whole } = bags;
  const O = whole.outcome.length;
  const held = new Float64Array(factor.length);
  let count = 0;
  for (let i = 0; i < factor.length; i++) {
    const size = whole.size[Math.floor(i / O)];
    if (!(size > 0) || (counted && !counted[i])) continue;
    held[i] = factor[i] * ((whole.held[i] - whole.joint[i]) / size);
    count++;
  }
  return pairwise(held) / count;
}

export function aggregate(bags: BagCounts, factor: Int8Array, counted?: boolean[]): Aggregate {
  const { whole } = bags;
  const [G, O, rows] = [whole.given.length, whole.outcome.length, bags.numbers.length];
  const turned = factor.map((f, i) => (!counted || counted[i] ? f : 0));
  const moved = new Float64Array(rows * G);
  const total = new Float64Array(G);
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < G; g++) {
      let sum = 0;
      for (let o = 0; o < O; o++) {
        const at = (r * G + g) * O + o;
        sum += turned[g * O + o] * (bags.held[at] - bags.joint[at]);
      }
      moved[r * G + g] = sum;
      total[g] += sum;
    }
  }
  let count = 0;
  for (let g = 0; g < G; g++) if (whole.size[g] > 0) for (let o = 0; o < O; o++) if (!counted || counted[g * O + o]) count++;
  count = Math.max(count, 1);
  const influence = new Float64Array(rows);
  for (let g = 0; g < G; g++) {
    if (!(whole.size[g] > 0)) continue;
    const each = 1 / whole.size[g] / count;
    const mean = total[g] / whole.size[g];
    for (let r = 0; r < rows; r++) {
      const expected = bags.size[r * G + g] * mean;
      const rest = moved[r * G + g] - expected;
      if (Math.abs(rest) > ROUNDING * Math.abs(expected)) influence[r] += each * rest;
    }
  }
  return { value: signedMean(bags, factor, counted), influence };
}

/** The mean of two figures, each of one half of the records with the signs of the other. */
export function crossed(first: Aggregate, second: Aggregate): Aggregate {
  return { value: 0.5 * (first.value + second.value), influence: Float64Array.from([...second.influence, ...first.influence], (one) => 0.5 * one) };
}

export function degreesOfFreedom(influence: Float64Array): number {
  const square = influence.map((one) => one ** 2);
  const total = pairwise(square);
  if (total === 0) return 0;
  const spread = pairwise(square.map((one) => one ** 2)) - total ** 2 / influence.length;
  return spread <= 0 ? Infinity : Math.min((2 * total ** 2) / spread, influence.length - 1);
}

export interface Interval {
  low: number;
  high: number;
  method: string;
}

/** The closed-form standard error, with a variance that the influences do not hold. */
export function standardError(made: Aggregate, besides: number): number {
  const square = pairwise(made.influence.map((one) => one ** 2));
  if (!square) return Math.sqrt(besides);
  const units = made.influence.length;
  return Math.sqrt(1 + besides / square) * Math.sqrt(square * (units / Math.max(units - 1, 1)));
}

/** Student's interval of an aggregate; `unseen` is the variance of errors that were not seen, `added` that of shared noise. */
export function closedForm(made: Aggregate, level: number, unseen: number, added = 0): Interval {
  if (made.influence.length < 2) return { low: NaN, high: NaN, method: "undefined" };
  const square = pairwise(made.influence.map((one) => one ** 2));
  const error = standardError(made, unseen + added);
  const tail = 0.5 + level / 2;
  const freedom = square ? degreesOfFreedom(made.influence) * (1 + unseen / square) ** 2 : Infinity;
  const quantile = Number.isFinite(freedom) ? studentQuantile(Math.max(freedom, 1), tail) : normalQuantile(tail);
  const method = (square ? "closed form" : "closed form (no record moves the value)") + (unseen ? ", widened for errors not seen" : "");
  return { low: made.value - quantile * error, high: made.value + quantile * error, method };
}

// The covariances are estimated from so many pairs; a sign beyond this in half the records hardly goes with the noise.
const MOST_PAIRS = 1000;
const CLEAR = 4;

/** The pairs whose sign goes with the noise, or some that stand for them, and for how many each of those stands. */
function unclearPairs(O: number, delta: Float64Array, z: Float64Array): { places: number[]; scale: number } {
  const places = [...delta.keys()].filter((i) => !Number.isNaN(delta[i]) && Math.abs(z[i]) / Math.SQRT2 < CLEAR);
  if (places.length <= MOST_PAIRS) return { places, scale: 1 };
  const unique = (side: (i: number) => number) => [...new Set(places.map(side))].sort((a, b) => a - b);
  const [groups, outcomes] = [unique((i) => Math.floor(i / O)), unique((i) => i % O)];
  const [side, known] = outcomes.length >= groups.length ? [(i: number) => i % O, outcomes] : [(i: number) => Math.floor(i / O), groups];
  const step = Math.ceil(places.length / MOST_PAIRS);
  const chosen = new Set(known.filter((_, i) => i % step === 0));
  const keep = places.filter((i) => chosen.has(side(i)));
  return { places: keep, scale: places.length / keep.length };
}

/** The variance that the noise adds which two halves share when each lends the other its signs. */
export function sharedVariance(bags: BagCounts, delta: Float64Array, z: Float64Array): number {
  const { whole } = bags;
  const [G, O, rows] = [whole.given.length, whole.outcome.length, bags.numbers.length];
  const { places, scale } = unclearPairs(O, delta, z);
  if (!places.length) return 0;
  const many = places.length;
  const [noise, lean] = [new Float64Array(rows * many), new Float64Array(rows * many)];
  const lent = new Float64Array(many);
  places.forEach((i, k) => {
    const [g, o] = [Math.floor(i / O), i % O];
    const size = whole.size[g];
    const [left, right] = [size / whole.n, whole.truth[o] / whole.n];
    const apart = whole.joint[i] / whole.n - left * right;
    let square = 0;
    for (let r = 0; r < rows; r++) {
      const at = (r * G + g) * O + o;
      noise[k * rows + r] = (bags.held[at] - bags.joint[at] - bags.size[r * G + g] * delta[i]) / size;
      const leaning = bags.joint[at] - left * bags.truth[r * O + o] - right * bags.size[r * G + g] + (left * right - apart) * bags.n[r];
      lean[k * rows + r] = leaning;
      square += leaning ** 2;
    }
    const spread = Math.sqrt(square);
    const half = Math.abs(z[i]) / Math.SQRT2;
    const density = Math.exp(-0.5 * Math.max(half - 1, 0) ** 2) / Math.sqrt(2 * Math.PI);
    lent[k] = spread > 0 ? (2 * density) / spread : 0;
  });
  const shared = exactProduct(noise, lean, rows, many);
  let sum = 0;
  for (let k = 0; k < many; k++) for (let l = 0; l < many; l++) sum += shared[k * many + l] * lent[l] * (shared[l * many + k] * lent[k]);
  const pairs = delta.reduce((count, one) => count + (Number.isNaN(one) ? 0 : 1), 0);
  return (Math.max(sum, 0) * scale) / pairs ** 2;
}

/** The products of two lots of columns over their rows, of numbers cut to 19 bits, which add up without rounding. */
function exactProduct(left: Float64Array, right: Float64Array, rows: number, many: number): Float64Array {
  const cut = [left, right].map((values) => {
    let largest = 0;
    for (const one of values) largest = Math.max(largest, Math.abs(one));
    const scale = largest > 0 ? 2 ** (19 - Math.ceil(Math.log2(largest))) : 1;
    return { values: values.map((one) => rint(one * scale)), scale };
  });
  const [a, b] = cut.map((one) => one.values);
  const scale = cut[0].scale * cut[1].scale;
  const out = new Float64Array(many * many);
  for (let k = 0; k < many; k++) {
    const mine = a.subarray(k * rows, (k + 1) * rows);
    for (let l = 0; l < many; l++) {
      const other = b.subarray(l * rows, (l + 1) * rows);
      // Whole numbers: two sums side by side give the same as one.
      let [sum, beside, r] = [0, 0, 0];
      for (; r + 1 < rows; r += 2) {
        sum += mine[r] * other[r];
        beside += mine[r + 1] * other[r + 1];
      }
      if (r < rows) sum += mine[r] * other[r];
      out[k * many + l] = (sum + beside) / scale;
    }
  }
  return out;
}
