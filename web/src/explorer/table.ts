/** The labels: a line a run in every cell, bars with intervals, counts. Only the rows in view exist. */
import { h } from "../dom";
import { count, figure } from "../numbers";
import { reach } from "../report/parts";
import { cellBar } from "./cell_bar";
import { printable } from "../text";
import { runLetter } from "./canvas";
import type { Column, Columns } from "./columns";
import type { Rows } from "./rows";
import { pairOf, type Kind, type State } from "./state";

const LINE = 22;
const ROOM = 11;
const SPARE = 1;
// With more labels than this the reach of intervals is taken from as many of them, and longer ones stop at the edge.
const EVERY = 1000;
// How many labels paper gets: more than anybody reads.
const PRINTED = 300;

function clampTo(scale: [number, number], x: number): number {
  return Math.min(scale[1], Math.max(scale[0], x));
}

/** Limits have a digit less than their figure: that is what fits beside it. */
function short(limit: number): string {
  return figure(limit === Infinity ? "inf" : limit === -Infinity ? "-inf" : limit, true, 3);
}

export interface TableEvents {
  sort(column: string): void;
  flag(label: number): void;
  hide(label: number): void;
  select(label: number): void;
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

  private scale(column: Column): [number, number] {
    // Labels too rare to rank reach far: bars are drawn for those that are ranked, and others stop at the edge.
    const only = this.columns.runs[0].contrasts.length ? { contrast: this.state.contrast } : null;
    const key = `${column.id} ${only?.contrast}`;
    if (!this.scales.has(key)) this.scales.set(key, reach(column.kind === "value" ? this.valuesReach(column) : [...this.columns.extent(column, only), ...this.intervals(column)]));
    return this.scales.get(key)!;
  }

  /** How far the values of ranked labels reach: bars beside figures, for which a part of many labels is enough. */
  private valuesReach(column: Column): number[] {
    const step = Math.max(1, Math.floor(this.names.length / EVERY));
    const out: number[] = [];
    for (const run of this.columns.runs) {
      for (let i = 0; i < this.names.length; i += step) if (run.isRanked(this.state.contrast, i)) out.push(run.valueAt(column.metric!, column.identity!, i));
    }
    return out;
  }

  /** How far the intervals of ranked labels reach. */
  private intervals(column: Column): [number, number] {
    let [least, most] = [0, 0];
    if (column.kind !== "gap" && column.kind !== "change") return [least, most];
    const step = Math.max(1, Math.floor(this.names.length / EVERY));
    for (const run of column.runs ? [this.columns.runs[column.runs[1]]] : this.columns.runs) {
      const limits = this.columns.limitsOf(column, run);
      for (let i = 0; i < this.names.length; i += step) {
        if (!run.isRanked(this.state.contrast, i)) continue;
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
    const { tall } = this;
    const order = this.rows.order;
    const to = Math.min(order.length, until);
    this.shown = [from, until];
    const active = document.activeElement instanceof HTMLElement && this.body.contains(document.activeElement) ? document.activeElement : null;
    const [at, place] = [active?.getAttribute("data-at"), active?.closest("tr")?.getAttribute("aria-rowindex")];
    const space = (rows: number) => {
      const node = h("tr", { "aria-hidden": "true", class: "space" }, h("td", { colspan: this.columnsShown.length + 2 }));
      node.style.height = `${rows * tall}px`;
      return node;
    };
    this.table.setAttribute("aria-rowcount", String(order.length + 1));
    const rows: HTMLElement[] = [];
    this.limits.clear();
    for (let row = from; row < to; row++) rows.push(this.row(order[row], row, tall));
    if (!order.length) rows.push(h("tr", {}, h("td", { colspan: this.columnsShown.length + 2, class: "nothing" }, "No label passes these filters.")));
    this.body.replaceChildren(...(this.printing ? rows : [space(from), ...rows, space(order.length - Math.max(to, from))]));
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

  private row(label: number, place: number, tall: number): HTMLElement {
    const { state } = this;
    const name = printable(this.names[label], 80);
    const tick = h("input", { type: "checkbox", "aria-label": `Select ${name}`, "data-at": `s${label}`, change: () => this.events.select(label) });
    tick.checked = state.selected.has(label);
    const flagged = state.flags.has(label);
    const hidden = state.hidden.has(label);
    const why = this.whyNot(label);
    const row = h("tr", { "aria-rowindex": place + 2, class: `${tick.checked ? "selected" : ""} ${hidden ? "hidden-label" : ""}` },
      h("td", { class: "tools" }, tick,
        h("button", { type: "button", class: "quiet small", "aria-pressed": String(flagged), "aria-label": `Flag ${name}`, "data-at": `f${label}`, click: () => this.events.flag(label) }, flagged ? "⚑" : "⚐"),
        h("button", { type: "button", class: "quiet small", "aria-pressed": String(hidden), "aria-label": `${hidden ? "Show" : "Hide"} ${name}`, "data-at": `h${label}`, click: () => this.events.hide(label) }, hidden ? "○" : "⊘")),
      h("th", { scope: "row", title: name }, h("bdi", { class: "name" }, printable(this.names[label], 44)), why ? h("span", { class: "why", title: why }, why) : null),
      ...this.columnsShown.map((column) => this.cell(column, label)));
    row.style.height = `${tall}px`;
    return row;
  }

  private readonly limits = new Map<string, (label: number) => Float64Array>();

  private limitsOf(column: Column, r: number): (label: number) => Float64Array {
    const key = `${column.id} ${r}`;
    if (!this.limits.has(key)) this.limits.set(key, this.columns.limitsOf(column, this.columns.runs[r]));
    return this.limits.get(key)!;
  }

  private cell(column: Column, label: number): HTMLElement {
    const runs = column.kind === "change" ? [this.state.runs[0]] : this.state.runs;
    return h("td", { class: column.kind }, ...runs.map((r) => this.line(column, label, r)));
  }

  private line(column: Column, label: number, r: number): HTMLElement {
    const run = this.columns.runs[r];
    const value = column.kind === "value" ? run.valueAt(column.metric!, column.identity!, label) : column.of(run)[label];
    const mark = this.columns.runs.length > 1 && column.kind === "gap" ? h("span", { class: `run run${r % 6}`, title: printable(run.name, 60) }, runLetter(r)) : null;
    if (column.kind === "gap" || column.kind === "change") {
      const scale = this.scale(column);
      const [low, high] = this.limitsOf(column, r)(label);
      const known = !Number.isNaN(low) && !Number.isNaN(high);
      const clamp = (x: number) => clampTo(scale, x);
      const drawn = Number.isNaN(value) ? null : clamp(value);
      return h("div", { class: "line" }, mark,
        cellBar(drawn, known ? [clamp(low), clamp(high)] : null, scale),
        h("span", { class: "figures" }, column.format(value)),
        h("span", { class: "figures soft" }, known ? `[${short(low)}, ${short(high)}]` : ""));
    }
    if (column.kind === "value") {
      return h("div", { class: "line" }, cellBar(Number.isFinite(value) ? clampTo(this.scale(column), value) : null, null, this.scale(column)), h("span", { class: "figures" }, column.format(value)));
    }
    const text = column.kind === "count" || column.kind === "joint" ? count(Number.isNaN(value) ? null : value) : column.format(value);
    return h("div", { class: "line only" }, h("span", { class: "figures" }, Number.isNaN(value) ? "—" : text));
  }

  /** Back to the first row, after a new order. */
  top(): void {
    if (this.scrolled !== 0) this.node.scrollTop = 0;
    this.scrolled = 0;
  }
}
