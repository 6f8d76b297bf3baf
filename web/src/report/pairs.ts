/** The pairs: a heatmap and sorted bars, the two directions side by side, each on a scale of its own. */
import { nice } from "d3-array";
import { h, s } from "../dom";
import { chance, count, float, tick } from "../numbers";
import type { Entry, Pair } from "../audit";
import type { ReportPage } from "../types";
import { directionSymbol, bar, entries, factsOf, head, interval, label, metricName, more, named, num, plain, reach, scaleLine, scrolling, section, side, signed } from "./parts";

const BARS = 20;
const ROWS = 30;
// Text stays readable on a colour of at most this strength.
const STRONGEST = 70;

interface Placed {
  pair: Pair;
  place: string;
}

/** The pairs of an entry, each fact once: of two values of a variable, one says what the other does. */
function placed(entry: Entry, place: string): Placed[] {
  return (entry.pairs ?? []).map((pair, i) => ({ pair, place: `${place}/pairs/${i}` })).filter(({ pair }) => !pair.mirror);
}

/** A cell's colour: how far its value lies from 0, as a share of the panel's largest. */
function tinted(cell: HTMLElement, value: number, largest: number): void {
  if (!Number.isFinite(value) || largest === 0) return;
  const strength = Math.round(STRONGEST * Math.min(1, Math.abs(value) / largest));
  cell.style.setProperty("background", `color-mix(in oklab, var(--${value < 0 ? "less" : "more"}-fill) ${strength}%, var(--paper))`);
}

function heatmap(page: ReportPage, rows: Placed[], name: string): HTMLElement[] {
  const givens = [...new Set(rows.map(({ pair }) => pair.given))];
  const outcomes = [...new Set(rows.map(({ pair }) => pair.outcome))];
  // The shorter side goes across, so that the map fits a page.
  const across = givens.length <= outcomes.length ? givens : outcomes;
  const down = across === givens ? outcomes : givens;
  const cells = new Map(rows.map((row) => [JSON.stringify([row.pair.given, row.pair.outcome]), row]));
  const cellOf = (a: string, d: string) => cells.get(JSON.stringify(across === givens ? [a, d] : [d, a]));
  const largest = Math.max(0, ...rows.map(({ pair }) => Math.abs(float(pair.amplification))).filter(Number.isFinite));
  const strongest = (d: string) => Math.max(...across.map((a) => Math.abs(float(cellOf(a, d)?.pair.amplification)) || 0));
  const ordered = [...down].sort((a, b) => strongest(b) - strongest(a));
  const body = h("tbody");
  const lines = ordered.map((d) => () =>
    h("tr", {}, h("th", { scope: "row" }, named(page, d, 40)), ...across.map((a) => {
      const found = cellOf(a, d);
      if (!found) return h("td", { class: "absent" }, "excluded");
      const value = float(found.pair.amplification);
      const verdict = side(found.pair.low, found.pair.high);
      const cell = h("td", { class: verdict === 0 ? "unsure" : "" }, num(`${found.place}/amplification`, found.pair.amplification, signed));
      tinted(cell, value, largest);
      return cell;
    })),
  );
  const button = more(lines, ROWS, body, "rows");
  const corner = across === givens ? "outcome ↓  given →" : "given ↓  outcome →";
  const table = h("table", { class: "heatmap" }, h("caption", {}, `${name}: amplification of every pair`), head(corner, ...across.map((a) => named(page, a, 30))), body);
  return [scrolling(table, `${name}, heatmap`), ...(button ? [button] : [])];
}

function bars(page: ReportPage, rows: Placed[], name: string): HTMLElement[] {
  const ordered = [...rows].sort((a, b) => (Math.abs(float(b.pair.amplification)) || 0) - (Math.abs(float(a.pair.amplification)) || 0));
  const scale = reach(rows.flatMap(({ pair }) => [float(pair.amplification), float(pair.low), float(pair.high)]));
  const body = h("tbody");
  const lines = ordered.map(({ pair, place }) => () => {
    const notes = [
      (pair.known ?? pair.clear) === false ? "direction unknown, all pairs counted" : "",
      pair.wrong_group ? "follows the larger group" : "",
    ].filter(Boolean).join("; ");
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, named(page, pair.given, 40), " → ", named(page, pair.outcome, 40), notes ? h("span", { class: "note" }, notes) : null),
      h("td", { class: "bar-cell" }, bar(pair.amplification, pair.low, pair.high, scale)),
      h("td", { class: "number" }, num(`${place}/amplification`, pair.amplification, signed),
        h("span", { class: "note" }, interval([`${place}/low`, `${place}/high`], [pair.low, pair.high]))),
      h("td", { class: "number" }, num(`${place}/support`, pair.support, count),
        h("span", { class: "note" }, "sign p ", num(`${place}/sign_p`, pair.sign_p, chance))),
    );
  });
  const button = more(lines, BARS, body, "pairs");
  const scaleHead = h("span", {}, h("span", { class: "unseen" }, "bar"), scaleLine(scale, tick));
  const table = h("table", { class: "bars" }, h("caption", {}, `${name}: largest first, with intervals`), head("given → outcome", scaleHead, "amplification", "records"), body);
  return [scrolling(table, `${name}, sorted bars`), ...(button ? [button] : [])];
}

