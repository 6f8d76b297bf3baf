/** Parallel coordinates: a line a label over the columns of the table, for each run, or over runs; axes of columns have a brush. */
import { h } from "../dom";
import { printable } from "../text";
import { colour } from "../theme";
import { Canvas, runColour, runLetter } from "./canvas";
import type { Column, Columns } from "./columns";
import { hideHover, leaves, showHover } from "./hover";
import type { Rows } from "./rows";
import { scaleOf, tickText, type Scale } from "./scale";
import { axesOf, type Filter, type State } from "./state";
import { LabelTable } from "./table";

const LEAST_HEIGHT = 230;
const MOST_HEIGHT = 420;
const TOP = 34;
const BOTTOM = 22;
const LEFT = 130;
const RIGHT = 60;
const CONTEXT_LINES = 60;
const NAMED = 24;
const NEAR = 7;

/** What an axis shows: a column of a run that lines bring along, or of one run. */
interface Axis {
  column: Column;
  run: number | null;
  title: string;
}

interface Line {
  label: number;
  run: number | null;
  /** The heights at the axes; NaN where the figure is undefined. */
  heights: number[];
  passes: boolean;
}

export class Parallel {
  readonly node: HTMLElement;
  private readonly canvas = new Canvas("Parallel coordinates");
  private readonly note = h("span", { class: "soft" });
  private readonly choice: HTMLSelectElement;
  private height = LEAST_HEIGHT;
  private axes: Axis[] = [];
  private lines: Line[] = [];
  private state!: State;
  private lit: number | null = null;
  private drag: { column: Column; from: number } | null = null;

  constructor(private readonly columns: Columns, private readonly names: string[], private readonly rows: Rows, private readonly events: { filter(column: string, filter: Filter | null): void; axes(kind: "columns" | "runs"): void }) {
    this.choice = h("select", { id: "axes", change: () => events.axes(this.choice.value as "columns" | "runs") }, h("option", { value: "columns" }, "columns"), h("option", { value: "runs" }, "runs"));
    const choose = columns.runs.length > 1 && columns.runs[0].contrasts.length ? [h("label", { for: "axes" }, "Axes "), this.choice, " "] : [];
    this.node = h("div", { class: "view" }, h("p", { class: "controls" }, ...choose, this.note), this.canvas.node);
    this.listen();
  }

  private x(i: number): number {
    return LEFT + (i * (this.canvas.width - LEFT - RIGHT)) / Math.max(1, this.axes.length - 1);
  }

  private y(t: number): number {
    return TOP + (1 - t) * (this.height - TOP - BOTTOM);
  }

  private listen(): void {
    const node = this.canvas.node;
    const at = (event: PointerEvent) => {
      const box = node.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      return { px, py, t: Math.min(1, Math.max(0, 1 - (py - TOP) / (this.height - TOP - BOTTOM))) };
    };
    node.addEventListener("pointerdown", (event) => {
      const { px, t } = at(event);
      const near = this.axes.findIndex((axis, i) => axis.run === null && Math.abs(this.x(i) - px) < 16);
      if (near < 0) return;
      node.setPointerCapture(event.pointerId);
      this.drag = { column: this.axes[near].column, from: t };
    });
    node.addEventListener("pointermove", (event) => {
      const { px, py, t } = at(event);
      if (!this.drag) return this.hover(event, px, py);
      hideHover();
      const [a, b] = [Math.min(t, this.drag.from), Math.max(t, this.drag.from)];
      if (b - a < 0.01) return;
      const scale = scaleOf(this.drag.column, this.columns.extent(this.drag.column));
      this.events.filter(this.drag.column.id, { low: a <= 0 ? null : scale.from(a), high: b >= 1 ? null : scale.from(b) });
    });
    node.addEventListener("pointerup", (event) => {
      if (this.drag && Math.abs(at(event).t - this.drag.from) < 0.01) this.events.filter(this.drag.column.id, null);
      this.drag = null;
    });
    node.addEventListener("pointercancel", () => (this.drag = null));
    leaves(node, () => this.light(null));
  }

