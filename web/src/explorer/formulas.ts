/**
 * Association metrics from counts, their gaps and their slopes.
 *
 * The page carries counts, so that one file holds every metric, gap and interval of many labels; the tests hold
 * every figure computed here against the Python package's. A metric without a formula here comes with its figures in
 * the document, and all else about metrics is read there too.
 */

/** A(x, y) from n, C(x), C(y), C(x,y). NaN where undefined, infinite at a limit. */
type Value = (n: number, x: number, y: number, xy: number, literal: boolean) => number;
/** A(x1, y) - A(x2, y) from n, C(x1), C(x2), C(y), C(x1,y), C(x2,y). */
type Gap = (n: number, x1: number, x2: number, y: number, a: number, b: number, literal: boolean) => number;

function pmi(n: number, x: number, y: number, xy: number): number {
  return x > 0 && y > 0 ? Math.log((n * xy) / (x * y)) : NaN;
}

// A function each: a hundred thousand labels go through one of them without asking which metric it is.
const VALUES: Record<string, Value> = {
  dp: (_n, x, _y, xy) => xy / x,
  pmi,
  npmi_y: (n, x, y, xy, literal) => {
    const out = y < n ? pmi(n, x, y, xy) / -Math.log(y / n) : NaN;
    return literal ? -out : out;
  },
  npmi_xy: (n, x, y, xy, literal) => {
    const out = xy >= n ? NaN : xy === 0 && x > 0 && y > 0 ? -1 : pmi(n, x, y, xy) / -Math.log(xy / n);
    return literal ? -out : out;
  },
  pmi2: (_n, x, y, xy) => (x > 0 && y > 0 ? Math.log(xy / x) + Math.log(xy / y) : NaN),
  sdc: (_n, x, y, xy, literal) => ((literal ? 1 : 2) * xy) / (x + y),
  ji: (_n, x, y, xy) => xy / (x + y - xy),
  llr: (_n, _x, y, xy) => (y > 0 ? Math.log(xy / y) : NaN),
  tau_b: (n, x, y, xy, literal) => {
    const spread = Math.sqrt(x * (n - x)) * Math.sqrt(y * (n - y));
    if (!(spread > 0)) return NaN;
    if (!literal) return (n * xy - x * y) / spread;
    // Equation 23 as printed: it counts tied pairs as concordant.
    const agree = n - 2 * x - 2 * y + 4 * xy;
    return (x * (2 * xy - x) + (n - x) * (n - x - 2 * y + 2 * xy) - agree) / spread;
  },
  t_test: (n, x, y, xy) => (x > 0 && y > 0 ? (n * xy - x * y) / (n * Math.sqrt(x * y)) : NaN),
};

/** log p(y|x1) / p(y|x2). */
function logRatio(x1: number, x2: number, y: number, a: number, b: number): number {
  return x1 > 0 && x2 > 0 && y > 0 ? Math.log((a * x2) / (b * x1)) : NaN;
}

// Closed forms where the difference of two rounded values would lose digits.
const GAPS: Record<string, Gap> = {
  dp: (_n, x1, x2, _y, a, b) => (a * x2 - b * x1) / (x1 * x2),
  pmi: (_n, x1, x2, y, a, b) => logRatio(x1, x2, y, a, b),
  llr: (_n, _x1, _x2, y, a, b) => (y > 0 ? Math.log(a / b) : NaN),
  pmi2: (_n, x1, x2, y, a, b) => logRatio(x1, x2, y, a, b) + Math.log(a / b),
  npmi_y: (n, x1, x2, y, a, b, literal) => {
    const out = y < n ? logRatio(x1, x2, y, a, b) / -Math.log(y / n) : NaN;
    return literal ? -out : out;
  },
  sdc: (_n, x1, x2, y, a, b, literal) => {
    const [below, other] = [x1 + y, x2 + y];
    return ((literal ? 1 : 2) * (a * other - b * below)) / (below * other);
  },
  ji: (_n, x1, x2, y, a, b) => {
    const [below, other] = [x1 + y - a, x2 + y - b];
    return (a * other - b * below) / (below * other);
  },
};

/** The formula of a metric's value. */
export function valueOf(metric: string): Value {
  const out = VALUES[metric];
  if (out === undefined) throw new Error(`no metric ${metric}`);
  return out;
}

/** The formula of a metric's gap: a closed form, or the difference of its values. */
export function gapOf(metric: string): Gap {
  const of = valueOf(metric);
  return GAPS[metric] ?? ((n, x1, x2, y, a, b, literal) => of(n, x1, y, a, literal) - of(n, x2, y, b, literal));
}

function is(out: Float64Array, byX: number, byY: number, byXY: number): Float64Array {
  out[0] = byX;
  out[1] = byY;
  out[2] = byXY;
  return out;
}

/** Partial derivatives of A by p(x), p(y) and p(x,y), written to `out`: a hundred thousand labels make no arrays of their own. */
export function slope(metric: string, n: number, x: number, y: number, z: number, literal: boolean, out: Float64Array = new Float64Array(3)): Float64Array {
  const pmi = Math.log(z / (x * y));
  const sign = literal ? -1 : 1;
  switch (metric) {
    case "dp":
      return is(out, -z / (x * x), 0, 1 / x);
    case "pmi":
      return is(out, -1 / x, -1 / y, 1 / z);
    case "npmi_y": {
      const l = -Math.log(y);
      return is(out, -sign / (x * l), sign * (-1 / (y * l) + pmi / (y * l * l)), sign / (z * l));
    }
    case "npmi_xy": {
      const l = -Math.log(z);
      return is(out, -sign / (x * l), -sign / (y * l), sign * (1 / (z * l) + pmi / (z * l * l)));
    }
    case "pmi2":
      return is(out, -1 / x, -1 / y, 2 / z);
    case "sdc": {
      const [s, two] = [x + y, literal ? 1 : 2];
      return is(out, (-two * z) / (s * s), (-two * z) / (s * s), two / s);
    }
    case "ji": {
      const d = x + y - z;
      return is(out, -z / (d * d), -z / (d * d), (x + y) / (d * d));
    }
    case "llr":
      return is(out, 0, -1 / y, 1 / z);
    case "t_test": {
      const r = Math.sqrt(x * y);
      const over = z - x * y;
      return is(out, -y / r - over / (2 * x * r), -x / r - over / (2 * y * r), 1 / r);
    }
    case "tau_b": {
      if (literal) return is(out, ...numericSlope(n, x, y, z));
      const r = Math.sqrt(x * (1 - x) * y * (1 - y));
      const over = z - x * y;
      return is(out, -y / r - (over * (1 - 2 * x)) / (2 * x * (1 - x) * r), -x / r - (over * (1 - 2 * y)) / (2 * y * (1 - y) * r), 1 / r);
    }
  }
  throw new Error(`no metric ${metric}`);
}

/** The printed tau_b has unwieldy derivatives; central differences of a smooth function do. */
function numericSlope(n: number, x: number, y: number, z: number): [number, number, number] {
  const at = (a: number, b: number, c: number) => VALUES.tau_b(n, n * a, n * b, n * c, true);
  const step = (p: number) => 1e-6 * Math.min(p, 1 - p);
  const [dx, dy, dz] = [step(x), step(y), 1e-6 * Math.max(z, 1e-9)];
  return [
    (at(x + dx, y, z) - at(x - dx, y, z)) / (2 * dx),
    (at(x, y + dy, z) - at(x, y - dy, z)) / (2 * dy),
    (at(x, y, z + dz) - at(x, y, z - dz)) / (2 * dz),
  ];
}
