/** The distribution of a column, a strip a run, with a brush over its real range. */
import { h } from "../dom";
import { count } from "../numbers";
import { colour, isDark } from "../theme";
import { printable } from "../text";
import { Canvas, runColour, runLetter } from "./canvas";
import type { Column, Columns } from "./columns";
import { hideHover, leaves, showHover } from "./hover";
import type { Rows } from "./rows";
import type { Run } from "./run";
import { scaleOf, tickText } from "./scale";
import type { Filter, State } from "./state";

const BINS = 60;
const STRIP = 40;
const FOOT = 20;
const SIDE = 14;
const OUTSIDE = 255;
// How many labels of a bar are named.
const NAMES = 5;

export interface HistogramEvents {
  filter(column: string, filter: Filter | null): void;
  remove(column: string): void;
  explain(metric: string): void;
}

export class Histogram {
  readonly node: HTMLElement;
  private readonly canvas: Canvas;
  private readonly least: HTMLInputElement;
  private readonly most: HTMLInputElement;
  private readonly clear: HTMLButtonElement;
  private readonly bins = new Map<Run, Uint8Array>();
  private binnedFor: number | undefined;
  private drag: number | null = null;
  private drawn = "";
  private held: { state: State; rows: Rows } | null = null;

  constructor(private readonly columns: Columns, readonly column: Column, private readonly names: string[], private readonly events: HistogramEvents) {
    this.canvas = new Canvas(column.title);
    const input = (name: string) => h("input", { type: "number", step: "any", "aria-label": `${name} ${column.title}`, change: () => this.typed() });
    this.least = input("Least");
    this.most = input("Most");
    this.clear = h("button", { type: "button", class: "quiet small", click: () => events.filter(column.id, null) }, "clear");
    const metric = column.metric;
    this.node = h("section", { class: "histogram", "aria-label": `Distribution of ${column.title}` },
      h("div", { class: "histogram-head" }, h("h2", {}, column.title),
        metric ? h("button", { type: "button", class: "quiet small", "aria-label": `Formula of ${column.title}`, click: () => events.explain(metric) }, "ƒ") : null,
        h("button", { type: "button", class: "quiet small remove", "aria-label": `Remove ${column.title}`, click: () => events.remove(column.id) }, "×")),
      this.canvas.node,
      h("div", { class: "range" }, this.least, h("span", {}, "to"), this.most, this.clear));
    this.listen();
  }

  private typed(): void {
    const value = (input: HTMLInputElement) => (input.value === "" || !Number.isFinite(input.valueAsNumber) ? null : input.valueAsNumber);
    const [low, high] = [value(this.least), value(this.most)];
    this.events.filter(this.column.id, low === null && high === null ? null : { low, high });
  }