  /** The line under the pointer: its name and its figures. */
  private hover(event: PointerEvent, px: number, py: number): void {
    const wide = (this.canvas.width - LEFT - RIGHT) / Math.max(1, this.axes.length - 1);
    const from = Math.min(this.axes.length - 2, Math.max(0, Math.floor((px - LEFT) / wide)));
    const share = Math.min(1, Math.max(0, (px - this.x(from)) / wide));
    let [best, distance]: [Line | null, number] = [null, NEAR];
    for (const line of this.lines) {
      const [a, b] = [line.heights[from], line.heights[from + 1] ?? line.heights[from]];
      const off = Math.abs(this.y(a + share * (b - a)) - py);
      if (off < distance) [best, distance] = [line, off];
    }
    this.light(best?.label ?? null);
    if (!best) return hideHover();
    const { label, run } = best;
    const figures = this.axes.map(({ column, run: own, title }) => `${title}: ${column.format(column.of(this.columns.runs[own ?? run ?? 0])[label])}`);
    const name = run !== null && this.columns.runs.length > 1 ? [`${runLetter(run)} ${printable(this.columns.runs[run].name, 30)}`] : [];
    showHover(event, [printable(this.names[label], 60), ...name, ...figures]);
  }

  private light(label: number | null): void {
    if (label === this.lit) return;
    this.lit = label;
    this.draw(this.state);
  }

  private axesFor(state: State): Axis[] {
    if (axesOf(state, this.columns) === "runs") {
      const column = this.columns.get(`gap.${state.metric}.${state.contrast}`)!;
      return state.runs.map((run) => ({ column, run, title: `${runLetter(run)} ${printable(this.columns.runs[run].name, 30)}` }));
    }
    const shown = LabelTable.ids(state, this.columns).map((id) => this.columns.get(id)!);
    return shown.filter((c) => c.kind !== "rank" && c.kind !== "q" && c.kind !== "change").map((column) => ({ column, run: null, title: column.title }));
  }