/** The metrics whose pairs are shown. */
function shownMetrics(page: ReportPage): string[] {
  return [...new Set(page.audit.metrics.map((entry) => entry.metric))].filter((metric) => factsOf(page, metric)?.pairs_shown);
}

/** The entries whose pairs are shown: of each attribute, the two directions of a metric side by side. */
function panels(page: ReportPage, attribute: string, metric: string): { entry: Entry; place: string }[] {
  return entries(page).filter(({ entry }) => entry.attribute === attribute && entry.metric === metric && (entry.pairs ?? []).length > 0);
}

export function pairs(page: ReportPage): HTMLElement | null {
  const out = section(
    "pairs",
    "Pairs",
    h("p", {}, "An aggregate near 0 can hide large opposite pairs. Orange bars go along the data's association, blue ones against it; grey bars and dashed cells have an interval over 0. ",
      h("strong", {}, "The two directions have scales of their own: never compare a bar on the left with one on the right.")),
  );
  let any = false;
  for (const attribute of page.audit.data.attributes) {
    const heading = h("h3", {}, label(attribute));
    for (const metric of shownMetrics(page)) {
      const found = panels(page, attribute, metric);
      if (!found.length) continue;
      any = true;
      if (heading.parentNode === null) out.append(heading);
      const side = found.map(({ entry, place }) => {
        const name = `${metricName(page, metric)} ${directionSymbol(entry.direction)}`.trim();
        const rows = placed(entry, place);
        return h("div", { class: "panel" }, h("h4", {}, name), ...heatmap(page, rows, name), ...bars(page, rows, name));
      });
      out.append(h("div", { class: `panels of-${side.length}` }, ...side));
    }
  }
  return any ? out : null;
}

/** Truth against predicted rates: an arrow a pair. */
export function rates(page: ReportPage): HTMLElement | null {
  const out = section("rates", "True and predicted rates",
    h("p", {}, "Each arrow runs from the rate of the outcome in the data to the rate the model predicts, among records of the given label. Each panel shows the ends of its scale."));
  let any = false;
  for (const attribute of page.audit.data.attributes) {
    const found = shownMetrics(page).filter((metric) => factsOf(page, metric)?.directed).flatMap((metric) => panels(page, attribute, metric));
    if (!found.length) continue;
    any = true;
    out.append(h("h3", {}, label(attribute)));
    const side = found.map(({ entry, place }) => {
      const name = `Rates, ${directionSymbol(entry.direction)}`;
      return h("div", { class: "panel" }, h("h4", {}, directionSymbol(entry.direction)), ...rateTable(page, placed(entry, place), name));
    });
    out.append(h("div", { class: `panels of-${side.length}` }, ...side));
  }
  return any ? out : null;
}

function rateTable(page: ReportPage, rows: Placed[], name: string): HTMLElement[] {
  const change = ({ pair }: Placed) => Math.abs(float(pair.delta)) || 0;
  const ordered = [...rows].sort((a, b) => change(b) - change(a));
  // Positions, not lengths: the scale need not begin at 0, and small changes stay visible.
  const held = rows.flatMap(({ pair }) => [float(pair.truth_rate), float(pair.predicted_rate)]).filter(Number.isFinite);
  const [least, most] = held.length ? nice(Math.min(...held), Math.max(...held), 5) : [0, 1];
  const scale: [number, number] = least === most ? [0, 1] : [Math.max(0, least), Math.min(1, most)];
  const body = h("tbody");
  const lines = ordered.map(({ pair, place }) => () =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, named(page, pair.outcome, 40), " among ", named(page, pair.given, 40)),
      h("td", { class: "bar-cell" }, rateArrow(float(pair.truth_rate), float(pair.predicted_rate), scale)),
      h("td", { class: "number" }, num(`${place}/truth_rate`, pair.truth_rate, plain)),
      h("td", { class: "number" }, num(`${place}/predicted_rate`, pair.predicted_rate, plain)),
      h("td", { class: "number" }, num(`${place}/delta`, pair.delta, signed)),
    ),
  );
  const button = more(lines, BARS, body, "pairs");
  const scaleHead = h("span", {}, h("span", { class: "unseen" }, "arrow"), scaleLine(scale, tick));
  const table = h("table", { class: "bars" }, h("caption", {}, `${name}: largest change first`), head("outcome among given", scaleHead, "true", "predicted", "change"), body);
  return [scrolling(table, name), ...(button ? [button] : [])];
}

function rateArrow(from: number, to: number, scale: [number, number]): SVGElement {
  const at = (x: number) => `${(100 * (x - scale[0])) / (scale[1] - scale[0])}%`;
  const kind = to === from ? "none" : to > from ? "up" : "down";
  const parts: Node[] = [
    s("line", { x1: 0, x2: "100%", y1: 11, y2: 11, class: "track" }),
    s("line", { x1: at(from), x2: at(to), y1: 11, y2: 11, class: "arrow" }),
    s("circle", { cx: at(from), cy: 11, r: 4, class: "from" }),
  ];
  // The head points the way the rate goes; it hangs on a point given in per cent.
  const points = kind === "up" ? "0,0 -8,-5 -8,5" : kind === "down" ? "0,0 8,-5 8,5" : "";
  if (points) parts.push(s("svg", { x: at(to), y: 11, class: "tip" }, s("polygon", { points, class: "arrow-head" })));
  return s("svg", { class: "cell-bar", height: 22, "aria-hidden": "true" }, ...parts);
}
