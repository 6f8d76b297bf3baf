/** Which way pairs are associated, decided on whole numbers, and tests of signs and changes. */
import type { PairCounts } from "./counts";
import { betaTails, erfc, logHypergeometric } from "./distributions";

/** The sign of `a b - c d` of whole numbers, whose products may be beyond 2^53. */
export function compareProducts(a: number, b: number, c: number, d: number): number {
  const [left, right] = [a * b, c * d];
  if (left <= Number.MAX_SAFE_INTEGER && right <= Number.MAX_SAFE_INTEGER) return Math.sign(left - right);
  const apart = BigInt(a) * BigInt(b) - BigInt(c) * BigInt(d);
  return apart > 0n ? 1 : apart < 0n ? -1 : 0;
}

/** The sign of `P(g, o) - P(g) P(o)` of every pair. */
export function associationSigns(counts: PairCounts): Int8Array {
  const O = counts.outcome.length;
  return Int8Array.from(counts.joint, (joint, i) => compareProducts(counts.n, joint, counts.size[Math.floor(i / O)], counts.truth[i % O]));
}

// Above this variance of the count the normal approximation is used.
const EXACT_VARIANCE = 2500;
// Tables whose probability agrees so closely are equally probable.
const TIE = 1e-7;

/** Two-sided p-value of Fisher's exact test: a of n1 against b of n2; NaN where there is nothing to compare. */
export function fisher(a: number, n1: number, b: number, n2: number): number {
  const [total, m] = [n1 + n2, a + b];
  if (!(n1 > 0 && n2 > 0 && m > 0)) return NaN;
  const mean = (m * n1) / total;
  const variance = mean * (n2 / total) * ((total - m) / Math.max(total - 1, 1));
  if (variance > EXACT_VARIANCE) return erfc(Math.abs(a - mean) / Math.sqrt(variance) / Math.SQRT2);
  const logChance = (k: number) => logHypergeometric(k, n1, n2, m);
  const [low, high] = [Math.max(0, m - n2), Math.min(n1, m)];
  const mode = Math.min(Math.max(Math.floor(((m + 1) * (n1 + 1)) / (n1 + n2 + 2)), low), high);
  const limit = logChance(a) + TIE;
  if (logChance(mode) <= limit) return 1;
  const above = a >= mode;
  let inner = mode;
  let far = above ? low : high;
  const reachable = logChance(far) <= limit;
  while (Math.abs(inner - far) > 1) {
    const middle = Math.floor((inner + far) / 2);
    if (logChance(middle) <= limit) far = middle;
    else inner = middle;
  }
  const near = tail(a, above, n1, n2, m);
  return Math.min(near + (reachable ? tail(far, !above, n1, n2, m) : 0), 1);
}

/** The chance of k and of everything beyond it, upward or downward. */
function tail(k: number, up: boolean, n1: number, n2: number, m: number): number {
  const [at, mine, other] = up ? [k, n1, n2] : [m - k, n2, n1];
  let [left, rest, after, apart] = [mine - at, m - at, at + 1, other - m + at + 1];
  let [term, sum] = [1, 1];
  while (term > 1e-18 * sum) {
    term *= (left * rest) / (after * apart);
    sum += term;
    left--;
    rest--;
    after++;
    apart++;
  }
  return Math.exp(logHypergeometric(k, n1, n2, m)) * sum;
}

/** Two-sided p-value of independence of every pair; 1 where a table cannot tell. */
export function associationP(counts: PairCounts): Float64Array {
  const O = counts.outcome.length;
  return Float64Array.from(counts.joint, (joint, i) => {
    const [left, right] = [counts.size[Math.floor(i / O)], counts.truth[i % O]];
    const p = fisher(joint, left, right - joint, counts.n - left);
    return Number.isNaN(p) ? 1 : p;
  });
}

/** Two-sided p-value of the exact test that heads and tails are as likely. */
export function fairCoins(heads: number, tails: number): number {
  const [more, less] = [Math.max(heads, tails), Math.min(heads, tails)];
  return more > 0 ? Math.min(2 * betaTails(more, less + 1, 0.5)[0], 1) : 1;
}

/** Two-sided p-value that the change of a pair is 0: McNemar's test, exact. */
export function changeP(counts: PairCounts): Float64Array {
  return Float64Array.from(counts.joint, (joint, i) => fairCoins(counts.held[i] - counts.both[i], joint - counts.both[i]));
}

/** Benjamini and Hochberg's q-values; NaN is a test that was not made. */
export function qValues(p: ArrayLike<number>): Float64Array {
  const made = Array.from(p, (value, i) => ({ value, i })).filter(({ value }) => Number.isFinite(value));
  made.sort((a, b) => a.value - b.value);
  const out = new Float64Array(p.length).fill(NaN);
  const m = made.length;
  let lowest = Infinity;
  for (let rank = m; rank >= 1; rank--) {
    const { value, i } = made[rank - 1];
    lowest = Math.min(lowest, (value * m) / rank);
    out[i] = Math.min(lowest, 1);
  }
  return out;
}