  private place(event: PointerEvent): number {
    const box = this.canvas.node.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left - SIDE) / (box.width - 2 * SIDE)));
  }

  private listen(): void {
    const node = this.canvas.node;
    const scale = () => scaleOf(this.column, this.columns.extent(this.column));
    node.addEventListener("pointerdown", (event) => {
      node.setPointerCapture(event.pointerId);
      this.drag = this.place(event);
    });
    node.addEventListener("pointermove", (event) => {
      if (this.drag === null) return this.hover(event);
      hideHover();
      const [a, b] = [Math.min(this.drag, this.place(event)), Math.max(this.drag, this.place(event))];
      if (b - a < 0.005) return;
      // The end of the axis is the end of the data: infinities are in.
      this.events.filter(this.column.id, { low: a <= 0 ? null : scale().from(a), high: b >= 1 ? null : scale().from(b) });
    });
    node.addEventListener("pointerup", (event) => {
      if (this.drag !== null && Math.abs(this.place(event) - this.drag) < 0.005) this.events.filter(this.column.id, null);
      this.drag = null;
    });
    node.addEventListener("pointercancel", () => (this.drag = null));
    leaves(node);
  }

  /** The runs with a strip of their own: a change is one figure of two. */
  private strips(state: State): number[] {
    return this.column.runs ? [this.column.runs[1]] : state.runs;
  }

  /** The bar under the pointer: its range, and the labels in it as the table has them. */
  private hover(event: PointerEvent): void {
    if (this.held === null) return;
    const { state, rows } = this.held;
    const box = this.canvas.node.getBoundingClientRect();
    const strip = Math.floor((event.clientY - box.top) / STRIP);
    const r = this.strips(state)[strip];
    if (r === undefined) return hideHover();
    const bin = Math.min(BINS - 1, Math.floor(this.place(event) * BINS));
    const bins = this.binned(this.columns.runs[r]);
    const named: string[] = [];
    let many = 0;
    for (const i of rows.order) {
      if (bins[i] !== bin) continue;
      if (many++ < NAMES) named.push(printable(this.names[i], 40));
    }
    const scale = scaleOf(this.column, this.columns.extent(this.column));
    const ends = [bin, bin + 1].map((at) => this.column.format(scale.from(at / BINS)));
    const run = this.columns.runs.length > 1 && !this.column.runs ? `${runLetter(r)} ${printable(this.columns.runs[r].name, 30)}: ` : "";
    showHover(event, [`${run}${ends[0]} to ${ends[1]}`, `${count(many)} label${many === 1 ? "" : "s"} shown`, ...named, ...(many > NAMES ? ["…"] : [])]);
  }

  /** The bin of each label, which no filter changes. */
  private binned(run: Run): Uint8Array {
    if (this.binnedFor !== this.columns.only?.contrast) this.bins.clear();
    this.binnedFor = this.columns.only?.contrast;
    if (!this.bins.has(run)) {
      const scale = scaleOf(this.column, this.columns.extent(this.column));
      const values = this.column.of(run);
      const out = new Uint8Array(values.length);
      for (let i = 0; i < values.length; i++) {
        const x = values[i];
        if (Number.isNaN(x)) out[i] = OUTSIDE;
        else if (x === Infinity) out[i] = BINS - 1;
        else if (x === -Infinity) out[i] = 0;
        else out[i] = Math.min(BINS - 1, Math.max(0, Math.floor(scale.to(x) * BINS)));
      }
      this.bins.set(run, out);
    }
    return this.bins.get(run)!;
  }

  draw(state: State, rows: Rows, wide: number): void {
    const filter = state.filters.get(this.column.id);
    this.held = { state, rows };
    const width = wide - 2;
    const strips = this.strips(state);
    const height = strips.length * STRIP + FOOT;
    const drawn = JSON.stringify([rows.passing, filter, strips, width, isDark(), this.columns.only]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const context = this.canvas.begin(width, height);
    const inner = width - 2 * SIDE;
    const scale = scaleOf(this.column, this.columns.extent(this.column));
    const { fails, own: failing } = rows.failing(this.column.id);
    let shown = 0;
    strips.forEach((r, strip) => {
      const run = this.columns.runs[r];
      const bins = this.binned(run);
      const [all, kept] = [new Float64Array(BINS), new Float64Array(BINS)];
      for (let i = 0; i < bins.length; i++) {
        const bin = bins[i];
        if (bin === OUTSIDE) continue;
        all[bin]++;
        if (fails[i] === (failing === null ? 0 : failing[i])) kept[bin]++;
      }
      // By powers: a few labels among thousands stay visible.
      const top = Math.log1p(Math.max(1, ...all));
      const foot = (strip + 1) * STRIP;
      const bar = (many: number) => (many ? Math.max(2, ((STRIP - 6) * Math.log1p(many)) / top) : 0);
      const [every, own] = [colour("line"), runColour(r)];
      for (let bin = 0; bin < BINS; bin++) {
        const x = SIDE + (bin * inner) / BINS;
        const wide = inner / BINS - 0.6;
        context.fillStyle = every;
        context.fillRect(x, foot - bar(all[bin]), wide, bar(all[bin]));
        context.fillStyle = own;
        context.fillRect(x, foot - bar(kept[bin]), wide, bar(kept[bin]));
        shown += kept[bin];
      }
      if (this.columns.runs.length > 1 && !this.column.runs) {
        context.fillStyle = colour("soft");
        context.textAlign = "left";
        context.fillText(runLetter(r), 2, foot - 3);
      }
    });
    this.axis(context, scale, inner, height);
    if (filter) {
      const a = SIDE + inner * (filter.low === null ? 0 : Math.min(1, Math.max(0, scale.to(filter.low))));
      const b = SIDE + inner * (filter.high === null ? 1 : Math.min(1, Math.max(0, scale.to(filter.high))));
      context.globalAlpha = 0.16;
      context.fillStyle = colour("focus");
      context.fillRect(a, 0, Math.max(1, b - a), height - FOOT);
      context.globalAlpha = 1;
      context.strokeStyle = colour("focus");
      context.strokeRect(a, 0.5, Math.max(1, b - a), height - FOOT - 1);
    }
    const [low, high] = this.columns.extent(this.column);
    this.least.placeholder = this.column.format(low);
    this.most.placeholder = this.column.format(high);
    if (document.activeElement !== this.least) this.least.value = filter?.low === null || !filter ? "" : String(Number(filter.low.toPrecision(4)));
    if (document.activeElement !== this.most) this.most.value = filter?.high === null || !filter ? "" : String(Number(filter.high.toPrecision(4)));
    this.clear.disabled = !filter;
    const names = strips.map((r) => printable(this.columns.runs[r].name, 30)).join(", ");
    this.canvas.name(`${this.column.title}: histogram of ${names}; ${shown} values pass the other filters`);
  }

  private axis(context: CanvasRenderingContext2D, scale: ReturnType<typeof scaleOf>, inner: number, height: number): void {
    const foot = height - FOOT;
    context.strokeStyle = colour("line");
    context.beginPath();
    context.moveTo(SIDE, foot + 0.5);
    context.lineTo(SIDE + inner, foot + 0.5);
    context.stroke();
    context.fillStyle = colour("soft");
    let last = -Infinity;
    for (const value of scale.ticks(5)) {
      const x = SIDE + inner * scale.to(value);
      const text = tickText(this.column, value);
      const wide = context.measureText(text).width;
      // Kept inside the canvas, and clear of the one before.
      const from = Math.min(Math.max(0, x - wide / 2), this.canvas.width - wide);
      context.fillRect(x, foot, 1, 4);
      if (from < last + 6) continue;
      context.textAlign = "left";
      context.fillText(text, from, foot + 15);
      last = from + wide;
    }
  }
}
