/** Models side by side: verdicts first, then the pairs that changed; every row names its models. */
import { h } from "../dom";
import { chance, count, float, percent, tick } from "../numbers";
import type { ChangedPair, ComparedFigure, ComparisonPage } from "../types";
import { printable } from "../text";
import { answerList, frame, listed } from "./frame";
import { bar, directionSymbol, head, interval, label, more, num, own, plain, reach, scaleLine, scrolling, section, sentence, signed } from "./parts";

const SHOWN = 30;
const BADGES: Record<string, { sign: string; word: string; kind: string }> = {
  "1": { sign: "▲", word: "more", kind: "more" }, "-1": { sign: "▼", word: "less", kind: "less" }, "0": { sign: "◇", word: "not decided", kind: "none" },
};

function badge(decided: number): HTMLElement {
  const { sign, word, kind } = BADGES[String(decided)];
  return h("span", { class: `badge ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), word);
}

function difference(page: ComparisonPage, row: ComparedFigure, i: number): HTMLElement {
  const place = `/comparison/differences/${i}`;
  const facts = page.metrics[row.metric];
  const format = facts.signed ? signed : plain;
  const scale = reach([row.difference, row.low, row.high].map(float));
  const figure = (model: string, part: "first" | "second") => h("span", { class: "model" }, label(model, 30), " ", num(`${place}/${part}`, row[part], format));
  return h("tr", {},
    h("td", {}, badge(row.decided)),
    h("th", { scope: "row" }, label(row.attribute, 60), `, ${facts.short} ${directionSymbol(row.direction)}`.trimEnd()),
    h("td", { class: "models" }, figure(row.models[0], "first"), figure(row.models[1], "second")),
    h("td", { class: "bar-cell" }, bar(row.difference, row.low, row.high, scale, [], false, row.decided), scaleLine(scale, tick)),
    h("td", { class: "number" }, num(`${place}/difference`, row.difference, signed), h("span", { class: "note" }, interval([`${place}/low`, `${place}/high`], [row.low, row.high]))),
    h("td", { class: "why" }, sentence(row.verdict), row.paired ? null : h("span", { class: "note" }, "not the same records")));
}

/** What a change means for amplification. */
function way(row: ChangedPair): string {
  const side = Math.sign(row.sign) * Math.sign(float(row.difference));
  return side > 0 ? "▲ more" : side < 0 ? "▼ less" : "";
}

function pair(page: ComparisonPage, row: ChangedPair, i: number, scale: [number, number]): HTMLElement {
  const place = `/comparison/pairs/${i}`;
  const name = (text: string) => h("bdi", { class: "label", title: own(page.names, text) === text ? null : printable(text, 500) }, own(page.names, text) ?? printable(text));
  return h("tr", {},
    h("th", { scope: "row" }, name(row.outcome), " given ", name(row.given), h("span", { class: "note" }, `${page.metrics[row.metric].short} ${directionSymbol(row.direction)}`.trim())),
    h("td", {}, label(row.models[1], 30), " − ", label(row.models[0], 30)),
    h("td", { class: "bar-cell" }, bar(row.difference, row.low, row.high, scale)),
    h("td", { class: "number" }, num(`${place}/difference`, row.difference, signed)),
    h("td", { class: "number" }, interval([`${place}/low`, `${place}/high`], [row.low, row.high])),
    h("td", { class: "number" }, num(`${place}/q`, row.q, chance)),
    h("td", { class: "number" }, num(`${place}/support`, row.support, count)),
    h("td", {}, way(row)));
}

function pairs(page: ComparisonPage): HTMLElement | null {
  const rows = page.comparison.pairs;
  if (!page.pair_words) return null;
  const out = section("pairs", "Pairs that changed", h("p", {}, sentence(page.pair_words), rows.length ? " The best founded come first." : ""));
  if (!rows.length) return out;
  const scale = reach(rows.flatMap((row) => [row.difference, row.low, row.high].map(float)));
  const body = h("tbody");
  const button = more(rows.map((row, i) => () => pair(page, row, i, scale)), SHOWN, body, "pairs");
  const heads = head("pair", "models", h("span", {}, h("span", { class: "unseen" }, "bar"), scaleLine(scale, tick)), "change", "interval", "q", "records", "amplification");
  out.append(scrolling(h("table", { class: "bars" }, heads, body), "Pairs that changed, table"));
  if (button) out.append(button);
  return out;
}

export function showComparison(page: ComparisonPage, root: HTMLElement, theme: HTMLElement): void {
  const { models, differences, level, orders, runs, cautions, notes } = page.comparison;
  const sure = differences.filter((row) => row.decided !== 0).length;
  frame(root, theme, {
    command: "compare", title: page.source, skip: "Skip to the verdicts", version: page.version,
    lead: [`${count(models.length)} models: `, ...models.flatMap((model, i) => [i ? ", " : "", label(model, 60)]), `; ${count(sure)} of ${count(differences.length)} differences are decided.`],
    sections: [
      answerList(page.answer),
      section("verdicts", "Verdicts",
        h("p", {}, `The second model's figure less the first one's, with ${percent(level)} intervals. What is decided comes first; each bar has its own scale.`),
        scrolling(h("table", { class: "bars checks" }, h("caption", {}, "Differences between models"), head("second model", "figure", "models", h("span", { class: "unseen" }, "bar"), "difference", "verdict"),
          h("tbody", {}, ...differences.map((row, i) => difference(page, row, i)))), "Verdicts, table")),
      pairs(page), listed("Cautions", "cautions", cautions), listed("Order of the models", "orders", orders), listed("Seeds and records", "runs", runs), listed("Notes", "notes", notes),
    ],
  });
}
