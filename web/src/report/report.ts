/** The report: the answer first, then what it rests on, behind folds. */
import { h } from "../dom";
import { count } from "../numbers";
import type { ReportPage } from "../types";
import { answer, beware, cautions, foldButton, folded, followAddresses, matrix } from "./answer";
import { association } from "./association";
import { excluded, groups, methods, provenance } from "./closing";
import { comparison } from "./comparison";
import { inventedLabels } from "./invented";
import { metrics } from "./metrics";
import { pairs, rates } from "./pairs";
import { groupRates } from "./rates";
import { label, num, sentence } from "./parts";
import { thresholds } from "./thresholds";
import { findings, verdicts } from "./verdicts";
import { why } from "./why";

// What is open on paper too, whether or not the reader has opened it.
const KEY = new Set(["verdicts", "why", "findings", "cautions", "comparison", "provenance"]);

function hintOf(page: ReportPage, id: string): string {
  const { audit } = page;
  const many = (n: number | undefined, one: string, more = `${one}s`) => (n ? `${count(n)} ${n === 1 ? one : more}` : "");
  const found = (kind: string) => audit.findings.filter((finding) => finding.kind === kind).length;
  const hints: Record<string, string> = {
    metrics: many(audit.metrics.length, "figure"), findings: many(found("finding"), "finding"), cautions: many(found("caution"), "caution"),
    pairs: many(audit.metrics.filter((entry) => entry.metric === "directional").reduce((sum, entry) => sum + (entry.pairs ?? []).filter((pair) => !pair.mirror).length, 0), "directional pair"),
    groups: many(audit.data.groups.length, "group"), invented: many(audit.invented?.length, "label"), thresholds: "amplification and rates of groups at every threshold, with a slider",
    why: "scores, threshold, strata, reliability", excluded: [many(audit.excluded.length, "pair"), many(audit.not_run.length, "figure not computed", "figures not computed")].filter(Boolean).join(", "),
  };
  return hints[id] ?? "";
}

export function showReport(page: ReportPage, root: HTMLElement, theme: HTMLElement): void {
  const data = page.audit.data;
  const there = (parts: (HTMLElement | null)[]) => parts.filter((part): part is HTMLElement => part !== null);
  const about = page.view === "why";
  const first = there(about ? [answer(page), why(page), thresholds(page), beware(page)] : [answer(page), matrix(page), groupRates(page), beware(page)]);
  const behind = there(about
    ? [groupRates(page), verdicts(page), excluded(page), cautions(page), methods(page), provenance(page)]
    : [verdicts(page), why(page), thresholds(page), findings(page), metrics(page), pairs(page), rates(page), inventedLabels(page), comparison(page), association(page),
      groups(page), excluded(page), cautions(page), methods(page), provenance(page)]);
  const links = [...first, ...behind].map((part) => h("li", {}, h("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent ?? "")));
  const main = h("main", { id: "main", class: "report", tabindex: "-1" });
  main.append(...first, h("div", { class: "contents" }, h("nav", { "aria-label": "Contents" }, h("ol", {}, ...links)), foldButton(main)),
    ...behind.map((part) => folded(part, hintOf(page, part.id), KEY.has(part.id))));
  root.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the answer"),
    h("header", { class: "report-head" },
      h("div", {},
        h("p", { class: "kicker" }, about ? "biasamp why" : "biasamp audit"),
        h("h1", {}, label(page.source, 120)),
        h("p", { class: "lead" }, num("/audit/data/records", data.records, count), " records; attributes ",
          ...data.attributes.flatMap((name, i) => [i ? ", " : "", label(name, 60)]), "; task ", label(sentence(data.tasks.title), 120)),
      ),
      theme,
    ),
    main,
    h("footer", { class: "report-foot" }, h("p", {}, `Written by biasamp ${page.audit.version}. Everything on this page is inside this file.`), h("p", { class: "paper-only" }, "Sections that were closed when this was printed are in the file.")),
  );
  followAddresses(root);
}
