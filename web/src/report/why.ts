/** Why: what of a value is the scores, what deciding on them, and what it is among like cases. */
import { h } from "../dom";
import { chance, count, float, tick } from "../numbers";
import type { StratumRow, WhyEntry, WhyPart } from "../audit";
import type { ReportPage } from "../types";
import { bar, directionSymbol, head, interval, label, more, named, num, plain, reach, scaleLine, scrolling, section, sentence, side, signed } from "./parts";

const PAIRS = 12;
const STRATA = 20;
const RELIABILITY = 12;
const VERDICTS: Record<string, { word: string; kind: string; side: number | null }> = {
  amplifies: { word: "amplifies", kind: "more", side: 1 },
  reduces: { word: "reduces", kind: "less", side: -1 },
  "not told from 0": { word: "cannot be told from 0", kind: "none", side: 0 },
  "no verdict": { word: "no verdict: signs are not clear", kind: "none", side: 0 },
};

function partRow(part: WhyPart, title: (Node | string)[], place: string, scale: [number, number], kind = ""): HTMLElement {
  const verdict = VERDICTS[part.verdict ?? ""];
  return h("tr", { class: kind || null },
    h("th", { scope: "row" }, ...title),
    h("td", { class: "bar-cell" }, bar(part.value, part.interval[0], part.interval[1], scale, [], false, verdict ? verdict.side : 0)),
    h("td", { class: "number" }, num(`${place}/value`, part.value, signed)),
    h("td", { class: "number" }, interval([`${place}/interval/0`, `${place}/interval/1`], [part.interval[0], part.interval[1]])),
    h("td", {}, verdict ? h("span", { class: `verdict ${verdict.kind}` }, verdict.word) : ""));
}

/** The value as a sum, and what it is at another threshold and inside strata. */
function partTable(page: ReportPage, entry: WhyEntry, place: string): HTMLElement {
  const { value, score, threshold, inside } = entry.parts;
  const scale = reach(Object.values(entry.parts).flatMap((part) => [part.value, ...part.interval].map(float)));
  const rows = [partRow(value, ["amplification, by ", sentence(entry.rule)], `${place}/parts/value`, scale, "sum")];
  if (score) rows.push(partRow(score, ["= of the scores"], `${place}/parts/score`, scale));
  if (threshold) rows.push(partRow(threshold, ["+ of deciding on them"], `${place}/parts/threshold`, scale));
  const at = (page.audit.sweep ?? []).findIndex((sweep) => sweep.attribute === entry.attribute && sweep.direction === entry.direction);
  const kept = at < 0 ? undefined : page.audit.sweep![at].marks?.base_rate;
  if (kept) {
    rows.push(h("tr", {}, h("th", { scope: "row" }, "at the threshold nearest to the base rate"), h("td", { class: "bar-cell" }, bar(kept.amplification, kept.low, kept.high, scale, [], false, entry.unknown ? 0 : side(kept.low, kept.high))),
      h("td", { class: "number" }, num(`/audit/sweep/${at}/marks/base_rate/amplification`, kept.amplification, signed)),
      h("td", { class: "number" }, interval([`/audit/sweep/${at}/marks/base_rate/low`, `/audit/sweep/${at}/marks/base_rate/high`], [kept.low, kept.high])), h("td", {})));
  }
  if (inside) rows.push(partRow(inside, ["inside the strata of ", label(entry.strata_column ?? "", 40), ", by the signs there and each group's own shares"], `${place}/parts/inside`, scale));
  const scaleHead = h("span", {}, h("span", { class: "unseen" }, "bar"), scaleLine(scale, tick));
  return scrolling(h("table", { class: "bars why-parts" }, head("part", scaleHead, "value", "interval", "verdict"), h("tbody", {}, ...rows)), "Parts of the value");
}

/** The same sum for every pair, with the three rates it is made of. */
function pairTable(page: ReportPage, entry: WhyEntry, place: string): (HTMLElement | null)[] {
  const rows = (entry.pairs ?? []).map((pair, i) => ({ pair, at: `${place}/pairs/${i}` })).filter(({ pair }) => !pair.mirror);
  if (!rows.length) return [];
  const body = h("tbody");
  const part = (at: string, name: "amplification" | "score" | "threshold", value: number | null, low: number | null, high: number | null) => {
    const ends: [string, string] = name === "amplification" ? [`${at}/low`, `${at}/high`] : [`${at}/${name}_low`, `${at}/${name}_high`];
    return h("td", { class: "number" }, num(`${at}/${name}`, value, signed), h("span", { class: "note" }, interval(ends, [low, high])));
  };
  const lines = rows.map(({ pair, at }) => () => h("tr", {},
    h("th", { scope: "row" }, named(page, pair.given, 40), " → ", named(page, pair.outcome, 40), pair.known ? null : h("span", { class: "unknown", title: "the records do not tell the direction of this pair, all pairs counted" }, " ?")),
    ...(["truth_rate", "score_rate", "predicted_rate"] as const).map((key) => h("td", { class: "number" }, num(`${at}/${key}`, pair[key], plain))),
    part(at, "score", pair.score, pair.score_low, pair.score_high),
    part(at, "threshold", pair.threshold, pair.threshold_low, pair.threshold_high),
    part(at, "amplification", pair.amplification, pair.low, pair.high),
    h("td", { class: "number" }, num(`${at}/support`, pair.support, count))));
  const button = more(lines, PAIRS, body, "pairs");
  const caption = h("caption", {}, "Pairs: score part + threshold part = amplification; largest first. ? the records do not tell the direction");
  return [scrolling(h("table", { class: "plain why-pairs" }, caption, head("given → outcome", "true rate", "mean score", "decided rate", "scores", "+ deciding", "= amplification", "records"), body), "Parts of pairs"), button];
}

