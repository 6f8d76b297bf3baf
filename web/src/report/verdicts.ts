/** First of all: what was found, in words. */
import { h } from "../dom";
import type { FindingFields as Finding } from "../audit";
import type { ReportPage } from "../types";
import { section, sentence, verdictOf } from "./parts";

const BADGES: Record<string, { sign: string; word: string; kind: string }> = {
  "1": { sign: "▲", word: "amplifies", kind: "more" },
  "-1": { sign: "▼", word: "weakens", kind: "less" },
  "0": { sign: "◇", word: "undecided", kind: "none" },
};

function badge(finding: Finding): HTMLElement | null {
  if (finding.code !== "amplification") return null;
  const verdict = verdictOf(finding);
  if (verdict === null) return null;
  const { sign, word, kind } = BADGES[String(verdict)];
  return h("span", { class: `badge ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), word);
}

const item = (finding: Finding) => h("li", { class: `finding ${finding.code}` }, badge(finding), h("span", {}, sentence(finding.text)));

function found(page: ReportPage, first: boolean): Finding[] {
  return page.audit.findings.filter((finding) => finding.kind === "finding" && (finding.code === "amplification") === first);
}

/** The answer to what was asked; further findings come after the rates of groups. */
export function verdicts(page: ReportPage): HTMLElement {
  const first = found(page, true);
  return section(
    "verdicts",
    "Verdicts",
    first.length ? h("ul", { class: "verdicts" }, ...first.map(item)) : h("p", {}, "Directional amplification was not measured."),
  );
}

export function findings(page: ReportPage): HTMLElement | null {
  const rest = found(page, false);
  return rest.length ? section("findings", "Findings", h("ul", { class: "findings" }, ...rest.map(item))) : null;
}
