/** Labels by how often they are met: how many lean where, and whether the extremes of a metric are rare labels. */
import { h } from "../dom";
import { count, percent } from "../numbers";
import { head, scrolling } from "../report/parts";
import { printable } from "../text";
import { runLetter } from "./canvas";
import type { Columns } from "./columns";
import type { Rows } from "./rows";
import { inOrder, orderBy } from "./sorting";
import type { Filter, State } from "./state";

const TOP = 100;
const SURE = 0.05;

/** From a power of ten to the next one, as far as counts go. */
function buckets(most: number): Filter[] {
  const out: Filter[] = [];
  for (let low = 1; low <= most; low *= 10) out.push({ low, high: low * 10 - 1 });
  return out;
}

/** The labels of a run that are shown, bucket by bucket; a bucket is a button that filters counts. */
export function frequencies(columns: Columns, rows: Rows, state: State, choose: (filter: Filter | null) => void): HTMLElement {
  const r = state.runs[0];
  const run = columns.runs[r];
  let most = 1;
  for (const x of run.count) if (x > most) most = x;
  const ranges = buckets(most);
  const q = run.chances("q", state.contrast);
  const gaps = run.gaps(state.metric, state.contrast);
  const placeOf = (i: number) => Math.min(ranges.length - 1, Math.max(0, Math.floor(Math.log10(run.count[i]) + 1e-9)));
  const tally = (labels: Iterable<number>) => {
    const out = new Array<number>(ranges.length).fill(0);
    for (const i of labels) if (run.count[i] > 0) out[placeOf(i)]++;
    return out;
  };
  const passes = rows.passesBut("count");
  const there: number[] = [];
  for (let i = 0; i < rows.size; i++) if (passes(i) && run.count[i] > 0) there.push(i);
  const ranked = there.filter((i) => run.isRanked(state.contrast, i));
  const [all, held, sure] = [tally(there), tally(ranked), tally(ranked.filter((i) => q[i] < SURE))];
  const extremes = columns.metrics.map((metric) => {
    const sizes = Float64Array.from(run.gaps(metric, state.contrast), Math.abs);
    const known = new Set(ranked);
    return tally([...orderBy(sizes, true, inOrder(rows.size))].filter((i) => known.has(i) && !Number.isNaN(sizes[i])).slice(0, TOP));
  });
  const medians = ranges.map((_, b) => {
    const sizes = ranked.filter((i) => placeOf(i) === b && Number.isFinite(gaps[i])).map((i) => Math.abs(gaps[i])).sort((x, y) => x - y);
    return sizes.length ? (sizes[(sizes.length - 1) >> 1] + sizes[sizes.length >> 1]) / 2 : NaN;
  });
  const chosen = state.filters.get("count");
  const body = h("tbody", {}, ...ranges.map((range, b) => {
    const on = chosen?.low === range.low && chosen?.high === range.high;
    const words = range.low === 1 ? "1 to 9" : `${count(range.low)} to ${count(range.high)}`;
    return h("tr", {},
      h("th", { scope: "row" }, h("button", { type: "button", class: "quiet", id: `bucket-${b}`, "aria-pressed": String(on), title: `Show labels met ${words} times alone`, click: () => choose(on ? null : range) }, words)),
      ...[all[b], held[b], sure[b]].map((many) => h("td", { class: "number" }, count(many))),
      h("td", { class: "number" }, Number.isNaN(medians[b]) ? "—" : medians[b].toFixed(4)),
      ...extremes.map((places) => h("td", { class: "number" }, count(places[b]))));
  }));
  const titles = ["met", "labels", "ranked", `q below ${SURE}`, `median size of the ${columns.symbol(state.metric)} gap`, ...columns.metrics.map((metric) => columns.symbol(metric))];
  const share = ranked.length ? percent(Number((TOP / ranked.length).toPrecision(2))) : "";
  return h("div", { class: "view" },
    h("p", { class: "soft" }, `${columns.runs.length > 1 ? `${runLetter(r)} ` : ""}${printable(run.name, 40)}, ${columns.contrastName(state.contrast)}, labels that pass the other filters. Under each metric: where its ${TOP} largest gaps are${ranked.length > TOP ? ` (${share} of all)` : ""}. A metric whose largest gaps are all rare labels ranks rarity.`),
    scrolling(h("table", { class: "frequency" }, head(...titles), body), "Labels by frequency"));
}
