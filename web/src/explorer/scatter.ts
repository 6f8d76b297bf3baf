/** Rank against rank under two metrics; a rectangle drawn with the pointer selects the labels in it. */
import { ticks } from "d3-array";
import { h } from "../dom";
import { count, tick } from "../numbers";
import { printable } from "../text";
import { colour } from "../theme";
import { Canvas, runColour, runLetter } from "./canvas";
import type { Columns } from "./columns";
import { hideHover, leaves, showHover } from "./hover";
import type { Rows } from "./rows";
import type { State } from "./state";

const HEIGHT = 340;
const ROOM = { left: 60, right: 16, top: 12, bottom: 38 };

export class Scatter {
  readonly node: HTMLElement;
  private readonly canvas = new Canvas("Rank against rank");
  private readonly note = h("p", { class: "soft", "aria-live": "polite" });
  private readonly choice: HTMLSelectElement;
  private state!: State;
  private points: { label: number; run: number; x: number; y: number; ranks: [number, number] }[] = [];
  private box: [number, number, number, number] | null = null;

  constructor(private readonly columns: Columns, private readonly names: string[], private readonly rows: Rows, events: { second(metric: string): void; select(labels: number[]): void }) {
    this.choice = h("select", { id: "second-metric", change: () => events.second(this.choice.value) }, ...columns.metrics.map((name) => h("option", { value: name }, columns.symbol(name))));
    this.node = h("div", { class: "view" },
      h("p", { class: "controls" }, h("label", { for: "second-metric" }, "Second metric "), this.choice, " Draw a rectangle to select the labels in it."), this.canvas.node, this.note);
    const node = this.canvas.node;
    const at = (event: PointerEvent) => {
      const box = node.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    node.addEventListener("pointerdown", (event) => {
      node.setPointerCapture(event.pointerId);
      const [x, y] = at(event);
      this.box = [x, y, x, y];
    });
    node.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (!this.box) {
        const near = this.points.find((p) => Math.hypot(p.x - x, p.y - y) < 5);
        if (!near) return hideHover();
        const run = columns.runs.length > 1 ? [`${runLetter(near.run)} ${printable(columns.runs[near.run].name, 30)}`] : [];
        return showHover(event, [printable(this.names[near.label], 60), ...run, `rank ${count(near.ranks[0])} by ${columns.symbol(this.state.metric)}, ${count(near.ranks[1])} by ${columns.symbol(this.state.second)}`]);
      }
      this.box = [this.box[0], this.box[1], x, y];
      this.draw(this.state);
    });
    leaves(node);
    node.addEventListener("pointerup", () => {
      if (!this.box) return;
      const [a, b, c, d] = this.box;
      this.box = null;
      if (Math.abs(a - c) < 4 && Math.abs(b - d) < 4) return this.draw(this.state);
      const inside = this.points.filter((p) => p.x >= Math.min(a, c) && p.x <= Math.max(a, c) && p.y >= Math.min(b, d) && p.y <= Math.max(b, d));
      events.select([...new Set(inside.map((p) => p.label))]);
    });
  }

  draw(state: State): void {
    this.state = state;
    this.choice.value = state.second;
    const width = Math.min(760, Math.max(300, this.node.clientWidth || 700));
    const context = this.canvas.begin(width, HEIGHT);
    let most = 1;
    const ranks = state.runs.map((r) => {
      const run = this.columns.runs[r];
      const pair = [run.ranks(state.metric, state.contrast), run.ranks(state.second, state.contrast)];
      for (const list of pair) for (const x of list) if (x > most) most = x;
      return pair;
    });
    const x = (rank: number) => ROOM.left + ((rank - 1) / Math.max(1, most - 1)) * (width - ROOM.left - ROOM.right);
    const y = (rank: number) => ROOM.top + ((rank - 1) / Math.max(1, most - 1)) * (HEIGHT - ROOM.top - ROOM.bottom);
    context.fillStyle = colour("soft");
    context.strokeStyle = colour("faint");
    const at = [1, ...ticks(1, most, 5).filter((t) => t > most / 20)];
    for (const value of at) {
      context.beginPath();
      context.moveTo(x(value), ROOM.top);
      context.lineTo(x(value), HEIGHT - ROOM.bottom);
      context.moveTo(ROOM.left, y(value));
      context.lineTo(width - ROOM.right, y(value));
      context.stroke();
      context.textAlign = x(value) > width - 40 ? "right" : "center";
      context.fillText(tick(value), x(value), HEIGHT - ROOM.bottom + 14);
      context.textAlign = "right";
      context.fillText(tick(value), ROOM.left - 6, y(value) + 4);
    }
    context.textAlign = "center";
    context.fillText(`rank by ${this.columns.symbol(state.metric)}`, (ROOM.left + width) / 2, HEIGHT - 6);
    context.save();
    context.translate(12, (HEIGHT - ROOM.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(`rank by ${this.columns.symbol(state.second)}`, 0, 0);
    context.restore();
    this.points = [];
    state.runs.forEach((r, k) => {
      context.fillStyle = runColour(r);
      for (const label of this.rows.order) {
        const [a, b] = [ranks[k][0][label], ranks[k][1][label]];
        if (Number.isNaN(a) || Number.isNaN(b)) continue;
        this.points.push({ label, run: r, x: x(a), y: y(b), ranks: [a, b] });
        context.globalAlpha = state.selected.has(label) ? 1 : 0.45;
        context.fillRect(x(a) - 1.5, y(b) - 1.5, 3, 3);
      }
    });
    context.globalAlpha = 1;
    context.strokeStyle = colour("ink");
    for (const point of this.points) {
      if (!state.selected.has(point.label)) continue;
      context.beginPath();
      context.arc(point.x, point.y, 5, 0, 7);
      context.stroke();
    }
    if (this.box) {
      const [a, b, c, d] = this.box;
      context.strokeStyle = colour("focus");
      context.strokeRect(Math.min(a, c), Math.min(b, d), Math.abs(c - a), Math.abs(d - b));
    }
    this.note.textContent = `${count(this.points.length)} ranked labels; ${count(state.selected.size)} selected. Labels far from the diagonal are those the two metrics disagree on.`;
    this.canvas.name(`Rank by ${state.metric} against rank by ${state.second} of ${this.points.length} labels`);
  }
}
