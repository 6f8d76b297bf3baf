/** Which labels are shown, and in what order. Each filter keeps its own verdicts, so that changing one costs one pass. */
import type { Column, Columns } from "./columns";
import type { Run } from "./run";
import { inOrder, orderBy } from "./sorting";
import type { Filter, State } from "./state";

// How many orders are kept: of 100,000 labels they are 0.4 MB each.
const ORDERS = 16;

export class Rows {
  /** How many conditions each label fails; 0 is shown. */
  private readonly fails: Uint8Array;
  private readonly masks = new Map<string, { key: string; failing: Uint8Array }>();
  private found: Uint8Array | null = null;
  private foundTimes = 0;
  /** Changes whenever other labels pass: what shows who passes need not be drawn anew while it stays. */
  passing = "";
  order: Uint32Array = new Uint32Array();
  /** How many labels are ranked in no run that is shown. */
  unranked = 0;
  private ranked: { key: string; ranked: Uint8Array } | null = null;

  constructor(private readonly columns: Columns, private readonly names: string[], readonly size: number) {
    this.fails = new Uint8Array(size);
  }

  private get runs(): Run[] {
    return this.columns.runs;
  }

  /** The labels that the search found; null for all. */
  setFound(found: Uint32Array | null): void {
    this.foundTimes++;
    if (found === null) this.found = null;
    else {
      this.found = new Uint8Array(this.size);
      for (const i of found) this.found[i] = 1;
    }
  }

  private filterMask(column: Column, filter: Filter, state: State): Uint8Array {
    const failing = new Uint8Array(this.size);
    const [low, high] = [filter.low ?? -Infinity, filter.high ?? Infinity];
    // A change is one figure, whatever runs are shown.
    const runs = column.runs ? column.runs.slice(0, 1) : state.runs;
    const values = runs.map((r) => column.of(this.runs[r]));
    const counts = runs.map((r) => this.runs[r].count);
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

  /** The labels ranked in a run that is shown: where another run does not rank them, the row says why. */
  private rankedLabels(state: State): Uint8Array | null {
    if (!this.runs[0].contrasts.length) return null;
    const key = `${state.runs.join()} ${state.contrast}`;
    if (this.ranked?.key !== key) {
      const ranked = new Uint8Array(this.size);
      this.unranked = this.size;
      for (const r of state.runs) {
        const why = this.runs[r].why(state.contrast);
        for (let i = 0; i < this.size; i++) {
          if (why[i] !== 0 || ranked[i] === 1) continue;
          ranked[i] = 1;
          this.unranked--;
        }
      }
      this.ranked = { key, ranked };
    }
    return this.ranked.ranked;
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
    const ranked = this.rankedLabels(state);
    this.columns.only = state.rankedOnly && ranked !== null ? { contrast: state.contrast } : null;
    const some = (on: boolean, held: Set<number>) => (on ? [...held].join() : "all");
    const passing = JSON.stringify([
      [...this.masks].map(([id, { key }]) => [id, key]), this.foundTimes, state.runs, state.rankedOnly && state.contrast, some(!state.showHidden, state.hidden),
      some(state.onlyFlagged, state.flags), some(state.onlySelected, state.selected),
    ]);
    if (passing !== this.passing) {
      this.judge(state, ranked);
      this.passing = passing;
    }
    this.sort(state);
  }

  /** Count what each label fails. */
  private judge(state: State, ranked: Uint8Array | null): void {
    const { fails, size, found } = this;
    fails.fill(0);
    for (const { failing } of this.masks.values()) for (let i = 0; i < size; i++) fails[i] += failing[i];
    const counts = state.runs.map((r) => this.runs[r].count);
    for (let i = 0; i < size; i++) {
      if (found !== null && found[i] === 0) fails[i] += 1;
      if (counts.every((c) => Number.isNaN(c[i]))) fails[i] += 1;
      if (state.rankedOnly && ranked !== null && ranked[i] === 0) fails[i] += 1;
    }
    if (!state.showHidden) for (const i of state.hidden) fails[i] += 1;
    if (state.onlyFlagged) for (let i = 0; i < size; i++) if (!state.flags.has(i)) fails[i] += 1;
    if (state.onlySelected) for (let i = 0; i < size; i++) if (!state.selected.has(i)) fails[i] += 1;
  }

  /** How many conditions labels fail, and which of them fail that of one column. */
  failing(id: string): { fails: Uint8Array; own: Uint8Array | null } {
    return { fails: this.fails, own: this.masks.get(id)?.failing ?? null };
  }

  /** Whether a label passes everything but one column's own filter, for that column's histogram. */
  passesBut(id: string): (label: number) => boolean {
    const own = this.masks.get(id)?.failing;
    return own ? (i) => this.fails[i] - own[i] === 0 : (i) => this.fails[i] === 0;
  }

  passes(label: number): boolean {
    return this.fails[label] === 0;
  }

  private shownFor = "";
  /** Orders of all labels by what they were asked for; the one used last is at the end. */
  private readonly orders = new Map<string, Uint32Array>();

  private sort(state: State): void {
    const ranked = state.rankedOnly ? this.ranked : null;
    const key = `${state.sort.column} ${state.sort.down} ${state.sort.run} ${ranked?.key}`;
    const shown = `${key} ${this.passing}`;
    if (shown === this.shownFor) return;
    // Whole orders are kept and filtered, so that neither a brush nor the way back sorts anew.
    const all = this.orders.get(key) ?? this.sorted(state, ranked?.ranked ?? null);
    this.orders.delete(key);
    this.orders.set(key, all);
    if (this.orders.size > ORDERS) this.orders.delete(this.orders.keys().next().value!);
    this.shownFor = shown;
    const { fails } = this;
    const out = new Uint32Array(all.length);
    let many = 0;
    for (let j = 0; j < all.length; j++) {
      out[many] = all[j];
      if (fails[all[j]] === 0) many++;
    }
    this.order = out.subarray(0, many);
  }

  private alphabetical: Uint32Array | null = null;

  /** Take the order of names from where it was made while nobody waited. */
  setAlphabetical(order: Uint32Array): void {
    this.alphabetical = order;
  }

  private byName(): Uint32Array {
    if (this.alphabetical === null) {
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      this.alphabetical = inOrder(this.size).sort((a, b) => compare(this.names[a], this.names[b]));
    }
    return this.alphabetical;
  }

  private readonly countOrders = new Map<Run, { ranked: Uint8Array; order: Uint32Array }>();

  private rankedByCount(run: Run, ranked: Uint8Array): Uint32Array {
    const held = this.countOrders.get(run);
    if (held?.ranked === ranked) return held.order;
    const order = run.byCount.filter((i) => ranked[i] === 1);
    this.countOrders.set(run, { ranked, order });
    return order;
  }

  /** All labels in order, or those that are ranked. */
  private sorted(state: State, ranked: Uint8Array | null): Uint32Array {
    const { column: id, down, run } = state.sort;
    if (id === "label") return down ? this.byName().slice().reverse() : this.byName();
    const column = this.columns.get(id);
    if (!column) return inOrder(this.size);
    const of = this.runs[run] ?? this.runs[0];
    // Ranks have this order already.
    const byGap = column.kind === "gap" && down ? of.byGap(column.metric!, column.contrast!) : null;
    if (byGap !== null) return ranked === null ? byGap : byGap.filter((i) => ranked[i] === 1);
    const from = ranked === null ? of.byCount : this.rankedByCount(of, ranked);
    // What is undefined goes last whichever way; ties go by count.
    return orderBy(column.of(of), down, from);
  }
}
