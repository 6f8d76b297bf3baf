/** The labels: a line a run in every cell, bars with intervals, counts. Only the rows in view exist. */
import { h } from "../dom";
import { reach } from "../report/parts";
import { printable } from "../text";
import { runLetter } from "./canvas";
import type { Column, Columns } from "./columns";
import { RowView, type RowEvents, type Source } from "./row_view";
import type { Rows } from "./rows";
import { pairOf, type Kind, type State } from "./state";

const LINE = 22;
const ROOM = 11;
const SPARE = 1;
// With more labels than this the reach of intervals is taken from as many of them, and longer ones stop at the edge.
const EVERY = 1000;
// How many labels paper gets: more than anybody reads.
const PRINTED = 300;

export interface TableEvents extends RowEvents {
  sort(column: string): void;
  explain(metric: string): void;
}

export class LabelTable {
  readonly node: HTMLElement;
  private readonly head = h("thead");
  private readonly body = h("tbody");
  private readonly table = h("table", { class: "labels" }, this.head, this.body);
  private state!: State;
  private shown: [number, number] = [-1, -1];
  private scrolled = 0;
  private height = 400;
  private headFor = "";
  private readonly heads = new Map<string, { cell: HTMLElement; arrow: HTMLElement }>();
  private printing = false;
  private columnsShown: Column[] = [];
  private readonly scales = new Map<string, [number, number]>();
  private views: RowView[] = [];
  private viewsFor = "";
  // Space for the rows that are not there.
  private readonly above = h("tr", { "aria-hidden": "true", class: "space" }, h("td"));
  private readonly below = h("tr", { "aria-hidden": "true", class: "space" }, h("td"));

  constructor(private readonly columns: Columns, private readonly names: string[], private readonly rows: Rows, private readonly events: TableEvents) {
    this.node = h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Labels" }, this.table);
    // Where it is scrolled to and how tall it is are kept: asking makes the browser lay out the page.
    this.node.addEventListener("scroll", () => {
      this.scrolled = this.node.scrollTop;
      requestAnimationFrame(() => this.moved());
    }, { passive: true });
    new ResizeObserver(() => {
      this.height = this.node.clientHeight;
      if (this.state) this.moved();
    }).observe(this.node);
  }

  /** Scrolled or resized: other rows may be in view. */
  private moved(): void {
    const [from, until] = this.inView();
    if (from !== this.shown[0] || until !== this.shown[1]) this.fill(from, until);
  }

  /** The columns for a state: gaps first, then what they are made of. */
  static ids(state: State, columns: Columns): string[] {
    const contrast = columns.runs[0].contrasts[state.contrast];
    const identities = !contrast || contrast.x2 === null ? columns.runs[0].joint.map((_, k) => k) : [contrast.x1, contrast.x2];
    const gap = (metric: string) => (contrast ? [`gap.${metric}.${state.contrast}`] : []);
    const pair = state.runs.length > 1 || state.pair !== null ? pairOf(state, columns.runs.length) : null;
    const ids = [
      ...gap(state.metric),
      ...(contrast && pair ? [`change.${state.metric}.${state.contrast}.${pair.join(".")}`] : []),
      ...(contrast ? [`rank.${state.metric}.${state.contrast}`] : []),
      ...(contrast && contrast.q !== null ? [`q.${state.contrast}`] : []),
      "count",
      ...identities.flatMap((k) => [`value.${state.metric}.${k}`, `joint.${k}`]),
      ...state.extra.filter((metric) => metric !== state.metric).flatMap(gap),
    ];
    return ids.filter((id) => !state.off.includes(id.split(".")[0] as Kind));
  }

  private scale(column: Column, contrast: number): [number, number] {
    // Labels too rare to rank reach far: bars are drawn for those that are ranked, and others stop at the edge.
    const only = this.columns.runs[0].contrasts.length ? { contrast } : null;
    const key = `${column.id} ${only?.contrast}`;
    if (!this.scales.has(key)) this.scales.set(key, reach(column.kind === "value" ? this.valuesReach(column, contrast) : [...this.columns.extent(column, only), ...this.intervals(column, contrast)]));
    return this.scales.get(key)!;
  }

