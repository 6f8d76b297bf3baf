/** What the sections of the report are made of. Every number is a `data` element that says where it comes from. */
import { nice } from "d3-array";
import { h, s } from "../dom";
import { float, figure, type Num } from "../numbers";
import { printable, sentence } from "../text";
import type { Entry, FindingFields, MetricFacts } from "../audit";
import type { ReportPage } from "../types";

/** What the document says of a metric. */
export function factsOf(page: ReportPage, metric: string): MetricFacts | undefined {
  return page.audit.registry?.[metric];
}

export function metricName(page: ReportPage, metric: string): string {
  const name = factsOf(page, metric)?.short ?? printable(metric);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Whether a metric's sign says something. */
export function isSigned(page: ReportPage, metric: string): boolean {
  return factsOf(page, metric)?.signed ?? false;
}

export function directionSymbol(direction: string | null | undefined): string {
  return (direction ?? "").replace("->", "→");
}

/** A label or column name: text from a stranger, kept apart from the direction of what surrounds it. */
export function label(text: string, limit = 60): HTMLElement {
  const shown = printable(text, limit);
  return h("bdi", { class: "label", title: shown === text ? null : printable(text, 500) }, shown);
}

/** What is held under a name that a stranger gave: every object has a constructor, and that is none. */
export function own<T>(held: Record<string, T> | undefined, name: string): T | undefined {
  return held !== undefined && Object.hasOwn(held, name) ? held[name] : undefined;
}

/** A group or a task by the name it is called: crossings by their values, and no two cut to the same. */
export function named(page: ReportPage, text: string, limit = 60, attribute?: string): HTMLElement {
  const name = own(attribute === undefined ? page.names : own(page.group_names, attribute), text);
  if (name === undefined) return label(text, limit);
  return h("bdi", { class: "label", title: name === text ? null : printable(text, 500) }, printable(name, 500));
}

export { sentence };

/** A number with its place in the document, a JSON pointer: what is shown can be held against the JSON. */
export function num(place: string, value: Num | undefined, format: (value: Num | undefined) => string): HTMLElement {
  return h("data", { value: value === null || value === undefined ? "" : String(value), "data-place": place }, format(value));
}

export const signed = (value: Num | undefined) => figure(value, true);
export const plain = (value: Num | undefined) => figure(value, false);

/** An interval in brackets, or a dash. */
export function interval(places: [string, string], bounds: [Num | undefined, Num | undefined], format = signed): HTMLElement {
  if (Number.isNaN(float(bounds[0])) || Number.isNaN(float(bounds[1]))) return h("span", { class: "soft" }, "no interval");
  return h("span", { class: "interval" }, "[", num(places[0], bounds[0], format), ", ", num(places[1], bounds[1], format), "]");
}

/** +1 or -1 where an interval lies on one side of 0, 0 where it covers it, null where there is none. */
export function side(low: Num | undefined, high: Num | undefined): number | null {
  const [a, b] = [float(low), float(high)];
  if (Number.isNaN(a) || Number.isNaN(b)) return null;
  return a > 0 ? 1 : b < 0 ? -1 : 0;
}

/** What a finding concludes: +1, -1, 0 where nothing, null where there is no interval. Documents of 0.1 go by the interval. */
export function verdictOf(finding: FindingFields): number | null {
  const { verdict, interval: bounds } = finding.figure;
  return verdict === undefined ? side(bounds?.[0], bounds?.[1]) : verdict;
}

/** What the findings conclude of a figure; by its interval where none speaks of it. */
export function concluded(page: ReportPage, entry: Entry): number | null {
  const about = page.audit.findings.find((finding) => finding.kind === "finding" && "verdict" in finding.figure &&
    (["metric", "attribute", "direction"] as const).every((part) => finding.figure[part] === entry[part]));
  return about ? verdictOf(about) : side(entry.interval[0], entry.interval[1]);
}

const landmarks = new Map<string, number>();

/** A name that no other landmark of the page has: those who hear a list of them can tell them apart. */
function unique(name: string): string {
  const times = (landmarks.get(name) ?? 0) + 1;
  landmarks.set(name, times);
  return times === 1 ? name : `${name} (${times})`;
}

/** The page is made anew: no name is taken. */
export function freshNames(): void {
  landmarks.clear();
}

export function section(id: string, title: string, ...children: (Node | string | null)[]): HTMLElement {
  unique(title);
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

/** A table that scrolls sideways by itself on narrow pages, by keyboard too. */
export function scrolling(table: HTMLElement, name: string): HTMLElement {
  // Headings stand as the figures under them do.
  const cells = table.querySelector("tbody tr")?.children ?? [];
  table.querySelectorAll("thead th").forEach((th, i) => {
    const cell = cells[i]?.classList;
    if (cell?.contains("number") && !cell.contains("rate")) th.classList.add("number");
  });
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": unique(name) }, table);
}

export function head(...titles: (string | Node)[]): HTMLElement {
  return h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title === "" ? h("span", { class: "unseen" }, "row") : title))));
}

