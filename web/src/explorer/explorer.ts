/** The explorer: runs, filters, distributions, the table of labels and the views that follow from them. */
import { h } from "../dom";
import { count } from "../numbers";
import { printable, sentence } from "../text";
import { onTheme } from "../theme";
import { Ahead, everyMetric } from "./ahead";
import { runLetter } from "./canvas";
import { Columns } from "./columns";
import { ColumnsMenu, PairChoice, SelectionBar } from "./controls";
import { Divider } from "./divider";
import { frequencies } from "./frequency";
import { Histogram } from "./histogram";
import { formulas, oneVsRest, rankChanges, runDifferences } from "./lists";
import type { Facts } from "./meaning";
import { Parallel } from "./parallel";
import { inWords, onPaper } from "./printing";
import { Rows } from "./rows";
import { Run, type RunDocument, type Shared } from "./run";
import { Scatter } from "./scatter";
import { Search } from "./search";
import { pairOf, read, SPLIT, usualColumns, written, type Filter, type State, type View } from "./state";
import { LabelTable } from "./table";
import { shownRows } from "./shown";
import { csv, json, save } from "./download";

export interface ExplorerPage {
  kind: "explorer";
  title: string;
  metrics: string[];
  /** The one that is shown first. */
  metric: string;
  facts: Record<string, Facts>;
  labels: string[];
  names: string[];
  runs: RunDocument[];
  /** What is known of the records that two runs share. */
  shared?: Shared[];
}

const VIEWS: [View, string][] = [
  ["parallel", "Parallel coordinates"], ["scatter", "Rank against rank"], ["ranks", "Rank change"],
  ["rest", "One vs rest"], ["runs", "Run differences"], ["frequency", "Frequency"], ["formulas", "Formulas"],
];

// What need not be there with the table comes this many milliseconds later.
const SOON = 60;

export function showExplorer(page: ExplorerPage, root: HTMLElement, theme: HTMLElement): void {
  new Explorer(page, root, theme);
}

class Explorer {
  private readonly columns: Columns;
  private readonly rows: Rows;
  private readonly search: Search;
  private readonly first: State;
  private state: State;
  private readonly table: LabelTable;
  private readonly parallel: Parallel;
  private readonly scatter: Scatter;
  private histograms: Histogram[] = [];
  private explained: string | null = null;
  private due = false;
  private addressDue = 0;
  private wide = 280;
  private viewDue = 0;
  private wroteHash = "";
  private readonly ahead = new Ahead();
  private readyFor: number | null = null;

  private readonly status = h("p", { class: "status", "aria-live": "polite" });
  private readonly unranked = h("p", { class: "soft note" });
  private readonly problem = h("p", { class: "problem", role: "alert" });
  private readonly side = h("div", { class: "histograms" });
  private readonly view = h("div", { class: "view-holder", role: "tabpanel", id: "view-panel", tabindex: "0" });
  private readonly searchBox = h("input", { type: "search", id: "search", placeholder: "regular expression", spellcheck: "false", autocomplete: "off", input: () => this.searched() });
  private readonly metricBox: HTMLSelectElement;
  private readonly contrastBox: HTMLSelectElement;
  private readonly addBox = h("select", { "aria-label": "Add a distribution", change: () => this.added() });
  private readonly runBoxes: HTMLInputElement[];
  private readonly tabs: HTMLButtonElement[];
  private readonly menu: ColumnsMenu;
  private readonly selection: SelectionBar;
  private readonly pair: PairChoice;
  private readonly centre = h("main", { class: "centre", id: "labels", tabindex: "-1" });
  private readonly divider = new Divider(this.centre, (share) => this.change((s) => (s.split = share)));
  private readonly switches = new Map<"any" | "rankedOnly" | "onlyFlagged" | "showHidden", HTMLInputElement>();

