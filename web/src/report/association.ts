/** Top lists of associations, where the report was given some. */
import { h } from "../dom";
import { chance, count, float, tick } from "../numbers";
import type { ReportPage } from "../types";
import { bar, head, interval, label, num, reach, scaleLine, scrolling, section, signed } from "./parts";

export function association(page: ReportPage): HTMLElement | null {
  if (!page.association?.length) return null;
  const out = section("association", "Associations without ground truth",
    h("p", {}, "The labels that lean most to each identity, with the records each rank rests on: a rare label's gap may rest on one of them. A q-value is the expected share of false alarms among labels with one as small."));
  page.association.forEach((list, l) => {
    const scale = reach(list.rows.flatMap((row) => [float(row.gap), float(row.low), float(row.high)]));
    const body = h("tbody", {}, ...list.rows.map((row, i) => {
      const place = `/association/${l}/rows/${i}`;
      return h("tr", {},
        h("td", { class: "number" }, num(`${place}/rank`, row.rank, count)),
        h("th", { scope: "row" }, label(row.name, 40)),
        h("td", { class: "bar-cell" }, bar(row.gap, row.low, row.high, scale)),
        h("td", { class: "number" }, num(`${place}/gap`, row.gap, signed)),
        h("td", { class: "number" }, interval([`${place}/low`, `${place}/high`], [row.low, row.high])),
        h("td", { class: "number" }, num(`${place}/q`, row.q, chance)),
        h("td", { class: "number" }, num(`${place}/count`, row.count, count)),
        ...list.identities.map((name) => {
          // A pointer escapes ~ and / in a key.
          const key = `count[${name}]`.replaceAll("~", "~0").replaceAll("/", "~1");
          return h("td", { class: "number" }, num(`${place}/${key}`, row[`count[${name}]`], count));
        }),
      );
    }));
    const scaleHead = h("span", {}, h("span", { class: "unseen" }, "bar"), scaleLine(scale, tick));
    out.append(h("h3", {}, `${list.metric}: toward `, label(list.toward)),
      scrolling(h("table", { class: "bars" }, head("rank", "label", scaleHead, "gap", "interval", "q", "records", ...list.identities.map((name) => h("span", {}, "with ", label(name, 24)))), body), `Labels that lean to ${list.toward.slice(0, 60)}`));
  });
  return out;
}
