/** Each metric with its interval, and what it means. */
import { h, s } from "../dom";
import { count, float, percent, tick } from "../numbers";
import type { Entry } from "../audit";
import type { ReportPage } from "../types";
import { directionSymbol, bar, concluded, entries, factsOf, interval, isSigned, label, metricName, named, num, plain, reach, scaleLine, section, sentence, signed } from "./parts";
import { printable } from "../text";

/** What must be read with the value, and what may be. */
function beside(page: ReportPage, entry: Entry, place: string): { first: HTMLElement[]; rest: HTMLElement[] } {
  const first: HTMLElement[] = [];
  const rest: HTMLElement[] = [];
  const add = (...parts: (Node | string)[]) => first.push(h("li", {}, ...parts));
  const later = (...parts: (Node | string)[]) => rest.push(h("li", {}, ...parts));
  if (entry.crossfit !== undefined) {
    const bounds = entry.crossfit_interval;
    add("cross-fitted signs ", num(`${place}/crossfit`, entry.crossfit, signed), " ",
      bounds ? interval([`${place}/crossfit_interval/0`, `${place}/crossfit_interval/1`], bounds) : "");
  }
  if (entry.clear_value !== undefined) add("only pairs whose own sign test has p below 0.05: ", num(`${place}/clear_value`, entry.clear_value, signed));
  if (entry.label_sets !== undefined) add("over ", num(`${place}/label_sets`, entry.label_sets, count), " label sets, median support ", num(`${place}/label_set_support`, entry.label_set_support, count), " records");
  if (entry.floor !== undefined) add("noise floor ", num(`${place}/floor`, entry.floor, plain));
  if (entry.variance !== undefined) later("variance of the changes ", num(`${place}/variance`, entry.variance, plain));
  if (entry.dataset !== undefined) later("from the data ", num(`${place}/dataset`, entry.dataset, plain));
  if (entry.model !== undefined) later("from the model ", num(`${place}/model`, entry.model, plain));
  for (const [key, words] of [["unequalized", "not equalized "], ["accuracy_equalized", "accuracy equalized "], ["confusion_equalized", "confusion equalized "]] as const) {
    if (entry[key] !== undefined) later(words, num(`${place}/${key}`, entry[key], signed));
  }
  if (entry.attacker) later(`attacker ${printable(entry.attacker)}, ${printable(entry.quality ?? "")}, ${printable(entry.evaluation ?? "").replace("_", " ")}, `, num(`${place}/trials`, entry.trials, count), " trials");
  if (entry.model_gain !== undefined && entry.dataset_gain !== undefined) {
    add("above no input: model ", num(`${place}/model_gain`, entry.model_gain, signed), ", truth ", num(`${place}/dataset_gain`, entry.dataset_gain, signed));
    if (entry.metric === "dpa" && Math.min(float(entry.model_gain), float(entry.dataset_gain)) > 0) add("quotient of these ", num(`${place}/gain`, entry.gain, signed));
  }
  if (entry.outcome) add("of ", named(page, entry.outcome, 40));
  if (entry.between && entry.sizes) {
    add(named(page, entry.between[0], 40), " (", num(`${place}/sizes/0`, entry.sizes[0], count), " records) over ", named(page, entry.between[1], 40), " (", num(`${place}/sizes/1`, entry.sizes[1], count), ")");
  }
  if (entry.metric === "mean_per_class_accuracy") add("mean over groups");
  if (entry.expected !== undefined) add("expected of equal groups ", num(`${place}/expected`, entry.expected, plain));
  if (entry.every_group !== undefined) add("with groups too small to decide ", num(`${place}/every_group`, entry.every_group, plain));
  if (entry.base_source) add("base: ", label(entry.base_source, 60));
  if (entry.sign_source) later("signs from ", label(entry.sign_source, 60));
  if (entry.interval_method) later("interval: ", label(entry.interval_method, 80));
  for (const caution of entry.cautions ?? []) add("caution: ", sentence(caution));
  later("records ", num(`${place}/n`, entry.n, count));
  return { first, rest };
}

function card(page: ReportPage, entry: Entry, place: string): HTMLElement {
  const number = place.split("/").pop();
  const format = isSigned(page, entry.metric) ? signed : plain;
  const scale = reach([float(entry.value), float(entry.interval[0]), float(entry.interval[1]), float(entry.floor)]);
  const floor = float(entry.floor);
  const at = `${(100 * (floor - scale[0])) / (scale[1] - scale[0])}%`;
  const mark = Number.isFinite(floor) ? [s("line", { x1: at, x2: at, y1: 1, y2: 21, class: "floor" })] : [];
  const told = beside(page, entry, place);
  const title = h("h4", {}, metricName(page, entry.metric), entry.direction ? h("span", { class: "direction" }, ` ${directionSymbol(entry.direction)}`) : null);
  return h(
    "div",
    { class: "metric", id: `metric-${number}`, tabindex: "-1" },
    title,
    h("p", { class: "value" }, num(`${place}/value`, entry.value, format), " ", interval([`${place}/interval/0`, `${place}/interval/1`], entry.interval, format)),
    h("div", { class: "plot" }, bar(entry.value, entry.interval[0], entry.interval[1], scale, mark, !isSigned(page, entry.metric), concluded(page, entry)), scaleLine(scale, tick)),
    h("p", { class: "meaning" }, factsOf(page, entry.metric)?.meaning ?? ""),
    h("ul", { class: "beside" }, ...told.first),
    h("details", { class: "beside" }, h("summary", {}, "More"), h("ul", {}, ...told.rest)),
  );
}

/** The column an entry stands in: directions side by side, what has none apart. */
function column(entry: Entry): string {
  return entry.direction ?? "";
}

export function metrics(page: ReportPage): HTMLElement {
  const level = percent(page.audit.data.confidence);
  const out = section(
    "metrics",
    "Metrics",
    h("p", {}, `Brackets and whiskers are ${level} intervals, each for its figure by itself; sentences are stricter, and count all figures of the audit that get a verdict, and all pairs. Each bar has its own scale, and is grey where the sentences conclude nothing; a dotted line is the noise floor. `,
      "A→T asks how group membership moves predictions of the task, T→A how the task moves predictions of the group: their values are never comparable."),
  );
  for (const attribute of page.audit.data.attributes) {
    const own = entries(page).filter(({ entry }) => entry.attribute === attribute);
    if (!own.length) continue;
    out.append(h("h3", {}, label(attribute)));
    for (const [direction, title] of [["A->T", "Attribute to task, A→T"], ["T->A", "Task to attribute, T→A"], ["", "Without direction"]]) {
      const listed = own.filter(({ entry }) => column(entry) === direction);
      if (!listed.length) continue;
      out.append(h("p", { class: "group" }, title), h("div", { class: "metric-grid" }, ...listed.map(({ entry, place }) => card(page, entry, place))));
    }
  }
  return out;
}
