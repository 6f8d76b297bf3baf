/** Labels that only predictions have: no truth to be amplified, so they are counted apart. */
import { h } from "../dom";
import { chance, count } from "../numbers";
import type { Invented } from "../audit";
import type { ReportPage } from "../types";
import { directionSymbol, head, interval, label, more, named, num, plain, scrolling, section } from "./parts";

const SHOWN = 20;

/** The rate of one of the two groups that are farthest apart. */
function rateOf(page: ReportPage, row: Invented, place: string, which: number): HTMLElement[] {
  const name = row.between?.[which];
  const at = row.groups.findIndex((group) => group.group === name);
  if (name === undefined || at < 0) return [];
  return [num(`${place}/groups/${at}/rate`, row.groups[at].rate, plain), h("span", { class: "note" }, named(page, name, 40))];
}

export function inventedLabels(page: ReportPage): HTMLElement | null {
  const rows = page.audit.invented ?? [];
  if (!rows.length) return null;
  const lines = rows.map((row, i) => () => {
    const place = `/audit/invented/${i}`;
    return h("tr", {},
      h("th", { scope: "row" }, label(row.label, 40), h("span", { class: "note" }, label(row.attribute, 40), ` ${directionSymbol(row.direction)}`)),
      h("td", { class: "number" }, num(`${place}/count`, row.count, count)),
      h("td", { class: "number" }, ...rateOf(page, row, place, 0)),
      h("td", { class: "number" }, ...rateOf(page, row, place, 1)),
      h("td", { class: "number" }, num(`${place}/difference`, row.difference, plain), h("span", { class: "note" }, interval([`${place}/low`, `${place}/high`], [row.low, row.high], plain))),
      h("td", { class: "number" }, num(`${place}/q`, row.q, chance)));
  });
  const body = h("tbody");
  const button = more(lines, SHOWN, body, "labels");
  const table = h("table", { class: "plain" }, h("caption", {}, "Labels that are predicted and never true"), head("label", "predicted for", "highest rate", "lowest rate", "difference", "q"), body);
  return section("invented", "Invented labels",
    h("p", {}, "The model gives these labels, and no record has them in truth: there is nothing to amplify, so they are in no mean. The difference is that of the two groups farthest apart, with an interval that knows they were chosen."),
    scrolling(table, "Invented labels, table"), ...(button ? [button] : []));
}
