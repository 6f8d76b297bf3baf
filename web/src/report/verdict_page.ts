/** A verdict by itself: the outcome in a word, then every check, those that fail first. */
import { h } from "../dom";
import { float } from "../numbers";
import type { VerdictCheck, VerdictPage } from "../types";
import { frame, listed } from "./frame";
import { bar, head, label, num, plain, reach, scrolling, section, sentence, signed } from "./parts";

const OUTCOMES: Record<string, { sign: string; kind: string; words: string }> = {
  pass: { sign: "✓", kind: "less", words: "Every limit holds, with evidence." },
  fail: { sign: "✗", kind: "more", words: "At least one limit does not hold." },
  "not enough evidence": { sign: "◇", kind: "none", words: "No limit is broken, but the data do not show that all of them hold." },
};

function badge(outcome: string): HTMLElement {
  const { sign, kind } = OUTCOMES[outcome] ?? OUTCOMES["not enough evidence"];
  return h("span", { class: `badge ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), outcome);
}

function row(check: VerdictCheck, i: number): HTMLElement {
  const place = `/verdict/checks/${i}`;
  const format = (check.low ?? check.value ?? 0) < 0 ? signed : plain;
  const scale = reach([check.value, check.low, check.high].map(float));
  const ends = check.low === null && check.high === null ? null
    : h("span", { class: "note" }, check.on ? `${check.on} ` : "", num(`${place}/low`, check.low, format), " to ", num(`${place}/high`, check.high, format));
  return h("tr", {},
    h("td", {}, badge(check.outcome)),
    h("th", { scope: "row" }, label(check.about, 160)),
    h("td", { class: "limit" }, label(check.limit, 80)),
    h("td", { class: "bar-cell" }, check.value === null ? null : bar(check.value, check.low, check.high, scale)),
    h("td", { class: "number" }, num(`${place}/value`, check.value, format), ends),
    h("td", { class: "why" }, sentence(check.finding || check.reason)));
}

export function showVerdict(page: VerdictPage, root: HTMLElement, theme: HTMLElement): void {
  const { verdict } = page;
  const about = OUTCOMES[verdict.outcome] ?? OUTCOMES["not enough evidence"];
  frame(root, theme, {
    command: "check", title: page.source, skip: "Skip to the verdict", version: page.version,
    lead: [badge(verdict.outcome), " ", `${about.words} `, `${page.tally} of the limits of `, label(verdict.policy, 80), "."],
    sections: [
      section("checks", "Checks",
        h("p", {}, "What fails comes first. A limit holds only where the whole interval, or the bound that the check names, is on its right side."),
        scrolling(h("table", { class: "bars checks" }, h("caption", {}, "Limits and what was found"),
          head("outcome", "figure", "limit", h("span", { class: "unseen" }, "bar"), "found", "why"),
          h("tbody", {}, ...verdict.checks.map(row))), "Checks, table")),
      listed("Cautions", "cautions", page.cautions),
      listed("Notes", "notes", verdict.notes),
    ],
  });
}
