/** Parallel coordinates: a line a label and run over the columns of the table; every axis has a brush. */
import { h } from "../dom";
import { printable } from "../text";
import { colour } from "../theme";
import { Canvas, runColour } from "./canvas";
import type { Column, Columns } from "./columns";
import type { Rows } from "./rows";
import { scaleOf, tickText } from "./scale";
import type { Filter, State } from "./state";
import { LabelTable } from "./table";

const LEAST_HEIGHT = 230;
const MOST_HEIGHT = 420;
const TOP = 34;
const BOTTOM = 22;
const LEFT = 130;
const RIGHT = 60;
const CONTEXT_LINES = 150;
const NAMED = 24;

export class Parallel {
  readonly node: HTMLElement;
  private readonly canvas = new Canvas("Parallel coordinates");
  private readonly note = h("p", { class: "soft" });
  private height = LEAST_HEIGHT;
  private axes: Column[] = [];
  private drag: { column: Column; from: number } | null = null;

  constructor(private readonly columns: Columns, private readonly names: string[], private readonly rows: Rows, private readonly filter: (column: string, filter: Filter | null) => void) {
    this.node = h("div", { class: "view" }, this.note, this.canvas.node);
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
      return { px, t: Math.min(1, Math.max(0, 1 - (py - TOP) / (this.height - TOP - BOTTOM))) };
    };
    node.addEventListener("pointerdown", (event) => {
      const { px, t } = at(event);
      const near = this.axes.findIndex((_, i) => Math.abs(this.x(i) - px) < 16);
      if (near < 0) return;
      node.setPointerCapture(event.pointerId);
      this.drag = { column: this.axes[near], from: t };
    });
    node.addEventListener("pointermove", (event) => {
      if (!this.drag) return;
      const { t } = at(event);
      const [a, b] = [Math.min(t, this.drag.from), Math.max(t, this.drag.from)];
      if (b - a < 0.01) return;
      const scale = scaleOf(this.drag.column, this.columns.extent(this.drag.column));
      this.filter(this.drag.column.id, { low: a <= 0 ? null : scale.from(a), high: b >= 1 ? null : scale.from(b) });
    });
    node.addEventListener("pointerup", (event) => {
      if (this.drag && Math.abs(at(event).t - this.drag.from) < 0.01) this.filter(this.drag.column.id, null);
      this.drag = null;
    });
    node.addEventListener("pointercancel", () => (this.drag = null));
  }

  draw(state: State): void {
    this.axes = LabelTable.ids(state, this.columns).map((id) => this.columns.get(id)!).filter((c) => c.kind !== "rank" && c.kind !== "q" && c.kind !== "change");
    // As tall as the panel allows, so that no axis is cut.
    const room = (this.node.parentElement?.clientHeight ?? 0) - 52;
    this.height = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, room));
    const context = this.canvas.begin(Math.max(320, this.node.clientWidth || 800), this.height);
    const chosen = [...state.selected].filter((i) => this.rows.passes(i));
    const lines = chosen.length ? chosen : [...this.rows.order.subarray(0, CONTEXT_LINES)];
    this.note.textContent = chosen.length
      ? `${chosen.length} selected label${chosen.length > 1 ? "s" : ""}. Drag along an axis to filter.`
      : `No label is selected: the first ${lines.length} of the table. Select labels in the table; drag along an axis to filter.`;
    const scales = this.axes.map((column) => scaleOf(column, this.columns.extent(column)));
    for (const r of state.runs) {
      const run = this.columns.runs[r];
      const values = this.axes.map((column) => column.of(run));
      context.strokeStyle = runColour(r);
      context.globalAlpha = chosen.length ? 0.85 : 0.3;
      context.lineWidth = chosen.length ? 1.6 : 1;
      for (const label of lines) {
        context.beginPath();
        let open = false;
        this.axes.forEach((_, i) => {
          const value = values[i][label];
          if (Number.isNaN(value)) {
            open = false;
            return;
          }
          const t = value === Infinity ? 1 : value === -Infinity ? 0 : Math.min(1, Math.max(0, scales[i].to(value)));
          if (open) context.lineTo(this.x(i), this.y(t));
          else context.moveTo(this.x(i), this.y(t));
          open = true;
        });
        context.stroke();
      }
    }
    context.globalAlpha = 1;
    context.lineWidth = 1;
    this.drawAxes(context, scales, state);
    if (chosen.length && chosen.length <= NAMED && this.axes.length) this.drawNames(context, chosen, scales[0], state);
    this.canvas.name(`Parallel coordinates of ${lines.length} labels over ${this.axes.map((c) => c.title).join("; ")}`);
  }

  private drawAxes(context: CanvasRenderingContext2D, scales: ReturnType<typeof scaleOf>[], state: State): void {
    this.axes.forEach((column, i) => {
      const x = this.x(i);
      const filter = state.filters.get(column.id);
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
      const words = printable(column.title, Math.max(10, Math.floor((this.canvas.width / this.axes.length / 6.2))));
      context.fillText(words, shift, i % 2 && this.axes.length > 6 ? 26 : 13);
    });
  }

  private drawNames(context: CanvasRenderingContext2D, labels: number[], scale: ReturnType<typeof scaleOf>, state: State): void {
    const values = this.axes[0].of(this.columns.runs[state.runs[0]]);
    const placed = labels
      .map((label) => ({ label, y: this.y(Math.min(1, Math.max(0, scale.to(Math.max(-1e300, Math.min(1e300, values[label]))) || 0))) }))
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
