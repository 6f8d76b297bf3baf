/** Two models: is one's figure different from the other's, beyond what sampling explains? */
import { h } from "../dom";
import { float, tick, type Num } from "../numbers";
import type { Difference, ReportPage } from "../types";
import { arrow, bar, head, interval, label, metricName, num, plain, reach, scaleLine, scrolling, section, sentence, signed, isSigned } from "./parts";

interface Row {
  place: string;
  difference: [string, Num | undefined];
  low: [string, Num | undefined];
  high: [string, Num | undefined];
  values: [string, Num | undefined][];
}

/** A difference's figures with their places, whichever of the two spellings the document uses. */
function figures(row: Difference, place: string): Row {
  const own: [string, Num | undefined] = row.difference !== undefined ? [`${place}/difference`, row.difference] : [`${place}/value`, row.value];
  const low: [string, Num | undefined] = row.interval ? [`${place}/interval/0`, row.interval[0]] : [`${place}/low`, row.low];
  const high: [string, Num | undefined] = row.interval ? [`${place}/interval/1`, row.interval[1]] : [`${place}/high`, row.high];
  const values: [string, Num | undefined][] = row.values
    ? [[`${place}/values/0`, row.values[0]], [`${place}/values/1`, row.values[1]]]
    : [[`${place}/first`, row.first], [`${place}/second`, row.second]];
  return { place, difference: own, low, high, values };
}

export function comparison(page: ReportPage): HTMLElement | null {
  const held = page.audit.compare;
  if (!held || !held.differences?.length) return null;
  const several = (held.models?.length ?? 2) > 2;
  const names = several ? ["first model", "other model"] : (held.models ?? held.differences[0].models ?? ["first", "second"]);
  const out = section("comparison", "Model comparison", h("p", {}, "The second model's figure minus the first one's. Each bar has its own scale."),
    held.notes?.length ? h("ul", {}, ...held.notes.map((note) => h("li", {}, sentence(note)))) : null);
  const body = h("tbody", {}, ...held.differences.map((row, i) => {
    const shown = figures(row, `/audit/compare/differences/${i}`);
    const scale = reach([shown.difference, shown.low, shown.high].map((x) => float(x[1])));
    const format = isSigned(row.metric) ? signed : plain;
    return h("tr", {},
      h("th", { scope: "row" }, row.attribute ? label(row.attribute, 40) : null, row.attribute ? ", " : null, `${metricName(row.metric)} ${arrow(row.direction)}`.trim(),
        several && row.models ? h("span", { class: "note" }, label(row.models[0], 30), ", ", label(row.models[1], 30)) : null),
      ...shown.values.map(([place, value]) => h("td", { class: "number" }, num(place, value, format))),
      h("td", { class: "bar-cell" }, bar(shown.difference[1], shown.low[1], shown.high[1], scale), scaleLine(scale, tick)),
      h("td", { class: "number" }, num(shown.difference[0], shown.difference[1], signed)),
      h("td", { class: "number" }, interval([shown.low[0], shown.high[0]], [shown.low[1], shown.high[1]])),
      h("td", {}, sentence(row.verdict ?? ""), row.paired === undefined ? null : h("span", { class: "note" }, row.paired ? "paired" : "unpaired")),
    );
  }));
  out.append(scrolling(h("table", { class: "bars" }, h("caption", {}, "Differences between two models"),
    head("figure", label(names[0], 30), label(names[1] ?? "second", 30), h("span", { class: "unseen" }, "bar"), "difference", "interval", "verdict"), body), "Model comparison"));
  return out;
}
