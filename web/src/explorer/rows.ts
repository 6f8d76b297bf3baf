/** Which labels are shown, and in what order. Each filter keeps its own verdicts, so that changing one costs one pass. */
import type { Column, Columns } from "./columns";
import type { Run } from "./run";
import type { Filter, State } from "./state";

export class Rows {
  /** How many conditions each label fails; 0 is shown. */
  private readonly fails: Uint8Array;
  private readonly masks = new Map<string, { key: string; failing: Uint8Array }>();
  private base = "";
  private found: Uint8Array | null = null;
  order: Uint32Array = new Uint32Array();
  /** How many labels are not ranked. */
  unranked = 0;
  /** The labels that are ranked; null where nothing is. */
  ranked: { key: string; ranked: Uint8Array } | null = null;

  constructor(private readonly columns: Columns, private readonly names: string[], readonly size: number) {
    this.fails = new Uint8Array(size);
  }

  private get runs(): Run[] {
    return this.columns.runs;
  }

  /** The labels that the search found; null for all. */
  setFound(found: Uint32Array | null): void {
    if (found === null) this.found = null;
    else {
      this.found = new Uint8Array(this.size);
      for (const i of found) this.found[i] = 1;
    }
  }

  private filterMask(column: Column, filter: Filter, state: State): Uint8Array {
    const failing = new Uint8Array(this.size);
    const [low, high] = [filter.low ?? -Infinity, filter.high ?? Infinity];
    const values = state.runs.map((r) => column.of(this.runs[r]));
    const counts = state.runs.map((r) => this.runs[r].count);
    for (let i = 0; i < this.size; i++) {
      let [inside, there] = [0, 0];
      for (let r = 0; r < values.length; r++) {
        if (Number.isNaN(counts[r][i])) continue;
        there++;
        const x = values[r][i];
        if (x >= low && x <= high) inside++;
      }
      failing[i] = (state.any ? inside > 0 : inside === there && there > 0) ? 0 : 1;
    }
    return failing;
  }

  /** The labels ranked in every shown run that has them, or in any where that is enough. */
  private rankedLabels(state: State): { key: string; ranked: Uint8Array } | null {
    if (!this.runs[0].contrasts.length) return null;
    const key = `${state.runs.join()} ${state.any} ${state.contrast}`;
    if (this.ranked?.key === key) return this.ranked;
    const ranked = new Uint8Array(this.size);
    for (let i = 0; i < this.size; i++) {
      let [there, held] = [0, 0];
      for (const r of state.runs) {
        if (Number.isNaN(this.runs[r].count[i])) continue;
        there++;
        if (this.runs[r].contrasts[state.contrast].why[i] === 0) held++;
      }
      ranked[i] = (state.any ? held > 0 : held === there && there > 0) ? 1 : 0;
    }
    return { key, ranked };
  }

  /** Apply the state: which labels pass, and their order. */
  update(state: State): void {
    const runs = `${state.runs.join()} ${state.any}`;
    for (const id of [...this.masks.keys()]) {
      if (!state.filters.has(id)) this.masks.delete(id);
    }
    for (const [id, filter] of state.filters) {
      const column = this.columns.get(id);
      if (!column) continue;
      const key = `${runs} ${filter.low} ${filter.high}`;
      if (this.masks.get(id)?.key !== key) this.masks.set(id, { key, failing: this.filterMask(column, filter, state) });
    }
    this.fails.fill(0);
    for (const { failing } of this.masks.values()) for (let i = 0; i < this.size; i++) this.fails[i] += failing[i];
    this.unranked = 0;
    const counts = state.runs.map((r) => this.runs[r].count);
    this.ranked = this.rankedLabels(state);
    this.columns.only = state.rankedOnly ? this.ranked : null;
    const ranked = this.ranked?.ranked ?? null;
    for (let i = 0; i < this.size; i++) {
      if (this.found !== null && this.found[i] === 0) this.fails[i] += 1;
      if (counts.every((c) => Number.isNaN(c[i]))) this.fails[i] += 1;
      if (ranked !== null && ranked[i] === 0) {
        this.unranked++;
        if (state.rankedOnly) this.fails[i] += 1;
      }
    }
    if (!state.showHidden) for (const i of state.hidden) this.fails[i] += 1;
    if (state.onlyFlagged) for (let i = 0; i < this.size; i++) if (!state.flags.has(i)) this.fails[i] += 1;
    this.sort(state);
  }

  /** Whether a label passes everything but one column's own filter, for that column's histogram. */
  passesBut(id: string): (label: number) => boolean {
    const own = this.masks.get(id)?.failing;
    return own ? (i) => this.fails[i] - own[i] === 0 : (i) => this.fails[i] === 0;
  }

  passes(label: number): boolean {
    return this.fails[label] === 0;
  }

  private sort(state: State): void {
    const key = `${state.sort.column} ${state.sort.down} ${state.sort.run} ${state.metric} ${state.contrast}`;
    // The whole order is kept and filtered, so that a brush never sorts anew.
    if (key !== this.base) {
      this.all = this.sorted(state);
      this.base = key;
    }
    const out = new Uint32Array(this.size);
    let many = 0;
    for (const i of this.all) if (this.fails[i] === 0) out[many++] = i;
    this.order = out.subarray(0, many);
  }

  private all: Uint32Array = new Uint32Array();
  private alphabetical: Uint32Array | null = null;

  private byName(): Uint32Array {
    if (this.alphabetical === null) {
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      this.alphabetical = Uint32Array.from(this.names.keys()).sort((a, b) => compare(this.names[a], this.names[b]));
    }
    return this.alphabetical;
  }

  private sorted(state: State): Uint32Array {
    const { column: id, down, run } = state.sort;
    if (id === "label") return down ? this.byName().slice().reverse() : this.byName();
    const column = this.columns.get(id);
    if (!column) return Uint32Array.from({ length: this.size }, (_, i) => i);
    const values = column.of(this.runs[run] ?? this.runs[0]);
    const count = this.runs[run]?.count ?? this.runs[0].count;
    const way = down ? -1 : 1;
    // What is undefined goes last whichever way; ties go by count.
    return Uint32Array.from({ length: this.size }, (_, i) => i).sort((a, b) => {
      const [x, y] = [values[a], values[b]];
      if (x !== x || y !== y) return x === x ? -1 : y === y ? 1 : a - b;
      return x === y ? count[b] - count[a] || a - b : x < y ? -way : way;
    });
  }
}
