/** The first screen: the answer in three sentences, all figures at a glance, and what to beware of. */
import { h } from "../dom";
import { count, figure, float, percent, type Num } from "../numbers";
import type { Entry } from "../audit";
import type { ReportPage } from "../types";
import { printable } from "../text";
import { answerList } from "./frame";
import { bar, concluded, directionSymbol, head, isSigned, label, num, reach, scrolling, section, sentence } from "./parts";

const VERDICTS: Record<string, { sign: string; word: string; kind: string }> = {
  "1": { sign: "▲", word: "amplifies", kind: "more" },
  "-1": { sign: "▼", word: "weakens", kind: "less" },
  "0": { sign: "◇", word: "not beyond chance", kind: "none" },
};
const DIFFERS = { sign: "▲", word: "differs", kind: "differs" };

export function answer(page: ReportPage): HTMLElement | null {
  if (!page.answer) return null;
  return answerList(page.answer);
}

function cell(page: ReportPage, place: number, verdict: number | null, scale: [number, number]): HTMLElement {
  const entry: Entry = page.audit.metrics[place];
  const signed = isSigned(page, entry.metric);
  // What the findings conclude is what every badge says; figures that none speaks of go by the verdicts of the audit.
  const said = verdict === null ? null : page.audit.findings.some((finding) => "verdict" in finding.figure && (["metric", "attribute", "direction"] as const).every((part) => finding.figure[part] === entry[part])) ? concluded(page, entry) : verdict;
  const shown = said === null ? null : signed || said === 0 ? VERDICTS[String(said)] : DIFFERS;
  const format = (value: Num | undefined) => figure(value, signed, 3);
  const [low, high] = entry.interval;
  const bounds = low === null || high === null ? "no interval" : `interval ${format(low)} to ${format(high)}`;
  const words = `${printable(entry.attribute)} ${directionSymbol(entry.direction)} ${page.matrix!.short[entry.metric] ?? entry.metric}: ${format(entry.value)}, ${bounds}${shown ? `, ${shown.word}` : ""}`;
  return h("td", { class: `figure-cell ${shown?.kind ?? ""}` },
    h("a", { href: `#metric-${place}`, title: words, "aria-label": words },
      h("span", { class: "figure" }, num(`/audit/metrics/${place}/value`, entry.value, format), shown ? h("span", { class: "sign", "aria-hidden": "true" }, ` ${shown.sign}`) : ""),
      bar(entry.value, low, high, scale, [], !signed && said !== 0, said ?? 0)));
}

/** Attributes by metrics: every cell is a link to its figure. */
export function matrix(page: ReportPage): HTMLElement | null {
  const held = page.matrix;
  if (!held?.rows.length) return null;
  const scales = new Map<string, [number, number]>();
  const scaleOf = (metric: string, direction: string | null) => {
    const key = JSON.stringify([metric, direction]);
    if (!scales.has(key)) {
      const own = held.rows.filter((row) => row.direction === direction && row.cells[metric]).map((row) => page.audit.metrics[row.cells[metric].place]);
      scales.set(key, reach(own.flatMap((entry) => [entry.value, ...entry.interval].map(float))));
    }
    return scales.get(key)!;
  };
  const body = h("tbody", {}, ...held.rows.map((row) => h("tr", {},
    h("th", { scope: "row" }, label(row.attribute, 40), ` ${directionSymbol(row.direction)}`),
    ...held.metrics.map((metric) => {
      const found = row.cells[metric];
      return found ? cell(page, found.place, found.verdict, scaleOf(metric, row.direction)) : h("td", { class: "figure-cell" });
    }))));
  const table = h("table", { class: "matrix" }, head("", ...held.metrics.map((metric) => h("span", {}, held.short[metric] ?? metric))), body);
  return section("matrix", "All figures", scrolling(table, "All figures, table"),
    h("p", { class: "note" }, `▲ amplifies (orange) or groups differ (purple), ▼ weakens (blue), ◇ not beyond chance, corrected for the number of figures. Bars have ${percent(page.audit.data.confidence)} intervals, and a scale for each metric and direction. A figure leads to its details.`));
}

function warning(page: ReportPage, place: number): HTMLElement {
  return h("li", {}, sentence(page.audit.findings[place].text));
}

/** The two cautions that matter most. */
export function beware(page: ReportPage): HTMLElement | null {
  const first = page.cautions?.first ?? [];
  if (!first.length) return null;
  const rest = page.audit.findings.filter((finding) => finding.kind === "caution").length - first.length;
  return section("beware", "Beware", h("ul", { class: "cautions" }, ...first.map((place) => warning(page, place))),
    rest > 0 ? h("p", { class: "note" }, h("a", { href: "#cautions" }, `${count(rest)} more caution${rest > 1 ? "s" : ""}`), ", by what they concern") : null);
}

/** All cautions, by what they concern. */
export function cautions(page: ReportPage): HTMLElement | null {
  const topics = page.cautions?.topics ?? [];
  if (!topics.length) return null;
  return section("cautions", "Cautions", ...topics.flatMap(({ topic, places }) => [h("h3", {}, `${topic} (${places.length})`), h("ul", { class: "cautions" }, ...places.map((place) => warning(page, place)))]));
}

/** A section of which only the title shows until it is opened; on paper those of weight are open. */
export function folded(part: HTMLElement, hint: string, key: boolean): HTMLElement {
  const title = part.querySelector("h2")!;
  const rest = [...part.childNodes].filter((node) => node !== title);
  const fold = h("details", { class: `fold${key ? " key" : ""}` }, h("summary", {}, title, hint ? h("span", { class: "hint" }, hint) : null), ...rest);
  part.replaceChildren(fold);
  part.classList.add("folded");
  return part;
}

/** Open whatever an address points into. */
export function followAddresses(root: HTMLElement): void {
  const reveal = (address: string) => {
    const target = address.length > 1 ? document.getElementById(decodeURIComponent(address.slice(1))) : null;
    if (!target || !root.contains(target)) return;
    for (let up: Element | null = target; up; up = up.parentElement) if (up instanceof HTMLDetailsElement) up.open = true;
    const own = target.querySelector(":scope > details.fold");
    if (own instanceof HTMLDetailsElement) own.open = true;
    target.scrollIntoView();
  };
  root.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.('a[href^="#"]');
    if (link) reveal(link.getAttribute("href")!);
  });
  window.addEventListener("hashchange", () => { try { reveal(location.hash); } catch { /* an address that is none */ } });
  try { reveal(location.hash); } catch { /* an address that is none */ }
}

/** A button that opens every fold, or closes them. */
export function foldButton(main: HTMLElement): HTMLElement {
  const button = h("button", { type: "button", class: "quiet unfold", "aria-pressed": "false", click: () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    main.querySelectorAll<HTMLDetailsElement>("details.fold").forEach((fold) => { fold.open = open; });
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Close all" : "Open all";
  } }, "Open all");
  return button;
}

