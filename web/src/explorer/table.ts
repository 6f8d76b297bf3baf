/** The labels: a line a run in every cell, bars with intervals, counts. Only the rows in view exist. */
import { h } from "../dom";
import { count } from "../numbers";
import { bar, reach } from "../report/parts";
import { printable } from "../text";
import { runLetter } from "./canvas";
import type { Column, Columns } from "./columns";
import type { Rows } from "./rows";
import type { State } from "./state";

const LINE = 22;
const ROOM = 11;
const SPARE = 4;

function clampTo(scale: [number, number], x: number): number {
  return Math.min(scale[1], Math.max(scale[0], x));
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
  private shownFrom = -1;
  private columnsShown: Column[] = [];
  private readonly scales = new Map<string, [number, number]>();

  constructor(private readonly columns: Columns, private readonly names: string[], private readonly rows: Rows, private readonly events: TableEvents) {
    this.node = h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Labels" }, this.table);
    this.node.addEventListener("scroll", () => requestAnimationFrame(() => this.fill(false)), { passive: true });
    new ResizeObserver(() => this.state && this.fill(true)).observe(this.node);
  }

  /** The columns for a state: gaps first, then what they are made of. */
  static ids(state: State, columns: Columns): string[] {
    const contrast = columns.runs[0].contrasts[state.contrast];
    const identities = !contrast || contrast.x2 === null ? columns.runs[0].joint.map((_, k) => k) : [contrast.x1, contrast.x2];
    const gap = (metric: string) => (contrast ? [`gap.${metric}.${state.contrast}`] : []);
    return [
      ...gap(state.metric),
      ...(contrast ? [`rank.${state.metric}.${state.contrast}`] : []),
      ...(contrast && contrast.q !== null ? [`q.${state.contrast}`] : []),
      "count",
      ...identities.flatMap((k) => [`value.${state.metric}.${k}`, `joint.${k}`]),
      ...state.extra.filter((metric) => metric !== state.metric).flatMap(gap),
      ...(columns.runs.length > 1 && state.runs.length > 1 && contrast ? [`change.${state.metric}.${state.contrast}`] : []),
    ];
  }

  private scale(column: Column): [number, number] {
    // Labels too rare to rank reach far: bars are drawn for those that are ranked, and others stop at the edge.
    const only = this.rows.ranked;
    const key = `${column.id} ${only?.key}`;
    if (!this.scales.has(key)) this.scales.set(key, reach([...this.columns.extent(column, only), ...this.intervals(column, only?.ranked)]));
    return this.scales.get(key)!;
  }

  /** How far the intervals of a column reach, so that none is cut. */
  private intervals(column: Column, ranked: Uint8Array | undefined): [number, number] {
    let [least, most] = [0, 0];
    if (column.kind !== "gap" && column.kind !== "change") return [least, most];
    for (const run of this.columns.runs) {
      const [low, high] = column.kind === "gap" ? run.limits(column.metric!, column.contrast!) : this.changeLimits(column);
      for (let i = 0; i < low.length; i++) {
        if (ranked !== undefined && ranked[i] === 0) continue;
        if (Number.isFinite(low[i]) && low[i] < least) least = low[i];
        if (Number.isFinite(high[i]) && high[i] > most) most = high[i];
      }
    }
    return [least, most];
  }

  draw(state: State): void {
    this.state = state;
    this.columnsShown = LabelTable.ids(state, this.columns).map((id) => this.columns.get(id)!);
    this.drawHead();
    this.fill(true);
  }

  private drawHead(): void {
    const focused = document.activeElement instanceof HTMLElement && this.head.contains(document.activeElement) ? document.activeElement.dataset.column : undefined;
    const { sort } = this.state;
    const by = this.columns.runs.length > 1 ? ` ${runLetter(sort.run)}` : "";
    const title = (id: string, text: string, full: string, metric?: string) =>
      h("th", { scope: "col", class: id.split(".")[0], "aria-sort": sort.column === id ? (sort.down ? "descending" : "ascending") : null },
        h("button", { type: "button", class: "quiet sort", "data-column": id, title: `Sort by ${full}`, click: () => this.events.sort(id) }, text, h("span", { "aria-hidden": "true" }, sort.column === id ? (sort.down ? " ↓" : " ↑") + by : "")),
        metric ? h("button", { type: "button", class: "quiet small", "aria-label": `Formula of ${full}`, click: () => this.events.explain(metric) }, "ƒ") : null);
    this.head.replaceChildren(h("tr", {},
      h("th", { scope: "col", class: "tools" }, h("span", { class: "unseen" }, "Select, flag and hide")),
      title("label", "Label", "label"),
      ...this.columnsShown.map((column) => title(column.id, column.short, column.title, column.kind === "gap" ? column.metric : undefined))));
    if (focused) [...this.head.querySelectorAll<HTMLElement>("[data-column]")].find((node) => node.dataset.column === focused)?.focus();
  }

  private fill(anew: boolean): void {
    const tall = this.state.runs.length * LINE + ROOM;
    const order = this.rows.order;
    const from = Math.max(0, Math.floor(this.node.scrollTop / tall) - SPARE);
    const to = Math.min(order.length, Math.ceil((this.node.scrollTop + (this.node.clientHeight || 400)) / tall) + SPARE);
    if (!anew && from === this.shownFrom) return;
    this.shownFrom = from;
    const active = document.activeElement instanceof HTMLElement && this.body.contains(document.activeElement) ? document.activeElement.getAttribute("data-at") : null;
    const space = (rows: number) => {
      const node = h("tr", { "aria-hidden": "true", class: "space" }, h("td", { colspan: this.columnsShown.length + 2 }));
      node.style.height = `${rows * tall}px`;
      return node;
    };
    this.table.setAttribute("aria-rowcount", String(order.length + 1));
    const rows: HTMLElement[] = [];
    for (let place = from; place < to; place++) rows.push(this.row(order[place], place, tall));
    if (!order.length) rows.push(h("tr", {}, h("td", { colspan: this.columnsShown.length + 2, class: "nothing" }, "No label passes these filters.")));
    this.body.replaceChildren(space(from), ...rows, space(order.length - Math.max(to, from)));
    if (active) this.body.querySelector<HTMLElement>(`[data-at="${active}"]`)?.focus({ preventScroll: true });
  }

  private row(label: number, place: number, tall: number): HTMLElement {
    const { state } = this;
    const name = printable(this.names[label], 80);
    const tick = h("input", { type: "checkbox", "aria-label": `Select ${name}`, "data-at": `s${label}`, change: () => this.events.select(label) });
    tick.checked = state.selected.has(label);
    const flagged = state.flags.has(label);
    const hidden = state.hidden.has(label);
    const why = state.runs.map((r) => (this.columns.runs[r].contrasts.length ? this.columns.runs[r].whyNot(state.contrast, label) : "")).find(Boolean) ?? "";
    const row = h("tr", { "aria-rowindex": place + 2, class: `${tick.checked ? "selected" : ""} ${hidden ? "hidden-label" : ""}` },
      h("td", { class: "tools" }, tick,
        h("button", { type: "button", class: "quiet small", "aria-pressed": String(flagged), "aria-label": `Flag ${name}`, "data-at": `f${label}`, click: () => this.events.flag(label) }, flagged ? "⚑" : "⚐"),
        h("button", { type: "button", class: "quiet small", "aria-pressed": String(hidden), "aria-label": `${hidden ? "Show" : "Hide"} ${name}`, "data-at": `h${label}`, click: () => this.events.hide(label) }, hidden ? "○" : "⊘")),
      h("th", { scope: "row", title: name }, h("bdi", { class: "name" }, printable(this.names[label], 44)), why ? h("span", { class: "why", title: why }, why) : null),
      ...this.columnsShown.map((column) => this.cell(column, label)));
    row.style.height = `${tall}px`;
    return row;
  }

  private cell(column: Column, label: number): HTMLElement {
    const runs = column.kind === "change" ? [this.state.runs[0]] : this.state.runs;
    return h("td", { class: column.kind }, ...runs.map((r) => this.line(column, label, r)));
  }

  private line(column: Column, label: number, r: number): HTMLElement {
    const run = this.columns.runs[r];
    const value = column.of(run)[label];
    const many = this.columns.runs.length > 1 && column.kind !== "change";
    const mark = many && (column.kind === "gap" || column.kind === "value") ? h("span", { class: `run run${r % 6}`, title: printable(run.name, 60) }, runLetter(r)) : null;
    if (column.kind === "gap" || column.kind === "change") {
      const scale = this.scale(column);
      const limits = column.kind === "gap" ? run.limits(column.metric!, column.contrast!) : this.changeLimits(column);
      const [low, high] = [limits[0][label], limits[1][label]];
      const known = !Number.isNaN(low) && !Number.isNaN(high);
      const clamp = (x: number) => clampTo(scale, x);
      const drawn = Number.isNaN(value) ? null : clamp(value);
      return h("div", { class: "line" }, mark,
        bar(drawn, known ? clamp(low) : null, known ? clamp(high) : null, scale),
        h("span", { class: "figures" }, column.format(value)),
        h("span", { class: "figures soft" }, known ? `[${column.format(low)}, ${column.format(high)}]` : ""));
    }
    if (column.kind === "value") {
      return h("div", { class: "line" }, mark, bar(Number.isFinite(value) ? clampTo(this.scale(column), value) : null, null, null, this.scale(column)), h("span", { class: "figures" }, column.format(value)));
    }
    const text = column.kind === "count" || column.kind === "joint" ? count(Number.isNaN(value) ? null : value) : column.format(value);
    return h("div", { class: "line only" }, h("span", { class: "figures" }, Number.isNaN(value) ? "—" : text));
  }

  private changeLimits(column: Column): [Float64Array, Float64Array] {
    const { low, high } = this.columns.change(column.metric!, column.contrast!, 0, 1);
    return [low, high];
  }

  /** Back to the first row, after a new order. */
  top(): void {
    this.node.scrollTop = 0;
  }
}