  constructor(private readonly page: ExplorerPage, root: HTMLElement, theme: HTMLElement) {
    const runs = page.runs.map((run) => new Run(run, page.facts));
    this.columns = new Columns(runs, page.metrics, page.facts, page.shared);
    this.rows = new Rows(this.columns, page.names, page.labels.length);
    this.search = new Search(page.names);
    const { metric } = page;
    this.first = {
      metric, contrast: 0, runs: runs.map((_, r) => r), pair: null, sort: { column: `gap.${metric}.0`, down: true, run: 0 }, filters: new Map(),
      shown: usualColumns({ metric, contrast: 0 }), extra: [], off: [], search: "", any: false, rankedOnly: true, flags: new Set(), hidden: new Set(), selected: new Set(),
      onlyFlagged: false, onlySelected: false, showHidden: false, view: "parallel", second: page.metrics.find((m) => m !== metric) ?? metric, axes: null, split: SPLIT,
    };
    this.first.shown = this.first.shown.filter((id) => this.columns.get(id));
    this.state = this.fromAddress();
    this.table = new LabelTable(this.columns, page.names, this.rows, {
      sort: (id) => this.change((s) => (s.sort = nextSort(s, id)), true),
      flag: (label) => this.change((s) => toggle(s.flags, label)),
      hide: (label) => this.change((s) => toggle(s.hidden, label)),
      select: (label) => this.change((s) => toggle(s.selected, label)),
      explain: (name) => this.explain(name),
    });
    const filter = (id: string, held: Filter | null) => this.filter(id, held);
    this.parallel = new Parallel(this.columns, page.names, this.rows, { filter, axes: (kind) => this.change((s) => (s.axes = kind)) });
    this.scatter = new Scatter(this.columns, page.names, this.rows, {
      second: (name) => this.change((s) => (s.second = name)),
      select: (labels) => this.change((s) => labels.forEach((label) => s.selected.add(label))),
    });
    this.metricBox = h("select", { id: "metric", change: () => this.rebase({ metric: this.metricBox.value }) }, ...page.metrics.map((name) => h("option", { value: name }, this.columns.symbol(name))));
    this.contrastBox = h("select", { id: "contrast", change: () => this.rebase({ contrast: Number(this.contrastBox.value) }) },
      ...runs[0].contrasts.map((_, i) => h("option", { value: i }, this.columns.contrastName(i))));
    this.runBoxes = runs.map((_, r) => h("input", { type: "checkbox", id: `run-${r}`, change: () => this.runsChosen() }));
    const change = (what: (state: State) => void) => this.change(what);
    this.menu = new ColumnsMenu(this.columns, change);
    this.selection = new SelectionBar(change, () => this.rows.order);
    this.pair = new PairChoice(this.columns, change);
    this.tabs = VIEWS.map(([view, title]) => h("button", { type: "button", role: "tab", id: `tab-${view}`, "aria-controls": "view-panel", click: () => this.change((s) => (s.view = view)), keydown: (event: KeyboardEvent) => this.tabKey(event, view) }, title));
    this.build(root, theme);
    this.wide = this.side.clientWidth || this.wide;
    window.addEventListener("hashchange", () => {
      // An address without a state, such as that of a place on the page, leaves all as it is.
      if (location.hash.slice(1) === this.wroteHash || !/^#?$|=/.test(location.hash)) return;
      this.state = this.fromAddress();
      void this.runSearch();
    });
    window.addEventListener("pagehide", () => this.writeAddress());
    onTheme(() => this.draw());
    window.addEventListener("resize", () => this.later());
    new ResizeObserver(() => {
      this.wide = this.side.clientWidth;
      this.later();
    }).observe(this.side);
    this.update();
    if (this.state.search) void this.runSearch();
    // Names are put in order while the reader looks around; who clicks sooner waits.
    setTimeout(() => void this.search.inOrder().then((order) => this.rows.setAlphabetical(order)), 200);
  }

  private fromAddress(): State {
    const state = read(location.hash, this.first, {
      column: (id) => this.columns.get(id) !== undefined, metrics: this.page.metrics, contrasts: this.columns.runs[0].contrasts.length,
      runs: this.columns.runs.length, labels: this.page.labels.length,
    });
    state.shown = state.shown.filter((id) => this.columns.get(id));
    return state;
  }

  private build(root: HTMLElement, theme: HTMLElement): void {
    const runs = this.columns.runs;
    const toggleBox = (key: "any" | "rankedOnly" | "onlyFlagged" | "showHidden", text: string) => {
      const box = h("input", { type: "checkbox", id: `switch-${key}`, change: () => this.change((s) => (s[key] = box.checked)) });
      this.switches.set(key, box);
      return h("span", { class: "check" }, box, h("label", { for: `switch-${key}` }, text));
    };
    const runList = h("fieldset", { class: "runs" }, h("legend", {}, "Runs"), ...runs.map((run, r) =>
      h("div", { class: "check" }, this.runBoxes[r], h("label", { for: `run-${r}` }, h("span", { class: `run run${r % 6}` }, runLetter(r)), " ", h("bdi", {}, printable(run.name, 60)), h("span", { class: "soft" }, ` ${count(run.document.n)} records`)))));
    const notes = runs.flatMap((run) => run.document.notes.map((note) => h("li", {}, runs.length > 1 ? `${printable(run.name, 30)}: ` : "", sentence(note))));
    root.classList.add("explorer-page");
    root.append(
      // The address holds the state, so the link does not change it.
      h("a", { class: "skip", href: "#labels", click: (event: Event) => {
        event.preventDefault();
        this.table.node.focus();
      } }, "Skip to the labels"),
      h("header", { class: "explorer-head" },
        h("div", {}, h("h1", {}, h("bdi", {}, printable(this.page.title, 80))), this.status),
        h("div", { class: "bar-controls" },
          h("span", {}, h("label", { for: "metric" }, "Metric"), this.metricBox),
          runs[0].contrasts.length ? h("span", {}, h("label", { for: "contrast" }, "Gap"), this.contrastBox) : null,
          h("span", { class: "search" }, h("label", { for: "search" }, "Search"), this.searchBox),
          this.menu.node,
          h("button", { type: "button", click: () => this.download("csv") }, "CSV"),
          h("button", { type: "button", click: () => this.download("json") }, "JSON"),
          h("button", { type: "button", click: () => this.reset() }, "Reset"),
          theme),
        this.problem),
      h("div", { class: "explorer-body" },
        h("aside", { class: "side", "aria-label": "Runs and filters" }, runList, runs.length > 1 && runs[0].contrasts.length ? this.pair.node : null,
          h("div", { class: "switches" }, toggleBox("rankedOnly", "ranked labels only"), this.unranked, toggleBox("onlyFlagged", "flagged labels only"), toggleBox("showHidden", "show hidden labels"), runs.length > 1 ? toggleBox("any", "any run in range is enough") : null),
          this.side, this.addBox,
          notes.length ? h("details", {}, h("summary", {}, "Notes on the data"), h("ul", {}, ...notes)) : null),
        this.centre),
    );
    this.centre.append(
      h("div", { class: "upper" }, this.selection.node, onPaper(this.table, () => inWords(this.columns, this.rows, this.state)), this.table.node),
      this.divider.node,
      h("div", { class: "views" }, h("div", { role: "tablist", "aria-label": "Views", class: "tabs" }, ...this.tabs), this.view));
  }

  /** Change the state, and show it. */
  private change(what: (state: State) => void, top = false): void {
    what(this.state);
    if (top) this.table.top();
    // Where the table is what was asked for, it comes first and the charts soon after.
    this.update(top);
  }

  /** Change something from a view that is made anew: the focus stays on what was used. */
  private again(what: (state: State) => void): void {
    const used = document.activeElement?.id;
    this.change(what);
    if (used) document.getElementById(used)?.focus();
  }

  private filter(id: string, held: Filter | null): void {
    if (held === null) this.state.filters.delete(id);
    else {
      this.state.filters.set(id, held);
      if (!this.state.shown.includes(id)) this.state.shown.push(id);
    }
    this.later();
  }

  /** Another metric or gap: what followed the old one follows the new. */
  private rebase(to: { metric?: string; contrast?: number }): void {
    const old = usualColumns(this.state);
    Object.assign(this.state, to);
    const now = usualColumns(this.state);
    this.state.shown = [...new Set(this.state.shown.map((id) => (old.includes(id) ? now[old.indexOf(id)] : id)))].filter((id) => this.columns.get(id));
    for (const id of old) if (!now.includes(id)) this.state.filters.delete(id);
    this.state.sort = { column: now[0], down: true, run: this.state.runs[0] };
    this.table.top();
    this.update(true);
  }

  private runsChosen(): void {
    const chosen = this.runBoxes.map((box, r) => (box.checked ? r : -1)).filter((r) => r >= 0);
    // One run stays: a page without any shows nothing.
    this.change((s) => (s.runs = chosen.length ? chosen : s.runs));
  }

  private added(): void {
    const id = this.addBox.value;
    if (id) this.change((s) => s.shown.includes(id) || s.shown.push(id));
    this.addBox.value = "";
  }

  private explain(metric: string): void {
    this.explained = metric;
    this.change((s) => (s.view = "formulas"));
    const card = this.view.querySelector<HTMLElement>(".chosen");
    card?.focus();
    card?.scrollIntoView({ block: "nearest" });
  }

  private tabKey(event: KeyboardEvent, view: View): void {
    const [at, last] = [VIEWS.findIndex(([name]) => name === view), VIEWS.length - 1];
    const to: Record<string, number> = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last };
    if (!(event.key in to)) return;
    event.preventDefault();
    this.change((s) => (s.view = VIEWS[to[event.key]][0]));
    this.tabs[to[event.key]].focus();
  }

