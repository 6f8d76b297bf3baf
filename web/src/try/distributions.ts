/** The normal, Student's, beta, binomial and hypergeometric distribution, to some 1e-13 of each value. */

const EPSILON = 2 ** -53;
const HALF_LOG_2PI = 0.91893853320467274178;

/** Upper tail of the error function. */
export function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  if (x === Infinity) return 0;
  const square = x * x;
  if (x < 2) {
    // A sum of positive terms.
    let term = 1;
    let sum = 1;
    for (let n = 1; term > EPSILON * sum; n++) {
      term *= (2 * square) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * x * Math.exp(-square) * sum;
  }
  // Lentz's continued fraction.
  let f = x;
  let c = x;
  let d = 0;
  for (let n = 1; n < 500; n++) {
    d = 1 / (x + (n / 2) * d);
    c = x + n / 2 / c;
    f *= c * d;
    if (Math.abs(c * d - 1) < EPSILON) break;
  }
  return Math.exp(-square) / (f * Math.sqrt(Math.PI));
}

/** The normal distribution: the chance of no more than x. */
export const normal = (x: number): number => 0.5 * erfc(-x * Math.SQRT1_2);

const polynomial = (x: number, coefficients: number[]): number => coefficients.reduce((sum, one) => sum * x + one, 0);

/** The normal quantile (Wichura 1988, AS 241). */
export function normalQuantile(p: number): number {
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * polynomial(r, [2.5090809287301226727e3, 3.343057558358812810e4, 6.7265770927008700853e4, 4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.387132872796366608])) /
      polynomial(r, [5.226495278852854561e3, 2.8729085735721942674e4, 3.930789580009271061e4, 2.1213794301586595867e4, 5.3941960214247511077e3, 6.871870074920579083e2, 4.2313330701600911252e1, 1]);
  }
  const tail = q <= 0 ? p : 1 - p;
  if (!(tail > 0)) return q < 0 ? -Infinity : Infinity;
  let r = Math.sqrt(-Math.log(tail));
  let x: number;
  if (r <= 5) {
    r -= 1.6;
    x = polynomial(r, [7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.4178072517745061177e-1, 1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734]) /
      polynomial(r, [1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 1.4810397642748007459e-1, 6.897673349851000045e-1, 1.6763848301838038494, 2.05319162663775882187, 1]);
  } else {
    r -= 5;
    x = polynomial(r, [2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.2426609473880784386e-3, 2.6532189526576123093e-2, 2.9656057182850489123e-1, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772]) /
      polynomial(r, [2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, 1.48753612908506148525e-2, 1.3692988092273580531e-1, 5.9983220655588793769e-1, 1]);
  }
  return q < 0 ? -x : x;
}

/** The quantile that leaves `1 - level` in both tails together. */
export const twoSided = (level: number): number => normalQuantile(0.5 + level / 2);

const LANCZOS = [0.99999999999980993227684700473478, 676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894, -176.61502916214059906584551354, 12.507343278686904814458936853, -0.13857109526572011689554707, 9.984369578019570859563e-6, 1.50563273514931155834e-7];

/** The logarithm of the gamma function of a small positive number. */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const y = x - 1;
  let sum = LANCZOS[0];
  for (let i = 1; i < 9; i++) sum += LANCZOS[i] / (y + i);
  const t = y + 7.5;
  return HALF_LOG_2PI + (y + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** What Stirling's formula misses of the logarithm of `n!` (Loader 2000). */
function stirlingError(n: number): number {
  if (n === 0) return 0;
  if (n < 16) {
    if (Number.isInteger(n)) {
      let factorial = 1;
      for (let i = 2; i <= n; i++) factorial *= i;
      return Math.log(factorial) - (n + 0.5) * Math.log(n) + n - HALF_LOG_2PI;
    }
    return logGamma(n + 1) - (n + 0.5) * Math.log(n) + n - HALF_LOG_2PI;
  }
  const s = 1 / (n * n);
  return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - (1 / 1188 - (691 / 360360 - s / 156) * s) * s) * s) * s) * s) / n;
}

/** `x log(x / m) + m - x`, also where x is near m. */
function deviance(x: number, m: number): number {
  if (x === 0) return m;
  const d = x - m;
  if (Math.abs(d) < 0.1 * (x + m)) {
    const v = d / (x + m);
    let sum = d * v;
    let power = 2 * x * v;
    const square = v * v;
    for (let j = 1; j < 1000; j++) {
      power *= square;
      const next = sum + power / (2 * j + 1);
      if (next === sum) return sum;
      sum = next;
    }
  }
  return x * Math.log(x / m) + m - x;
}

