/** Everything a reader chose, kept in the address of the page, so that a link or a reload brings it back. */

export interface Filter {
  /** null reaches to the end, infinities included. */
  low: number | null;
  high: number | null;
}

export type View = "parallel" | "scatter" | "ranks" | "rest" | "runs" | "frequency" | "formulas";

/** Kinds of columns that can be left out of the table. */
export const KINDS = ["rank", "q", "count", "value", "joint", "change"] as const;
export type Kind = (typeof KINDS)[number];

// From how many runs on parallel coordinates have an axis a run, until somebody chooses.
const MANY_RUNS = 3;

export interface State {
  metric: string;
  contrast: number;
  runs: number[];
  /** The two runs that changes are of, the second less the first; null for the first two that are shown. */
  pair: [number, number] | null;
  sort: { column: string; down: boolean; run: number };
  filters: Map<string, Filter>;
  /** Histograms shown, in order. */
  shown: string[];
  /** Metrics with a gap column of their own, beside the chosen one. */
  extra: string[];
  /** Kinds of columns that are left out. */
  off: Kind[];
  search: string;
  any: boolean;
  rankedOnly: boolean;
  flags: Set<number>;
  hidden: Set<number>;
  selected: Set<number>;
  onlyFlagged: boolean;
  onlySelected: boolean;
  showHidden: boolean;
  view: View;
  second: string;
  axes: "columns" | "runs" | null;
  /** How much of the height the views under the table take, in percent. */
  split: number;
}

export const SPLIT = 42;
export const SPLIT_RANGE: [number, number] = [12, 80];

/** The two runs that changes are of; null where there is one run. */
export function pairOf(state: State, runs: number): [number, number] | null {
  if (runs < 2) return null;
  if (state.pair !== null) return state.pair;
  const first = state.runs[0];
  return [first, state.runs[1] ?? (first === 0 ? 1 : 0)];
}

/** What the axes of parallel coordinates are. */
export function axesOf(state: State, columns: { runs: { contrasts: unknown[] }[] }): "columns" | "runs" {
  if (!columns.runs[0].contrasts.length || state.runs.length < 2) return "columns";
  return state.axes ?? (state.runs.length >= MANY_RUNS ? "runs" : "columns");
}

function packed(values: Set<number>): string {
  let last = 0;
  return [...values].sort((a, b) => a - b).map((x) => {
    const step = x - last;
    last = x;
    return step.toString(36);
  }).join(".");
}

function unpacked(text: string | null, size: number): Set<number> {
  const out = new Set<number>();
  let last = 0;
  for (const part of (text ?? "").split(".")) {
    if (!/^[0-9a-z]{1,8}$/.test(part)) continue;
    last += parseInt(part, 36);
    if (last < size) out.add(last);
  }
  return out;
}

/** The state as text for the address, without what is as it was at first. */
export function written(state: State, first: State): string {
  const out = new URLSearchParams();
  const put = (key: string, value: string, usual: string) => value !== usual && out.set(key, value);
  const filters = (held: State) => [...held.filters].map(([id, f]) => `${id}~${f.low ?? ""}~${f.high ?? ""}`).join("!");
  const sort = (held: State) => `${held.sort.column}~${held.sort.down ? 1 : 0}~${held.sort.run}`;
  put("metric", state.metric, first.metric);
  put("gap", String(state.contrast), String(first.contrast));
  put("runs", state.runs.join("."), first.runs.join("."));
  put("pair", state.pair?.join(".") ?? "", "");
  put("sort", sort(state), sort(first));
  put("filters", filters(state), filters(first));
  put("shown", state.shown.join("!"), first.shown.join("!"));
  put("extra", state.extra.join("!"), first.extra.join("!"));
  put("off", state.off.join("."), first.off.join("."));
  put("search", state.search, first.search);
  put("any", state.any ? "1" : "", "");
  put("ranked", state.rankedOnly ? "" : "0", "");
  put("flags", packed(state.flags), "");
  put("hidden", packed(state.hidden), "");
  put("selected", packed(state.selected), "");
  put("flagged", state.onlyFlagged ? "1" : "", "");
  put("isolated", state.onlySelected ? "1" : "", "");
  put("unhide", state.showHidden ? "1" : "", "");
  put("view", state.view, first.view);
  put("second", state.second, first.second);
  put("axes", state.axes ?? "", "");
  put("split", String(state.split), String(first.split));
  return out.toString();
}

