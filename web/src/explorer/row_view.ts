/** A row of the table of labels: made once, and filled with one label after another. */
import { h } from "../dom";
import { figure } from "../numbers";
import { printable } from "../text";
import { CellBar } from "./cell_bar";
import type { Column } from "./columns";
import type { Floats } from "./run";
import type { State } from "./state";

/** What the lines of a cell are filled from: one run's figures of a column. */
export interface Source {
  column: Column;
  value(label: number): number;
  /** The limits of an interval; null for figures that have none. */
  limits: ((label: number) => Floats) | null;
  /** What bars are drawn on; null for figures without a bar. */
  scale: [number, number] | null;
  /** Names the run, where there are several. */
  mark: { letter: string; name: string; colour: string } | null;
}

export interface RowEvents {
  flag(label: number): void;
  hide(label: number): void;
  select(label: number): void;
}

/** Limits have a digit less than their figure: that is what fits beside it. */
function short(limit: number): string {
  return figure(limit === Infinity ? "inf" : limit === -Infinity ? "-inf" : limit, true, 3);
}

/** One line of a cell. */
class Line {
  readonly node: HTMLElement;
  private readonly bar: CellBar | null;
  private readonly figures = document.createTextNode("");
  private readonly interval = document.createTextNode("");

  constructor(source: Source) {
    this.bar = source.scale ? new CellBar() : null;
    this.node = h("div", { class: source.scale ? "line" : "line only" },
      source.mark ? h("span", { class: `run ${source.mark.colour}`, title: source.mark.name }, source.mark.letter) : null,
      this.bar?.node,
      h("span", { class: "figures" }, this.figures),
      source.limits ? h("span", { class: "figures soft" }, this.interval) : null);
  }

  fill({ column, limits, scale, value }: Source, label: number): void {
    const x = value(label);
    this.figures.data = x === x ? column.format(x) : "—";
    if (!scale) return;
    let [low, high] = [NaN, NaN];
    if (limits) {
      [low, high] = limits(label);
      this.interval.data = low === low && high === high ? `[${short(low)}, ${short(high)}]` : "";
    }
    // A value without an interval has no bar to infinity.
    this.bar!.draw(limits || Number.isFinite(x) ? x : NaN, low, high, scale);
  }
}

export class RowView {
  readonly node: HTMLTableRowElement;
  private label = -1;
  private readonly tick: HTMLInputElement;
  private readonly flag: HTMLButtonElement;
  private readonly hide: HTMLButtonElement;
  private readonly head: HTMLElement;
  private readonly name = h("bdi", { class: "name" });
  private readonly why = h("span", { class: "why" });
  private readonly cells: Line[][];

  constructor(sources: Source[][], events: RowEvents) {
    const button = (use: (label: number) => void) => h("button", { type: "button", class: "quiet small", click: () => use(this.label) });
    this.tick = h("input", { type: "checkbox", change: () => events.select(this.label) });
    this.flag = button(events.flag);
    this.hide = button(events.hide);
    this.cells = sources.map((lines) => lines.map((source) => new Line(source)));
    this.head = h("th", { scope: "row" }, this.name);
    this.node = h("tr", {}, h("td", { class: "tools" }, this.tick, this.flag, this.hide), this.head,
      ...this.cells.map((lines, c) => h("td", { class: sources[c][0].column.kind }, ...lines.map((line) => line.node))));
  }

  /** Fill the row; `why` says why runs do not rank the label. */
  fill(sources: Source[][], label: number, text: string, why: string, place: number, state: State): void {
    const name = printable(text, 80);
    const [flagged, hidden, selected] = [state.flags.has(label), state.hidden.has(label), state.selected.has(label)];
    this.node.setAttribute("aria-rowindex", String(place + 2));
    this.node.className = `${selected ? "selected" : ""} ${hidden ? "hidden-label" : ""}`;
    this.tick.checked = selected;
    pressed(this.flag, flagged, flagged ? "⚑" : "⚐");
    pressed(this.hide, hidden, hidden ? "○" : "⊘");
    this.hide.setAttribute("aria-label", `${hidden ? "Show" : "Hide"} ${name}`);
    if (label !== this.label) {
      this.tick.setAttribute("aria-label", `Select ${name}`);
      this.flag.setAttribute("aria-label", `Flag ${name}`);
      this.tick.setAttribute("data-at", `s${label}`);
      this.flag.setAttribute("data-at", `f${label}`);
      this.hide.setAttribute("data-at", `h${label}`);
      this.head.title = name;
      this.name.textContent = printable(text, 44);
    }
    if (this.why.title !== why) {
      this.why.title = why;
      this.why.textContent = why;
      if (why) this.head.append(this.why);
      else this.why.remove();
    }
    this.label = label;
    for (let c = 0; c < sources.length; c++) for (let l = 0; l < sources[c].length; l++) this.cells[c][l].fill(sources[c][l], label);
  }
}

function pressed(button: HTMLButtonElement, on: boolean, sign: string): void {
  if (button.textContent === sign) return;
  button.textContent = sign;
  button.setAttribute("aria-pressed", String(on));
}
