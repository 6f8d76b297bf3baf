/** One run's counts, and everything that follows from them, computed when it is first asked for. */
import { float, type Num } from "../numbers";
import { gap, slope, value } from "./formulas";
import type { Facts } from "./meaning";

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

export type Floats = Float64Array;

const Z95 = 1.959963984540054;
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

  /** A(x, y) of every label. */
  values(metric: string, k: number): Floats {
    return this.given(metric, "value", k) ?? this.keep(`value ${metric} ${k}`, () => this.each((i) => value(metric, this.n(), this.x(k), this.y(i), this.xy(k, i), this.literal)));
  }

  private gapOf(metric: string, c: Contrast, i: number, xy: (k: number, i: number) => number): number {
    if (c.x2 !== null) return gap(metric, this.n(), this.x(c.x1), this.x(c.x2), this.y(i), xy(c.x1, i), xy(c.x2, i), this.literal);
    let sum = 0;
    for (let k = 0; k < this.joint.length; k++) {
      if (k !== c.x1) sum += value(metric, this.n(), this.x(k), this.y(i), xy(k, i), this.literal);
    }
    return value(metric, this.n(), this.x(c.x1), this.y(i), xy(c.x1, i), this.literal) - sum / (this.joint.length - 1);
  }

  /** G(y|x1,x2) of every label, or x1 against the mean of the rest. */
  gaps(metric: string, contrast: number): Floats {
    return this.given(metric, "gap", contrast) ?? this.keep(`gap ${metric} ${contrast}`, () => this.each((i) => this.gapOf(metric, this.contrasts[contrast], i, this.xy)));
  }

  /** What the gap would be under independence; null for metrics where that is 0. */
  independence(metric: string, contrast: number): Floats | null {
    if (this.facts[metric].zero_null) return null;
    const c = this.contrasts[contrast];
    const others = c.x2 === null ? this.joint.map((_, k) => k).filter((k) => k !== c.x1) : [c.x2];
    const expected = (k: number, i: number) => (this.x(k) * this.y(i)) / this.n();
    return this.given(metric, "null", contrast) ?? this.keep(`null ${metric} ${contrast}`, () =>
      this.each((i) => others.reduce((sum, k) => sum + gap(metric, this.n(), this.x(c.x1), this.x(k), this.y(i), expected(c.x1, i), expected(k, i), this.literal), 0) / others.length));
  }

  private weights(c: Contrast): number[] {
    const many = this.joint.length;
    return this.joint.map((_, k) => (k === c.x1 ? 1 : c.x2 === null ? -1 / (many - 1) : k === c.x2 ? -1 : 0));
  }

  /** Whether the result kept the counts that errors of overlapping identities need. */
  get hasErrors(): boolean {
    return this.document.both !== null;
  }

  /** Standard error of every gap by the delta method, right also where identities overlap. */
  private errors(metric: string, contrast: number): Floats {
    return this.given(metric, "error", contrast) ?? this.keep(`error ${metric} ${contrast}`, () => {
      const weight = this.weights(this.contrasts[contrast]);
      const used = weight.map((w, k) => (w !== 0 ? k : -1)).filter((k) => k >= 0);
      const n = this.n();
      const overlap = (k: number, m: number) => this.document.overlap[k][m] + (k === m ? 2 * this.alpha : 0);
      const both = (k: number, m: number, i: number) => this.document.both?.[k < m ? `${k},${m}` : `${m},${k}`]?.[i] ?? 0;
      return this.each((i) => {
        const py = this.y(i) / n;
        const pxy = used.map((k) => Math.max(this.xy(k, i), Math.min(HALF, this.y(i))) / n);
        const parts = used.map((k, j) => slope(metric, n, this.x(k) / n, py, Math.min(pxy[j], 1), this.literal));
        const means = parts.map(([a, b, c], j) => (a * this.x(used[j])) / n + b * py + c * pxy[j]);
        let variance = 0;
        for (let s = 0; s < used.length; s++) {
          for (let t = 0; t < used.length; t++) {
            const [a, b, c] = parts[s];
            const [d, e, f] = parts[t];
            const together = s === t ? pxy[s] : both(used[s], used[t], i) / n;
            const product = a * d * (overlap(used[s], used[t]) / n) + (a * f + c * d + c * f) * together
              + (a * e + c * e) * pxy[s] + (b * d + b * f) * pxy[t] + b * e * py;
            variance += (weight[used[s]] * weight[used[t]] * (product - means[s] * means[t])) / n;
          }
        }
        return Math.sqrt(Math.max(variance, 0));
      });
    });
  }

  /** Lower and upper 95% limits of every gap. */
  limits(metric: string, contrast: number): [Floats, Floats] {
    const [least, most] = [this.given(metric, "low", contrast), this.given(metric, "high", contrast)];
    if (least !== null && most !== null) return [least, most];
    return this.keep(`limits ${metric} ${contrast}`, () => {
      const low = new Float64Array(this.size).fill(NaN);
      const high = new Float64Array(this.size).fill(NaN);
      if (!this.hasErrors) return [low, high];
      const c = this.contrasts[contrast];
      const used = this.weights(c).map((w, k) => (w !== 0 ? k : -1)).filter((k) => k >= 0);
      const gaps = this.gaps(metric, contrast);
      const errors = this.errors(metric, contrast);
      // Gaps cannot pass this bound, the limits of a normal approximation can.
      const bound = float(this.facts[metric].high) - float(this.facts[metric].low);
      for (let i = 0; i < this.size; i++) {
        if (Number.isNaN(gaps[i])) continue;
        const empty = used.some((k) => this.xy(k, i) === 0);
        const filled = (k: number, j: number) => Math.max(this.xy(k, j), Math.min(HALF, this.y(j)));
        const centre = empty ? this.gapOf(metric, c, i, filled) : gaps[i];
        low[i] = centre - Z95 * errors[i];
        high[i] = centre + Z95 * errors[i];
        if (empty) {
          low[i] = Math.min(low[i], gaps[i]);
          high[i] = Math.max(high[i], gaps[i]);
        }
        low[i] = Math.max(low[i], -bound);
        high[i] = Math.min(high[i], bound);
      }
      return [low, high] as [Floats, Floats];
    });
  }

  /** Standard error of a gap, NaN where the gap is infinite or unknown. */
  error(metric: string, contrast: number): Floats {
    const gaps = this.gaps(metric, contrast);
    if (!this.hasErrors && this.document.figures[metric] === undefined) return new Float64Array(this.size).fill(NaN);
    const errors = this.errors(metric, contrast);
    return this.keep(`se ${metric} ${contrast}`, () => this.each((i) => (Number.isFinite(gaps[i]) ? errors[i] : NaN)));
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
    return this.facts[metric].leans < 0 ? gaps.map((x) => -x) : gaps;
  }

  /** Rank of every label, 1 for the one that leans most to x1; equal gaps share the better rank. */
  ranks(metric: string, contrast: number): Floats {
    return this.keep(`rank ${metric} ${contrast}`, () => {
      const lean = this.lean(metric, contrast);
      const why = this.contrasts[contrast].why;
      const held: number[] = [];
      for (let i = 0; i < this.size; i++) if (why[i] === 0 && !Number.isNaN(lean[i])) held.push(i);
      held.sort((a, b) => (lean[b] > lean[a] ? 1 : lean[b] < lean[a] ? -1 : 0));
      const out = new Float64Array(this.size).fill(NaN);
      held.forEach((i, place) => {
        const before = place > 0 ? held[place - 1] : -1;
        out[i] = before >= 0 && lean[before] === lean[i] ? out[before] : place + 1;
      });
      return out;
    });
  }

  chances(kind: "p" | "q", contrast: number): Floats {
    return this.keep(`${kind} ${contrast}`, () => {
      const held = this.contrasts[contrast][kind];
      return held === null ? new Float64Array(this.size).fill(NaN) : floats(held);
    });
  }

  /** Why a label is not ranked; empty where it is. */
  whyNot(contrast: number, label: number): string {
    const code = this.contrasts[contrast].why[label];
    return code === 0 ? "" : this.document.reasons[code - 1];
  }
}
