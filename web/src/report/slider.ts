/** Every figure at a threshold that the reader chooses: amplification, and positive rate, TPR and FPR of each group, with bands. */
import { area, curveStepBefore, line } from "d3-shape";
import { scaleLinear } from "d3-scale";
import { drawing, h, s } from "../dom";
import { count, figure, float, tick, type Num } from "../numbers";
import type { GroupSteps, Steps, SweepEntry, ThresholdMark } from "../audit";
import { responsive } from "../responsive";
import { head, interval, num, plain, scrolling, signed } from "./parts";
import { placeAt, rateAt, type Estimate, type RateName } from "./steps";

const ROOM = { left: 46, right: 12, top: 12, bottom: 36 };
const HEIGHT = 210;
// So many groups have their lines drawn at first: as many as there are colours.
const DRAWN = 6;
const RATES: [RateName, string][] = [["rate", "positive rate"], ["tpr", "TPR"], ["fpr", "FPR"]];

export const MARKS: Record<string, string> = {
  used: "that the decisions were made at",
  base_rate: "nearest to the base rate",
  zero: "where amplification is nearest to 0",
};

/** How text from a document is called and what its figures are at; a sweep by itself knows less than an audit. */
export interface Shown {
  name: (label: string, limit?: number) => HTMLElement;
  quantile: number;
  level: string;
  place: string;
}

/** What curves are drawn from. */
export type Swept = Pick<SweepEntry, "steps" | "marks" | "base_rate" | "thresholds">;

interface Chart {
  element: HTMLElement;
  move: (threshold: number) => void;
  redraw: () => void;
}

/** The sign of a mark, which is the same in the chart and in the table; those that coincide lie inside each other. */
function sign(mark: string, x: number, y: number): SVGElement {
  if (mark === "used") return s("rect", { x: x - 7, y: y - 7, width: 14, height: 14, class: "mark used" });
  if (mark === "zero") return s("path", { d: `M${x},${y - 4}l4,4l-4,4l-4,-4z`, class: "mark zeroed" });
  return s("circle", { cx: x, cy: y, r: 6, class: "mark kept" });
}

function chart(title: string, steps: Steps, domain: () => [number, number], lines: () => { class: string; at: (place: number) => Estimate }[], choose: (threshold: number) => void, marks: [string, ThresholdMark][] = []): Chart {
  const t = steps.threshold;
  const places = t.map((_, i) => i);
  let chosen = t[0];
  let cursor: SVGElement | null = null;
  let width = 0;
  const x = scaleLinear().domain(t[0] === t[t.length - 1] ? [t[0] - 1, t[0] + 1] : [t[0], t[t.length - 1]]);
  function draw(wide: number): SVGElement {
    width = wide;
    x.range([ROOM.left, width - ROOM.right]);
    const [low, high] = domain();
    const y = scaleLinear().domain(low === high ? [low - 1, high + 1] : [low, high]).nice(4).range([HEIGHT - ROOM.bottom, ROOM.top]);
    const parts: Node[] = [];
    for (const value of y.ticks(4)) {
      parts.push(s("line", { x1: ROOM.left, x2: width - ROOM.right, y1: y(value), y2: y(value), class: value === 0 ? "zero" : "axis" }));
      parts.push(s("text", { x: ROOM.left - 6, y: y(value) + 4, "text-anchor": "end", class: "soft" }, tick(value)));
    }
    for (const value of x.ticks(Math.max(2, Math.floor(width / 90)))) {
      parts.push(s("text", { x: x(value), y: HEIGHT - ROOM.bottom + 16, "text-anchor": "middle", class: "soft" }, tick(value)));
    }
    parts.push(s("text", { x: (ROOM.left + width - ROOM.right) / 2, y: HEIGHT - 4, "text-anchor": "middle", class: "soft" }, "threshold"));
    // A figure holds from its threshold down to the one before.
    for (const drawn of lines()) {
      const values = places.map(drawn.at);
      const band = area<number>((i) => x(t[i]), (i) => y(values[i].low), (i) => y(values[i].high)).defined((i) => Number.isFinite(values[i].low) && Number.isFinite(values[i].high)).curve(curveStepBefore)(places);
      const path = line<number>((i) => x(t[i]), (i) => y(values[i].value)).defined((i) => Number.isFinite(values[i].value)).curve(curveStepBefore)(places);
      parts.push(s("path", { d: band ?? "", class: `band ${drawn.class}` }), s("path", { d: path ?? "", class: `step ${drawn.class}` }));
    }
    for (const [mark, row] of marks) {
      const [at, value] = [float(row.threshold as Num), float(row.amplification)];
      if (Number.isFinite(at) && Number.isFinite(value) && at >= x.domain()[0] && at <= x.domain()[1]) parts.push(sign(mark, x(at), y(value)));
    }
    cursor = s("line", { y1: ROOM.top, y2: HEIGHT - ROOM.bottom, class: "cursor" });
    move(chosen);
    const svg = drawing(width, HEIGHT, `${title} at ${t.length} thresholds, from ${tick(y.domain()[0])} to ${tick(y.domain()[1])}`, ...parts, cursor);
    const follow = (event: PointerEvent) => {
      const box = svg.getBoundingClientRect();
      const [low, high] = x.domain();
      choose(Math.min(high, Math.max(low, x.invert(((event.clientX - box.left) * width) / box.width))));
    };
    svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture((event as PointerEvent).pointerId); follow(event as PointerEvent); });
    svg.addEventListener("pointermove", (event) => { if ((event as PointerEvent).buttons) follow(event as PointerEvent); });
    return svg;
  }
  function move(threshold: number): void {
    chosen = threshold;
    if (cursor === null) return;
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, String(x(threshold)));
  }
  const holder = responsive(draw);
  const redraw = () => { if (width) holder.replaceChildren(draw(width)); };
  return { element: h("div", { class: "chart" }, h("p", { class: "chart-title" }, title), holder), move, redraw };
}

