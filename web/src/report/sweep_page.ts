/** A sweep by itself: one set of scores, its curves with a slider, and means over all thresholds. */
import { h } from "../dom";
import { count, percent } from "../numbers";
import type { SweepPage } from "../types";
import { frame } from "./frame";
import { head, interval, label, num, plain, scrolling, section, signed } from "./parts";
import { slider } from "./slider";

export function showSweep(page: SweepPage, root: HTMLElement, theme: HTMLElement): void {
  const { sweep } = page;
  const level = percent(page.confidence);
  const means = h("tbody", {}, ...sweep.agnostic.map((row, i) => h("tr", {},
    h("th", { scope: "row" }, label(row.metric.replaceAll("_", " "))), h("td", {}, row.outcome ? label(row.outcome, 40) : "all"),
    h("td", { class: "number" }, num(`/sweep/agnostic/${i}/value`, row.value, signed)),
    h("td", { class: "number" }, num(`/sweep/agnostic/${i}/share`, row.share, plain)))));
  frame(root, theme, {
    command: "sweep", title: page.source, skip: "Skip to the curves", version: page.version,
    lead: [num("/sweep/n", sweep.n, count), " records; ", label(sweep.attribute, 60), " → ", label(sweep.outcome ?? "the tasks", 120)],
    sections: [
      section("thresholds", "Amplification at every threshold",
        h("p", {}, "What scores at or above the threshold is predicted positive. Amplification goes along the associations of ", label(sweep.sign_source ?? "the evaluated labels", 60), "; its mean over all thresholds is ",
          num("/sweep/integral", sweep.integral, signed), " ", interval(["/sweep/interval/0", "/sweep/interval/1"], sweep.interval), "."),
        slider(sweep, { name: (text, limit) => label(text, limit), quantile: page.quantile, level, place: "/sweep" })),
      section("means", "Means over all thresholds",
        h("p", {}, "They ask for no threshold: exact sums over the steps of each figure. The share is that of the thresholds where a figure is defined."),
        scrolling(h("table", { class: "plain" }, h("caption", {}, "Means over thresholds"), head("figure", "outcome", "mean", "share"), means), "Means over thresholds")),
    ],
  });
}
