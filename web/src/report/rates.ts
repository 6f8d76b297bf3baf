/** The table that most readers look for first: the rates of every group, each with its interval. */
import { h } from "../dom";
import { count, float, type Num } from "../numbers";
import type { GroupRow, Rate } from "../audit";
import type { ReportPage } from "../types";
import { head, label, more, named, num, scrolling, section, sentence } from "./parts";

const RATES = [
  ["selection_rate", "selected"],
  ["false_positive_rate", "FPR"],
  ["true_positive_rate", "TPR"],
  ["accuracy", "accuracy"],
  ["precision", "precision"],
] as const;
const SHOWN = 12;

type Placed = { row: GroupRow; place: string };

const inPercent = (digits: number, sign = false) => (value: Num | undefined) => {
  const x = 100 * float(value);
  if (!Number.isFinite(x)) return "—";
  const text = Math.abs(x).toFixed(digits);
  const negative = x < 0 && Number(text) !== 0;
  return (negative ? "−" : sign ? "+" : "") + text;
};
const share = inPercent(1);
const points = inPercent(1, true);
const ratio = (value: Num | undefined) => (Number.isFinite(float(value)) ? float(value).toFixed(2) : "—");

function bounds(place: string, low: Num | undefined, high: Num | undefined, ends: [string, string], format: (value: Num | undefined) => string): (Node | string)[] {
  if (Number.isNaN(float(low)) || Number.isNaN(float(high))) return [];
  return [" ", h("span", { class: "interval" }, "[", num(`${place}/${ends[0]}`, low, format), ", ", num(`${place}/${ends[1]}`, high, format), "]")];
}

/** A rate in percent with its interval, and with difference and ratio to the reference group where there is one. */
function cell(rate: Rate, place: string, few: number): HTMLElement {
  if (rate.value === null) return h("td", { class: "number rate" }, "—");
  const small = rate.size < few;
  const out = h("td", { class: `number rate${small ? " few" : ""}`, title: `${count(rate.size)} records` },
    h("span", {}, num(`${place}/value`, rate.value, share), "%", small ? "*" : "", ...bounds(place, rate.low, rate.high, ["low", "high"], share)));
  if (rate.difference !== undefined && rate.difference !== null) {
    out.append(
      h("span", { class: "note" }, "×", num(`${place}/ratio`, rate.ratio, ratio), ...bounds(place, rate.ratio_low, rate.ratio_high, ["ratio_low", "ratio_high"], ratio)),
      h("span", { class: "note" }, num(`${place}/difference`, rate.difference, points), ...bounds(place, rate.difference_low, rate.difference_high, ["difference_low", "difference_high"], points)),
    );
  }
  return out;
}

/** The outcomes that are shown: the only one, both where the positive value is not known, or the one that differs most. */
function shownOutcomes(page: ReportPage, attribute: string, rows: Placed[]): { outcomes: string[]; many: number } {
  const listed = [...new Set(rows.map(({ row }) => row.outcome))];
  const entries = page.audit.metrics.filter((entry) => entry.attribute === attribute && entry.between);
  const many = Math.max(listed.length, ...entries.map((entry) => entry.outcomes?.length ?? 0));
  if (many === 1 || (many === 2 && page.audit.data.positive_unknown?.length)) return { outcomes: listed, many: 1 };
  const worst = [...entries].sort((a, b) => (float(b.value) || 0) - (float(a.value) || 0))[0]?.outcome;
  return { outcomes: worst && listed.includes(worst) ? [worst] : listed.slice(0, 1), many };
}

function table(page: ReportPage, rows: Placed[], outcome: string, many: number, name: string): HTMLElement[] {
  const few = page.audit.data.min_group;
  const ordered = rows.filter(({ row }) => row.outcome === outcome).sort((a, b) => b.row.records - a.row.records);
  const lines = ordered.map(({ row, place }) => () =>
    h("tr", { class: row.ignored ? "ignored" : null },
      h("th", { scope: "row" }, named(page, row.group, 40, name), row.ignored ? h("span", { class: "note" }, "ignored in comparisons") : "", row.reference ? h("span", { class: "note" }, "reference") : ""),
      h("td", { class: "number" }, num(`${place}/records`, row.records, count)),
      h("td", { class: "number" }, num(`${place}/share`, row.share, share), "%"),
      ...RATES.map(([key]) => cell(row[key], `${place}/${key}`, few))));
  const body = h("tbody");
  const button = more(lines, SHOWN, body, "groups");
  const caption = h("caption", {}, page.audit.data.soft_tasks ? "Mean scores of " : "Rates of ", named(page, outcome), many > 1 ? `, of ${count(many)} outcomes the one whose groups differ most` : "");
  return [scrolling(h("table", { class: "rates" }, caption, head("group", "records", "share", ...RATES.map(([key, title]) => page.rate_titles?.[key] ?? title)), body), `Rates of ${name}`), ...(button ? [button] : [])];
}

export function groupRates(page: ReportPage): HTMLElement | null {
  const all: Placed[] = (page.audit.rates ?? []).map((row, i) => ({ row, place: `/audit/rates/${i}` }));
  if (!all.length) return null;
  const few = page.audit.data.min_group;
  const referred = all.some(({ row }) => row.reference);
  const out = section("group-rates", "Groups and their rates");
  for (const attribute of page.audit.data.attributes) {
    const rows = all.filter(({ row }) => row.attribute === attribute);
    if (!rows.length) continue;
    const { outcomes, many } = shownOutcomes(page, attribute, rows);
    const tables = outcomes.flatMap((outcome) => table(page, rows, outcome, many, attribute));
    if (page.audit.data.kinds?.[attribute] === "crossing") out.append(h("details", { class: "fold crossing" }, h("summary", {}, h("h3", {}, label(attribute)), h("span", { class: "hint" }, `${count(rows.length)} groups`)), ...tables));
    else out.append(h("h3", {}, label(attribute)), ...tables);
  }
  out.append(h("p", { class: "note" }, ...(page.rate_notes ?? []).map((note) => `${sentence(note)} `), `* over fewer than ${count(few)} records: it decides no difference.`,
    referred ? " Under a rate: its ratio to the reference group, and the difference in percentage points." : ""));
  return out;
}
