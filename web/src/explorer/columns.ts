/** What the table can show, sort and filter by: each a number a label and run. */
import { chance, count, figure, float } from "../numbers";
import { printable } from "../text";
import type { Facts } from "./meaning";
import type { Floats, Run } from "./run";

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
  /** Counts and chances span many powers of ten. */
  log: boolean;
  signed: boolean;
  of(run: Run): Floats;
  format(value: number): string;
}

export class Columns {
  private readonly kept = new Map<string, Column>();

  constructor(readonly runs: Run[], readonly metrics: string[], readonly facts: Record<string, Facts>) {}

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
    const [kind, a, b] = id.split(".");
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
    if (kind === "change" && known(a) && there() && this.runs.length > 1)
      return { ...plain, kind, metric: a, contrast, short: `${name} change`, title: `${name} change, ${printable(this.runs[1].name, 20)} − ${printable(this.runs[0].name, 20)}`, of: () => this.change(a, contrast, 0, 1).value };
    if (kind === "value" && known(a) && run.joint[Number(b)] && b !== undefined)
      return { ...plain, kind, metric: a, identity: Number(b), short: `${name}, ${this.identityName(Number(b))}`, title: `${name}, ${this.identityName(Number(b))}`, of: (r) => r.values(a, Number(b)) };
    if (kind === "joint" && a !== undefined && run.joint[Number(a)])
      return { ...plain, kind, identity: Number(a), log: true, signed: false, short: `Count with ${this.identityName(Number(a), 16)}`, title: `Count with ${this.identityName(Number(a))}`, of: (r) => r.joint[Number(a)], format: count };
    if (kind === "count") return { ...plain, kind, log: true, signed: false, short: "Count", title: "Count", of: (r) => r.count, format: count };
    if ((kind === "q" || kind === "p") && there())
      return { ...plain, kind, contrast, signed: false, short: kind, title: `${kind}-value, ${this.contrastName(contrast)}`, of: (r) => r.chances(kind as "p" | "q", contrast), format: chance };
    return undefined;
  }

  /** The second run's gap minus the first one's, with an interval that holds whatever records the runs share.
   *
   * As association_change of the package: gaps and errors are those with half a record more in each cell, and the error of a
   * difference is at most the sum of the errors, with the shares of each run or with those of both together. */
  change(metric: string, contrast: number, first: number, second: number): { value: Floats; low: Floats; high: Floats } {
    const key = `${metric} ${contrast} ${first} ${second}`;
    if (!this.changes.has(key)) {
      const [a, b] = [this.runs[first], this.runs[second]];
      const [ga, gb] = [a.gaps(metric, contrast), b.gaps(metric, contrast)];
      const [ha, hb] = [a.atLeastHalf(), b.atLeastHalf()];
      const [ca, cb, ea, eb] = [ha.gaps(metric, contrast), hb.gaps(metric, contrast), ha.error(metric, contrast), hb.error(metric, contrast)];
      const pooled = a.computes(metric) && b.computes(metric) ? ha.together(hb).error(metric, contrast) : null;
      const apart = Math.sqrt(1 + hb.records / ha.records) + Math.sqrt(1 + ha.records / hb.records);
      // A gap has this bound, and the difference of two twice that.
      const most = 2 * (float(this.facts[metric].high) - float(this.facts[metric].low));
      const value = ga.map((x, i) => gb[i] - x);
      const reach = ea.map((x, i) => 1.959963984540054 * Math.max(x + eb[i], pooled === null ? 0 : pooled[i] * apart));
      const low = value.map((x, i) => Math.max(Math.min(cb[i] - ca[i] - reach[i], x), -most));
      const high = value.map((x, i) => Math.min(Math.max(cb[i] - ca[i] + reach[i], x), most));
      this.changes.set(key, { value, low, high });
    }
    return this.changes.get(key)!;
  }

  private readonly changes = new Map<string, { value: Floats; low: Floats; high: Floats }>();
  private readonly extents = new Map<string, [number, number]>();

  /** The labels that are ranked, as long as only they are shown; null where all labels are. */
  only: { key: string; ranked: Uint8Array } | null = null;

  /** The real range of a column over all runs: the least and largest finite value of the labels that can be shown. */
  extent(column: Column, only: { key: string; ranked: Uint8Array } | null = this.only): [number, number] {
    const key = `${column.id} ${only?.key}`;
    if (!this.extents.has(key)) {
      let [low, high] = [Infinity, -Infinity];
      for (const run of this.runs) {
        const values = column.of(run);
        for (let i = 0; i < values.length; i++) {
          const x = values[i];
          if (!Number.isFinite(x) || (only !== null && only.ranked[i] === 0)) continue;
          if (x < low) low = x;
          if (x > high) high = x;
        }
      }
      if (low > high) [low, high] = [0, 1];
      if (column.kind === "q" || column.kind === "p") [low, high] = [0, 1];
      if (low === high) [low, high] = [low - 0.5, high + 0.5];
      this.extents.set(key, [low, high]);
    }
    return this.extents.get(key)!;
  }
}

function asNum(x: number) {
  return Number.isNaN(x) ? null : x === Infinity ? "inf" : x === -Infinity ? "-inf" : x;
}
