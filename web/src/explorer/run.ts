/** One run's counts, and everything that follows from them, computed when it is first asked for. */
import { float, type Num } from "../numbers";
import { gapOf, slope, valueOf } from "./formulas";
import type { Facts } from "./meaning";
import { inOrder, orderBy } from "./sorting";

export interface Contrast {
  x1: number;
  x2: number | null;
  p: (number | null)[] | null;
  q: (number | null)[] | null;
  /** For each label, 0 where it is ranked, else one more than the place of the reason. */
  why: number[];
}

/** Figures of a metric that the page has no formula for: an array an identity, or an array a gap. */
export interface Figures {
  value: Num[][];
  gap: Num[][];
  low: Num[][];
  high: Num[][];
  /** The standard error; null where the result did not keep it. */
  error: Num[][] | null;
  null: Num[][];
}

export interface RunDocument {
  name: string;
  n: number;
  version: string;
  identities: { identity: string; labels: string[]; count: number }[];
  overlap: number[][];
  settings: { zero: string; alpha: number | null; paper_literal: boolean; min_expected: number; min_count: number; correction: string };
  notes: string[];
  /** C(y); null where this run does not have the label. */
  count: (number | null)[];
  /** C(x,y), an array an identity. */
  joint: (number | null)[][];
  /** C(x1,x2,y) of each pair "k,m" of identities that overlap; null where the result did not keep them. */
  both: Record<string, (number | null)[]> | null;
  identity: number[];
  contrasts: Contrast[];
  reasons: string[];
  figures: Record<string, Figures>;
}

/** What is known of the records that two runs share, and, where they are the same ones, the limits of paired changes. */
export interface Shared {
  first: number;
  second: number;
  records: "independent" | "paired";
  /** By metric and contrast: lower and upper limits of the second run less the first. */
  limits: Record<string, { low: Num[]; high: Num[] }>;
}

export type Floats = Float64Array;

export const Z95 = 1.959963984540054;
/** Where a label is never seen with an identity, half a record stands for it in derivatives. */
const HALF = 0.5;

function floats(values: Num[]): Floats {
  return Float64Array.from(values, float);
}

export class Run {
  readonly name: string;
  readonly size: number;
  readonly count: Floats;
  readonly joint: Floats[];
  private readonly kept = new Map<string, any>();
  private readonly literal: boolean;
  private readonly alpha: number;

  constructor(readonly document: RunDocument, private readonly facts: Record<string, Facts>) {
    this.name = document.name;
    this.size = document.count.length;
    this.count = floats(document.count);
    this.joint = document.joint.map(floats);
    this.literal = document.settings.paper_literal;
    this.alpha = document.settings.alpha ?? 0;
  }

  get contrasts(): Contrast[] {
    return this.document.contrasts;
  }

  /** For each label, 0 where a contrast ranks it, else one more than the place of the reason. */
  why(contrast: number): Uint8Array {
    return this.keep(`why ${contrast}`, () => Uint8Array.from(this.contrasts[contrast].why));
  }