  /** How far the values of ranked labels reach: bars beside figures, for which a part of many labels is enough. */
  private valuesReach(column: Column, contrast: number): number[] {
    const step = Math.max(1, Math.floor(this.names.length / EVERY));
    const out: number[] = [];
    for (const run of this.columns.runs) {
      for (let i = 0; i < this.names.length; i += step) if (run.isRanked(contrast, i)) out.push(run.valueAt(column.metric!, column.identity!, i));
    }
    return out;
  }

  /** How far the intervals of ranked labels reach. */
  private intervals(column: Column, contrast: number): [number, number] {
    let [least, most] = [0, 0];
    if (column.kind !== "gap" && column.kind !== "change") return [least, most];
    const step = Math.max(1, Math.floor(this.names.length / EVERY));
    for (const run of column.runs ? [this.columns.runs[column.runs[1]]] : this.columns.runs) {
      const limits = this.columns.limitsOf(column, run);
      for (let i = 0; i < this.names.length; i += step) {
        if (!run.isRanked(contrast, i)) continue;
        const [low, high] = limits(i);
        if (Number.isFinite(low) && low < least) least = low;
        if (Number.isFinite(high) && high > most) most = high;
      }
    }
    return [least, most];
  }

  draw(state: State): void {
    this.state = state;
    this.columnsShown = LabelTable.ids(state, this.columns).map((id) => this.columns.get(id)!);
    this.drawHead();
    this.fill(...this.inView());
  }

