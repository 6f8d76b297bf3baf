/** What the table can show, sort and filter by: each a number a label and run. */
import { chance, count, figure, float } from "../numbers";
import { printable } from "../text";
import type { Facts } from "./meaning";
import { runLetter } from "./canvas";
import { Z95, type Floats, type Run, type Shared } from "./run";

export interface Column {
  id: string;
  title: string;
  /** The title where the gap is plain from what surrounds it. */
  short: string;
  /** The metric behind it, if one is. */
  metric?: string;
  kind: "gap" | "value" | "count" | "joint" | "q" | "p" | "rank" | "change";
  contrast?: number;
  identity?: number;
  /** The two runs of a change, the second less the first. */
  runs?: [number, number];
  /** Counts and chances span many powers of ten. */
  log: boolean;
  signed: boolean;
  of(run: Run): Floats;
  format(value: number): string;
}

export class Columns {
  private readonly kept = new Map<string, Column>();

  constructor(readonly runs: Run[], readonly metrics: string[], readonly facts: Record<string, Facts>, private readonly pairs: Shared[] = []) {}

  /** What tables call a metric. */
  symbol(metric: string): string {
    return this.facts[metric]?.symbol ?? metric;
  }

  identityName(k: number, limit = 24): string {
    return printable(this.runs[0].document.identities[k].identity, limit);
  }

  contrastName(contrast: number): string {
    const { x1, x2 } = this.runs[0].contrasts[contrast];
    return x2 === null ? `${this.identityName(x1)} vs rest` : `${this.identityName(x1)} − ${this.identityName(x2)}`;
  }

  /** A column by its id, or undefined for an id that makes no sense here. */
  get(id: string): Column | undefined {
    if (!this.kept.has(id)) {
      const made = this.make(id);
      if (!made) return undefined;
      this.kept.set(id, made);
    }
    return this.kept.get(id);
  }

  private make(id: string): Column | undefined {
    const [kind, a, b, from, to] = id.split(".");
    const run = this.runs[0];
    const contrast = Number(kind === "q" || kind === "p" ? a : b);
    const known = (metric: string) => this.metrics.includes(metric);
    const there = () => Number.isInteger(contrast) && contrast >= 0 && contrast < run.contrasts.length;
    const name = this.symbol(a);
    const plain = { id, log: false, signed: true, format: (x: number) => figure(asNum(x)) };
    if (kind === "gap" && known(a) && there())
      return { ...plain, kind, metric: a, contrast, short: `${name} gap`, title: `${name} gap, ${this.contrastName(contrast)}`, of: (r) => r.gaps(a, contrast) };
    if (kind === "rank" && known(a) && there())
      return { ...plain, kind, metric: a, contrast, signed: false, short: "Rank", title: `${name} rank, ${this.contrastName(contrast)}`, of: (r) => r.ranks(a, contrast), format: count };
    if (kind === "change" && known(a) && there()) {
      // Addresses of older pages name no runs: they meant the first two.
      const [first, second] = [Number(from ?? 0), Number(to ?? 1)];
      if (!this.runs[first] || !this.runs[second] || first === second) return undefined;
      return { ...plain, kind, metric: a, contrast, runs: [first, second], short: `${name} ${runLetter(second)} − ${runLetter(first)}`, title: `${name} change, ${printable(this.runs[second].name, 20)} − ${printable(this.runs[first].name, 20)}`, of: () => this.change(a, contrast, first, second) };
    }
    if (kind === "value" && known(a) && run.joint[Number(b)] && b !== undefined)
      return { ...plain, kind, metric: a, identity: Number(b), short: `${name}, ${this.identityName(Number(b))}`, title: `${name}, ${this.identityName(Number(b))}`, of: (r) => r.values(a, Number(b)) };
    if (kind === "joint" && a !== undefined && run.joint[Number(a)])
      return { ...plain, kind, identity: Number(a), log: true, signed: false, short: `Count with ${this.identityName(Number(a), 16)}`, title: `Count with ${this.identityName(Number(a))}`, of: (r) => r.joint[Number(a)], format: count };
    if (kind === "count") return { ...plain, kind, log: true, signed: false, short: "Count", title: "Count", of: (r) => r.count, format: count };
    if ((kind === "q" || kind === "p") && there())
      return { ...plain, kind, contrast, signed: false, short: kind, title: `${kind}-value, ${this.contrastName(contrast)}`, of: (r) => r.chances(kind as "p" | "q", contrast), format: chance };
    return undefined;
  }