/** The logarithm of the binomial chance of k of n at a chance p, with q = 1 - p; k and n need not be whole. */
function logBinomial(k: number, n: number, p: number, q: number): number {
  if (k === 0) return n * (p < 0.5 ? Math.log1p(-p) : Math.log(q));
  if (k === n) return n * (q < 0.5 ? Math.log1p(-q) : Math.log(p));
  const rest = n - k;
  const exponent = stirlingError(n) - stirlingError(k) - stirlingError(rest) - deviance(k, n * p) - deviance(rest, n * q);
  return exponent + 0.5 * Math.log(n / (k * rest)) - HALF_LOG_2PI;
}

/** The logarithm of the chance of k in m draws without return from n1 that have something and n2 that have not. */
export function logHypergeometric(k: number, n1: number, n2: number, m: number): number {
  const n = n1 + n2;
  if (m === 0 || m === n) return 0;
  const p = m / n;
  const q = (n - m) / n;
  return logBinomial(k, n1, p, q) + logBinomial(m - k, n2, p, q) - logBinomial(m, n, p, q);
}

/**
 * The incomplete beta function by its continued fraction (DiDonato and Morris 1992, BFRAC), x below the mean: no term of it
 * is a difference of nearly equal numbers, however near x is to 1.
 */
function betaFraction(a: number, b: number, x: number, y: number): number {
  const n = a + b;
  const front = Math.exp(logBinomial(a, n, x, y)) * ((a * b) / n);
  const from = a * y - b * x + 1;
  let f = (a * from) / (a + 1);
  let c = f;
  let d = 0;
  for (let m = 1; m < 200000; m++) {
    const over = (m * (b - m) * x) / (a + 2 * m - 1);
    const upper = ((a + m - 1) * (n + m - 1) * x * over) / (a + 2 * m - 1);
    const lower = m + over + ((a + m) * (from + m * (1 + y))) / (a + 2 * m + 1);
    d = 1 / (lower + upper * d);
    c = lower + upper / c;
    f *= c * d;
    if (Math.abs(c * d - 1) < 2 * EPSILON) break;
  }
  return front / f;
}

/** Both tails of the beta distribution at x: below, and above. */
export function betaTails(a: number, b: number, x: number, y = 1 - x): [number, number] {
  if (x <= 0) return [0, 1];
  if (y <= 0) return [1, 0];
  if (x * (a + b + 2) < a + 1) {
    const below = betaFraction(a, b, x, y);
    return [below, 1 - below];
  }
  const above = betaFraction(b, a, y, x);
  return [1 - above, above];
}

/** The x below which the beta distribution has the chance p; with `above`, above which. */
export function betaQuantile(a: number, b: number, p: number, above = false): number {
  // With one success or failure the quantile has a formula.
  if (b === 1) return a === 1 ? (above ? 1 - p : p) : above ? Math.exp(Math.log1p(-p) / a) : p ** (1 / a);
  if (a === 1) return -Math.expm1((above ? Math.log(p) : Math.log1p(-p)) / b);
  // Newton's method on the logarithm of the tail, in the logarithm of x, kept between bounds that halve where it leaves them.
  let [low, high] = [0, 1];
  let x = a / (a + b);
  for (let i = 0; i < 200; i++) {
    const tail = betaTails(a, b, x)[above ? 1 : 0];
    const beyond = tail > p;
    if (beyond !== above) high = x;
    else low = x;
    const slope = Math.exp(logBinomial(a, a + b, x, 1 - x)) * ((a * b) / (a + b)) / (x * (1 - x));
    const step = tail > 0 ? (Math.log(tail / p) * tail) / slope : NaN;
    let next = above ? x + step : x - step;
    // Quantiles near 0 are found in their logarithm.
    if (!above && Number.isFinite(step) && a < 1.5) next = x * Math.exp(-step / x);
    if (!(next > low && next < high)) next = low === 0 && high < 1e-3 ? high / 16 : (low + high) / 2;
    if (Math.abs(next - x) <= 4 * EPSILON * x) return next;
    x = next;
  }
  return x;
}

/** Student's quantile of a chance above one half. */
export function studentQuantile(freedom: number, p: number): number {
  const both = 2 * (1 - p);
  const x = betaQuantile(0.5, freedom / 2, both, true);
  return Math.sqrt((freedom * x) / (1 - x));
}