  draw(state: State): void {
    this.state = state;
    this.axes = this.axesFor(state);
    const byRuns = this.axes.length > 0 && this.axes[0].run !== null;
    this.choice.value = byRuns ? "runs" : "columns";
    // As tall as the panel allows, so that no axis is cut.
    const room = (this.node.parentElement?.clientHeight ?? 0) - 60;
    this.height = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, room));
    const context = this.canvas.begin(Math.max(320, this.node.clientWidth || 800), this.height);
    // What was selected is drawn, filtered or not; without a selection the head of the table is.
    const chosen = [...state.selected];
    const labels = chosen.length ? chosen : [...this.rows.order.subarray(0, CONTEXT_LINES)];
    const out = chosen.filter((i) => !this.rows.passes(i)).length;
    this.note.textContent = (chosen.length
      ? `${chosen.length} selected label${chosen.length > 1 ? "s" : ""}${out ? `, ${out} of them filtered out (dashed)` : ""}.`
      : `No label is selected: the first ${labels.length} of the table. Select labels in the table.`) + (byRuns ? ` ${this.axes[0].column.title}, one scale for all runs.` : " Drag along an axis to filter.");
    const scales = this.axes.map(({ column }) => scaleOf(column, this.columns.extent(column)));
    const runs: (number | null)[] = byRuns ? [null] : state.runs;
    this.lines = runs.flatMap((run) => {
      const values = this.axes.map((axis) => axis.column.of(this.columns.runs[axis.run ?? run ?? 0]));
      return labels.map((label) => ({ label, run, passes: this.rows.passes(label), heights: values.map((held, i) => height(held[label], scales[i])) }));
    });
    for (const line of this.lines) this.drawLine(context, line, chosen.length > 0);
    context.globalAlpha = 1;
    context.lineWidth = 1;
    context.setLineDash([]);
    this.drawAxes(context, scales, state);
    if (chosen.length && chosen.length <= NAMED && this.axes.length) this.drawNames(context, chosen);
    this.canvas.name(`Parallel coordinates of ${labels.length} labels over ${this.axes.map((axis) => axis.title).join("; ")}`);
  }

  private drawLine(context: CanvasRenderingContext2D, line: Line, chosen: boolean): void {
    const lit = line.label === this.lit;
    context.strokeStyle = lit ? colour("ink") : line.run === null ? colour("accent") : runColour(line.run);
    context.globalAlpha = lit ? 1 : chosen ? 0.85 : 0.3;
    context.lineWidth = lit ? 2.4 : chosen ? 1.6 : 1;
    context.setLineDash(line.passes ? [] : [5, 4]);
    context.beginPath();
    let open = false;
    line.heights.forEach((t, i) => {
      if (Number.isNaN(t)) open = false;
      else {
        if (open) context.lineTo(this.x(i), this.y(t));
        else context.moveTo(this.x(i), this.y(t));
        // A point by itself, between two that are undefined, is a point.
        if (!open && Number.isNaN(line.heights[i + 1] ?? NaN)) context.lineTo(this.x(i) + 3, this.y(t));
        open = true;
      }
    });
    context.stroke();
  }

  private drawAxes(context: CanvasRenderingContext2D, scales: Scale[], state: State): void {
    this.axes.forEach(({ column, run, title }, i) => {
      const x = this.x(i);
      const filter = run === null ? state.filters.get(column.id) : undefined;
      context.strokeStyle = colour("soft");
      context.beginPath();
      context.moveTo(x, this.y(0));
      context.lineTo(x, this.y(1));
      context.stroke();
      if (filter) {
        const a = this.y(filter.low === null ? 0 : Math.max(0, scales[i].to(filter.low)));
        const b = this.y(filter.high === null ? 1 : Math.min(1, scales[i].to(filter.high)));
        context.globalAlpha = 0.3;
        context.fillStyle = colour("focus");
        context.fillRect(x - 7, b, 14, a - b);
        context.globalAlpha = 1;
      }
      context.fillStyle = colour("soft");
      context.textAlign = "left";
      for (const value of scales[i].ticks(6)) {
        const y = this.y(scales[i].to(value));
        context.fillRect(x, y, 4, 1);
        context.fillText(tickText(column, value), x + 7, y + 4);
      }
      context.fillStyle = colour("ink");
      context.textAlign = i === 0 ? "left" : i === this.axes.length - 1 ? "right" : "center";
      const shift = i === 0 ? x - LEFT + 4 : i === this.axes.length - 1 ? x + RIGHT - 4 : x;
      const words = printable(title, Math.max(10, Math.floor(this.canvas.width / this.axes.length / 6.2)));
      context.fillText(words, shift, i % 2 && this.axes.length > 6 ? 26 : 13);
    });
  }

  /** Names at the first axis where a line has a height. */
  private drawNames(context: CanvasRenderingContext2D, labels: number[]): void {
    const placed = labels
      .map((label) => ({ label, y: this.y(this.lines.find((line) => line.label === label)!.heights.find((t) => !Number.isNaN(t)) ?? 0) }))
      .sort((a, b) => a.y - b.y);
    context.fillStyle = colour("ink");
    context.textAlign = "right";
    let last = -Infinity;
    for (const { label, y } of placed) {
      const at = Math.max(y + 4, last + 12);
      if (at > this.height - 4) break;
      context.fillText(printable(this.names[label], 20), this.x(0) - 5, at);
      last = at;
    }
  }
}

/** Where a value is on its axis; infinities at the ends. */
function height(value: number, scale: Scale): number {
  if (Number.isNaN(value)) return NaN;
  return value === Infinity ? 1 : value === -Infinity ? 0 : Math.min(1, Math.max(0, scale.to(value)));
}
