/** What is chosen above and beside the table: columns, selections, two runs. */
import { h } from "../dom";
import type { Columns } from "./columns";
import { pairChoice } from "./lists";
import { KINDS, pairOf, type Kind, type State } from "./state";

type Change = (what: (state: State) => void) => void;

const TITLES: Record<Kind, string> = { change: "change between runs", rank: "rank", q: "q-value", count: "count", value: "values of identities", joint: "counts with identities" };

/** Which columns the table has. */
export class ColumnsMenu {
  readonly node: HTMLElement;
  private readonly extra: HTMLInputElement[];
  private readonly kinds: Map<Kind, HTMLInputElement>;

  constructor(private readonly columns: Columns, change: Change) {
    const line = (box: HTMLInputElement, text: string) => h("div", { class: "check" }, box, h("label", { for: box.id }, text));
    this.extra = columns.metrics.map((name) => h("input", { type: "checkbox", id: `extra-${name}`, change: () => change((s) => (s.extra = columns.metrics.filter((_, i) => this.extra[i].checked && !this.extra[i].disabled))) }));
    const kinds = KINDS.filter((kind) => kind !== "change" || columns.runs.length > 1);
    this.kinds = new Map(kinds.map((kind) => [kind, h("input", { type: "checkbox", id: `column-${kind}`, change: () => change((s) => (s.off = kinds.filter((other) => !this.kinds.get(other)!.checked))) })]));
    const body = h("div", { class: "menu-body" },
      h("fieldset", {}, h("legend", {}, "Columns"), ...kinds.map((kind) => line(this.kinds.get(kind)!, TITLES[kind]))),
      h("fieldset", {}, h("legend", {}, "Gaps of metrics"), ...columns.metrics.map((name, i) => line(this.extra[i], columns.symbol(name)))));
    const menu = h("details", { class: "menu", keydown: (event: KeyboardEvent) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary")!.focus();
    } }, h("summary", {}, "Columns"), body);
    // It lies over the table: a click elsewhere closes it.
    document.addEventListener("pointerdown", (event) => {
      if (menu.open && !menu.contains(event.target as Node)) menu.open = false;
    });
    this.node = menu;
  }

  draw(state: State): void {
    this.extra.forEach((box, i) => {
      const own = this.columns.metrics[i] === state.metric;
      box.checked = own || state.extra.includes(this.columns.metrics[i]);
      box.disabled = own;
    });
    for (const [kind, box] of this.kinds) box.checked = !state.off.includes(kind);
  }
}

/** Select what is shown, clear the selection, show it alone. */
export class SelectionBar {
  readonly node: HTMLElement;
  private readonly clear: HTMLButtonElement;
  private readonly isolate: HTMLButtonElement;

  constructor(change: Change, shown: () => Uint32Array) {
    this.clear = h("button", { type: "button", class: "quiet", click: () => change((s) => {
      s.selected.clear();
      s.onlySelected = false;
    }) }, "Clear selection");
    this.isolate = h("button", { type: "button", class: "quiet", "aria-pressed": "false", title: "Show the selected labels alone", click: () => change((s) => (s.onlySelected = !s.onlySelected)) }, "Isolate selection");
    this.node = h("div", { class: "selection", role: "group", "aria-label": "Selection" },
      h("button", { type: "button", class: "quiet", title: "Select every label that passes the filters", click: () => change((s) => shown().forEach((label) => s.selected.add(label))) }, "Select shown"),
      this.clear, this.isolate);
  }

  draw(state: State): void {
    this.clear.disabled = state.selected.size === 0;
    this.isolate.disabled = state.selected.size === 0 && !state.onlySelected;
    this.isolate.setAttribute("aria-pressed", String(state.onlySelected));
  }
}

/** Which two runs changes are of. */
export class PairChoice {
  readonly node = h("p", { class: "pair" });
  private drawn = "";

  constructor(private readonly columns: Columns, private readonly change: Change) {}

  draw(state: State): void {
    const pair = pairOf(state, this.columns.runs.length);
    if (pair === null || pair.join() === this.drawn) return;
    this.drawn = pair.join();
    const focused = this.node.contains(document.activeElement) ? document.activeElement!.id : null;
    this.node.replaceChildren(...pairChoice("pair", this.columns, pair, (chosen) => this.change((s) => (s.pair = chosen))));
    if (focused) document.getElementById(focused)?.focus();
  }
}