  private drawHead(): void {
    const ids = ["label", ...this.columnsShown.map((column) => column.id)].join();
    if (ids !== this.headFor) this.makeHead();
    this.headFor = ids;
    const { sort } = this.state;
    const by = this.columns.runs.length > 1 ? ` ${runLetter(sort.run)}` : "";
    for (const [id, { cell, arrow }] of this.heads) {
      const chosen = sort.column === id;
      arrow.textContent = chosen ? (sort.down ? " ↓" : " ↑") + by : "";
      if (chosen) cell.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  private makeHead(): void {
    const focused = document.activeElement instanceof HTMLElement && this.head.contains(document.activeElement) ? document.activeElement.dataset.column : undefined;
    this.heads.clear();
    const title = (id: string, text: string, full: string, metric?: string) => {
      const arrow = h("span", { "aria-hidden": "true" });
      const cell = h("th", { scope: "col", class: id.split(".")[0] },
        h("button", { type: "button", class: "quiet sort", "data-column": id, title: `Sort by ${full}`, click: () => this.events.sort(id) }, text, arrow),
        metric ? h("button", { type: "button", class: "quiet small", "aria-label": `Formula of ${full}`, click: () => this.events.explain(metric) }, "ƒ") : null);
      this.heads.set(id, { cell, arrow });
      return cell;
    };
    // Widths are given, so that the browser need not measure every cell; the stylesheet has them.
    this.table.style.minWidth = `calc(var(--tools-width) + var(--label-width) + ${this.columnsShown.map((column) => `var(--${column.kind}-width)`).join(" + ")})`;
    this.head.replaceChildren(h("tr", {},
      h("th", { scope: "col", class: "tools" }, h("span", { class: "unseen" }, "Select, flag and hide")),
      title("label", "Label", "label"),
      ...this.columnsShown.map((column) => title(column.id, column.short, column.title, column.kind === "gap" ? column.metric : undefined))));
    if (focused) [...this.head.querySelectorAll<HTMLElement>("[data-column]")].find((node) => node.dataset.column === focused)?.focus();
  }

  private get tall(): number {
    return this.state.runs.length * LINE + ROOM;
  }

  /** The first row that exists, and the one after the last. */
  private inView(): [number, number] {
    if (this.printing) return [0, PRINTED];
    return [Math.max(0, Math.floor(this.scrolled / this.tall) - SPARE), Math.ceil((this.scrolled + this.height) / this.tall) + SPARE];
  }

  private fill(from: number, until: number): void {
    const { tall, state, body } = this;
    const order = this.rows.order;
    const to = Math.min(order.length, until);
    this.shown = [from, until];
    const active = document.activeElement instanceof HTMLElement && body.contains(document.activeElement) ? document.activeElement : null;
    const [at, place] = [active?.getAttribute("data-at"), active?.closest("tr")?.getAttribute("aria-rowindex")];
    this.table.setAttribute("aria-rowcount", String(order.length + 1));
    const sources = this.columnsShown.map((column) => this.sourcesOf(column, state));
    // Rows are made for columns and runs, and filled with whatever label is in view.
    const kind = `${this.columnsShown.map((column) => column.kind)} ${state.runs}`;
    if (kind !== this.viewsFor) this.views.length = 0;
    this.viewsFor = kind;
    while (this.views.length < to - from) this.views.push(new RowView(sources, this.events));
    const rows: HTMLElement[] = [];
    for (let row = from; row < to; row++) {
      const view = this.views[row - from];
      view.fill(sources, order[row], this.names[order[row]], this.whyNot(order[row]), row, state);
      view.node.style.height = `${tall}px`;
      rows.push(view.node);
    }
    if (!order.length) rows.push(h("tr", {}, h("td", { colspan: this.columnsShown.length + 2, class: "nothing" }, "No label passes these filters.")));
    else if (!this.printing) {
      for (const [space, many] of [[this.above, from], [this.below, order.length - Math.max(to, from)]] as const) {
        (space.firstChild as HTMLTableCellElement).colSpan = this.columnsShown.length + 2;
        space.style.height = `${many * tall}px`;
      }
      rows.unshift(this.above);
      rows.push(this.below);
    }
    if (rows.length !== body.childElementCount || rows.some((row, i) => row !== body.children[i])) body.replaceChildren(...rows);
    if (at) this.focusAgain(at, Number(place));
  }

  /** The focus stays where it was; where its label is gone, it goes to the one that took the place. */
  private focusAgain(at: string, place: number): void {
    const same = this.body.querySelector<HTMLElement>(`[data-at="${at}"]`);
    if (same) return same.focus({ preventScroll: true });
    const rows = [...this.body.querySelectorAll<HTMLElement>("tr[aria-rowindex]")];
    const next = rows.find((row) => Number(row.getAttribute("aria-rowindex")) >= place) ?? rows.at(-1);
    (next?.querySelector<HTMLElement>(`[data-at^="${at[0]}"]`) ?? this.node).focus({ preventScroll: true });
  }

  /** Every row that paper gets, and no space for others; then again what is in view. */
  print(on: boolean): void {
    this.printing = on;
    this.fill(...this.inView());
  }

  /** How many labels paper does not get. */
  get unprinted(): number {
    return Math.max(0, this.rows.order.length - PRINTED);
  }

  /** Why runs that are shown do not rank a label; with the letters of the runs where others do. */
  private whyNot(label: number): string {
    const { state, columns } = this;
    if (!columns.runs[0].contrasts.length) return "";
    const reasons = new Map<string, string[]>();
    for (const r of state.runs) {
      const why = columns.runs[r].whyNot(state.contrast, label);
      if (why) reasons.set(why, [...(reasons.get(why) ?? []), runLetter(r)]);
    }
    return [...reasons].map(([why, letters]) => (letters.length < state.runs.length ? `${letters.join(", ")}: ${why}` : why)).join("; ");
  }

  /** What the lines of a column's cells show, a run each. */
  private sourcesOf(column: Column, state: State): Source[] {
    const { columns } = this;
    const interval = column.kind === "gap" || column.kind === "change";
    const scale = interval || column.kind === "value" ? this.scale(column, state.contrast) : null;
    return (column.kind === "change" ? [state.runs[0]] : state.runs).map((r) => {
      const run = columns.runs[r];
      const values = column.kind === "value" ? null : column.of(run);
      return {
        column, scale,
        value: values === null ? (label: number) => run.valueAt(column.metric!, column.identity!, label) : (label: number) => values[label],
        limits: interval ? columns.limitsOf(column, run) : null,
        mark: columns.runs.length > 1 && column.kind === "gap" ? { letter: runLetter(r), name: printable(run.name, 60), colour: `run${r % 6}` } : null,
      };
    });
  }

  /** Compute what the rows of a state need, a column at a time: showing it later takes less long. */
  *prepare(state: State): Generator<void> {
    for (const id of LabelTable.ids(state, this.columns)) {
      this.sourcesOf(this.columns.get(id)!, state);
      yield;
    }
  }

  /** Back to the first row, after a new order. */
  top(): void {
    if (this.scrolled !== 0) this.node.scrollTop = 0;
    this.scrolled = 0;
  }
}
