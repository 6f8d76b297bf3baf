/** The report: verdicts first, then what they rest on. */
import { h } from "../dom";
import { count } from "../numbers";
import type { ReportPage } from "../types";
import { association } from "./association";
import { cautions, excluded, groups, methods, provenance } from "./closing";
import { comparison } from "./comparison";
import { inventedLabels } from "./invented";
import { metrics } from "./metrics";
import { pairs, rates } from "./pairs";
import { groupRates } from "./rates";
import { label, num, sentence } from "./parts";
import { thresholds } from "./thresholds";
import { findings, verdicts } from "./verdicts";
import { why } from "./why";

export function showReport(page: ReportPage, root: HTMLElement, theme: HTMLElement): void {
  const data = page.audit.data;
  const all = page.view === "why" ? [verdicts(page), why(page), thresholds(page), groupRates(page), excluded(page), cautions(page), methods(page), provenance(page)] : [
    verdicts(page), groupRates(page), why(page), findings(page), metrics(page), pairs(page), rates(page), inventedLabels(page), thresholds(page), comparison(page), association(page),
    groups(page), excluded(page), cautions(page), methods(page), provenance(page),
  ];
  const sections = all.filter((part): part is HTMLElement => part !== null);
  const links = sections.map((part) => h("li", {}, h("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent ?? "")));
  root.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the verdicts"),
    h("header", { class: "report-head" },
      h("div", {},
        h("p", { class: "kicker" }, page.view === "why" ? "biasamp why" : "biasamp audit"),
        h("h1", {}, label(page.source, 120)),
        h("p", { class: "lead" }, num("/audit/data/records", data.records, count), " records; attributes ",
          ...data.attributes.flatMap((name, i) => [i ? ", " : "", label(name, 60)]), "; task ", label(sentence(data.tasks.title), 120)),
      ),
      theme,
    ),
    h("nav", { class: "contents", "aria-label": "Contents" }, h("ol", {}, ...links)),
    h("main", { id: "main", class: "report", tabindex: "-1" }, ...sections),
    h("footer", { class: "report-foot" }, h("p", {}, `Written by biasamp ${page.audit.version}. Everything on this page is inside this file.`)),
  );
}