function directions(row: StratumRow, place: string): (Node | string)[] {
  const out: (Node | string)[] = [];
  if (row.unclear) out.push(h("span", { class: "unknown" }, "? "), num(`${place}/unclear`, row.unclear, count), " of ", num(`${place}/pairs`, row.pairs, count), " unknown");
  if (row.reversed) out.push(out.length ? "; " : "", h("strong", {}, num(`${place}/reversed`, row.reversed, count), " reversed"));
  return out.length ? out : ["as in the whole"];
}

function strataTable(entry: WhyEntry, place: string): (HTMLElement | null)[] {
  const rows = (entry.strata ?? []).map((row, i) => ({ row, at: `${place}/strata/${i}` })).sort((a, b) => b.row.n - a.row.n);
  if (!rows.length) return [];
  const scale = reach(rows.flatMap(({ row }) => [row.value, row.low, row.high].map(float)));
  const body = h("tbody");
  const lines = rows.map(({ row, at }) => () => h("tr", {},
    h("th", { scope: "row" }, label(row.stratum, 40)),
    h("td", { class: "number" }, num(`${at}/n`, row.n, count), h("span", { class: "note" }, "smallest group ", num(`${at}/smallest_group`, row.smallest_group, count))),
    h("td", { class: "bar-cell" }, bar(row.value, row.low, row.high, scale, [], false, row.q !== null && row.q < 0.05 ? Math.sign(float(row.value)) : 0)),
    h("td", { class: "number" }, num(`${at}/value`, row.value, signed), row.unclear ? h("span", { class: "unknown" }, " ?") : null, h("span", { class: "note" }, interval([`${at}/low`, `${at}/high`], [row.low, row.high]))),
    h("td", { class: "number" }, num(`${at}/q`, row.q, chance)),
    h("td", {}, ...directions(row, at)),
    h("td", { class: "number" }, num(`${at}/by_sign_of_whole`, row.by_sign_of_whole, signed))));
  const button = more(lines, STRATA, body, "strata");
  const scaleHead = h("span", {}, h("span", { class: "unseen" }, "bar"), scaleLine(scale, tick));
  const caption = h("caption", {}, "Inside ", label(entry.strata_column ?? "", 40), ": by the signs inside each stratum, and by those of the whole. Bars are grey where q is not below 0.05; ? the stratum's records do not tell a direction");
  return [scrolling(h("table", { class: "bars why-strata" }, caption, head("stratum", "records", scaleHead, "value", "q", "directions inside", "by the sign of the whole"), body), "Strata"), button];
}

function reliabilityTable(page: ReportPage, entry: WhyEntry, place: string): (HTMLElement | null)[] {
  // Of two values of a task, the other says the same.
  const mirrored = new Set((entry.pairs ?? []).filter((pair) => pair.mirror).map((pair) => JSON.stringify([pair.given, pair.outcome])));
  const rows = (entry.reliability ?? []).map((row, i) => ({ row, at: `${place}/reliability/${i}` }))
    .filter(({ row }) => !mirrored.has(JSON.stringify([row.given, row.outcome]))).sort((a, b) => (b.row.error ?? 0) - (a.row.error ?? 0));
  if (!rows.length) return [];
  const body = h("tbody");
  const lines = rows.map(({ row, at }) => () => h("tr", {},
    h("th", { scope: "row" }, named(page, row.given, 40), h("span", { class: "note" }, named(page, row.outcome, 40))),
    h("td", { class: "number" }, num(`${at}/n`, row.n, count)),
    ...(["score", "rate", "error", "expected"] as const).map((key) => h("td", { class: "number" }, num(`${at}/${key}`, row[key], plain))),
    h("td", { class: "number" }, num(`${at}/q`, row.q, chance))));
  const button = more(lines, RELIABILITY, body, "groups");
  const caption = h("caption", {}, "Whether scores come true: the mean distance of score and rate over ten bins of the score, and what chance alone gives; worst first");
  return [scrolling(h("table", { class: "plain why-reliability" }, caption, head("group", "records", "mean score", "rate", "error", "by chance", "q"), body), "Reliability of scores"), button];
}

export function why(page: ReportPage): HTMLElement | null {
  const all = page.audit.why;
  if (!all?.length) return null;
  const out = section("why", "Why: scores, threshold, strata",
    h("p", {}, "A value is exactly the part of the scores (mean score less true rate) plus the part of deciding on them (decided rate less mean score). Parts add up; none of them says what caused it: a stratum can stand for the group."));
  all.forEach((entry, i) => {
    const place = `/audit/why/${i}`;
    out.append(h("div", { class: "why-entry" },
      h("h3", {}, label(entry.attribute), ` ${directionSymbol(entry.direction)}`),
      ...[partTable(page, entry, place), ...pairTable(page, entry, place), ...strataTable(entry, place), ...reliabilityTable(page, entry, place),
        entry.cautions.length ? h("ul", { class: "cautions" }, ...entry.cautions.map((held) => h("li", {}, sentence(held.text)))) : null,
      ].filter((part): part is HTMLElement => part !== null)));
  });
  return out;
}