/** Entries of the document with their places in it. */
export function entries(page: ReportPage): { entry: Entry; place: string }[] {
  return page.audit.metrics.map((entry, i) => ({ entry, place: `/audit/metrics/${i}` }));
}

/** A scale for one panel: it takes in 0 and every bound, and ends at round numbers. */
export function reach(values: number[]): [number, number] {
  let [low, high] = [0, 0];
  for (const x of values) {
    if (!Number.isFinite(x)) continue;
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  return low === high ? [0, 1] : (nice(low, high, 5) as [number, number]);
}

/** A bar from 0 with its interval, on a scale that its whole panel shares. */
export function bar(value: Num | undefined, low: Num | undefined, high: Num | undefined, scale: [number, number], extra: Node[] = [], unsigned = false, verdict = side(low, high)): SVGElement {
  const at = (x: number) => `${(100 * (Math.min(Math.max(x, scale[0]), scale[1]) - scale[0])) / (scale[1] - scale[0])}%`;
  const width = (a: number, b: number) => `${(100 * Math.abs(b - a)) / (scale[1] - scale[0])}%`;
  const x = float(value);
  const kind = unsigned ? "plain" : verdict === 0 ? "none" : x < 0 ? "less" : "more";
  const parts: Node[] = [];
  if (Number.isFinite(x)) parts.push(s("rect", { x: at(Math.min(0, x)), width: width(0, x), y: 5, height: 12, class: `bar ${kind}` }));
  parts.push(s("line", { x1: at(0), x2: at(0), y1: 0, y2: 22, class: "zero" }));
  const [a, b] = [float(low), float(high)];
  if (!Number.isNaN(a) && !Number.isNaN(b)) {
    parts.push(s("line", { x1: at(a), x2: at(b), y1: 11, y2: 11, class: "whisker" }));
    for (const end of [a, b]) parts.push(s("line", { x1: at(end), x2: at(end), y1: 7, y2: 15, class: "whisker" }));
  }
  return s("svg", { class: "cell-bar", height: 22, "aria-hidden": "true" }, ...parts, ...extra);
}

/** The ends of a panel's scale and 0, under its bars. */
export function scaleLine(scale: [number, number], format: (value: number) => string): SVGElement {
  const at = (x: number) => `${(100 * (x - scale[0])) / (scale[1] - scale[0])}%`;
  const marks: Node[] = [];
  const within = scale[0] <= 0 && scale[1] >= 0;
  const far = within && (Math.min(-scale[0], scale[1]) > 0.18 * (scale[1] - scale[0]) || scale[0] === 0 || scale[1] === 0);
  if (scale[0] !== 0) marks.push(s("text", { x: 0, y: 11, class: "soft" }, format(scale[0])));
  if (scale[1] !== 0) marks.push(s("text", { x: "100%", y: 11, "text-anchor": "end", class: "soft" }, format(scale[1])));
  if (far) marks.push(s("text", { x: at(0), y: 11, "text-anchor": scale[0] === 0 ? "start" : scale[1] === 0 ? "end" : "middle", class: "soft" }, "0"));
  return s("svg", { class: "cell-bar scale drawing", height: 14, "aria-hidden": "true" }, ...marks);
}

/** Rows of which only the first exist until the rest is asked for, or printed. */
export function more(rows: (() => HTMLElement)[], shown: number, body: HTMLElement, what: string): HTMLElement | null {
  body.append(...rows.slice(0, shown).map((make) => make()));
  if (rows.length <= shown) return null;
  let rest: HTMLElement[] | null = null;
  const button = h("button", { type: "button", class: "more", "aria-expanded": "false", click: toggle }, `Show all ${rows.length} ${what}`);
  function made(): HTMLElement[] {
    if (rest === null) {
      rest = rows.slice(shown).map((make) => make());
      for (const row of rest) row.hidden = true;
      body.append(...rest);
    }
    return rest;
  }
  function toggle(): void {
    const open = button.getAttribute("aria-expanded") === "true";
    for (const row of made()) row.hidden = open;
    button.setAttribute("aria-expanded", String(!open));
    button.textContent = open ? `Show all ${rows.length} ${what}` : `Show ${shown} ${what}`;
  }
  window.addEventListener("beforeprint", () => made());
  return button;
}
