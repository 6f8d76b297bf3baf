/** First of all: what was found, in words. */
import { h } from "../dom";
import { count } from "../numbers";
import type { FindingFields as Finding } from "../audit";
import type { ReportPage } from "../types";
import { section, sentence, side } from "./parts";

const BADGES: Record<string, { sign: string; word: string; kind: string }> = {
  "1": { sign: "▲", word: "amplifies", kind: "more" },
  "-1": { sign: "▼", word: "weakens", kind: "less" },
  "0": { sign: "◇", word: "undecided", kind: "none" },
};

function badge(finding: Finding): HTMLElement | null {
  if (finding.code !== "amplification") return null;
  const bounds = finding.figure.interval ?? [null, null];
  const verdict = side(bounds[0], bounds[1]);
  if (verdict === null) return null;
  const { sign, word, kind } = BADGES[String(verdict)];
  return h("span", { class: `badge ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), word);
}

export function verdicts(page: ReportPage): HTMLElement {
  const found = page.audit.findings.filter((finding) => finding.kind === "finding");
  const cautions = page.audit.findings.length - found.length;
  const first = found.filter((finding) => finding.code === "amplification");
  const rest = found.filter((finding) => finding.code !== "amplification");
  const item = (finding: Finding) => h("li", { class: `finding ${finding.code}` }, badge(finding), h("span", {}, sentence(finding.text)));
  return section(
    "verdicts",
    "Verdicts",
    first.length ? h("ul", { class: "verdicts" }, ...first.map(item)) : null,
    rest.length ? h("ul", { class: "findings" }, ...rest.map(item)) : null,
    found.length ? null : h("p", {}, "Nothing was found that could be put into words."),
    cautions
      ? h("p", {}, "Read them with the ", h("a", { href: "#cautions" }, `${count(cautions)} caution${cautions > 1 ? "s" : ""}`), " that apply to these data.")
      : null,
  );
}