const share = (x: number) => (Number.isFinite(x) ? `${(100 * x).toFixed(1)}%` : "—");

function rateCell(found: Estimate): HTMLElement {
  const bounds = Number.isFinite(found.low) ? h("span", { class: "interval" }, ` [${(100 * found.low).toFixed(1)}, ${(100 * found.high).toFixed(1)}]`) : null;
  return h("td", { class: "number" }, share(found.value), bounds);
}

/** The marked thresholds, a row each, with a button that goes there. */
function markTable(marks: [string, ThresholdMark][], shown: Shown, choose: (threshold: number) => void): HTMLElement {
  const body = h("tbody", {}, ...marks.map(([mark, row]) => {
    const place = `${shown.place}/marks/${mark}`;
    const go = h("button", { type: "button", class: "quiet go", click: () => choose(float(row.threshold as Num)) }, "Show");
    go.setAttribute("aria-label", `Show the threshold ${MARKS[mark] ?? mark}`);
    return h("tr", {},
      h("th", { scope: "row" }, s("svg", { width: 18, height: 18, class: "sign", "aria-hidden": "true" }, sign(mark, 9, 9)), ` the threshold ${MARKS[mark] ?? mark}`),
      h("td", { class: "number" }, num(`${place}/threshold`, row.threshold as Num, plain)),
      h("td", { class: "number" }, num(`${place}/amplification`, row.amplification, signed), " ", interval([`${place}/low`, `${place}/high`], [row.low, row.high])),
      h("td", { class: "number" }, num(`${place}/rate`, row.rate, plain)),
      h("td", {}, go));
  }));
  return scrolling(h("table", { class: "plain marks" }, h("caption", {}, "Marked thresholds"), head("threshold", "at", "amplification there", "predicted rate", h("span", { class: "unseen" }, "go there")), body), "Marked thresholds");
}

