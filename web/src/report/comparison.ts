/** Two models: is one's figure different from the other's, beyond what sampling explains? */
import { h } from "../dom";
import { float, tick } from "../numbers";
import type { ReportPage } from "../types";
import { directionSymbol, bar, head, interval, label, metricName, num, plain, reach, scaleLine, scrolling, section, sentence, signed, isSigned } from "./parts";

export function comparison(page: ReportPage): HTMLElement | null {
  const held = page.audit.compare;
  if (!held?.differences.length) return null;
  const several = held.models.length > 2;
  const names = several ? ["first model", "other model"] : held.models;
  const out = section("comparison", "Model comparison", h("p", {}, "The second model's figure minus the first one's. Each bar has its own scale."),
    held.notes.length ? h("ul", {}, ...held.notes.map((note) => h("li", {}, sentence(note)))) : null);
  const body = h("tbody", {}, ...held.differences.map((row, i) => {
    const place = `/audit/compare/differences/${i}`;
    const scale = reach([row.difference, row.low, row.high].map(float));
    const format = isSigned(page, row.metric) ? signed : plain;
    return h("tr", {},
      h("th", { scope: "row" }, label(row.attribute, 40), ", ", `${metricName(page, row.metric)} ${directionSymbol(row.direction)}`.trim(),
        several ? h("span", { class: "note" }, label(row.models[0], 30), ", ", label(row.models[1], 30)) : null),
      h("td", { class: "number" }, num(`${place}/first`, row.first, format)),
      h("td", { class: "number" }, num(`${place}/second`, row.second, format)),
      h("td", { class: "bar-cell" }, bar(row.difference, row.low, row.high, scale), scaleLine(scale, tick)),
      h("td", { class: "number" }, num(`${place}/difference`, row.difference, signed)),
      h("td", { class: "number" }, interval([`${place}/low`, `${place}/high`], [row.low, row.high])),
      h("td", {}, sentence(row.verdict), h("span", { class: "note" }, row.paired ? "paired" : "unpaired")),
    );
  }));
  out.append(scrolling(h("table", { class: "bars" }, h("caption", {}, "Differences between two models"),
    head("figure", label(names[0], 30), label(names[1] ?? "second", 30), h("span", { class: "unseen" }, "bar"), "difference", "interval", "verdict"), body), "Model comparison, table"));
  return out;
}