const VIEWS: View[] = ["parallel", "scatter", "ranks", "rest", "runs", "frequency", "formulas"];

function bound(text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** A state from an address: what it does not say, or says wrongly, stays as it was at first. */
export function read(hash: string, first: State, known: { column(id: string): boolean; metrics: string[]; contrasts: number; runs: number; labels: number }): State {
  const held = new URLSearchParams(hash.replace(/^#/, ""));
  const state: State = { ...first, filters: new Map(first.filters), sort: { ...first.sort } };
  const metric = held.get("metric");
  if (metric !== null && known.metrics.includes(metric)) state.metric = metric;
  const contrast = Number(held.get("gap") ?? state.contrast);
  if (Number.isInteger(contrast) && contrast >= 0 && contrast < known.contrasts) state.contrast = contrast;
  const runs = held.get("runs")?.split(".").map(Number).filter((r) => Number.isInteger(r) && r >= 0 && r < known.runs);
  if (runs?.length) state.runs = [...new Set(runs)];
  const pair = held.get("pair")?.split(".").map(Number) ?? [];
  state.pair = pair.length === 2 && pair[0] !== pair[1] && pair.every((r) => Number.isInteger(r) && r >= 0 && r < known.runs) ? (pair as [number, number]) : first.pair;
  const shown = held.get("shown")?.split("!").filter(known.column);
  state.shown = shown ?? usualColumns(state);
  const [column, down, run] = held.get("sort")?.split("~") ?? [];
  if (column && (column === "label" || known.column(column))) state.sort = { column, down: down === "1", run: Math.min(Number(run) || 0, known.runs - 1) };
  else state.sort = { column: `gap.${state.metric}.${state.contrast}`, down: true, run: state.runs[0] };
  if (held.has("filters")) {
    state.filters = new Map();
    for (const part of held.get("filters")!.split("!")) {
      const [id, low, high] = part.split("~");
      if (id && known.column(id)) state.filters.set(id, { low: bound(low), high: bound(high) });
    }
  }
  state.extra = held.get("extra")?.split("!").filter((name) => known.metrics.includes(name)) ?? first.extra;
  state.off = held.get("off")?.split(".").filter((kind): kind is Kind => KINDS.includes(kind as Kind)) ?? first.off;
  state.search = held.get("search") ?? first.search;
  state.any = held.get("any") === "1";
  state.rankedOnly = held.get("ranked") !== "0";
  state.flags = unpacked(held.get("flags"), known.labels);
  state.hidden = unpacked(held.get("hidden"), known.labels);
  state.selected = unpacked(held.get("selected"), known.labels);
  state.onlyFlagged = held.get("flagged") === "1";
  state.onlySelected = held.get("isolated") === "1";
  state.showHidden = held.get("unhide") === "1";
  const view = held.get("view") as View;
  if (VIEWS.includes(view)) state.view = view;
  const second = held.get("second");
  if (second !== null && known.metrics.includes(second)) state.second = second;
  const axes = held.get("axes");
  state.axes = axes === "columns" || axes === "runs" ? axes : first.axes;
  const split = Number(held.get("split") ?? first.split);
  if (split >= SPLIT_RANGE[0] && split <= SPLIT_RANGE[1]) state.split = Math.round(split);
  return state;
}

/** The histograms shown until others are asked for. */
export function usualColumns(state: { metric: string; contrast: number }): string[] {
  return [`gap.${state.metric}.${state.contrast}`, "count", `q.${state.contrast}`];
}