/** The curves of a sweep with a slider; null where the document holds none. */
export function slider(sweep: Swept, shown: Shown): HTMLElement | null {
  const steps = sweep.steps;
  if (!steps?.threshold.length) return null;
  const marks = Object.entries(sweep.marks ?? {});
  const last = steps.threshold.length - 1;
  const first = marks.find(([mark]) => mark === "used") ?? marks[0];
  let chosen = first ? float(first[1].threshold as Num) : steps.threshold[Math.floor(last / 2)];
  let place = placeAt(steps, chosen);
  const total = sweep.thresholds ?? steps.threshold.length;
  const whole = steps.threshold.length >= total;
  const outcomes = [...new Set(steps.groups.map((group) => group.outcome))];
  let outcome = outcomes[0];
  const mine = () => steps.groups.filter((group) => group.outcome === outcome);
  const sizes = (group: GroupSteps) => group.positive + group.negative;
  const largest = new Set([...mine()].sort((a, b) => sizes(b) - sizes(a)).slice(0, DRAWN).map((group) => group.given));
  const colours = new Map([...largest, ...mine().map((group) => group.given)].filter((name, i, all) => all.indexOf(name) === i).map((name, i) => [name, `g${i % DRAWN}${i >= DRAWN ? " dashed" : ""}`]));

  const amplification = (i: number): Estimate => ({ value: float(steps.amplification[i]), low: float(steps.low[i]), high: float(steps.high[i]) });
  const reached = steps.threshold.flatMap((_, i) => [amplification(i).value, amplification(i).low, amplification(i).high]).filter(Number.isFinite);
  const charts = [
    chart("amplification", steps, () => [Math.min(0, ...reached), Math.max(0, ...reached)], () => [{ class: "g0", at: amplification }], choose, marks),
    ...RATES.map(([of, title]) => chart(title, steps, () => [0, 1], () =>
      mine().filter((group) => largest.has(group.given)).map((group) => ({ class: colours.get(group.given)!, at: (i: number) => rateAt(group, of, i, shown.quantile) })), choose)),
  ];

  const input = h("input", { type: "range", min: 0, max: last, step: 1, class: "threshold-slider", "aria-label": "Threshold", input: () => choose(steps.threshold[Number(input.value)]) });
  const at = h("output", { class: "threshold-value" });
  const said = h("p", { class: "at-threshold", "aria-live": "polite" });
  const body = h("tbody");

  function groupRows(): HTMLElement[] {
    return mine().map((group) => {
      const box = h("input", { type: "checkbox", change: () => { if (box.checked) largest.add(group.given); else largest.delete(group.given); for (const one of charts) one.redraw(); } });
      box.checked = largest.has(group.given);
      return h("tr", {},
        h("th", { scope: "row" }, h("label", { class: "legend" }, box, h("span", { class: `swatch ${colours.get(group.given)}`, "aria-hidden": "true" }), shown.name(group.given, 40))),
        h("td", { class: "number" }, count(sizes(group))),
        ...RATES.map(([of]) => rateCell(rateAt(group, of, place, shown.quantile))));
    });
  }
  function show(): void {
    const t = chosen;
    input.value = String(place);
    input.setAttribute("aria-valuetext", `threshold ${figure(t, false)}`);
    at.textContent = figure(t, false);
    const { value, low, high } = amplification(place);
    const bounds = Number.isFinite(low) ? ` [${figure(low)}, ${figure(high)}]` : "";
    // Between two scores that follow each other, decisions are the same.
    const [below, above] = [place ? `above ${figure(steps!.threshold[place - 1], false)}` : "", place < last ? `up to ${figure(steps!.threshold[place], false)}` : ""];
    const same = whole ? ` (the same ${[below, above].filter(Boolean).join(" ")})` : "";
    said.replaceChildren(h("strong", {}, `At ${figure(t, false)}${same}: `), `amplification ${figure(value)}${bounds}; predicted positive ${share(float(steps!.rate[place]))}, truly positive ${share(float(sweep.base_rate))}.`);
    for (const one of charts) one.move(chosen);
    body.replaceChildren(...groupRows());
  }
  function choose(threshold: number): void {
    if (threshold === chosen) return;
    chosen = threshold;
    place = placeAt(steps!, threshold);
    show();
  }
  const select = outcomes.length > 1
    ? h("label", {}, "Rates of ", h("select", { change: (event: Event) => { outcome = outcomes[Number((event.target as HTMLSelectElement).value)]; for (const one of charts) one.redraw(); show(); } }, ...outcomes.map((name, i) => h("option", { value: i }, shown.name(name, 60).textContent ?? ""))))
    : null;
  show();
  const held = steps.groups.length;
  const notes = [
    `Lines and bands are drawn at ${!whole ? `${count(steps.threshold.length)} of ${count(total)} distinct thresholds, evenly ranked, and the marked ones` : `all ${count(total)} distinct thresholds`}; at each of them every figure is exact.`,
    `Bands and brackets are ${shown.level} intervals, each at its own threshold${steps.low.every((low) => low === null) ? "; the scores are too many for a band of amplification" : ""}.`,
    held < steps.groups_in_all ? `Rates are held for ${count(held)} of ${count(steps.groups_in_all)} pairs of group and outcome.` : "",
  ];
  return h("div", { class: "sweep" },
    marks.length ? markTable(marks, shown, choose) : null,
    h("div", { class: "slide" }, h("label", {}, "Threshold ", input), at, select),
    said,
    h("div", { class: "charts" }, ...charts.map((one) => one.element)),
    scrolling(h("table", { class: "plain at-threshold-rates" }, h("caption", {}, "Rates of groups at the chosen threshold"), head("group", "records", ...RATES.map(([, title]) => title)), body), "Rates of groups at the chosen threshold"),
    h("p", { class: "note" }, notes.filter(Boolean).join(" ")));
}