  /** The second run's gap minus the first one's. */
  change(metric: string, contrast: number, first: number, second: number): Floats {
    const key = `${metric} ${contrast} ${first} ${second}`;
    if (!this.changes.has(key)) {
      const [a, b] = [first, second].map((r) => this.runs[r].gaps(metric, contrast));
      const out = new Float64Array(a.length);
      for (let i = 0; i < out.length; i++) out[i] = b[i] - a[i];
      this.changes.set(key, out);
    }
    return this.changes.get(key)!;
  }

  /** What two runs share, as far as the document says it. */
  shared(first: number, second: number): Shared | undefined {
    return this.pairs.find((held) => (held.first === first && held.second === second) || (held.first === second && held.second === first));
  }

  /** The limits of the change of a label, one after the other in an array that the next call writes over.
   *
   * As association_change of the package: gaps and errors are those with half a record more in each cell. Runs of the same
   * records come with paired limits; of different records errors add by their squares; else the error of a difference is at most the sum
   * of the errors, with the shares of each run or with those of both together, whatever records they share. */
  changeLimits(metric: string, contrast: number, first: number, second: number): (label: number) => Floats {
    const out = new Float64Array(2);
    const held = this.shared(first, second);
    const paired = held?.limits[`${metric}.${contrast}`];
    if (held && paired) {
      const [turned, low, high] = [held.first !== first, paired.low, paired.high];
      return (i) => {
        [out[0], out[1]] = turned ? [-float(high[i]), -float(low[i])] : [float(low[i]), float(high[i])];
        return out;
      };
    }
    const independent = held?.records === "independent";
    const [a, b] = [this.runs[first], this.runs[second]];
    const [ha, hb] = [a.atLeastHalf(), b.atLeastHalf()];
    const [one, two] = [ha.measured(metric, contrast), hb.measured(metric, contrast)];
    const pooled = a.computes(metric) && b.computes(metric) ? ha.together(hb).measured(metric, contrast) : null;
    const [wide, other] = [Math.sqrt(1 + hb.records / ha.records), Math.sqrt(1 + ha.records / hb.records)];
    // A gap has this bound, and the difference of two twice that.
    const most = 2 * (float(this.facts[metric].high) - float(this.facts[metric].low));
    const values = this.change(metric, contrast, first, second);
    const sum = (x: number, y: number) => (independent ? Math.hypot(x, y) : x + y);
    return (i) => {
      const together = pooled === null ? 0 : pooled.error(i);
      const reach = Z95 * Math.max(sum(one.error(i), two.error(i)), sum(together * wide, together * other));
      const centre = two.gap(i) - one.gap(i);
      out[0] = Math.max(Math.min(centre - reach, values[i]), -most);
      out[1] = Math.min(Math.max(centre + reach, values[i]), most);
      return out;
    };
  }

  /** The limits of a column that has intervals. */
  limitsOf(column: Column, run: Run): (label: number) => Floats {
    if (column.runs) return this.changeLimits(column.metric!, column.contrast!, ...column.runs);
    return run.limitsOf(column.metric!, column.contrast!);
  }

  private readonly changes = new Map<string, Floats>();
  private readonly extents = new Map<string, [number, number]>();

  /** Whether labels that are ranked nowhere are left out, and of which gap. */
  only: { contrast: number } | null = null;

  /** The real range of a column over all runs: the least and largest finite value of what is ranked, or of all labels. */
  extent(column: Column, only = this.only): [number, number] {
    const key = `${column.id} ${only?.contrast}`;
    if (!this.extents.has(key)) {
      let [low, high] = [Infinity, -Infinity];
      for (const run of column.runs ? [this.runs[column.runs[0]]] : this.runs) {
        const judges = only !== null && run.contrasts.length ? (column.runs?.map((r) => this.runs[r]) ?? [run]).map((held) => held.why(only.contrast)) : [];
        [low, high] = finiteRange(column.of(run), judges, low, high);
      }
      if (low > high) [low, high] = [0, 1];
      if (column.kind === "q" || column.kind === "p") [low, high] = [0, 1];
      if (low === high) [low, high] = [low - 0.5, high + 0.5];
      this.extents.set(key, [low, high]);
    }
    return this.extents.get(key)!;
  }
}

/** A range that takes in every finite value whose label no judge objects to. */
function finiteRange(values: Floats, judges: Uint8Array[], low: number, high: number): [number, number] {
  const none = new Uint8Array(judges.length < 2 ? values.length : 0);
  const [one, two] = [judges[0] ?? none, judges[1] ?? none];
  for (let i = 0; i < values.length; i++) {
    const x = values[i];
    if ((one[i] | two[i]) !== 0 || x - x !== 0) continue;
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return [low, high];
}

function asNum(x: number) {
  return Number.isNaN(x) ? null : x === Infinity ? "inf" : x === -Infinity ? "-inf" : x;
}