  private keep<T>(key: string, make: () => T): T {
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key);
  }

  private each(make: (label: number) => number): Floats {
    const out = new Float64Array(this.size);
    for (let i = 0; i < this.size; i++) out[i] = make(i);
    return out;
  }

  /** n, C(x), C(y), C(x,y) of a label, with the smoothing that the result was made with. */
  private readonly n = () => this.document.n + 4 * this.alpha;
  private readonly x = (k: number) => this.document.identities[k].count + 2 * this.alpha;
  private readonly y = (i: number) => this.count[i] + 2 * this.alpha;
  private readonly xy = (k: number, i: number) => this.joint[k][i] + this.alpha;

  /** Records in all, smoothing included. */
  get records(): number {
    return this.n();
  }

  /** Whether a metric follows from counts here; the figures of others came with the document. */
  computes(metric: string): boolean {
    return this.document.figures[metric] === undefined;
  }

  /** The run with half a record more in each cell, or as many as it was made with: no gap or error is infinite. */
  atLeastHalf(): Run {
    return this.keep("half", () => new Run({ ...this.document, settings: { ...this.document.settings, alpha: Math.max(this.alpha, HALF) } }, this.facts));
  }

  /** Both runs' records as those of one. */
  together(other: Run): Run {
    return this.keep(`with ${other.name}`, () => this.joined(other));
  }

  private joined(other: Run): Run {
    const [one, two] = [this.document, other.document];
    const sum = (a: (number | null)[], b: (number | null)[]) => a.map((x, i) => (x === null || b[i] === null ? null : x + b[i]!));
    const pairs = [...new Set([...Object.keys(one.both ?? {}), ...Object.keys(two.both ?? {})])];
    const none = one.count.map(() => 0);
    return new Run({
      ...one,
      n: one.n + two.n,
      settings: { ...one.settings, alpha: this.alpha + other.alpha },
      identities: one.identities.map((x, k) => ({ ...x, count: x.count + two.identities[k].count })),
      overlap: one.overlap.map((row, k) => row.map((x, m) => x + two.overlap[k][m])),
      count: sum(one.count, two.count),
      joint: one.joint.map((values, k) => sum(values, two.joint[k])),
      both: one.both === null || two.both === null ? null : Object.fromEntries(pairs.map((pair) => [pair, sum(one.both![pair] ?? none, two.both![pair] ?? none)])),
    }, this.facts);
  }

  /** A figure of a metric that the page has no formula for. */
  private given(metric: string, part: keyof Figures, place: number): Floats | null {
    const figures = this.document.figures[metric];
    if (figures === undefined) return null;
    return this.keep(`given ${part} ${metric} ${place}`, () => {
      const held = figures[part];
      return held === null ? new Float64Array(this.size).fill(NaN) : floats(held[place]);
    });
  }

  /** A(x, y) of one label. */
  valueAt(metric: string, k: number, i: number): number {
    return this.given(metric, "value", k)?.[i] ?? valueOf(metric)(this.n(), this.x(k), this.y(i), this.xy(k, i), this.literal);
  }

  /** A(x, y) of every label. */
  values(metric: string, k: number): Floats {
    return this.given(metric, "value", k) ?? this.keep(`value ${metric} ${k}`, () => {
      const [out, n, x, joint] = [new Float64Array(this.size), this.n(), this.x(k), this.joint[k]];
      const { count, alpha, literal, size } = this;
      const of = valueOf(metric);
      for (let i = 0; i < size; i++) out[i] = of(n, x, count[i] + 2 * alpha, joint[i] + alpha, literal);
      return out;
    });
  }

  private gapAt(metric: string, c: Contrast, i: number, xy: (k: number, i: number) => number): number {
    if (c.x2 !== null) return gapOf(metric)(this.n(), this.x(c.x1), this.x(c.x2), this.y(i), xy(c.x1, i), xy(c.x2, i), this.literal);
    const of = valueOf(metric);
    let sum = 0;
    for (let k = 0; k < this.joint.length; k++) {
      if (k !== c.x1) sum += of(this.n(), this.x(k), this.y(i), xy(k, i), this.literal);
    }
    return of(this.n(), this.x(c.x1), this.y(i), xy(c.x1, i), this.literal) - sum / (this.joint.length - 1);
  }

  /** G(y|x1,x2) of every label, or x1 against the mean of the rest. */
  gaps(metric: string, contrast: number): Floats {
    return this.given(metric, "gap", contrast) ?? this.keep(`gap ${metric} ${contrast}`, () => {
      const c = this.contrasts[contrast];
      if (c.x2 === null) return this.each((i) => this.gapAt(metric, c, i, this.xy));
      const [out, n, x1, x2] = [new Float64Array(this.size), this.n(), this.x(c.x1), this.x(c.x2)];
      const [one, two] = [this.joint[c.x1], this.joint[c.x2]];
      const { count, alpha, literal, size } = this;
      const of = gapOf(metric);
      for (let i = 0; i < size; i++) out[i] = of(n, x1, x2, count[i] + 2 * alpha, one[i] + alpha, two[i] + alpha, literal);
      return out;
    });
  }

  /** What the gap would be under independence; null for metrics where that is 0. */
  independence(metric: string, contrast: number): Floats | null {
    if (this.facts[metric].zero_null) return null;
    const c = this.contrasts[contrast];
    const others = c.x2 === null ? this.joint.map((_, k) => k).filter((k) => k !== c.x1) : [c.x2];
    const expected = (k: number, i: number) => (this.x(k) * this.y(i)) / this.n();
    return this.given(metric, "null", contrast) ?? this.keep(`null ${metric} ${contrast}`, () =>
      this.each((i) => others.reduce((sum, k) => sum + gapOf(metric)(this.n(), this.x(c.x1), this.x(k), this.y(i), expected(c.x1, i), expected(k, i), this.literal), 0) / others.length));
  }

  private weights(c: Contrast): number[] {
    const many = this.joint.length;
    return this.joint.map((_, k) => (k === c.x1 ? 1 : c.x2 === null ? -1 / (many - 1) : k === c.x2 ? -1 : 0));
  }

  /** Whether the result kept the counts that errors of overlapping identities need. */
  get hasErrors(): boolean {
    return this.document.both !== null;
  }

  /** The standard error of the gap of one label by the delta method, right also where identities overlap. */
  private errorOf(metric: string, contrast: number): (label: number) => number {
    const given = this.given(metric, "error", contrast);
    if (given !== null) return (i) => given[i];
    const weight = this.weights(this.contrasts[contrast]);
    const used = weight.map((w, k) => (w !== 0 ? k : -1)).filter((k) => k >= 0);
    const many = used.length;
    const n = this.n();
    const sizes = used.map((k) => this.x(k) / n);
    const overlap = used.map((k) => used.map((m) => (this.document.overlap[k][m] + (k === m ? 2 * this.alpha : 0)) / n));
    const both = used.map((k) => used.map((m) => (k === m ? undefined : this.document.both?.[k < m ? `${k},${m}` : `${m},${k}`])));
    const parts = used.map(() => new Float64Array(3));
    const [pxy, means] = [new Float64Array(many), new Float64Array(many)];
    return (i) => {
      const y = this.y(i);
      const py = y / n;
      const least = Math.min(HALF, y);
      for (let s = 0; s < many; s++) {
        pxy[s] = Math.max(this.joint[used[s]][i] + this.alpha, least) / n;
        const by = slope(metric, n, sizes[s], py, Math.min(pxy[s], 1), this.literal, parts[s]);
        means[s] = by[0] * sizes[s] + by[1] * py + by[2] * pxy[s];
      }
      let variance = 0;
      for (let s = 0; s < many; s++) {
        const [one, w] = [parts[s], weight[used[s]]];
        const a = one[0], b = one[1], c = one[2];
        for (let t = 0; t < many; t++) {
          const two = parts[t];
          const d = two[0], e = two[1], f = two[2];
          const together = s === t ? pxy[s] : (both[s][t]?.[i] ?? 0) / n;
          const product = a * d * overlap[s][t] + (a * f + c * d + c * f) * together + (a * e + c * e) * pxy[s] + (b * d + b * f) * pxy[t] + b * e * py;
          variance += (w * weight[used[t]] * (product - means[s] * means[t])) / n;
        }
      }
      return Math.sqrt(Math.max(variance, 0));
    };
  }

  /** The lower and the upper 95% limit of one label's gap, one after the other in an array that the next call writes over. */
  limitsOf(metric: string, contrast: number): (label: number) => Floats {
    const out = new Float64Array(2);
    const [least, most] = [this.given(metric, "low", contrast), this.given(metric, "high", contrast)];
    const c = this.contrasts[contrast];
    const used = this.weights(c).map((w, k) => (w !== 0 ? k : -1)).filter((k) => k >= 0);
    const gaps = this.gaps(metric, contrast);
    const error = this.errorOf(metric, contrast);
    // Gaps cannot pass this bound, the limits of a normal approximation can.
    const bound = float(this.facts[metric].high) - float(this.facts[metric].low);
    const filled = (k: number, j: number) => Math.max(this.xy(k, j), Math.min(HALF, this.y(j)));
    return (i) => {
      out.fill(NaN);
      if (least !== null && most !== null) [out[0], out[1]] = [least[i], most[i]];
      else if (this.hasErrors && !Number.isNaN(gaps[i])) {
        const empty = used.some((k) => this.xy(k, i) === 0);
        const centre = empty ? this.gapAt(metric, c, i, filled) : gaps[i];
        const reach = Z95 * error(i);
        out[0] = Math.max(empty ? Math.min(centre - reach, gaps[i]) : centre - reach, -bound);
        out[1] = Math.min(empty ? Math.max(centre + reach, gaps[i]) : centre + reach, bound);
      }
      return out;
    };
  }

  /** A label's gap and its standard error; NaN where it is infinite or unknown. */
  measured(metric: string, contrast: number): { gap(label: number): number; error(label: number): number } {
    const given = this.given(metric, "gap", contrast);
    const c = this.contrasts[contrast];
    const known = this.hasErrors || !this.computes(metric);
    const error = this.errorOf(metric, contrast);
    const gap = given === null ? (i: number) => this.gapAt(metric, c, i, this.xy) : (i: number) => given[i];
    return { gap, error: (i) => (known && Number.isFinite(gap(i)) ? error(i) : NaN) };
  }

  /** What labels are ranked by: larger leans more to x1, whatever the printed sign. */
  private lean(metric: string, contrast: number): Floats {
    const c = this.contrasts[contrast];
    const gaps = this.gaps(metric, contrast);
    if (this.facts[metric].ratio) {
      if (c.x2 !== null) return this.gaps("llr", contrast);
      const weight = this.weights(c);
      return this.each((i) => (Number.isNaN(gaps[i]) ? NaN : weight.reduce((sum, w, k) => sum + w * Math.log(this.xy(k, i)), 0)));
    }
    return this.facts[metric].leans < 0 ? this.each((i) => -gaps[i]) : gaps;
  }

  /** Labels by how often they are met, the most frequent first: equal figures go by it. */
  get byCount(): Uint32Array {
    return this.keep("by count", () => orderBy(this.count, true, inOrder(this.size)));
  }

  /** Labels from the one with the largest gap to the one with the least, undefined ones last; null where larger gaps do not lean more. */
  byGap(metric: string, contrast: number): Uint32Array | null {
    return this.facts[metric].leans > 0 ? this.byLean(metric, contrast) : null;
  }

  /** Labels from the one that leans most to x1 on, undefined ones last. */
  private byLean(metric: string, contrast: number): Uint32Array {
    // Metrics that are ranked by one ratio have one order.
    const key = this.facts[metric].ratio && this.contrasts[contrast].x2 !== null ? "ratio" : metric;
    return this.keep(`by lean ${key} ${contrast}`, () => orderBy(this.lean(metric, contrast), true, this.byCount));
  }

  /** Rank of every label, 1 for the one that leans most to x1; equal gaps share the better rank. */
  ranks(metric: string, contrast: number): Floats {
    return this.keep(`rank ${metric} ${contrast}`, () => {
      const lean = this.lean(metric, contrast);
      const order = this.byLean(metric, contrast);
      const why = this.why(contrast);
      const out = new Float64Array(this.size).fill(NaN);
      let [ranked, rank, before] = [0, 0, NaN];
      for (let j = 0; j < order.length; j++) {
        const i = order[j];
        const x = lean[i];
        if (why[i] !== 0) continue;
        if (x !== x) break;
        ranked++;
        if (x !== before) rank = ranked;
        out[i] = rank;
        before = x;
      }
      return out;
    });
  }

  /** Whether a label is ranked in a contrast; without one every label is. */
  isRanked(contrast: number, label: number): boolean {
    return this.contrasts.length === 0 || this.why(contrast)[label] === 0;
  }

  chances(kind: "p" | "q", contrast: number): Floats {
    return this.keep(`${kind} ${contrast}`, () => {
      const held = this.contrasts[contrast][kind];
      return held === null ? new Float64Array(this.size).fill(NaN) : floats(held);
    });
  }

  /** Why a label is not ranked; empty where it is. */
  whyNot(contrast: number, label: number): string {
    const code = this.why(contrast)[label];
    return code === 0 ? "" : this.document.reasons[code - 1];
  }
}