  private reset(): void {
    clearTimeout(this.addressDue);
    location.hash = "";
    this.state = this.fromAddress();
    this.search.drop();
    this.rows.setFound(null);
    this.problem.textContent = "";
    this.table.top();
    this.update();
  }

  private searched(): void {
    this.state.search = this.searchBox.value;
    void this.runSearch();
  }

  private async runSearch(): Promise<void> {
    const pattern = this.state.search;
    if (pattern === "") {
      // What was asked before may answer later: it is dropped.
      this.search.drop();
      this.problem.textContent = "";
      this.rows.setFound(null);
      return this.update();
    }
    const answer = await this.search.ask(pattern);
    if (answer === null || pattern !== this.state.search) return;
    this.problem.textContent = answer.problem ? `Search: ${answer.problem}` : "";
    if (answer.found) this.rows.setFound(answer.found);
    this.table.top();
    this.update();
  }

  private later(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.update();
    });
  }

  private update(viewLater = false): void {
    this.rows.update(this.state);
    this.draw(viewLater);
    clearTimeout(this.addressDue);
    if (viewLater) this.addressDue = window.setTimeout(() => this.writeAddress());
    else this.writeAddress();
  }

  /** Changing the address is slow: a sort is shown first. */
  private writeAddress(): void {
    clearTimeout(this.addressDue);
    this.wroteHash = written(this.state, this.first);
    if (location.hash.slice(1) !== this.wroteHash) history.replaceState(null, "", `#${this.wroteHash}`);
  }

  private draw(viewLater = false): void {
    const { state } = this;
    this.metricBox.value = state.metric;
    this.contrastBox.value = String(state.contrast);
    if (document.activeElement !== this.searchBox) this.searchBox.value = state.search;
    this.runBoxes.forEach((box, r) => (box.checked = state.runs.includes(r)));
    this.menu.draw(state);
    this.selection.draw(state);
    this.pair.draw(state);
    this.divider.draw(state.split);
    for (const [key, box] of this.switches) box.checked = state[key];
    const parts = [`${count(this.rows.order.length)} of ${count(this.rows.size)} labels`];
    if (state.selected.size) parts.push(`${count(state.selected.size)} selected`);
    if (state.flags.size) parts.push(`${count(state.flags.size)} flagged`);
    if (state.hidden.size) parts.push(`${count(state.hidden.size)} hidden`);
    this.status.textContent = parts.join(", ");
    this.unranked.textContent = this.rows.unranked ? `${count(this.rows.unranked)} labels are ranked in no run shown: too rare, or identities themselves${state.rankedOnly ? ". They are left out" : ""}.` : "";
    this.table.draw(state);
    clearTimeout(this.viewDue);
    if (viewLater) this.viewDue = window.setTimeout(() => this.drawCharts(), SOON);
    else this.drawCharts();
  }

  /** Distributions and the view under the table. */
  private drawCharts(): void {
    this.drawSide();
    this.drawView();
    if (this.readyFor === this.state.contrast) return;
    this.readyFor = this.state.contrast;
    this.ahead.begin(everyMetric(this.columns, this.table, this.state));
  }

  private drawSide(): void {
    const ids = this.state.shown;
    if (this.histograms.map((held) => held.column.id).join() !== ids.join()) {
      const kept = new Map(this.histograms.map((held) => [held.column.id, held]));
      this.histograms = ids.map((id) => kept.get(id) ?? new Histogram(this.columns, this.columns.get(id)!, this.page.names, {
        filter: (column, held) => this.filter(column, held),
        remove: (column) => this.removed(column),
        explain: (metric) => this.explain(metric),
      }));
      this.side.replaceChildren(...this.histograms.map((held) => held.node));
      this.fillAdd();
    }
    for (const held of this.histograms) held.draw(this.state, this.rows, this.wide);
  }

  /** Take a distribution away; the focus goes to the one that takes its place. */
  private removed(column: string): void {
    const at = this.state.shown.indexOf(column);
    this.change((s) => {
      s.shown = s.shown.filter((other) => other !== column);
      s.filters.delete(column);
    });
    const next = this.histograms[Math.min(at, this.histograms.length - 1)];
    (next?.node.querySelector<HTMLElement>(".remove") ?? this.addBox).focus();
  }

  private fillAdd(): void {
    const { contrasts, joint } = this.columns.runs[0];
    const pair = pairOf(this.state, this.columns.runs.length);
    const ids = [
      ...this.page.metrics.flatMap((m) => contrasts.map((_, c) => `gap.${m}.${c}`)), ...contrasts.map((_, c) => `q.${c}`), "count", ...joint.map((_, k) => `joint.${k}`),
      ...this.page.metrics.flatMap((m) => joint.map((_, k) => `value.${m}.${k}`)),
      ...(pair ? this.page.metrics.flatMap((m) => contrasts.map((_, c) => `change.${m}.${c}.${pair.join(".")}`)) : []),
    ].filter((id) => !this.state.shown.includes(id));
    this.addBox.replaceChildren(h("option", { value: "" }, "Add a distribution …"), ...ids.map((id) => h("option", { value: id }, this.columns.get(id)?.title ?? id)));
  }

  private drawView(): void {
    const { state, columns, rows } = this;
    VIEWS.forEach(([view], i) => {
      this.tabs[i].setAttribute("aria-selected", String(view === state.view));
      this.tabs[i].tabIndex = view === state.view ? 0 : -1;
    });
    this.view.setAttribute("aria-labelledby", `tab-${state.view}`);
    const put = (node: HTMLElement) => {
      if (this.view.firstChild !== node || this.view.childNodes.length !== 1) this.view.replaceChildren(node);
    };
    const second = (name: string) => this.again((s) => (s.second = name));
    if (!columns.runs[0].contrasts.length && state.view !== "formulas" && state.view !== "parallel") return put(h("div", { class: "view" }, h("p", {}, "One identity has no gap: name two or more identities.")));
    if (state.view === "parallel") {
      put(this.parallel.node);
      this.parallel.draw(state);
    } else if (state.view === "scatter") {
      put(this.scatter.node);
      this.scatter.draw(state);
    } else if (state.view === "ranks") put(rankChanges(columns, this.page.names, rows, state, second));
    else if (state.view === "rest") put(oneVsRest(columns, this.page.names, rows, state));
    else if (state.view === "runs") put(runDifferences(columns, this.page.names, rows, state, (pair) => this.again((s) => (s.pair = pair))));
    else if (state.view === "frequency") put(frequencies(columns, rows, state, (held) => this.again(() => this.filter("count", held))));
    else put(formulas(columns, this.explained));
  }

  private download(kind: "csv" | "json"): void {
    const { names, rows } = shownRows(this.page, this.columns, this.rows, this.state);
    if (kind === "csv") save("biasamp.csv", "text/csv;charset=utf-8", csv(names, rows));
    else save("biasamp.json", "application/json", json(names, rows, { schema: 1, kind: "association-view", state: written(this.state, this.first) }));
  }
}

/** A head clicked again turns the order round, then goes on to the next run. */
function nextSort(state: State, id: string): State["sort"] {
  const down = id !== "label" && !id.startsWith("q") && !id.startsWith("rank");
  const { sort, runs } = state;
  if (sort.column !== id) return { column: id, down, run: runs[0] };
  if (sort.down === down || id === "label") return { ...sort, down: !sort.down };
  return { column: id, down, run: runs[(runs.indexOf(sort.run) + 1) % runs.length] };
}

function toggle(held: Set<number>, label: number): void {
  if (!held.delete(label)) held.add(label);
}
