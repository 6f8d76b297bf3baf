/** Thresholds: amplification at every one of them, with the calibrated point marked. */
import { line } from "d3-shape";
import { scaleLinear } from "d3-scale";
import { drawing, h, s } from "../dom";
import { float, percent, tick, type Num } from "../numbers";
import type { SweepEntry } from "../audit";
import type { ReportPage } from "../types";
import { responsive } from "../responsive";
import { directionSymbol, head, label, more, named, num, plain, scrolling, section, signed } from "./parts";
import { slider } from "./slider";

const HEIGHT = 260;
const ROOM = { left: 56, right: 16, top: 14, bottom: 40 };

function curve(sweep: SweepEntry, width: number): SVGElement {
  const rows = sweep.curve.map((row) => [float(row.threshold), float(row.amplification)]).filter((row) => row.every(Number.isFinite));
  const x = scaleLinear().domain([Math.min(...rows.map((r) => r[0])), Math.max(...rows.map((r) => r[0]))]).range([ROOM.left, width - ROOM.right]);
  const y = scaleLinear().domain([Math.min(0, ...rows.map((r) => r[1])), Math.max(0, ...rows.map((r) => r[1]))]).nice().range([HEIGHT - ROOM.bottom, ROOM.top]);
  const marks: Node[] = [];
  for (const value of y.ticks(5)) {
    marks.push(s("line", { x1: ROOM.left, x2: width - ROOM.right, y1: y(value), y2: y(value), class: value === 0 ? "zero" : "axis" }));
    marks.push(s("text", { x: ROOM.left - 8, y: y(value) + 4, "text-anchor": "end", class: "soft" }, tick(value)));
  }
  for (const value of x.ticks(Math.max(2, Math.floor(width / 110)))) {
    marks.push(s("line", { x1: x(value), x2: x(value), y1: HEIGHT - ROOM.bottom, y2: HEIGHT - ROOM.bottom + 5, class: "axis" }));
    marks.push(s("text", { x: x(value), y: HEIGHT - ROOM.bottom + 18, "text-anchor": "middle", class: "soft" }, tick(value)));
  }
  const path = line<number[]>((row) => x(row[0]), (row) => y(row[1]))(rows);
  marks.push(s("path", { d: path ?? "", class: "curve" }));
  marks.push(s("text", { x: (ROOM.left + width - ROOM.right) / 2, y: HEIGHT - 6, "text-anchor": "middle", class: "soft" }, "threshold"));
  const point = (held: { threshold: Num; amplification: Num }, words: string, mark: (px: number, py: number) => Node, below: boolean) => {
    const [t, v] = [float(held.threshold), float(held.amplification)];
    if (!Number.isFinite(t) || !Number.isFinite(v) || t < x.domain()[0] || t > x.domain()[1]) return;
    const left = x(t) > width / 2;
    marks.push(mark(x(t), y(v)), s("text", { x: x(t) + (left ? -10 : 10), y: y(v) + (below ? 18 : -8), "text-anchor": left ? "end" : "start" }, words));
  };
  point(sweep.usual, "usual", (px, py) => s("rect", { x: px - 5, y: py - 5, width: 10, height: 10, class: "usual" }), true);
  point(sweep.calibrated, "calibrated", (px, py) => s("circle", { cx: px, cy: py, r: 6, class: "calibrated" }), false);
  return drawing(width, HEIGHT, `Amplification against the threshold: ${rows.length} thresholds, from ${tick(y.domain()[0])} to ${tick(y.domain()[1])}`, ...marks);
}

/** Each label's own threshold, where there are several. */
function labelTable(sweep: SweepEntry, place: string): HTMLElement {
  const body = h("tbody");
  const rows = sweep.labels.map((row, i) => () => h("tr", {}, h("th", { scope: "row" }, label(row.label, 60)),
    ...(["threshold", "rate", "base_rate"] as const).map((key) => h("td", { class: "number" }, num(`${place}/labels/${i}/${key}`, row[key], plain)))));
  const button = more(rows, 10, body, "labels");
  return h("div", {}, scrolling(h("table", { class: "plain" }, h("caption", {}, "Calibrated thresholds"), head("label", "threshold", "rate there", "base rate"), body), "Calibrated thresholds"), button);
}

export function thresholds(page: ReportPage): HTMLElement | null {
  const all = page.audit.sweep;
  if (!all?.length) return null;
  const out = section("thresholds", "Thresholds",
    h("p", {}, "Directional amplification at every threshold of the scores. The marked point predicts the outcome as often as it occurs; the integral asks for no threshold at all."));
  all.forEach((sweep, i) => {
    const place = `/audit/sweep/${i}`;
    const { usual, calibrated } = sweep;
    const title = [sweep.attribute, sweep.outcome, directionSymbol(sweep.direction)].filter(Boolean).join(", ");
    out.append(
      h("figure", {},
        h("figcaption", {},
          title ? label(title, 120) : null, title ? ": " : null,
          "integral ", num(`${place}/integral`, sweep.integral, signed),
          "; base rate ", num(`${place}/base_rate`, sweep.base_rate, plain),
          "; at the usual threshold ", num(`${place}/usual/threshold`, usual.threshold, plain), " amplification is ", num(`${place}/usual/amplification`, usual.amplification, signed),
          ...(calibrated.threshold === null ? ["; calibrated label by label"] : ["; at the calibrated threshold ", num(`${place}/calibrated/threshold`, calibrated.threshold, plain)]),
          " it is ", num(`${place}/calibrated/amplification`, calibrated.amplification, signed), ", predicted rate ", num(`${place}/calibrated/rate`, calibrated.rate, plain),
        ),
        slider(sweep, { name: (text, limit) => named(page, text, limit), quantile: page.quantile ?? 1.959964, level: percent(page.audit.data.confidence), place }) ?? responsive((width) => curve(sweep, width)),
        sweep.labels.length > 1 ? labelTable(sweep, place) : null,
      ),
    );
  });
  return out;
}
