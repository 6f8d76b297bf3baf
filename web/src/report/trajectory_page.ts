/** Figures along steps: each drawn with its intervals and control limits, those that move first. */
import { ticks } from "d3-array";
import { drawing, h, s } from "../dom";
import { float, percent, tick } from "../numbers";
import { responsive } from "../responsive";
import type { TrajectoryFigure, TrajectoryPage, TrajectoryPoint } from "../types";
import { printable } from "../text";
import { answerList, frame, listed } from "./frame";
import { head, interval, label, num, own, plain, scrolling, section, sentence, signed } from "./parts";

const HEIGHT = 210;
const ROOM = { left: 62, right: 18, top: 12, bottom: 34 };
const BADGES: Record<string, { sign: string; kind: string }> = { rises: { sign: "▲", kind: "more" }, falls: { sign: "▼", kind: "less" } };

function badge(figure: TrajectoryFigure): HTMLElement {
  const { sign, kind } = BADGES[figure.trend.verdict] ?? { sign: "◇", kind: "none" };
  return h("span", { class: `badge ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), figure.trend.verdict);
}

/** Values with intervals over steps, the limits behind them; what is outside is a ring. */
function chart(page: TrajectoryPage, figure: TrajectoryFigure, width: number): SVGElement {
  const { points } = figure;
  const all = points.flatMap((p) => [p.value, p.low, p.high, p.control_low, p.control_high].map(float)).filter(Number.isFinite);
  let [low, high] = [Math.min(...all), Math.max(...all)];
  if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
  const [pad, from, to] = [0.06 * (high - low), points[0].at, points[points.length - 1].at];
  const [least, most] = [Math.min(from, to, ...points.map((p) => p.at)), Math.max(from, to, ...points.map((p) => p.at))];
  const x = (at: number) => ROOM.left + ((at - least) / (most - least || 1)) * (width - ROOM.left - ROOM.right);
  const y = (value: number) => HEIGHT - ROOM.bottom - ((value - low + pad) / (high - low + 2 * pad)) * (HEIGHT - ROOM.top - ROOM.bottom);
  const parts: Node[] = [];
  // Steps run from the least place to the largest, whichever came first.
  const inOrder = [...points].sort((a, b) => a.at - b.at);
  const limited = inOrder.filter((p) => Number.isFinite(float(p.control_low)) && Number.isFinite(float(p.control_high)));
  if (limited.length > 1) {
    const edge = (part: "control_low" | "control_high", held: TrajectoryPoint[]) => held.map((p) => `${x(p.at)},${y(float(p[part]))}`).join(" ");
    parts.push(s("polygon", { class: "limits", points: `${edge("control_high", limited)} ${edge("control_low", [...limited].reverse())}` }));
  }
  for (const value of ticks(low, high, 5)) {
    parts.push(s("line", { x1: ROOM.left, x2: width - ROOM.right, y1: y(value), y2: y(value), class: value === 0 ? "zero" : "axis" }),
      s("text", { x: ROOM.left - 6, y: y(value) + 4, "text-anchor": "end", class: "soft" }, tick(value)));
  }
  const known = inOrder.filter((p) => Number.isFinite(float(p.value)));
  parts.push(s("polyline", { class: "curve", points: known.map((p) => `${x(p.at)},${y(float(p.value))}`).join(" ") }));
  let last = -Infinity;
  for (const point of known) {
    const at = x(point.at);
    const name = printable(own(page.names, point.step) ?? point.step, 30);
    const [a, b] = [float(point.low), float(point.high)];
    const words = `${name}: ${signed(point.value)} [${signed(point.low)}, ${signed(point.high)}]${point.left ? ", outside its control limits" : ""}`;
    parts.push(s("g", {}, s("title", {}, words),
      Number.isFinite(a) && Number.isFinite(b) ? s("line", { x1: at, x2: at, y1: y(a), y2: y(b), class: "whisker" }) : null,
      s("circle", { cx: at, cy: y(float(point.value)), r: 4, class: "point" }),
      point.left ? s("circle", { cx: at, cy: y(float(point.value)), r: 8.5, class: "outside" }) : null));
    const wide = 6.6 * name.length;
    const left = Math.min(Math.max(0, at - wide / 2), width - wide);
    if (left < last + 8) continue;
    parts.push(s("text", { x: left, y: HEIGHT - 10, class: "soft" }, name));
    last = left + wide;
  }
  const words = points.map((p) => `${printable(own(page.names, p.step) ?? p.step, 30)} ${signed(p.value)}`).join(", ");
  return drawing(width, HEIGHT, `${figure.title}: ${words}`, ...parts);
}

function steps(page: TrajectoryPage, figure: TrajectoryFigure, f: number): HTMLElement {
  const format = figure.signed ? signed : plain;
  const change = (place: string, point: TrajectoryPoint, kind: "first" | "before") => (point[`change_${kind}`] === null ? ""
    : h("span", {}, num(`${place}/change_${kind}`, point[`change_${kind}`], signed), " ", interval([`${place}/change_${kind}_low`, `${place}/change_${kind}_high`], [point[`change_${kind}_low`], point[`change_${kind}_high`]])));
  const body = h("tbody", {}, ...figure.points.map((point, i) => {
    const place = `/trajectory/figures/${f}/points/${i}`;
    return h("tr", {},
      h("th", { scope: "row" }, label(own(page.names, point.step) ?? point.step, 60)),
      h("td", { class: "number" }, num(`${place}/value`, point.value, format)),
      h("td", { class: "number" }, interval([`${place}/low`, `${place}/high`], [point.low, point.high], format)),
      h("td", { class: "number" }, change(place, point, "first")), h("td", { class: "number" }, change(place, point, "before")),
      h("td", { class: "number" }, point.control_low === null ? "" : interval([`${place}/control_low`, `${place}/control_high`], [point.control_low, point.control_high], format)),
      h("td", {}, point.left ? h("strong", {}, "outside") : ""));
  }));
  return h("details", {}, h("summary", {}, "Steps in figures"),
    scrolling(h("table", { class: "plain" }, head("step", "value", "interval", "against the first", "against the one before", "control limits", h("span", {}, "limits")), body), `${figure.title}, steps`));
}

export function showTrajectory(page: TrajectoryPage, root: HTMLElement, theme: HTMLElement): void {
  const { figures, notes, level, unit } = page.trajectory;
  const moving = figures.filter((figure) => figure.trend.verdict in BADGES).length;
  const trends = h("tbody", {}, ...figures.map((figure, f) => {
    const place = `/trajectory/figures/${f}/trend`;
    return h("tr", {},
      h("td", {}, badge(figure)), h("th", { scope: "row" }, h("a", { href: `#figure-${f}` }, label(figure.title, 160))),
      h("td", { class: "number" }, num(`${place}/slope`, figure.trend.slope, signed)),
      h("td", { class: "number" }, interval([`${place}/low`, `${place}/high`], [figure.trend.low, figure.trend.high])),
      h("td", {}, figure.trend.first_left ? label(own(page.names, figure.trend.first_left) ?? figure.trend.first_left, 40) : "none"));
  }));
  frame(root, theme, {
    command: "trajectory", title: page.source, skip: "Skip to the trends", version: page.version,
    lead: [`${page.trajectory.steps.length} steps, ${figures.length} figure${figures.length > 1 ? "s" : ""}; ${moving} with a trend.`],
    sections: [
      answerList(page.answer),
      section("trends", "Trends", h("p", {}, `Slopes per ${unit} with ${percent(level)} intervals; verdicts count all figures. A figure leads to its steps.`),
        scrolling(h("table", { class: "plain" }, h("caption", {}, "Trends of all figures"), head("trend", "figure", `slope per ${unit}`, "interval", "first step outside limits"), trends), "Trends, table")),
      section("figures", "Figures", h("p", {}, "Points with intervals; the band has the control limits, and a ring says that a step is outside of them."),
        ...figures.map((figure, f) => h("article", { class: "followed", id: `figure-${f}` }, h("h3", {}, label(figure.title, 160)), h("p", {}, sentence(figure.words)), responsive((width) => chart(page, figure, width)), steps(page, figure, f)))),
      listed("Notes", "notes", notes),
    ],
  });
}
