/** What a careful reader looks for last: who was counted, what was left out, cautions, methods, provenance. */
import { h } from "../dom";
import { count, figure, float, percent } from "../numbers";
import type { ReportPage } from "../types";
import { printable } from "../text";
import { directionSymbol, head, label, metricName, named, num, scrolling, section, sentence } from "./parts";

export function groups(page: ReportPage): HTMLElement | null {
  const rows = page.audit.data.groups;
  if (!rows.length) return null;
  const least = page.audit.data.min_group;
  const body = h("tbody", {}, ...rows.map((row, i) =>
    h("tr", {}, h("td", {}, label(row.attribute, 40)), h("th", { scope: "row" }, named(page, row.group)),
      h("td", { class: "number" }, num(`/audit/data/groups/${i}/records`, row.records, count)), h("td", {}, row.small ? `small: fewer than ${least}` : ""))));
  return section("groups", "Groups", scrolling(h("table", { class: "plain" }, h("caption", {}, "Records of every group"), head("attribute", "group", "records", "note"), body), "Groups, table"));
}

export function excluded(page: ReportPage): HTMLElement {
  const out = section("excluded", "What was left out");
  const rows: Record<string, any>[] = page.audit.excluded;
  if (rows.length) {
    const extra = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => !["attribute", "metric", "direction", "given", "outcome", "reason"].includes(key));
    const body = h("tbody", {}, ...rows.map((row, i) => h("tr", {},
      h("td", {}, label(String(row.attribute), 40)), h("td", {}, `${metricName(page, row.metric)} ${directionSymbol(row.direction)}`.trim()),
      h("td", {}, named(page, String(row.given), 40)), h("td", {}, named(page, String(row.outcome), 40)), h("td", {}, sentence(String(row.reason))),
      ...extra.map((key) => h("td", { class: "number" }, typeof row[key] === "number" ? num(`/audit/excluded/${i}/${key}`, row[key], count) : label(String(row[key] ?? ""), 40))))));
    out.append(h("p", {}, `${count(rows.length)} pairs are out of every mean, each for the reason beside it:`),
      scrolling(h("table", { class: "plain" }, head("attribute", "metric", "given", "outcome", "reason", ...extra.map((key) => label(key, 30))), body), "Excluded pairs"));
  } else out.append(h("p", {}, "No pair was excluded: every pair of a group and an outcome is defined."));
  const gaps = page.audit.data.missing_values;
  if (gaps) out.append(h("p", {}, num("/audit/data/missing_values", gaps, count), ` values are missing; they were treated as missing="${page.audit.data.missing}" says.`));
  if (page.audit.not_run.length) {
    const reasons = new Map<string, string[]>();
    for (const row of page.audit.not_run) {
      const name = `${metricName(page, row.metric)} ${directionSymbol(row.direction)}`.trim();
      const held = reasons.get(row.reason) ?? [];
      if (!held.includes(name)) held.push(name);
      reasons.set(row.reason, held);
    }
    out.append(h("p", {}, "Metrics that were not computed, and why:"), h("ul", {}, ...[...reasons].map(([reason, names]) => h("li", {}, h("strong", {}, names.join(", ")), `: ${sentence(reason)}`))));
  }
  return out;
}

export function methods(page: ReportPage): HTMLElement {
  const out = section("methods", "Methods",
    h("p", {}, `g is the given label, o the outcome, a hat the model's prediction of it. ${page.audit.data.intervals === "closed_form" ? "Intervals are in closed form" : "Intervals resample the records' counts"}; a pair's sign comes from exact integer counts.`));
  for (const method of page.methods) {
    const range = `${figure(method.low, false, 0)} to ${figure(method.high, false, 0)}`;
    out.append(h("article", { class: "method" }, h("h3", {}, method.title),
      h("p", { class: "formula" }, method.formula),
      h("dl", {},
        h("dt", {}, "Question"), h("dd", {}, method.question),
        h("dt", {}, "Range"), h("dd", {}, Number.isFinite(float(method.low)) ? range : "unbounded"),
        h("dt", {}, "Sign"), h("dd", {}, method.sign),
        h("dt", {}, "Calls unbiased"), h("dd", {}, method.unbiased_when),
        h("dt", {}, "Limits"), h("dd", {}, method.limits),
        h("dt", {}, "Reference"), h("dd", {}, method.paper))));
  }
  return out;
}

export function provenance(page: ReportPage): HTMLElement {
  const { audit } = page;
  const data = audit.data;
  const rows: [string, Node | string][] = [
    ["Data", label(page.source, 120)],
    ["Records", num("/audit/data/records", data.records, count)],
    ["Fingerprint of the data", h("code", {}, String(data.fingerprint))],
    ["biasamp version", h("code", {}, audit.version)],
    ["Seed", num("/audit/seed", audit.seed, (value) => String(value))],
    ["Confidence level", percent(data.confidence)],
    data.intervals === "closed_form" ? ["Intervals", "in closed form"] : ["Resamples", num("/audit/data/resamples", data.resamples, count)],
    ["Signs from", data.train ? "training labels" : "the evaluated labels"],
    ["Base rates from", data.base ? "another source, named beside each value" : "the evaluated labels"],
    ["Weights", data.weighted ? "a column of weights" : "none"],
    ["Missing labels", String(data.missing)],
  ];
  const how = audit.provenance;
  if (how?.time) rows.push(["Time", how.time]);
  if (how?.command) rows.push(["Command line", h("code", {}, printable(how.command, 2000))]);
  if (how?.call) rows.push(["Call", h("code", {}, printable(how.call, 2000))]);
  if (how?.libraries) rows.push(["Versions", Object.entries(how.libraries).map(([name, version]) => `${printable(name)} ${printable(version)}`).join(", ")]);
  for (const [name, source] of Object.entries(data.label_sources ?? {})) rows.push([`Labels of ${printable(name)}`, printable(source, 500)]);
  for (const [task, value] of Object.entries(data.positive ?? {})) rows.push([`Positive value of ${printable(task)}`, label(value, 60)]);
  if (data.ignored_groups?.length) rows.push(["Ignored groups", h("span", {}, ...data.ignored_groups.flatMap((name, i) => [i ? "; " : "", named(page, name)]))]);
  for (const [role, names] of Object.entries(data.roles)) {
    if (!names.length) continue;
    rows.push([`Columns: ${printableRole(role)}`, h("span", {}, ...names.flatMap((name, i) => [i ? ", " : "", label(name, 60)]))]);
  }
  const wrong = page.wrong_labels ?? [];
  const errors = wrong.length ? [h("h3", {}, "If labels are wrong"), h("ul", {}, ...wrong.map((words) => h("li", {}, printable(words, 2000))))] : [];
  return section("provenance", "Provenance", ...errors, h("dl", { class: "provenance" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

function printableRole(role: string): string {
  return role.replaceAll("_", " ");
}
